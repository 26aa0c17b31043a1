/// What became of a ``ChangeSet``.
public enum CommitResult: Sendable {
    /// All of it is permanent.
    case committed(CommitEffects)
    /// Nothing was written, because rows have changed since they were read or a unique constraint would be violated.
    /// All conflicts are listed.
    case conflicts([StoreConflict])
    /// A part of it is permanent, and the rest is as it was before: a back end did some of the writes and refused others.
    /// `done` is that part, in terms of the change set.
    case partly(CommitEffects, done: ChangeSet, failure: RemoteFailure)
}

/// What a store did beyond the ``ChangeSet``.
public struct CommitEffects: Sendable {
    /// The keys of objects that referred to deleted objects, by the position of the topmost entity of their hierarchy.
    /// The store has set such references to nil; some of the objects may be in the change set, too.
    public var referrers: [Int: [Int64]]
    /// Rows of the change set's inserts and updates that the store has with other values or versions than it was given:
    /// a server filled in some.
    public var rows: [RowReference]

    /// Describes effects.
    public init(referrers: [Int: [Int64]] = [:], rows: [RowReference] = []) {
        self.referrers = referrers
        self.rows = rows
    }
}

/// One object that could not be written.
public struct StoreConflict: Sendable {
    /// Why.
    public enum Reason: Sendable, Hashable {
        /// The row has another version than the one that was read, or is gone.
        case version
        /// Another row has the same values in these slots, in which values must be unique.
        case unique(slots: [Int])
    }

    /// Why it could not be written.
    public let reason: Reason
    /// The position of the object's entity in the model.
    public let entityIndex: Int
    /// The key of the object that was to be written.
    public let key: Int64
    /// For a version conflict the row as the store has it now, nil if it is gone; for a unique constraint the row that
    /// it conflicts with, nil if that is a row of the same change set.
    public let storeRow: RowReference?
    /// For a unique constraint the key of the object that it conflicts with.
    public let otherKey: Int64?

    /// Describes a conflict.
    public init(reason: Reason, entityIndex: Int, key: Int64, storeRow: RowReference?, otherKey: Int64? = nil) {
        self.reason = reason
        self.entityIndex = entityIndex
        self.key = key
        self.storeRow = storeRow
        self.otherKey = otherKey
    }
}
