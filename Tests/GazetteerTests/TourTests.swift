import Foundation
import Strata
import Testing

@testable import Gazetteer

@Suite("The tour")
@MainActor
struct TourTests {
    private let folder = TemporaryFolder()
    private var store: String { folder.path("gazetteer.sqlite") }

    private func run(_ options: TourOptions, screen: Screen, data: SmallData) async throws {
        let tour = try Tour(
            data: GeoNamesData(folder: data.url), store: StoreFile(path: store), options: options,
            terminal: screen.terminal(width: 120))
        try await tour.run()
        tour.close()
    }

    @Test("It runs through on two countries, and leaves a file with all objects and the edit")
    func smallTour() async throws {
        let screen = Screen()
        try await run(TourOptions(country: "aland", search: "O"), screen: screen, data: SmallData())
        let text = screen.out
        #expect(text.contains("1 continent, 2 countries and 2 cities became managed objects."))
        #expect(text.contains("2 cities on 1 page."))
        #expect(text.contains("Aland borders on Bland."))
        #expect(text.contains("✓ After the rollback it is One again, and there are 1 city."))
        #expect(text.contains("✓ Nothing was written: Testland and all 2 countries are there."))
        #expect(text.contains("✓ In the parent it has always been One with 200."))
        #expect(
            text.contains(
                "Country.area: was integer64, is double; values without an exact form do not fit [checked], 2 objects"))
        #expect(text.contains("Country.phone: the attribute is removed with its values [loses data], 2 objects"))
        #expect(text.contains("✓ Nothing was written. Country.phone loses data, and so needs an answer."))
        #expect(text.contains("✓ It works: "))
        #expect(text.contains("✓ One.note is .remark now, and its searchName is “one”."))
        #expect(text.contains("Done: 13 steps, "))
        #expect(!text.contains("\u{1B}"))
        #expect(screen.error.isEmpty)

        let container = try PersistentContainer(GazetteerModel.self, at: .file(path: store))
        let city = try #require(
            try await container.viewContext.fetchFirst(FetchRequest<City>(where: City.keys.cityId == "1")))
        #expect(city.note == "Seen on the tour; 2 other names.")
        #expect(city.alternateNames == ["Uno", "一"])
        #expect(city.position == GeoPoint(latitude: 10.5, longitude: -20.25))
        #expect(city.country.neighbours.map(\.name) == ["Bland"])
        container.close()
    }

    @Test("The import says what it makes, and makes what the records say")
    func importer() throws {
        let files = try SmallData()
        let data = try GeoNamesData(folder: files.url)
        let container = try PersistentContainer(GazetteerModel.self, at: .memory(name: nil))
        var seen: [Int] = []
        try Importer(data: data).run(in: container.viewContext) { seen.append($0) }
        #expect(seen == [3, 4, 5])
        let reader = container.newContext()
        let countries = try reader.fetch(
            FetchRequest<Country>(sortedBy: [Country.keys.countryId.ascending]))
        #expect(countries.map(\.name) == ["Aland", "Bland"])
        #expect(countries.map(\.capital) == ["One", nil])
        #expect(countries[0].languages == ["xx", "yy"])
        #expect(countries.map { $0.neighbours.map(\.countryId) } == [["BB"], ["AA"]])
        #expect(countries.map { $0.cities.map(\.name) } == [["One"], ["Two"]])
        #expect(Set(countries.map(\.continent.name)) == ["Testland"])
    }

    @Test("A country that is deleted leaves its neighbours whole, also those that were never read")
    func neighboursOfADeletedCountry() throws {
        let container = try PersistentContainer(GazetteerModel.self, at: .memory(name: nil))
        let context = container.newContext()
        let countries = ["North", "South"].map { name in
            let code = String(name.prefix(1)) + "A"
            return Country(
                context: context, countryId: code, name: name, areaSquareKilometres: 1, languages: ["xx"],
                continent: Continent(context: context, continentId: code, name: name))
        }
        countries[0].addToNeighbours(countries[1])
        try context.save()

        let other = container.newContext()
        let north = try #require(
            try other.fetchFirst(FetchRequest<Continent>(where: Continent.keys.name == "North")))
        other.delete(north)
        try other.save()
        let reader = container.newContext()
        let left = try reader.fetch(FetchRequest<Country>())
        #expect(left.map(\.name) == ["South"])
        #expect(left[0].languages == ["xx"] && left[0].continent.name == "South" && left[0].neighbours.isEmpty)
    }

    @Test("Walking all 252 countries and their 34,006 cities takes at most 3 statements after the store is opened")
    func wholeWorld() throws {
        let log = StatementLog()
        var options = SQLiteStore.Options()
        options.trace = { log.record(sql: $0.sql, seconds: $0.duration, rows: $0.rows) }
        let data = try GeoNamesData(folder: DataFolder.find(asked: nil))
        var container = try PersistentContainer(GazetteerModel.self, at: .file(path: store))
        try Importer(data: data).run(in: container.newContext()) { _ in }
        container.close()
        container = try PersistentContainer(GazetteerModel.self, at: .file(path: store), options: options)
        _ = log.drain()
        let countries = try container.viewContext.fetch(FetchRequest<Country>())
        let people = countries.reduce(0) { $1.cities.reduce($0) { $0 + $1.population } }
        #expect(countries.count == 252)
        #expect(countries.reduce(0) { $0 + $1.cities.count } == 34_006)
        #expect(people == 3_932_182_704)
        let statements = log.drain()
        #expect(statements.count <= 3, "\(statements.map(\.sql))")
        container.close()
    }

    @Test("An unknown country is refused before anything is written, with the nearest name")
    func unknownCountry() async throws {
        let data = try SmallData()
        await #expect(throws: GazetteerError.unknownCountry(name: "Alan", suggestion: "Aland")) {
            try await run(TourOptions(country: "Alan"), screen: Screen(), data: data)
        }
        await #expect(throws: GazetteerError.unknownCountry(name: "Xyzzyx", suggestion: nil)) {
            try await run(TourOptions(country: "Xyzzyx"), screen: Screen(), data: data)
        }
        #expect(!FileManager.default.fileExists(atPath: store))
    }

    @Test("A store of an earlier run is replaced; other files are left alone unless that is asked for")
    func replacing() async throws {
        let data = try SmallData()
        try await run(TourOptions(country: "AA"), screen: Screen(), data: data)
        try StoreFile(path: store).removeOld(force: false)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])

        let letter = Data("Dear diary".utf8)
        try letter.write(to: URL(fileURLWithPath: store))
        #expect {
            try StoreFile(path: store).removeOld(force: false)
        } throws: { error in
            guard case GazetteerError.foreignFile(let path, _) = error else { return false }
            return path == store
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == letter)
        try StoreFile(path: store).removeOld(force: true)
        #expect(!FileManager.default.fileExists(atPath: store))
        #expect(throws: GazetteerError.cannotReplace(path: folder.url.path, reason: "it is a folder")) {
            try StoreFile(path: folder.url.path).removeOld(force: true)
        }
    }

    @Test("A store of another model is not the Gazetteer's")
    func otherModel() throws {
        let model = try ManagedObjectModel(name: "Diary", entities: [Entity(name: "Day", location: nil)])
        try PersistentContainer(model: model, at: .file(path: store)).close()
        let error = GazetteerError.foreignFile(path: store, reason: "it belongs to the model Diary")
        #expect(throws: error) { try StoreFile(path: store).removeOld(force: false) }
    }
}

/// A new folder, which goes away with the value.
final class TemporaryFolder {
    let url: URL

    init() {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("gazetteer-\(UUID().uuidString)")
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}
