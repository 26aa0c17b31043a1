// The examples of Documentation/SeveralStores.md, compiled and run by GuideTests.
import Foundation
import Strata

enum SeveralStoresGuide {
    static func open(_ folder: String) throws -> PersistentContainer {
        var delivered = SQLiteStore.Options()
        delivered.isReadOnly = true
        let container = try PersistentContainer(
            TravelModel.self,
            stores: [
                PersistentStoreDescription(
                    configuration: "Places", at: .file(path: "\(folder)/places.sqlite"), options: delivered),
                PersistentStoreDescription(at: .file(path: "\(folder)/visits.sqlite")),
            ])
        return container
    }

    static func description() -> PersistentStoreDescription {
        let cache = PersistentStoreDescription(configuration: "Places") { (model) throws(StoreError) in
            try SQLiteStore.open(model: model, location: .memory(name: nil))
        }
        return cache
    }

    static func refer(_ lima: Town, in context: ManagedObjectContext) async throws -> (Town?, [Visit]) {
        let visit = Visit(context: context, note: "warm", town: ObjectReference(lima))
        try await context.save()
        let town = try context.resolve(visit.town)  // nil once the town is deleted
        let visits = try await context.fetch(Visit.where { $0.town == ObjectReference(lima) })
        return (town, visits)
    }

    static func show(_ visits: [Visit], _ context: ManagedObjectContext) throws {
        let towns = try context.resolve(visits.compactMap(\.town))
        for visit in visits {
            print(visit.note, visit.town.flatMap { towns[$0] }?.name ?? "a town that no longer exists")
        }
    }

    static func save(_ context: ManagedObjectContext) async throws {
        do throws(PersistenceError) {
            try await context.save()
        } catch {
            guard case .partlySaved(let committed, let pending, let reason) = error else { throw error }
            print("saved: \(committed), not saved: \(pending), because \(reason)")
            // The objects of the pending stores keep their changes.
            try await context.save()
        }
    }

    static func each(_ container: PersistentContainer, _ folder: String) async throws -> [HistoryTransaction]? {
        let places = container.store(forConfiguration: "Places")
        let transactions = try places?.history?.transactions(after: nil, where: .all, limit: 10).transactions
        try await container.backUp(to: "\(folder)/copy.sqlite", configuration: "Default")
        return transactions
    }
}
