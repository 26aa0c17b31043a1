import StrataStore

extension SaveCoordinator {
    /// Saves to a parent in the same isolation domain, in memory.
    func save(to parent: ContextCore, _ builder: ChangeSetBuilder) throws(PersistenceError) {
        var savepoint: ContextSavepoint?
        do throws(PersistenceError) {
            // What was read for one attempt need not be read for the next one.
            var held: [ManagedObject] = []
            defer { withExtendedLifetime(held) {} }
            while true {
                let changes = try builder.build(.unversioned)
                let stale = StaleChanges(child: core, parent: parent)
                let conflicts = try stale.conflicts(in: changes, holding: &held)
                guard conflicts.isEmpty else {
                    guard savepoint == nil else { throw unresolvable(conflicts) }
                    savepoint = ContextSavepoint(of: core)
                    try resolve(conflicts)
                    continue
                }
                return try handOver(changes, to: parent)
            }
        } catch {
            savepoint?.restore(core)
            throw error
        }
    }

    private func handOver(_ changes: ChangeSet, to parent: ContextCore) throws(PersistenceError) {
        let rows = try parent.parentSave.apply(changes)
        for insert in changes.inserts {
            let (entityIndex, key) = (insert.row.row.entityIndex, insert.row.row.key)
            // Others deleted the object, and the child has made it again.
            guard let version = core.object(entityIndex, key)?.extras?.firstVersion else { continue }
            parent.object(entityIndex, key)?.someExtras.firstVersion = version
        }
        parent.saves.checks.take(checks)
        checks.removeAll()
        core.applier.apply(
            CommitAnswer(changes: changes, effects: CommitEffects(rows: rows), isExact: true), announcing: false)
        parent.recorder?.close(.event)
    }
}
