import Foundation
import Strata
import Testing

/// The recipes of Documentation/Cookbook.md, run.
@Suite struct CookbookTests {
    private let container: PersistentContainer
    private let context: ManagedObjectContext
    private let cities: [City]

    init() throws {
        container = try PersistentContainer(AtlasModel.self, at: .memory(name: nil))
        let context = container.newContext()
        let peru = Country(context: context, countryId: "PE", name: "Peru")
        _ = Country(context: context, countryId: "AQ", name: "Antarctica")
        cities = (0..<60).map { number in
            let city = City(
                context: context, cityId: String(1000 + number), name: "Ciudad \(number)",
                position: GeoPoint(latitude: -Double(number), longitude: -70), country: peru)
            city.population = Int64(number / 2)
            return city
        }
        try context.save()
        self.context = context
    }

    @Test("Pages continue after the last object, equal values included")
    func pages() throws {
        let first = try CookbookGuide.page(after: nil, context)
        let second = try CookbookGuide.page(after: first.last, context)
        #expect(first.count == 50 && second.count == 10)
        #expect(Set((first + second).map(\.cityId)).count == 60)
        #expect((first + second).map(\.population) == cities.map(\.population).sorted(by: >))
    }

    @Test("Searching, the nearest, sums, and what has nothing")
    func lists() throws {
        #expect(try CookbookGuide.suggestions(for: "CIUDAD 1", context).count == 10)
        #expect(try CookbookGuide.nearest(to: cities[3].position, context).first?.cityId == "1003")
        let sums = try CookbookGuide.populations(context)
        #expect(sums.count == 1 && sums.first?.0 == "Peru" && sums.first?.1 == cities.reduce(0) { $0 + $1.population })
        #expect(try CookbookGuide.withoutCities(context).map(\.name) == ["Antarctica"])
        #expect(try CookbookGuide.countries(["PE", "XX"], context).keys.sorted() == ["PE"])
    }

    @Test("Rows with numbers of related objects come from one statement")
    func totals() throws {
        var lines: [String] = []
        try CookbookGuide.totals(context) { lines.append("\($0) \($1) \($2) \($3)") }
        #expect(lines == ["Antarctica 0 0 0.0", "Peru 60 870 14.5"])
    }

    @Test("An import links objects of both ends, those of the same import included")
    func manyToMany() throws {
        try CookbookGuide.twinned(
            [
                .init(id: "1", name: "Lima", position: World.lima, country: "PE", twins: ["2", "1000"]),
                .init(id: "2", name: "Callao", position: World.lima, country: "PE", twins: ["1"]),
            ], context)
        func twins(_ id: String) throws -> [String] {
            try #require(try container.newContext().find(City.self, id)).twins.map(\.cityId).sorted()
        }
        #expect(try twins("1") == ["1000", "2"] && twins("2") == ["1"] && twins("1000") == ["1"])
    }

    @Test("The members of an ordered relationship are moved, sorted and removed")
    func ordered() throws {
        let names = ["Parque", "Iglesia", "Catedral"]
        for name in names { cities[0].addToSights(Sight(context: context, name: name)) }
        let museum = Sight(context: context, name: "Museo")
        CookbookGuide.arrange(cities[0], museum)
        try context.save()
        #expect(museum.city == nil && cities[0].sights.map(\.name) == names.sorted())
    }

    @Test("Copying, merging and editing")
    func objects() throws {
        cities[0].twins = [cities[5]]
        let copy = CookbookGuide.copy(cities[0], context)
        #expect(copy.name == cities[0].name && copy.twins == [cities[5]] && copy.cityId != cities[0].cityId)
        try context.save()
        let sight = Sight(context: context, name: "Museo")
        sight.city = copy
        copy.twins.insert(cities[6])
        try CookbookGuide.merge(copy, into: cities[0], context)
        #expect(sight.city === cities[0] && cities[0].twins == [cities[5], cities[6]])
        try CookbookGuide.edit(cities[1], name: "Cusco", isConfirmed: false, context)
        #expect(cities[1].name == "Ciudad 1")
        try CookbookGuide.edit(cities[1], name: "Cusco", isConfirmed: true, context)
        #expect(try container.newContext().existingObject(City.self, with: cities[1].objectID).name == "Cusco")
    }

    @Test("Exporting, deleting what is old, and backing up")
    func much() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "cookbook-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "cities.json").path
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        try CookbookGuide.export(to: #require(FileHandle(forWritingAtPath: path)), context)
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 60 && lines[0].contains("\"1000\""))
        for (name, added) in [("old", Date.distantPast), ("new", .distantFuture)] {
            Sight(context: context, name: name).added = added
        }
        try await context.save()
        #expect(try CookbookGuide.deleteOld(before: .now, context) == 1)
        let backup = try await CookbookGuide.nightly(container, to: folder.path)
        let copy = try PersistentContainer(AtlasModel.self, at: .file(path: backup))
        #expect(try await copy.newContext().count(FetchRequest<City>()) == 60)
    }
}
