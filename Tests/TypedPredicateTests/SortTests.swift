import Foundation
import Strata
import Testing

/// Orders by more than properties, typed and in the format language, saved or not.
@Suite struct SortTests {
    private let file: AtlasFile
    private let here = GeoPoint(latitude: 10, longitude: 10)

    init() throws { file = try AtlasFile() }

    private func fill(_ context: ManagedObjectContext) {
        for number in 0..<4 {
            let country = Country(context: context, name: "country \(number)", code: "\(number)")
            for index in 0..<number {
                let city = City(context: context, name: "city \(number)\(index)")
                city.country = country
                city.population = Int64(number == 2 ? 1_000 : 10 * (index + 1))
                city.position =
                    index == 2 ? nil : GeoPoint(latitude: Double(10 * number), longitude: Double(10 * index))
            }
        }
    }

    private func numbers(_ sorts: FetchSort..., in context: ManagedObjectContext) throws -> [String] {
        try context.fetch(FetchRequest<Country>(sortedBy: sorts)).map { String($0.name.suffix(1)) }
    }

    @Test("By aggregates of a to-many relationship, in the store and over unsaved changes")
    func aggregates() throws {
        let context = file.container.newContext()
        fill(context)
        let cities = Country.keys.cities
        for isSaved in [false, true] {
            if isSaved { try context.save() }
            #expect(try numbers(cities.count.ascending, in: context) == ["0", "1", "2", "3"])
            #expect(try numbers(cities.count.descending, in: context) == ["3", "2", "1", "0"])
            #expect(try numbers(cities.sum(\.population).descending, in: context) == ["2", "3", "1", "0"])
            // Nothing has no mean, no smallest and no largest value; nil comes first.
            #expect(try numbers(cities.average(\.population).ascending, in: context) == ["0", "1", "3", "2"])
            #expect(try numbers(cities.max(\.population).descending, in: context) == ["2", "3", "1", "0"])
            #expect(
                try numbers(cities.min(\.population).ascending, cities.count.descending, in: context)
                    == ["0", "3", "1", "2"])
            #expect(
                try numbers(
                    cities.filter { $0.population > 15 }.count.descending, Country.keys.name.descending, in: context)
                    == ["3", "2", "1", "0"])
            #expect(try numbers(FetchSort("cities.@count", ascending: false), in: context) == ["3", "2", "1", "0"])
            #expect(try numbers(FetchSort(format: "-cities.@sum.population"), in: context) == ["2", "3", "1", "0"])
        }
    }

    @Test("By the distance to a point; what lies nowhere comes first in ascending order")
    func distances() throws {
        let context = file.container.newContext()
        fill(context)
        let distance = City.keys.position.distance(to: here)
        let ascending = FetchRequest<City>(sortedBy: [distance.ascending, City.keys.name.ascending])
        let nearest = ["city 32", "city 10", "city 21", "city 20", "city 31", "city 30"]
        for isSaved in [false, true] {
            if isSaved { try context.save() }
            let cities = try context.fetch(ascending)
            #expect(cities.map(\.name) == ["city 32", "city 10", "city 21", "city 20", "city 31", "city 30"])
            let page = ascending.limit(2).offset(1)
            #expect(try context.fetch(page).map(\.name) == Array(nearest[1...2]))
            #expect(
                try context.fetch(FetchRequest<City>(sortedBy: [distance.descending], limit: 1)).map(\.name)
                    == ["city 30"])
            // Another point is another order, by the same statement.
            let there = City.keys.position.distance(to: GeoPoint(latitude: 30, longitude: 0)).descending
            #expect(try context.fetch(FetchRequest<City>(sortedBy: [there], limit: 1)).map(\.name) == ["city 10"])
        }
        context.delete(try #require(try context.fetchFirst(City.where { $0.name == "city 10" })))
        City(context: context, name: "new").position = here
        #expect(try context.fetch(ascending).prefix(2).map(\.name) == ["city 32", "new"])
        #expect(try context.fetchIDs(ascending) == context.fetch(ascending).map(\.objectID))
    }

    @Test("Changed, new and deleted members count before the save, in a child context too")
    func pendingMembers() throws {
        let parent = file.container.newContext()
        fill(parent)
        try parent.save()
        let order = [Country.keys.cities.sum(\.population).descending, Country.keys.name.ascending]
        let child = parent.makeChild()
        for city in try child.fetch(City.where { $0.country.name == "country 2" }) { child.delete(city) }
        let zero = try #require(try child.fetchFirst(Country.where { $0.name == "country 0" }))
        let city = City(context: child, name: "new")
        city.population = 5_000
        city.country = zero
        func names(_ context: ManagedObjectContext) throws -> [String] {
            try context.fetch(FetchRequest<Country>(sortedBy: order)).map { String($0.name.suffix(1)) }
        }
        #expect(try names(child) == ["0", "3", "1", "2"])
        #expect(try names(parent) == ["2", "3", "1", "0"])
        try child.save()
        #expect(try names(parent) == ["0", "3", "1", "2"])
        try parent.save()
        #expect(try names(parent) == ["0", "3", "1", "2"])
    }

    @Test("An order that leads to many, or to nothing, is an error")
    func faults() throws {
        let context = file.container.newContext()
        for isChanged in [false, true] {
            if isChanged { fill(context) }
            for text in [
                "cities", "cities.population", "nothing", "cities.@sum", "cities.@count.name", "$x", "name.@count",
            ] {
                let request = FetchRequest<Country>(sortedBy: [try FetchSort(format: text)])
                #expect(throws: PersistenceError.self, "\(text), \(isChanged)") { try context.fetch(request) }
            }
        }
        for text in ["", "-", "name ==", "distance(place"] {
            #expect(throws: PredicateParseError.self, "\(text)") { try FetchSort(format: text) }
        }
        for text in ["-population", "country.name[cd]", "cities.@count", "-distance(position, {1, 2})"] {
            let sort = try FetchSort(format: text)
            #expect(try FetchSort(format: sort.description) == sort, "\(sort)")
        }
    }
}
