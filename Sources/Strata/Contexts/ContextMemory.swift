/// The pending changes of a context before a merge policy touched them, so that a save that fails after all leaves
/// everything as it was.
///
/// Rows are not copied: they are frozen, so that the next write makes a copy.
struct ContextMemory {
    private struct State {
        let object: ManagedObject
        let reference: RowReference
        let flags: ObjectFlags
        let key: Int64
        let slots: SlotSet?
        let snapshot: RowReference?
        let toManys: [ToManyState?]
    }

    private let states: [State]
    private let aliases: [ObjectID: Int64]
    private let clearings: [ChangeSet.Clearing]

    init(of context: ManagedObjectContext) {
        states = context.changedObjects.map { object in
            State(
                object: object, reference: object.sharedRow, flags: object.flags, key: object.key,
                slots: object.changes?.slots,
                snapshot: object.changes?.snapshot, toManys: object.extras?.toManys.map { $0?.copy() } ?? [])
        }
        aliases = context.aliases
        clearings = context.clearings
    }

    func restore(_ context: ManagedObjectContext) {
        let known = Set(states.map(\.object))
        for object in context.changedObjects where !known.contains(object) {
            object.flags.remove(.listed)
            object.revert()
        }
        for state in states {
            let object = state.object
            context.tables[object.binding.entity.index].remove(object, key: object.key)
            object.key = state.key
        }
        for state in states {
            let object = state.object
            object.row = state.reference.row
            object.slab = state.reference.slab
            object.flags = state.flags
            object.changes = state.slots.map { slots in
                ChangeRecord(slots: slots, snapshot: state.snapshot)
            }
            if !state.toManys.isEmpty { object.someExtras.toManys = state.toManys }
            object.extras?.survivor = nil
            context.tables[object.binding.entity.index].insert(object, key: object.key)
        }
        context.changedObjects = states.map(\.object)
        context.aliases = aliases
        context.clearings = clearings
    }
}

extension ToManyState {
    /// A copy with members of its own.
    func copy() -> ToManyState {
        let result = ToManyState()
        result.members = members?.copy()
        result.isTouched = isTouched
        result.added = added
        result.removed = removed
        result.appended = appended
        result.isRearranged = isRearranged
        result.arrangement = arrangement
        return result
    }
}
