import Strata

/// The examples of Documentation/Troubleshooting.md.
enum TroubleshootingGuide {
    static func faults(_ context: ManagedObjectContext, log: @escaping (String) -> Void) {
        context.onFaultError = { error, object in
            log("\(object.objectID): \(error)")
        }
    }

    static func handling(_ context: ManagedObjectContext, show: (String, String) -> Void) async throws {
        do throws(PersistenceError) {
            try await context.save()
        } catch {
            switch error {
            case .validation(let error): for failure in error.failures { show(failure.property ?? "", failure.message) }
            case .conflicts: try context.refreshAllObjects()
            case .store(.diskFull): show("", "There is no room left on the disk.")
            default: throw error
            }
        }
    }
}
