/// A step of a migration that is still to be done in a store: it runs after the opening, in batches.
///
/// `import Strata` declares such steps with `MigrationStage.deferred(_:from:to:forEach:classes:batchSize:_:)`, and
/// `PersistentContainer.finishDeferredMigration(onProgress:)` does them.
public struct DeferredMigrationStep: Sendable, Hashable, Codable, Identifiable {
    /// The name that the stage has in code.
    public let name: String
    /// The entity whose objects are still to be visited, those of entities that inherit from it included.
    public let entity: String
    /// How many objects have been visited.
    public package(set) var completed: Int
    /// How many objects the entity had when the store was migrated.
    public let total: Int

    /// The fingerprint of the version of the model that the step follows.
    package let version: String
    /// The position among the steps of the store.
    package let number: Int
    /// The key of the object that was visited last.
    package var position: Int64
    /// The key of the last object to be visited: later ones were created with the new version.
    package let last: Int64

    /// The name.
    public var id: String { name }

    package init(name: String, entity: String, total: Int, version: String, number: Int, last: Int64) {
        self.name = name
        self.entity = entity
        self.total = total
        self.version = version
        self.number = number
        self.last = last
        completed = 0
        position = .min
    }
}

extension DeferredMigrationStep: CustomStringConvertible {
    /// The step on one line.
    public var description: String { "\(name): \(completed) of \(total) objects of \(entity)" }
}

/// The code of a deferred step.
package struct DeferredWork: Sendable {
    /// The name, by which a store notes that it is still to be done.
    package let name: String
    /// The entity whose objects it visits.
    package let entity: String
    /// How many objects are visited in one transaction.
    package let batchSize: Int
    /// Visits the objects with some keys, and saves what it changes.
    /// - Returns: The keys that were changed, by position of their topmost entities in the model.
    package let body: @Sendable (DeferredBatch) throws -> [Int: Set<Int64>]

    package init(
        name: String, entity: String, batchSize: Int,
        body: @escaping @Sendable (DeferredBatch) throws -> [Int: Set<Int64>]
    ) {
        self.name = name
        self.entity = entity
        self.batchSize = max(1, batchSize)
        self.body = body
    }
}

/// What the code of a deferred step works with.
package struct DeferredBatch: Sendable {
    /// The store, in the transaction of the batch.
    package let store: any PersistentStore
    /// The keys of the objects, in their order.
    package let keys: [Int64]
    /// Whether the work has been cancelled.
    package let isCancelled: @Sendable () -> Bool

    package init(store: any PersistentStore, keys: [Int64], isCancelled: @escaping @Sendable () -> Bool) {
        self.store = store
        self.keys = keys
        self.isCancelled = isCancelled
    }
}
