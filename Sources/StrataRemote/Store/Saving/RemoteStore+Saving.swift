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
        do throws(StoreError) {
            try await sendWhatGoesBefore(asked)
        } catch {
            guard options.savePolicy == .networkElseQueue, error.isUnreachable else { throw error }
            return try await surroundings.elsewhere { () throws(StoreError) in try self.commitHere(asked) }
        }
        let (changes, behind) = try mirror.behindEchoes(asked)
        // A change that was made on top of a newer one is not sent to the server yet.
        let conflicts = try versionConflicts(changes) + mirror.takenKeys(changes) + mirror.deletedBirths(changes)
        guard conflicts.isEmpty else { return .conflicts(conflicts) }
        let refused = try mirror.refusedEntries(of: changes)
        let refusedBelow = try mirror.refusedEntries(deletedBy: changes)
        mirror.noteUnknown(refused)
        mirror.noteUnknown(refusedBelow)
        let writes = try mirror.writes(
            for: changes, refused: refused, computes: backend.capabilities.computesOnline)
        let births = writes.filter { $0.kind == .insert }
        let born = births.map { RemoteIdentity(entity: $0.entity.rootName, id: $0.write.id) }
        mirror.online.births.begin(born)
        var sending = SaveSending(store: self, options: options, writes: writes, refused: Set(refused.keys))
        let ticket = mirror.ticket()
        await sending.run()
        let sent = sending
        defer { endBirths(births) }
        let done = sent.isComplete ? changes : changes.part(withoutKeysIn: sent.undone, sent.following.withheld, model)
        let left = refused.filter { !sent.isPassed($0.key) }
        if !left.isEmpty, !sent.repeated.tokens.isEmpty {
            // Even if the save fails: the server is known to have carried these out.
            try await surroundings.elsewhere { () throws(StoreError) in
                try self.mirror.forgetCarriedOut(left, sent.repeated.tokens)
            }
        }
        if done.isEmpty, let error = sent.commonError {
            guard options.savePolicy == .networkElseQueue, error.kind == .unreachable || error.kind == .timeout else {
                throw StoreError(error)
            }
            return try await surroundings.elsewhere { () throws(StoreError) in try self.commitHere(changes) }
        }
        let keeps = options.savePolicy != .networkOnly
        let result = try await surroundings.elsewhere { () throws(StoreError) in
            try self.mirror.forgetRefused(
                refused.filter { sent.isPassed($0.key) }, behind: done, carriedOut: sent.repeated.tokens)
            try self.mirror.forgetRefused(
                refusedBelow.filter { sent.repeated.overtaken.contains($0.key) }, behind: done,
                carriedOut: sent.repeated.tokens)
            // The server has an object of the primary key, or had one, and nobody can tell whose it is; or it has another state
            // than the refused change was made to. The next save settles that first, by the conflict policy.
            let taken = refused.filter { sent.duplicates.contains($0.key) || sent.conflicting.contains($0.key) }
            let undecided = try Set(taken.keys).union(self.waiting(sent.conflicting))
            self.mirror.online.undecided.withLock { $0.formUnion(undecided) }
            try self.mirror.retry(taken.map(\.value))
            return try self.finish(done, sent, ticket, writes, behind: behind, keeps: keeps)
        }
        // Without the states that the changes collided with, each further attempt would collide in the same way.
        var unseen: [RemoteIdentity] = []
        // Of a new object that the server has not said anything of yet, not to find it would look like its end.
        for name in sent.unseen where try mirror.insertions(of: [name]).isEmpty { unseen.append(name) }
        if !unseen.isEmpty { try? await refresh(unseen, options) }
        guard case .committed(let effects) = result, !sent.isComplete else { return result }
        // In terms of what the context has sent. Compared with the rows that it was rebased on, its values would look like later changes.
        return .partly(
            effects, done: asked.part(withoutKeysIn: sent.undone, sent.following.withheld, model), failure: sent.failure
        )
    }

    /// Those of some objects of which changes wait.
    private func waiting(_ objects: Set<RowIdentity>) throws(StoreError) -> [RowIdentity] {
        var result: [RowIdentity] = []
        for (root, list) in Dictionary(grouping: objects, by: \.entityIndex) {
            let keys = try mirror.waitingKeys(rootIndex: root)
            result += list.filter { keys.contains($0.key) }
        }
        return result
    }

    /// New objects may be told about again. Of those whose save may have been carried out contexts still have the
    /// change: they are left out of answers until it is saved again.
    private func endBirths(_ births: [MirrorWrite]) {
        for write in births {
            let identity = RowIdentity(entityIndex: write.entity.rootIndex, key: write.identity.key)
            let name = [RemoteIdentity(entity: write.entity.rootName, id: write.write.id)]
            if mirror.online.unknown.write(of: identity) == nil {
                mirror.online.births.end(name)
            } else {
                mirror.online.births.leave(name)
            }
        }
    }

    // MARK: Here

    /// Saves to the mirror. What the back end is to hear waits there.
    private func commitHere(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
        let (changes, behind) = try mirror.behindEchoes(changes)
        // As for an online save: an object that others have deleted does not return as a new one without a word.
        let conflicts = mirror.deletedBirths(changes)
        guard conflicts.isEmpty else { return .conflicts(conflicts) }
        let result = try mirror.commit(changes, enqueues: true)
        guard case .committed(var effects) = result else { return result }
        for (root, list) in Dictionary(grouping: behind, by: \.entityIndex) {
            effects.rows += try mirror.store.rows(entityIndex: root, keys: list.map(\.key).sorted()).rows
        }
        for (root, list) in Dictionary(grouping: changes.updates.map(\.row.row), by: { mirror.root($0.entityIndex) }) {
            try mirror.forgetPassing(list.map(\.key), rootIndex: root)
        }
        if options(nil).pushesAutomatically {
            let sync = sync
            // How it goes is told by the engine.
            Task(executorPreference: surroundings.executor) { _ = try? await sync.push() }
        }
        return .committed(effects)
    }

    /// The objects that have another version here than the one that was changed.
    private func versionConflicts(_ changes: ChangeSet) throws(StoreError) -> [StoreConflict] {
        var versions: [(entityIndex: Int, key: Int64, base: Int64)] = []
        for update in changes.updates {
            versions.append((update.row.row.entityIndex, update.row.row.key, update.baseVersion))
        }
        for delete in changes.deletes {
            if let base = delete.baseVersion { versions.append((delete.entityIndex, delete.key, base)) }
        }
        for check in changes.checks { versions.append((check.entityIndex, check.key, check.version)) }
        var result: [StoreConflict] = []
        for (root, list) in Dictionary(grouping: versions, by: { mirror.root($0.entityIndex) }) {
            var rows: [Int64: RowReference] = [:]
            for row in try mirror.store.rows(entityIndex: root, keys: list.map(\.key).sorted()).rows {
                rows[row.row.key] = row
            }
            for (entityIndex, key, base) in list where rows[key]?.row.version != base {
                result.append(
                    StoreConflict(reason: .version, entityIndex: entityIndex, key: key, storeRow: rows[key]))
            }
        }
        return result
    }

    /// Those of some objects that the mirror does not have.
    private func missing(among asked: Set<RowIdentity>) throws(StoreError) -> Set<RowIdentity> {
        var result = asked
        for (root, list) in Dictionary(grouping: asked, by: \.entityIndex) {
            for row in try mirror.store.rows(entityIndex: root, keys: list.map(\.key).sorted()).rows {
                result.remove(RowIdentity(entityIndex: root, key: row.row.key))
            }
        }
        return result
    }

    /// Writes what the back end has done into the mirror, and what it answered on top.
    private func finish(
        _ done: ChangeSet, _ sent: SaveSending, _ ticket: ReadTicket, _ writes: [MirrorWrite],
        behind: Set<RowIdentity>, keeps: Bool
    ) throws(StoreError) -> CommitResult {
        var effects = CommitEffects()
        var overtaken: Set<RemoteIdentity> = []
        var altered = behind
        if !keeps {
            for (root, list) in Dictionary(grouping: done.inserts.map(\.row.row), by: { mirror.root($0.entityIndex) }) {
                try mirror.notePassing(list.map(\.key), rootIndex: root)
            }
        }
        if !done.isEmpty {
            let result = try commitRebasing(done, ticket, &overtaken, &altered)
            switch result {
            case .committed(let made), .partly(let made, _, _): effects = made
            case .conflicts(let conflicts): return .conflicts(conflicts)
            }
        }
        for (identity, id) in sent.renamed {
            try mirror.rename(identity, to: id, wasRefused: sent.refused.contains(identity), since: ticket)
        }
        endBirths(writes.filter { $0.kind == .insert })
        let undone = sent.isComplete ? [] : writes.filter { sent.undone.contains(sent.rooted($0)) }
        try take(sent.records, ticket, overtaken, undone, keeps: keeps)
        for delete in done.deletes {
            mirror.secrets.forget(RowIdentity(entityIndex: mirror.root(delete.entityIndex), key: delete.key))
        }
        var versions: [RowIdentity: Int64] = [:]
        for row in done.inserts.map(\.row) + done.updates.map(\.row) {
            let identity = RowIdentity(entityIndex: mirror.root(row.row.entityIndex), key: row.row.key)
            versions[identity] = row.row.version
            mirror.secrets.forget(identity)
        }
        for (root, list) in Dictionary(grouping: versions.keys, by: \.entityIndex) {
            effects.rows += try mirror.store.rows(entityIndex: root, keys: list.map(\.key).sorted()).rows.filter {
                let identity = RowIdentity(entityIndex: root, key: $0.row.key)
                return altered.contains(identity) || versions[identity] != $0.row.version
            }
        }
        return .committed(effects)
    }

    /// Applies what the back end answered to a save. Of what other answers have told meanwhile it is not known which is
    /// the later one.
    private func take(
        _ records: [RemoteRecord], _ ticket: ReadTicket, _ overtaken: Set<RemoteIdentity>, _ undone: [MirrorWrite],
        keeps: Bool
    ) throws(StoreError) {
        let undone = Set(undone.map { RemoteIdentity(entity: $0.entity.rootName, id: $0.write.id) })
        var done: [RemoteRecord] = []
        var others: [RemoteRecord] = []
        for record in records {
            guard let entity = model.entity(named: record.entity) else { continue }
            let identity = RemoteIdentity(entity: entity.rootName, id: mirror.canonical(record.id, entity))
            if overtaken.contains(identity) { continue }
            if undone.contains(identity) { others.append(record) } else { done.append(record) }
        }
        _ = try mirror.apply(RemotePage(records: done), keeps: keeps)
        if !others.isEmpty { _ = try mirror.apply(RemotePage(records: others), ticket: ticket, keeps: keeps) }
    }

    /// Commits what the back end has done already: what came meanwhile stands below it.
    /// - Parameters:
    ///   - overtaken: Takes the objects that answers have told since the changes were sent.
    ///   - altered: Takes the objects whose references to others are left out, because these have been deleted meanwhile.
    private func commitRebasing(
        _ changes: ChangeSet, _ ticket: ReadTicket, _ overtaken: inout Set<RemoteIdentity>,
        _ altered: inout Set<RowIdentity>
    ) throws(StoreError) -> CommitResult {
        var changes = changes
        // They have been carried out, and the answers tell what came of them.
        changes.operations = [:]
        // They were made before anything was sent.
        changes.checks = []
        var attempt = 0
        while true {
            attempt += 1
            let result: CommitResult
            do throws(StoreError) {
                (result, overtaken) = try mirror.commitDone(changes, ticket)
            } catch {
                // To make the save fail would send it again, and the back end would have it twice.
                guard case .constraint = error, attempt < 10 else { throw error }
                let gone = try missing(among: changes.referenced(model))
                guard !gone.isEmpty else { throw error }
                let (rest, objects) = changes.without(gone, model)
                changes = rest
                altered.formUnion(objects)
                continue
            }
            guard case .conflicts(let conflicts) = result, attempt < 10 else { return result }
            var rows: [RowIdentity: RowReference?] = [:]
            for conflict in conflicts {
                guard conflict.reason == .version else { return result }
                rows[RowIdentity(entityIndex: mirror.root(conflict.entityIndex), key: conflict.key)] =
                    .some(conflict.storeRow)
            }
            changes = changes.rebased(on: rows, model)
        }
    }
}
