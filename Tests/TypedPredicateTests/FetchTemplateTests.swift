import Foundation
import Strata
import Testing

/// Fetch requests that a model file declares.
@Suite struct FetchTemplateTests {
    @Test("A generated function gives the request with its variables, order and limit")
    func running() throws {
        let file = try AtlasFile()
        let context = file.container.newContext()
        let peru = Country(context: context, name: "Peru", code: "PE")
        let oman = Country(context: context, name: "Oman", code: "OM")
        for number in 0..<10 {
            let city = City(context: context, name: "city \(number)")
            city.country = number == 9 ? oman : peru
            city.population = Int64(number * 1_000)
            city.isPort = number < 2
        }
        for _ in 0..<2 {
            let large = try context.fetch(City.fetchLargeCities(country: "Peru", minimum: 4_000))
            #expect(large.map(\.name) == ["city 8", "city 7", "city 6"])
            #expect(try context.count(for: City.fetchLargeCities(country: "Oman", minimum: 0)) == 1)
            #expect(try context.count(for: City.fetchLargeCities(country: nil, minimum: 0)) == 0)
            #expect(try context.fetch(City.fetchPorts().limit(1)).count == 1)
            #expect(try context.count(for: City.fetchPorts()) == 2)
            try context.save()
        }
    }
}
