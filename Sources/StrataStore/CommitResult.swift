/// The outcome of a commit of a ``ChangeSet``.
///
///     switch try store.commit(changes) {
///     case .committed(let effects): print("saved", effects.rows.count)
///     case .conflicts(let conflicts): for conflict in conflicts { print(conflict.reason, conflict.key) }
///     case .partly(_, _, let failure): print(failure.objects)
///     }
///
/// A store returns ``conflicts(_:)`` if a version differs or a unique constraint would be violated; the context then applies
/// its merge policy and commits again, or throws. It throws ``StoreError`` for everything else: nothing was written then. Only
/// stores that write to a server return ``partly(_:done:failure:)``. The context keeps the changes that are not done.
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

/// The changes that a store made beyond those of the ``ChangeSet``.
///
/// The context applies them to its objects after the save, and passes them to other contexts. ``referrers`` names objects that
/// referred to deleted ones and that the context may not have loaded; these references are nil now, and ``referrerVersions``
/// has the new versions of these rows. ``rows`` has rows in which the store holds something else than the context sent: values or
/// versions that a server assigned.
/// ``alreadyDeleted`` names the deletes that found no row. A store without any of these returns `CommitEffects()`.
public struct CommitEffects: Sendable {
    /// The keys of objects that referred to deleted objects, by the position of the topmost entity of their hierarchy.
    /// The store has set such references to nil; some of the objects may be in the change set, too.
    public var referrers: [Int: [Int64]]
    /// The versions that rows of ``referrers`` have now, by the same position and the key. A row that the change set does not write
    /// itself gets the next version, because its reference has changed. A store that gives such rows no other version leaves
    /// this empty.
    public var referrerVersions: [Int: [Int64: Int64]]
    /// Rows of the change set's inserts and updates that the store has with other values or versions than it was given:
    /// a server filled in some.
    public var rows: [RowReference]
    /// The keys of the change set's deletes that found no row, because others had deleted it before: by the position of the topmost
    /// entity of their hierarchy. A store that cannot tell leaves them out; live results may then name a relationship as changed
    /// that had changed before.
    public var alreadyDeleted: [Int: [Int64]]

    /// Describes effects.
    public init(
        referrers: [Int: [Int64]] = [:], referrerVersions: [Int: [Int64: Int64]] = [:], rows: [RowReference] = [],
        alreadyDeleted: [Int: [Int64]] = [:]
    ) {
        self.referrers = referrers
        self.referrerVersions = referrerVersions
        self.rows = rows
        self.alreadyDeleted = alreadyDeleted
    }
}

/// One object that could not be written, because its row has changed or a unique value is taken.
///
///     for conflict in conflicts {
///         switch conflict.reason {
///         case .version: print(conflict.key, conflict.storeRow == nil ? "was deleted" : "was changed")
///         case .unique: print(conflict.key, "has a value of", conflict.otherKey ?? 0)
///         }
///     }
///
/// A store lists all conflicts of a change set and writes nothing. For each, the context's merge policy decides by ``storeRow``
/// which values stay, and commits again. If the policy is `.error`, the save throws `PersistenceError.conflicts` with the same
/// information in terms of objects. ``storeRow`` is nil after a version conflict if others have deleted the row.
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
