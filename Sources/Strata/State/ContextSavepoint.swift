import StrataStore

/// The pending changes of a context before a merge policy touched them, so that a save that fails after all leaves
/// everything as it was.
///
/// Rows are not copied: they are frozen, so that the next write makes a copy.
struct ContextSavepoint {
    private struct State {
        let object: ManagedObject
        let reference: RowReference
        let flags: ObjectFlags
        let key: Int64
        let changes: ChangeRecord?
        let operations: [Int: FieldOperations]
        let firstVersion: Int64?
        let toManys: [ToManyState?]
    }

    private let states: [State]
    private let aliases: KeyAliases
    private let nullifications: [ChangeSet.Clearing]

    init(of core: ContextCore) {
        states = core.tracker.objects.map { object in
            State(
                object: object, reference: object.sharedRow, flags: object.flags, key: object.key,
                changes: object.changes, operations: object.operations, firstVersion: object.extras?.firstVersion,
                toManys: object.extras?.toManys.map { $0?.copy() } ?? [])
        }
        aliases = core.identityMap.aliases
        nullifications = core.nullifications.all
    }

    func restore(_ core: ContextCore) {
        core.recorder?.forgetStored()
        let known = Set(states.map(\.object))
        for object in core.tracker.objects where !known.contains(object) {
            core.tracker.remove(object)
            if object.isInserted { object.dropChanges() } else { object.revert() }
        }
        for state in states {
            let object = state.object
            core.tracker.willChange(object)
            for (index, state) in (object.extras?.toManys ?? []).enumerated() where state?.hasChanges == true {
                core.tracker.willChangeMembers(object, index)
            }
            core.identityMap.table(object.binding.entity.index).remove(object, key: object.key)
            object.key = state.key
        }
        for state in states {
            let object = state.object
            object.row = state.reference.row
            object.slab = state.reference.slab
            object.flags = state.flags.union(core.factory.newFlags)
            object.changes = state.changes
            object.operations = state.operations
            if !state.toManys.isEmpty { object.someExtras.toManys = state.toManys }
            if let extras = object.extras {
                extras.survivor = nil
                if let version = state.firstVersion, extras.firstVersion != version { extras.firstVersion = version }
            }
            core.identityMap.register(object)
        }
        core.tracker.restore(states.map(\.object))
        core.identityMap.restore(aliases)
        core.nullifications.restore(nullifications)
    }
}
