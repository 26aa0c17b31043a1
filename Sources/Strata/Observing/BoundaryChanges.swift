import StrataStore

/// What changed in a context from one boundary to the next.
struct BoundaryChanges {
    /// What makes the boundary.
    enum Kind {
        /// The application says so: the end of a `perform`, or `processPendingChanges()`.
        case event
        /// A save has ended, well or badly.
        case save
        /// What was changed here, before commits of others are applied.
        case beforeMerge
        /// Commits of others have been applied.
        case merge
        /// All pending changes were dropped.
        case rollback
        /// All objects were forgotten.
        case reset
        /// A step was undone or redone.
        case undo

        /// Whether a group of edits ends here, even if nothing is new.
        var isSeal: Bool { self == .event || self == .save || self == .rollback || self == .reset }
    }

    var kind = Kind.event
    /// Objects of the context that may have changed, in the order of their first change.
    var objects: [ObjectTouch] = []
    /// Rows that others wrote. The context may have an object of such a row; that is among ``objects`` then, if it changed.
    var rows: [RowTouch] = []
    /// The slots of objects that have values of the store by now, which the context did not set.
    var stored: [ObjectIdentifier: SlotSet] = [:]
    /// Many-to-many pairs that came or went, in their order.
    var pairs: [PairTouch] = []
    /// What the to-many relationships that may have changed were like.
    var members: [MembersOfObject: MembersBefore] = [:]
    /// Tells which of these have changed; set when the boundary is handed out.
    private(set) var comparison: MemberComparison?
    /// Whether anything may have changed.
    var isEverything = false
    /// Whether there are rows of others of which only the keys are known. Any list may have gained or lost members then.
    var hasUnknownRows = false

    /// Whether a to-many relationship that was noted shows anything else than before.
    func hasChanged(_ object: ManagedObject, toMany index: Int) -> Bool {
        comparison?.hasChanged(object, index) ?? true
    }

    /// The properties of an object that is shown now, and was before, that show anything else than before.
    func changedNames(_ touch: ObjectTouch) -> Set<String> {
        let object = touch.object
        var names: Set<String> = []
        for slot in touch.changedSlots { names.insert(object.binding.entity.slots[slot].name) }
        for index in touch.toManys.keys where hasChanged(object, toMany: index) {
            names.insert(object.relationship(toMany: index).name)
        }
        return names
    }

    /// Whether an owner has gained or lost members of a relationship with a to-one inverse.
    func hasMoved(to owner: Int64, _ relationship: RelationshipDescription) -> Bool {
        comparison?.hasMoved(to: owner, relationship) ?? true
    }

    /// Prepares ``hasChanged(_:toMany:)``.
    mutating func compareMembers(_ core: ContextCore) { comparison = MemberComparison(self, core) }

    var isEmpty: Bool { objects.isEmpty && rows.isEmpty && pairs.isEmpty && !isEverything }
}

/// An object that may have changed, and what it was before.
struct ObjectTouch {
    let object: ManagedObject
    /// The key before, which differs from that of the object if the object turned out to be another row.
    let key: Int64
    /// A copy of the row before; nil if it was not read, or there was no object.
    private(set) var row: RowReference?
    /// The operations that were pending before, and the version of the row that they were done to.
    let operations: [Int: FieldOperations]
    let version: Int64
    /// Whether the object was visible: not new, not deleted, not missing.
    let wasShown: Bool
    /// Whether it was a fault.
    let wasFault: Bool
    /// Whether it was kept although others had deleted it.
    let wasDeletedElsewhere: Bool
    /// The to-many relationships whose members came, went or changed places, with the order before if there is one and it
    /// was loaded.
    var toManys: [Int: [ManagedObject]?] = [:]
    /// Unsaved references whose targets others have deleted or brought back: they show another value though the row keeps it.
    var lostSlots = SlotSet()
    /// Whether more than one change was noted.
    var isTouchedAgain = false
    /// ``changedSlots``, found once for all listeners.
    private var foundSlots: SlotSet?

    init(_ object: ManagedObject, existed: Bool) {
        self.object = object
        key = object.key
        operations = object.operations
        version = object.storedVersion
        wasFault = object.flags.contains(.fault)
        wasDeletedElsewhere = object.flags.contains(.deletedElsewhere)
        wasShown = existed && object.isShown
        if existed, !wasFault { takeRow() }
    }

    /// Whether the object was a fault, whose row may still come before it changes.
    var lacksRow: Bool { row == nil && wasFault && wasShown }

    /// Whether the object is not what it was.
    var isChange: Bool {
        wasShown != object.isShown || key != object.key || !toManys.isEmpty || !changedSlots.isEmpty
    }

    /// Whether the touch tells all that a row that others wrote does. If the object has been read since others inserted it, and
    /// has changed for another reason, it does not tell that the object is new.
    func tells(of kind: RowTouch.Kind) -> Bool {
        isChange && (kind != .inserted || wasShown != object.isShown || key != object.key)
    }

    /// Whether a fault only got its row. Changes by others are noted with the row.
    var isOnlyFilled: Bool {
        wasFault && row == nil && !object.isFault && wasShown && object.isShown && key == object.key && !isTouchedAgain
            && toManys.isEmpty && lostSlots.isEmpty
    }

    /// Copies the row that the object has.
    mutating func takeRow() {
        let copy = RowSlab.copy(of: object.row)
        row = RowReference(slab: copy, row: copy.row)
    }

    var identity: RowIdentity { RowIdentity(entityIndex: object.binding.entity.index, key: key) }

    /// The slots whose values differ between a row and the object's present one; all, if either is not known.
    var changedSlots: SlotSet { foundSlots ?? findSlots() }

    /// Finds ``changedSlots`` for all listeners. A fault may still be filled by one of them, so it is looked at each time.
    mutating func findChangedSlots() {
        if row != nil, !object.flags.contains(.fault) { foundSlots = findSlots() }
    }

    private func findSlots() -> SlotSet {
        let slots = object.binding.entity.slots
        guard let row, !object.flags.contains(.fault) else { return SlotSet(slots.map(\.index)) }
        var result = lostSlots
        for slot in slots
        where !row.row.hasSameValue(as: object.row, slot: slot.index, storage: slot.storage) {
            result.insert(slot.index)
        }
        return result
    }
}

/// A row that others wrote.
struct RowTouch: Sendable {
    enum Kind: Sendable {
        case inserted, updated, deleted
        /// Something about the object changed that may not be in its row.
        case unknown
    }

    /// The entity as far as it is known: the row's own, or one that it inherits from.
    let identity: RowIdentity
    let kind: Kind
    /// The row before, where it is known.
    var before: RowReference?
    /// The row after, where it is known.
    var after: RowReference?
    /// The slots that were written; nil if that is not known.
    var slots: SlotSet?
    /// The to-many relationship whose members changed.
    var toManyIndex: Int?
    /// Whether many-to-many lists may show the object again, or no more, without having changed.
    var mayHaveOtherPairs = false
    /// Whether the context has the object with its row.
    var isInMemory = false
    /// Whether what changed in that object stands among the objects. It does not if the object was read after the change.
    var isAmongObjects = false

    /// Whether a slot that was written has another value now, as far as the rows tell.
    func hasChanged(_ slot: SlotDescription) -> Bool {
        guard let before, let after else { return true }
        return !before.row.hasSameValue(as: after.row, slot: slot.index, storage: slot.storage)
    }
}

/// A many-to-many pair that came or went.
struct PairTouch {
    let owner: ManagedObject
    let member: ManagedObject
    let toManyIndex: Int
    let isAdded: Bool
}

extension ManagedObject {
    /// Whether a fetch would show the object: it belongs to the context, and is neither deleted nor missing.
    final var isShown: Bool { flags.isDisjoint(with: [.deleted, .missing, .detached]) }
}

extension BoundaryChanges {
    /// Adds what a commit wrote.
    mutating func note(_ commit: CommitNotification, _ model: ManagedObjectModel) {
        let changes = commit.changes
        for (update, before) in zip(changes.updates, commit.previousRows) {
            let row = update.row.row
            rows.append(
                RowTouch(
                    identity: RowIdentity(entityIndex: row.entityIndex, key: row.key), kind: .updated, before: before,
                    after: update.row, slots: update.slots))
        }
        for insert in changes.inserts {
            let row = insert.row.row
            rows.append(
                RowTouch(
                    identity: RowIdentity(entityIndex: row.entityIndex, key: row.key), kind: .inserted,
                    after: insert.row))
        }
        for (delete, before) in zip(changes.deletes, commit.deletedRows) {
            rows.append(
                RowTouch(
                    identity: RowIdentity(entityIndex: delete.entityIndex, key: delete.key), kind: .deleted,
                    before: before))
        }
        for clearing in changes.clearings { note(clearing.keys, clearing.entityIndex, slots: SlotSet([clearing.slot])) }
        for pair in changes.pairs {
            let relationship = model.entities[pair.entityIndex].relationships[pair.relationshipIndex]
            note([pair.owner], pair.entityIndex, toMany: relationship.toManyIndex)
            note(
                pair.added + pair.removed, relationship.destinationIndex,
                toMany: model.inverse(of: relationship)?.toManyIndex)
        }
        for order in changes.orders {
            let relationship = model.entities[order.entityIndex].relationships[order.relationshipIndex]
            note([order.owner], order.entityIndex, toMany: relationship.toManyIndex)
        }
        for (root, keys) in commit.effects.referrers { note(keys, root) }
    }

    /// Adds keys of which no more is known.
    mutating func note(_ keys: [Int: Set<Int64>]) {
        hasUnknownRows = true
        for (root, keys) in keys { note(keys.sorted(), root) }
    }

    private mutating func note(_ keys: [Int64], _ entityIndex: Int, slots: SlotSet? = nil, toMany: Int? = nil) {
        for key in keys {
            var touch = RowTouch(identity: RowIdentity(entityIndex: entityIndex, key: key), kind: .unknown)
            touch.slots = slots ?? (toMany == nil ? nil : SlotSet())
            touch.toManyIndex = toMany
            rows.append(touch)
        }
    }
}
