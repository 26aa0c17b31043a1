import Foundation
import StrataSQLite
import StrataStore

extension RemoteStore {
    public func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
        guard options(nil).savePolicy != .cacheOnly else { return try commitHere(changes) }
        try refuseToBlock("a save")
        return try Waiting.wait { () async throws(StoreError) in try await self.commit(changes, options: nil) }
    }

    public func checkCommitNow() throws(StoreError) {
        if options(nil).savePolicy != .cacheOnly { try refuseToBlock("a save") }
    }

    public func commit(
        _ asked: ChangeSet, options: (any StoreRequestOptions)?
    ) async throws(StoreError) -> CommitResult {
        let options = self.options(options)
        guard options.savePolicy != .cacheOnly else {
            return try await surroundings.elsewhere { () throws(StoreError) in try self.commitHere(asked) }
        }
        let objects = mirror.objects(of: asked)
        do throws(StoreError) {
            try await beginTurn(of: asked, objects, options)
        } catch {
            guard options.savePolicy == .networkElseQueue, error.isUnreachable else { throw error }
            return try await surroundings.elsewhere { () throws(StoreError) in try self.commitHere(asked) }
        }
        defer { endTurn(of: objects) }
        mirror.noteGivenUp(asked)
        let (changes, behind) = try mirror.behindEchoes(asked)
        // A change that was made on top of a newer one is not sent to the server yet.
        let conflicts = try versionConflicts(changes) + mirror.takenKeys(changes) + mirror.deletedBirths(changes)
        guard conflicts.isEmpty else { return .conflicts(conflicts) }
        let save = try OnlineSave(store: self, options: options, asked: asked, changes: changes, behind: behind)
        return try await save.run()
    }

    /// Waits until nothing goes before a save any more: what waits in the mirror, other saves of the same objects, and what other
    /// contexts have sent of these without an answer. Then it is the save's turn, which has to be ended.
    private func beginTurn(
        of changes: ChangeSet, _ objects: Set<RowIdentity>, _ options: Options
    ) async throws(StoreError) {
        let turns = mirror.online.turns
        try await sendWhatGoesBefore(changes)
        if try await turns.begin(objects) {
            // Another context may have saved to the mirror meanwhile.
            turns.end(objects)
            try await sendWhatGoesBefore(changes)
            try await turns.begin(objects)
        }
        do throws(SyncError) {
            try await settleOthers(of: objects, besides: changes.source, options)
        } catch {
            turns.end(objects)
            throw StoreError(error)
        }
    }

    /// Lets the next save of some objects go on. Changes that other contexts have saved to the mirror meanwhile join earlier ones
    /// that this save was to take along, if these still wait.
    private func endTurn(of objects: Set<RowIdentity>) {
        mirror.online.turns.end(objects)
        let waiting = mirror.online.unjoined.withLock { list in
            defer { list.subtract(objects) }
            return list.intersection(objects)
        }
        // If it fails, both stay: they are sent one after the other when you retry the first.
        try? mirror.joinEntries(of: waiting)
    }

    // MARK: Here

    /// Saves to the mirror. What the back end is to hear waits there.
    func commitHere(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
        mirror.noteGivenUp(changes)
        var (changes, behind) = try mirror.behindEchoes(changes)
        let (rest, passed) = try mirror.behindCarriedOut(changes)
        changes = rest
        behind.formUnion(passed)
        // As for an online save: an object that others have deleted does not return as a new one without a word.
        let conflicts = mirror.deletedBirths(changes)
        guard conflicts.isEmpty else { return .conflicts(conflicts) }
        let result = try mirror.commit(changes, enqueues: true)
        guard case .committed(var effects) = result else {
            if case .conflicts(let conflicts) = result { mirror.forgetUnmade(conflicts, changes.source) }
            return result
        }
        mirror.online.births.endUndone(of: changes.source)
        for (root, list) in Dictionary(grouping: behind, by: \.entityIndex) {
            effects.rows += try mirror.store.rows(entityIndex: root, keys: list.map(\.key).sorted()).rows
        }
        let changed = changes.owners(model).union(changes.updates.map { $0.row.identity(model) })
        for (root, list) in Dictionary(grouping: changed, by: \.entityIndex) {
            try mirror.forgetPassing(list.map(\.key), rootIndex: root)
        }
        if options(nil).pushesAutomatically {
            let sync = sync
            // How it goes is told by the engine.
            Task(executorPreference: surroundings.executor) { _ = try? await sync.push() }
        }
        return .committed(effects)
    }

    /// The objects that have another version here than the one that was changed. What others have deleted, too, is in no conflict.
    private func versionConflicts(_ changes: ChangeSet) throws(StoreError) -> [StoreConflict] {
        var versions: [(entityIndex: Int, key: Int64, base: Int64, mayBeGone: Bool)] = []
        for update in changes.updates {
            versions.append((update.row.row.entityIndex, update.row.row.key, update.baseVersion, false))
        }
        for delete in changes.deletes {
            if let base = delete.baseVersion { versions.append((delete.entityIndex, delete.key, base, true)) }
        }
        for check in changes.checks { versions.append((check.entityIndex, check.key, check.version, false)) }
        var result: [StoreConflict] = []
        for (root, list) in Dictionary(grouping: versions, by: { mirror.root($0.entityIndex) }) {
            var rows: [Int64: RowReference] = [:]
            for row in try mirror.store.rows(entityIndex: root, keys: list.map(\.key).sorted()).rows {
                rows[row.row.key] = row
            }
            for (entityIndex, key, base, mayBeGone) in list where rows[key]?.row.version != base {
                if mayBeGone, rows[key] == nil { continue }
                result.append(
                    StoreConflict(reason: .version, entityIndex: entityIndex, key: key, storeRow: rows[key]))
            }
        }
        return result
    }
}
