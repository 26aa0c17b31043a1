import Foundation
import StrataStore

extension SaveCoordinator {
    /// Saves to a parent in another isolation domain. Objects may be changed meanwhile; such changes stay for the next save.
    nonisolated(nonsending) func save(through link: ParentLink) async throws(PersistenceError) {
        try await waitForTurn()
        phase = .saving
        defer {
            end()
            core.recorder?.close(.save)
        }
        let now = Date()
        guard try prepare(now) else { return }
        let saved = savedObjects
        try await submit(ChangeSetBuilder(core: core, now: now), link)
        end()
        for object in saved { object.didSave() }
    }

    private nonisolated(nonsending) func submit(
        _ builder: ChangeSetBuilder, _ link: ParentLink
    ) async throws(PersistenceError) {
        var conflicts: [StoreConflict] = []
        for _ in 0..<Self.attempts {
            let changes = try builder.build(.detached)
            let objects = savedObjects
            let save = ChildSave(changes: changes, bases: bases(of: objects))
            phase = .waiting
            let answer = await link.submit(save)
            phase = .saving
            switch answer {
            case .applied(let rows, let state):
                core.applier.apply(
                    CommitAnswer(changes: changes, effects: CommitEffects(rows: rows), objects: objects),
                    announcing: false)
                if let state { core.showParent(state) }
                return
            case .conflicts(let found, let state):
                conflicts = found
                try resolveOrUndo(found)
                core.showParent(state)
            case .failed(let error): throw error
            }
        }
        throw unresolvable(conflicts)
    }

    /// The rows that changes are based on.
    private func bases(of objects: [ManagedObject]) -> [RowIdentity: RowReference] {
        var result: [RowIdentity: RowReference] = [:]
        for object in objects where !object.isInserted && !object.isFault {
            result[RowIdentity(entityIndex: object.binding.entity.index, key: object.key)] =
                object.changes?.snapshot ?? object.sharedRow
        }
        return result
    }
}
