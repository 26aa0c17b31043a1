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
            #expect(try context.count(City.fetchLargeCities(country: "Oman", minimum: 0)) == 1)
            #expect(try context.count(City.fetchLargeCities(country: nil, minimum: 0)) == 0)
            #expect(try context.fetch(City.fetchPorts().limit(1)).count == 1)
            #expect(try context.count(City.fetchPorts()) == 2)
            try context.save()
        }
    }

    @Test("A request is looked up in the model by its name, with values for its variables in condition and order")
    func lookingUp() throws {
        let file = try AtlasFile()
        let context = file.container.newContext()
        for number in 0..<4 {
            let city = City(context: context, name: "city \(number)")
            city.position = number == 3 ? nil : GeoPoint(latitude: 0, longitude: Double(number * 10))
            city.population = Int64(number)
        }
        let here = GeoPoint(latitude: 0, longitude: 14)
        for _ in 0..<2 {
            let around: FetchRequest<City> = try context.model.fetchRequest(
                fromTemplateNamed: "around", substitutionVariables: ["here": here])
            #expect(try context.fetch(around).map(\.name) == ["city 3", "city 1", "city 2", "city 0"])
            #expect(try context.fetch(City.fetchAround(here: here)) == context.fetch(around))
            let untyped: FetchRequest<ManagedObject> = try context.model.fetchRequest(
                fromTemplateNamed: "largeCities", substitutionVariables: ["country": nil, "minimum": 2])
            #expect(try context.fetch(untyped).map { $0["name"] as? String } == ["city 3", "city 2"])
            try context.save()
        }
        let template = try #require(context.model.fetchRequestTemplate(named: "largeCities"))
        #expect(template.variables == ["country", "minimum"] && template.entity == "City" && template.limit == 3)
    }

    @Test("Names and variables that do not fit are typed errors which say what there is")
    func errors() throws {
        func error(_ name: String, _ variables: [String: (any PredicateArgument)?]) -> FetchTemplateError? {
            do throws(FetchTemplateError) {
                let _: FetchRequest<City> = try AtlasModel.model.fetchRequest(
                    fromTemplateNamed: name, substitutionVariables: variables)
                return nil
            } catch {
                return error
            }
        }
        let unknown = error("largeCitys", [:])
        #expect(
            unknown
                == .unknownTemplate(name: "largeCitys", model: "Atlas", known: ["largeCities", "ports", "around"]))
        #expect(
            unknown?.description
                == "the model Atlas has no fetch named largeCitys; did you mean 'largeCities'?")
        #expect(
            error("largeCities", ["minimum": 5]) == .missingVariables(template: "largeCities", variables: ["country"]))
        #expect(
            error("ports", ["minimum": 5])
                == .unknownVariables(template: "ports", variables: ["minimum"], known: []))
        #expect(error("ports", [:]) == nil)
    }

    @Test("Templates that a model declares in Swift are checked with it")
    func inSwift() throws {
        func model(_ templates: FetchTemplate...) throws(ModelError) -> ManagedObjectModel {
            try ManagedObjectModel(name: "Notes", fetches: templates) {
                Entity("Note") {
                    Attribute("text", .string)
                    Attribute("rank", .integer64, default: .value(0))
                }
            }
        }
        let least = FetchTemplate("least", of: "Note", where: "rank > $rank", sortedBy: "rank", "-text", limit: 2)
        let container = try PersistentContainer(model: try model(least), at: .memory(name: nil))
        let context = container.newContext()
        for rank in 0..<5 { try context.insert(entityNamed: "Note")["rank"] = rank }
        let request: FetchRequest<ManagedObject> = try context.model.fetchRequest(
            fromTemplateNamed: "least", substitutionVariables: ["rank": 1])
        #expect(try context.fetch(request).map { $0["rank"] as? Int64 } == [2, 3])
        let error = #expect(throws: ModelError.self) {
            try model(
                least, FetchTemplate("least", of: "Note"), FetchTemplate("other", of: "Not"))
        }
        #expect(error?.faults.count == 2 && error?.faults.allSatisfy { $0.location != nil } == true)
        let faulty = #expect(throws: ModelError.self) {
            try model(FetchTemplate("a", of: "Note", where: "txt == 'x'", sortedBy: "rank +"))
        }
        #expect(faulty?.faults.count == 2, "\(String(describing: faulty))")
    }
}
