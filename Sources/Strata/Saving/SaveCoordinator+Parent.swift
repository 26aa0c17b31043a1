import StrataStore

extension SaveCoordinator {
    /// Saves to a parent in the same isolation domain, in memory.
    func save(to parent: ContextCore, _ builder: ChangeSetBuilder) throws(PersistenceError) {
        let changes = try builder.build(.unversioned)
        // There, the later save of a property wins.
        if parent.mergesCommits { return try handOver(changes, to: parent) }
        var held = try parent.parentSave.load(changes)
        defer { withExtendedLifetime(held) {} }
        let stale = StaleChanges(child: core, parent: parent)
        let conflicts = stale.conflicts(in: changes)
        if conflicts.isEmpty { return try handOver(changes, to: parent) }
        try core.undoingOnFailure { () throws(PersistenceError) in
            try resolve(conflicts)
            let changes = try builder.build(.unversioned)
            held += try parent.parentSave.load(changes)
            let others = stale.conflicts(in: changes)
            guard others.isEmpty else { throw unresolvable(others) }
            try handOver(changes, to: parent)
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
