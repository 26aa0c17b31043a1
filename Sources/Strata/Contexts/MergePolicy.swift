/// How a save resolves conflicts: other contexts or processes changed or deleted the same objects since they were read,
/// or an object violates a unique constraint.
///
///     context.mergePolicy = .objectWinsByProperty
///     city.population += 1
///     try context.save()  // others may have changed its name: that stays, and the population is this context's
///
/// Three states are compared: the snapshot that the context read, the object in memory, and the row in the store now.
/// Properties that only one side changed never conflict under the policies by property; additions to a to-many
/// relationship never conflict at all.
///
/// Under every policy but ``error``, a relationship to an object that others have deleted becomes nil, and a one-to-one
/// relationship that both sides changed has the same partners at both ends afterwards. Under ``error``, the store
/// refuses a relationship to an object that it does not have: ``PersistenceError/store(_:)`` with
/// ``StoreError/constraint(entity:reason:)``.
///
/// A unique constraint is violated if an object is to be written and another row has the same key values. Under every
/// policy but ``error``, the two become one: the row in the store survives with its ID and its relationships, and
/// relationships of this context to the new object lead to it. If the context has no object for that row yet, the new
/// object takes over the row and its ``ManagedObject/objectID``. Otherwise the new object is deleted, and
/// ``ManagedObject/survivor`` names the other one.
public enum MergePolicy: String, Sendable, Hashable, CaseIterable {
    /// The save throws ``PersistenceError/conflicts(_:)``, and nothing changes.
    case error
    /// Properties changed on both sides take the store's value; the others are merged. An object that the store deleted
    /// is deleted here; one that was changed there and deleted here comes back.
    case storeWinsByProperty
    /// Properties changed on both sides take this context's value; the others are merged. An object that the store
    /// deleted is inserted again; one that was changed there and deleted here is deleted. A unique constraint becomes
    /// an upsert: the properties that were set are written to the row that has the key.
    case objectWinsByProperty
    /// The object is written as it is in memory, unchanged properties included.
    case overwrite
    /// The object's changes in this context are dropped.
    case rollback
}

/// A conflict that a save could not resolve: an object that was also changed or deleted elsewhere, or a unique value that is
/// taken.
///
///     do {
///         try context.save()
///     } catch {
///         guard case .conflicts(let conflicts) = error else { throw error }
///         for conflict in conflicts where conflict.reason == .changedInStore {
///             for property in conflict.properties { print(property.name, property.memory, property.store) }
///             try context.refresh(try context.object(with: conflict.objectID))  // newer values, with your changes on top
///         }
///         try context.save()
///     }
///
/// Under ``MergePolicy/error``, a save throws ``PersistenceError/conflicts(_:)`` with all of them, and nothing has changed. Ask
/// the user, take the newer values by a refresh, or set another ``ManagedObjectContext/mergePolicy``, and save again. Under the
/// other policies, the save resolves conflicts by itself. ``ManagedObjectContext/onPropertyConflict`` can decide single
/// properties.
public struct MergeConflict: Sendable, CustomStringConvertible {
    /// What happened.
    public enum Reason: Sendable, Hashable {
        /// Others changed the row.
        case changedInStore
        /// Others deleted the row.
        case deletedInStore
        /// Another object has the same values in these properties, in which values must be unique.
        case unique(properties: [String], other: ObjectID)
    }

    /// The object that could not be written.
    public let objectID: ObjectID
    /// Why the object could not be written.
    public let reason: Reason
    /// The properties that both sides changed, with the value that was read, the one in memory and the one in the store. Empty
    /// if the row was deleted, or if the conflict is about a unique value.
    public let properties: [(name: String, snapshot: Value, memory: Value, store: Value)]

    /// What happened, on one line.
    public var description: String {
        switch reason {
        case .changedInStore:
            properties.isEmpty
                ? "\(objectID) was changed"
                : "\(objectID): \(properties.map(\.name).joined(separator: ", ")) changed on both sides"
        case .deletedInStore: "\(objectID) was deleted"
        case .unique(let properties, let other):
            "\(objectID) has the same \(properties.joined(separator: ", ")) as \(other)"
        }
    }
}
