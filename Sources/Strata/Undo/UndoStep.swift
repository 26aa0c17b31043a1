import StrataStore

/// What was edited between two boundaries, net: the state of each object before and after. To undo a step is to go from one to
/// the other, to redo it is to go back.
struct UndoStep {
    /// An object at one end of the step.
    struct State {
        let isShown: Bool
        /// The row, which nobody changes any more; nil if there was none or it was not read.
        let row: RowReference?
        /// The operations that led to it from the row of a version.
        let operations: [Int: FieldOperations]
        let version: Int64
    }

    /// The order of an ordered relationship at both ends; nil where it was not known.
    struct Order {
        let before: [ManagedObject]?
        var after: [ManagedObject]?
    }

    struct Item {
        let object: ManagedObject
        let key: Int64
        var before: State
        var after: State
        var orders: [Int: Order] = [:]

        /// Leaves slots out of the step: they have values that the context did not set.
        mutating func leaveOut(_ slots: SlotSet) {
            guard let old = before.row, let new = after.row, old.row.entityIndex == new.row.entityIndex else { return }
            let layout = object.binding.entity.slots
            var slab = RowSlab.copy(of: old.row, room: 64)
            for slot in slots { RowEditing.copySlot(slot, layout: layout, from: new.row, to: &slab) }
            before = State(
                isShown: before.isShown, row: RowReference(slab: slab, row: slab.row),
                operations: before.operations.filter { !slots.contains($0.key) }, version: before.version)
        }
    }

    /// A pair of a many-to-many relationship, on one of its sides.
    struct Pair: Hashable {
        let owner: ManagedObject
        let member: ManagedObject
        let toManyIndex: Int
    }

    var name: String?
    private(set) var items: [Item] = []
    /// Pairs that are there after the step and were not before (1), or the other way round (-1).
    private(set) var pairs: [Pair: Int] = [:]
    private var positions: [ObjectIdentifier: Int] = [:]

    var isEmpty: Bool { items.isEmpty && pairs.isEmpty }

    /// The size of the rows, for the bound on memory.
    var byteCount: Int {
        items.reduce(0) { sum, item in
            sum + 128 + (item.before.row?.row.byteCount ?? 0) + (item.after.row?.row.byteCount ?? 0)
        }
    }

    /// Adds what changed since.
    mutating func append(_ changes: BoundaryChanges) {
        for touch in changes.objects {
            let object = touch.object
            let after = State(
                isShown: object.isShown, row: object.isFault ? nil : object.sharedRow, operations: object.operations,
                version: object.storedVersion)
            let id = ObjectIdentifier(object)
            let position = positions[id] ?? items.count
            if position == items.count {
                positions[id] = position
                items.append(
                    Item(
                        object: object, key: touch.key,
                        before: State(
                            isShown: touch.wasShown, row: touch.row, operations: touch.operations,
                            version: touch.version),
                        after: after))
            } else {
                items[position].after = after
            }
            if let stored = changes.stored[id] { items[position].leaveOut(stored) }
            for (index, before) in touch.toManys where object.relationship(toMany: index).isOrdered {
                let now = object.extras?.toMany(index)?.members?.objects
                if items[position].orders[index] == nil {
                    items[position].orders[index] = Order(before: before, after: now)
                } else {
                    items[position].orders[index]?.after = now
                }
            }
        }
        for touch in changes.pairs {
            let pair = Pair(owner: touch.owner, member: touch.member, toManyIndex: touch.toManyIndex)
            let count = max(-1, min(1, (pairs[pair] ?? 0) + (touch.isAdded ? 1 : -1)))
            pairs[pair] = count == 0 ? nil : count
        }
    }

    /// Leaves out what is the same before and after.
    mutating func settle() {
        items.removeAll { !$0.isChanged }
        positions = [:]
    }
}

extension UndoStep.Item {
    /// The slots that differ between the ends.
    var changedSlots: SlotSet {
        guard let before = before.row, let after = after.row else { return SlotSet() }
        var result = SlotSet()
        for slot in object.binding.entity.slots
        where slot.derivation == nil
            && !before.row.hasSameValue(as: after.row, slot: slot.index, storage: slot.storage)
        {
            result.insert(slot.index)
        }
        return result
    }

    var isChanged: Bool {
        if before.isShown != after.isShown { return true }
        guard before.isShown else { return false }
        return !changedSlots.isEmpty
            || orders.values.contains { order in
                guard let before = order.before, let after = order.after else { return false }
                return before != after
            }
    }
}
