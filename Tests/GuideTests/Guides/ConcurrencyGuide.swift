import Foundation
import Strata

/// The examples of Documentation/Concurrency.md.
enum ConcurrencyGuide {
    @MainActor
    static func rename(_ container: PersistentContainer, _ id: ObjectID) async throws {
        let city = try container.viewContext.existingObject(City.self, with: id)
        city.name = "Lima"
        try await container.viewContext.save()
    }

    static func queue(
        _ container: PersistentContainer, download: @escaping @Sendable () async throws -> [(String, String)]
    ) async throws -> [ObjectID] {
        let background = container.newBackgroundContext()
        let ids = try await background.perform { context in
            let peru = Country(context: context, countryId: "PE", name: "Peru")
            try context.save()
            return [peru.objectID]
        }
        try await background.perform { context in
            let names = try await download()
            for (code, name) in names {
                Country(context: context, countryId: code, name: name)
            }
            try await context.save()
        }
        return ids
    }

    @MainActor
    static func capitalize(_ container: PersistentContainer) async throws {
        let child = container.viewContext.makeBackgroundChild()
        try await child.perform { context in
            for city in try await context.fetch(FetchRequest<City>()) {
                city.name = city.name.capitalized
            }
            try await context.save()
        }
        try await container.viewContext.save()
    }

    actor Importer {
        private let context: ManagedObjectContext

        init(_ container: PersistentContainer) { context = container.newContext() }

        func add(_ name: String, code: String) async throws -> ObjectID {
            let country = Country(context: context, countryId: code, name: name)
            try await context.save()
            return country.objectID
        }
    }

    static func largestPort(_ container: PersistentContainer) async throws -> String? {
        try await container.read { context in
            try context.fetchFirst(City.where { $0.isPort }.sorted(by: City.keys.population.descending))?.name
        }
    }

    static func addCountry(_ container: PersistentContainer, code: String, name: String) async throws -> ObjectID {
        try await container.write { context in
            Country(context: context, countryId: code, name: name).objectID
        }
    }

    static func names(_ container: PersistentContainer) async throws -> [String] {
        let context = container.newContext()
        return try await context.fetch(FetchRequest<Country>()).map(\.name)
    }

    static func sending(
        _ container: PersistentContainer, _ city: City, print: @escaping @Sendable (Any...) -> Void
    ) async throws {
        let id = city.objectID  // the identity: fetch the object where you need it
        let copy = city.frozen()  // the values at this moment
        let task = Task.detached {
            print(copy[City.keys.name], copy[City.keys.population])
            let context = container.newContext()
            let same = try context.existingObject(City.self, with: id)
            print(same.name)
        }
        try await task.value
    }
}
