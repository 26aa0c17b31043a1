import Foundation
import Strata
import Testing

/// Values with types: tuples, and objects by their IDs.
@Suite struct ValueTests {
    let file: AtlasFile

    init() throws {
        file = try AtlasFile()
        let context = file.container.newContext()
        let peru = Country(context: context, name: "Peru", code: "PE")
        for number in 0..<4 {
            let city = City(context: context, name: "city \(number)")
            city.country = number == 3 ? nil : peru
            city.population = Int64(number * 1_000)
            city.founded = number == 0 ? Date(timeIntervalSinceReferenceDate: 5) : nil
        }
        try context.save()
    }

    private var cities: FetchRequest<City> { FetchRequest(sortedBy: [City.keys.name.ascending]) }

    @Test("A closure of typed keys gives tuples of their types, over unsaved changes too")
    func tuples() async throws {
        let context = file.container.newContext()
        for isChanged in [false, true] {
            if isChanged { City(context: context, name: "new").population = 7 }
            let rows = try fetch(
                City.where { $0.population > 500 || $0.name == "new" }.sorted(by: City.keys.name.ascending).select {
                    ($0.name, $0.population, $0.country.name.optional, $0.founded)
                }, context)
            let expected: [(String, Int64, String?, Date?)] = [
                ("city 1", 1_000, "Peru", nil), ("city 2", 2_000, "Peru", nil), ("city 3", 3_000, nil, nil),
                ("new", 7, nil, nil),
            ]
            #expect(rows.count == (isChanged ? 4 : 3))
            for (row, other) in zip(rows, expected) { #expect(row == other) }
            let names: [String] = try await context.fetchValues(cities.limit(2).select { $0.name })
            #expect(names == ["city 0", "city 1"])
        }
    }

    private func fetch<Row>(
        _ request: ValueRequest<City, Row>, _ context: ManagedObjectContext
    ) throws -> [Row] { try context.fetchValues(request) }

    @Test("Aggregates and groups in tuples")
    func groups() throws {
        let context = file.container.newContext()
        let request = FetchRequest<City>().select { ($0.country.objectID, $0.population.sum, $0.name.valueCount) }
            .grouped(by: City.keys.country.objectID)
        let rows = try context.fetchValues(request)
        let peru = try #require(try context.fetchFirst(FetchRequest<Country>()))
        #expect(rows.count == 2)
        #expect(rows[0] == (nil, 3_000, 1))
        #expect(rows[1] == (peru.objectID, 3_000, 3))
        let highest = try context.fetchValues(FetchRequest<City>().select { $0.population.maximum })
        #expect(highest == [3_000])
    }

    @Test("Objects are IDs in rows with names and in tuples, saved or not")
    func objects() throws {
        let context = file.container.newContext()
        let peru = try #require(try context.fetchFirst(FetchRequest<Country>()))
        for isChanged in [false, true] {
            if isChanged { City(context: context, name: "new").country = peru }
            let objects = try context.fetch(cities)
            let request = cities.select(
                City.keys.objectID, City.keys.country.objectID,
                FetchColumn("home", .keyPath(["country"])).renamed("place"))
            let rows = try context.fetchValues(request)
            #expect(rows.map { $0[City.keys.objectID] } == objects.map(\.objectID))
            #expect(rows.map { $0[City.keys.country.objectID] } == objects.map { $0.country?.objectID })
            #expect(rows[0]["place"] == .object(peru.objectID) && rows[3]["place"].isNull)
            #expect(rows[0]["place"].objectID == peru.objectID && rows[0]["place"].value == nil)
            let tuples = try context.fetchValues(cities.select { ($0.objectID, $0.country.objectID) })
            #expect(
                tuples.map(\.0) == objects.map(\.objectID) && tuples.map(\.1) == objects.map { $0.country?.objectID })
            #expect(try context.existingObject(City.self, with: tuples[1].0) == objects[1])
        }
    }

    @Test("A value that the type does not have is an error which names the column")
    func unfit() throws {
        let context = file.container.newContext()
        #expect {
            try context.fetchValues(cities.select { ($0.name, $0.country.name) })
        } throws: { "\($0)".contains("the column country.name has no value in a row") }
        let small = try context.fetch(cities)
        for city in small { city.districts = .max }
        try context.save()
        #expect {
            try context.fetchValues(FetchRequest<City>().select { $0.districts.sum })
        } throws: { "\($0)".contains("does not fit Int16") }
    }
}

extension FetchColumn {
    fileprivate func renamed(_ name: String) -> FetchColumn { FetchColumn(name, expression) }
}
