import Foundation
import Strata

/// The examples of Documentation/Conflicts.md.
enum ConflictsGuide {
    static func example(_ container: PersistentContainer) async throws -> [(Int64?, String?)] {
        let first = container.newContext()
        let second = container.newContext()
        let lima = try await first.find(City.self, "lima")
        let same = try await second.find(City.self, "lima")

        lima?.population = 10_000_000
        try await first.save()

        same?.population = 11_000_000
        same?.about = "The capital"
        second.mergePolicy = .storeWinsByProperty
        try await second.save()

        first.automaticallyMergesChanges = true
        try first.refreshAllObjects()
        return [(lima?.population, lima?.about), (same?.population, same?.about)]
    }

    static func rules(_ context: ManagedObjectContext) throws {
        try context.setMergePolicy(.objectWinsByProperty, for: City.self)
        context.onPropertyConflict = { conflict in
            guard conflict.propertyName == "population", case .integer(let read) = conflict.snapshot,
                case .integer(let mine) = conflict.memory, case .integer(let theirs) = conflict.store
            else { return .policy }
            return .value(.integer(theirs + mine - read))
        }
    }

    static func checking(_ context: ManagedObjectContext, peru: Country) async throws {
        try context.detectConflicts(for: peru)
        City(
            context: context, cityId: "arequipa", name: "Arequipa",
            position: GeoPoint(latitude: -16.4, longitude: -71.54),
            country: peru)
        try await context.save()
    }

    static func looking(_ context: ManagedObjectContext, print: (Any...) -> Void) async throws {
        do throws(PersistenceError) {
            try await context.save()
        } catch {
            guard case .conflicts(let conflicts) = error else { throw error }
            for conflict in conflicts {
                for property in conflict.properties {
                    print(
                        property.name, "was", property.snapshot, "is", property.memory, "and in the store",
                        property.store)
                }
            }
            context.mergePolicy = .objectWinsByProperty
            try await context.save()
        }
    }
}
