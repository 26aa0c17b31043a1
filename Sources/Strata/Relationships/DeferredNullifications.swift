import StrataStore

/// References to deleted objects in rows that the context has not read.
///
/// A delete leaves objects behind that referred to the deleted one. Those that the context has read are changed one by one,
/// as by the application. The others are not read for it: the save sets their references to nil by one statement. They
/// become changed objects as soon as something reads their hierarchy.
final class DeferredNullifications: ContextPart {
    /// Nothing that is called while it changes looks at it; every fetch does, so a check at run time would cost.
    @exclusivity(unchecked) private var pending: [ChangeSet.Clearing] = []

    var isEmpty: Bool { pending.isEmpty }

    /// Defers the references of unread members to a deleted object.
    func add(_ keys: [Int64], to target: Int64, entityIndex: Int, slot: Int) {
        if let position = pending.firstIndex(where: { $0.entityIndex == entityIndex && $0.slot == slot }) {
            pending[position].targets.append(target)
            pending[position].keys += keys
        } else {
            pending.append(.init(entityIndex: entityIndex, slot: slot, targets: [target], keys: keys))
        }
    }

    /// Before rows of a hierarchy are read: its deferred references become changes of objects like any other.
    /// - Throws: The store's error; nothing has changed then.
    func settle(rootIndex: Int? = nil) throws(PersistenceError) {
        guard !pending.isEmpty else { return }
        let core = core
        let all = pending
        let concerned = all.filter { rootIndex == nil || core.rootIndex(of: $0.entityIndex) == rootIndex }
        guard !concerned.isEmpty else { return }
        // Reading asks for this again.
        pending = []
        do throws(PersistenceError) {
            var rows: [(clearing: ChangeSet.Clearing, rows: [RowReference])] = []
            for clearing in concerned {
                rows.append((clearing, try core.rows.rows(entityIndex: clearing.entityIndex, keys: clearing.keys)))
            }
            pending = all.filter { rootIndex != nil && core.rootIndex(of: $0.entityIndex) != rootIndex }
            // These are changes also where a hook that may not make any reads the rows.
            core.tracker.withTracking {
                for (clearing, rows) in rows {
                    let targets = Set(clearing.targets)
                    for row in rows {
                        let member = core.factory.materialize(row, batch: nil)
                        guard !member.isDeleted, let key = member.targetKey(clearing.slot), targets.contains(key)
                        else { continue }
                        member.writeTargetKey(nil, clearing.slot)
                    }
                }
            }
        } catch {
            pending = all
            throw error
        }
    }

    /// What a save is to nullify in the store: not in objects that it writes anyway.
    var forSave: [ChangeSet.Clearing] {
        pending.map { clearing in
            let table = core.identityMap.table(clearing.entityIndex)
            return .init(
                entityIndex: clearing.entityIndex, slot: clearing.slot, targets: clearing.targets,
                keys: clearing.keys.filter { table.object($0)?.hasChanges != true }.sorted())
        }
    }

    /// Forgets what a save has nullified.
    func remove(_ saved: [ChangeSet.Clearing]) {
        for clearing in saved {
            let targets = Set(clearing.targets)
            for index in pending.indices
            where pending[index].entityIndex == clearing.entityIndex && pending[index].slot == clearing.slot {
                pending[index].targets.removeAll(where: targets.contains)
            }
        }
        pending.removeAll { $0.targets.isEmpty }
    }

    func removeAll() { pending = [] }

    /// What is deferred, to be put back if a save fails.
    var all: [ChangeSet.Clearing] { pending }

    func restore(_ all: [ChangeSet.Clearing]) { pending = all }
}
