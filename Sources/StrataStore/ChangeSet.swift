/// The changes that a context passes to a store, or to its parent, to be made permanent.
///
///     func check(_ changes: ChangeSet) -> [Int64] {
///         changes.updates.filter { $0.baseVersion != versions[$0.row.key] }.map(\.row.key)
///     }
///
/// A store writes all parts in one transaction, or none of them. First it compares versions: of ``updates``, ``deletes`` and
/// ``checks`` with a base version, each row must have that version, or the commit is a conflict. Then it writes ``inserts``,
/// updates and deletes, ``clearings``, ``pairs``, and ``orders`` last. Of an update only the ``Update/slots`` are
/// written.
///
/// It is a value and refers to no object. It is empty if only checks are left.
public struct ChangeSet: Sendable {
    /// A new object.
    public struct Insert: Sendable {
        /// The row, with its key and the version that it is to have: 1, or more if the object is made again after
        /// others deleted it.
        public let row: RowReference

        /// Describes an insert.
        public init(row: RowReference) { self.row = row }
    }

    /// A changed object.
    public struct Update: Sendable {
        /// The row as it is to be, with the version it is to have: ``baseVersion`` + 1.
        public let row: RowReference
        /// The slots that differ from the row that was read; only these are written.
        public let slots: SlotSet
        /// The version that was read. Another one in the store is a conflict.
        public let baseVersion: Int64

        /// Describes an update.
        public init(row: RowReference, slots: SlotSet, baseVersion: Int64) {
            self.row = row
            self.slots = slots
            self.baseVersion = baseVersion
        }
    }

    /// A deleted object.
    public struct Delete: Sendable {
        /// The position of the entity in the model.
        public let entityIndex: Int
        /// The key.
        public let key: Int64
        /// The version that was read. Another one in the store is a conflict; nil if none was read, and any will do.
        public let baseVersion: Int64?

        /// Describes a delete.
        public init(entityIndex: Int, key: Int64, baseVersion: Int64?) {
            self.entityIndex = entityIndex
            self.key = key
            self.baseVersion = baseVersion
        }
    }

    /// An object that is not changed, and that nobody else may have changed.
    public struct Check: Sendable {
        /// The position of the entity in the model.
        public let entityIndex: Int
        /// The key.
        public let key: Int64
        /// The version that was read. If the store has another one, or no row, that is a conflict.
        public let version: Int64

        /// Describes a check.
        public init(entityIndex: Int, key: Int64, version: Int64) {
            self.entityIndex = entityIndex
            self.key = key
            self.version = version
        }
    }

    /// References to deleted objects, in rows that the context has not loaded. No version is compared, because none is
    /// known; the version of each row goes up by one.
    public struct Clearing: Sendable {
        /// The position of the entity that has the reference; its rows may be of entities that inherit from it.
        public let entityIndex: Int
        /// The slot with the reference.
        public let slot: Int
        /// The keys of the deleted objects.
        public var targets: [Int64]
        /// The keys of the objects with the reference. Those that lead elsewhere by now are left alone.
        public var keys: [Int64]

        /// Describes cleared references.
        public init(entityIndex: Int, slot: Int, targets: [Int64], keys: [Int64]) {
            self.entityIndex = entityIndex
            self.slot = slot
            self.targets = targets
            self.keys = keys
        }
    }

    /// A change of a relationship that is kept as pairs. Named from its primary side; additions that exist already and
    /// removals that do not are not an error, so that two contexts never conflict here.
    public struct PairChange: Sendable {
        /// The position of the entity that declares the primary side.
        public let entityIndex: Int
        /// The position of the relationship in that entity.
        public let relationshipIndex: Int
        /// The key on the primary side.
        public let owner: Int64
        /// Keys on the other side that are added.
        public let added: [Int64]
        /// Keys on the other side that are removed.
        public let removed: [Int64]

        /// Describes a change of pairs.
        public init(entityIndex: Int, relationshipIndex: Int, owner: Int64, added: [Int64], removed: [Int64]) {
            self.entityIndex = entityIndex
            self.relationshipIndex = relationshipIndex
            self.owner = owner
            self.added = added
            self.removed = removed
        }
    }

    /// A change of the order of an ordered to-many relationship. It applies after everything else.
    public struct OrderChange: Sendable {
        /// What happens to the order.
        public enum Kind: Sendable, Hashable {
            /// These members, new ones, come last in this order. The others stay as they are.
            case append([Int64])
            /// All members as the context knows them. Members that others added meanwhile keep their place after the
            /// one that they follow.
            case arrange([Int64])
        }

        /// The position of the entity that owns the order.
        public let entityIndex: Int
        /// The position of the ordered relationship in that entity.
        public let relationshipIndex: Int
        /// The key of the owner.
        public let owner: Int64
        /// What happens to the order.
        public let kind: Kind

        /// Describes a change of order.
        public init(entityIndex: Int, relationshipIndex: Int, owner: Int64, kind: Kind) {
            self.entityIndex = entityIndex
            self.relationshipIndex = relationshipIndex
            self.owner = owner
            self.kind = kind
        }
    }

    /// New objects.
    public var inserts: [Insert] = []
    /// For each insert the slots that were assigned, if the changes are for a parent context: the other slots have their
    /// defaults. Empty if they are for a store, which writes all slots.
    package var assigned: [SlotSet] = []
    /// Changed objects.
    public var updates: [Update] = []
    /// What was done to attributes of updated objects with operations, by object and slot. The rows of the updates have the
    /// result; these slots are among those of the update.
    package var operations: [RowIdentity: [Int: FieldOperations]] = [:]
    /// Deleted objects.
    public var deletes: [Delete] = []
    /// References to deleted objects.
    public var clearings: [Clearing] = []
    /// Changed pairs.
    public var pairs: [PairChange] = []
    /// Changed orders.
    public var orders: [OrderChange] = []
    /// Objects that must be as they were read. They change nothing: a change set with nothing else is empty.
    public var checks: [Check] = []
    /// Who makes the change, for history.
    public var author: String?
    /// The name of the context that makes the change, for history.
    public var contextName: String?
    /// The context that makes the change; nil if changes come without one.
    package var source: ChangeSource?

    /// No changes.
    public init() {}

    /// Whether there is nothing to do.
    public var isEmpty: Bool {
        inserts.isEmpty && updates.isEmpty && deletes.isEmpty && clearings.isEmpty && pairs.isEmpty && orders.isEmpty
    }
}

extension ChangeSet {
    /// What was done to the attributes of an updated object with operations, by slot.
    package func operations(of update: Update) -> [Int: FieldOperations] {
        if operations.isEmpty { return [:] }
        let row = update.row.row
        return operations[RowIdentity(entityIndex: row.entityIndex, key: row.key)] ?? [:]
    }
}

/// The author and context of a change, for history.
///
///     let origin = ChangeOrigin(author: "import", contextName: "nightly")
///     let result = try store.perform(.delete(plan), by: origin)
///
/// A store that records history writes both with the transaction; see ``HistoryTransaction/author``. Contexts fill it from
/// their `author` and `name`. A store without history ignores it.
public struct ChangeOrigin: Sendable, Hashable {
    /// The author; nil if none is known.
    public var author: String?
    /// The name of the context; nil if it has none.
    public var contextName: String?

    /// Describes who makes a change.
    public init(author: String? = nil, contextName: String? = nil) {
        self.author = author
        self.contextName = contextName
    }
}
