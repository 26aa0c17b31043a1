import Foundation
import StrataSQLite
import StrataStore

/// A save that goes to the server immediately: what it sends, and what the mirror gets of it then.
struct OnlineSave: Sendable {
    private let store: RemoteStore
    private let options: RemoteStore.Options
    /// What the context saves.
    private let asked: ChangeSet
    /// The same on top of what the server has made of earlier saves.
    private let changes: ChangeSet
    /// The objects in which these differ.
    private let behind: Set<RowIdentity>
    /// Changes of the same objects that wait because the server has refused them, by topmost entity and key. The save takes
    /// them along.
    private let refused: [RowIdentity: OutboxEntry]
    /// Such changes of objects that the save deletes.
    private let refusedBelow: [RowIdentity: OutboxEntry]
    private let writes: [MirrorWrite]
    /// Where the context has what it saves.
    private let draft: ChangeSource.Draft?

    private var mirror: Mirror { store.mirror }
    private var model: ManagedObjectModel { store.model }

    /// - Throws: What the mirror throws when it is read.
    init(
        store: RemoteStore, options: RemoteStore.Options, asked: ChangeSet, changes: ChangeSet,
        behind: Set<RowIdentity>
    ) throws(StoreError) {
        self.store = store
        self.options = options
        self.asked = asked
        self.changes = changes
        self.behind = behind
        draft = asked.source?.draft
        refused = try store.mirror.refusedEntries(of: changes)
        refusedBelow = try store.mirror.refusedEntries(deletedBy: changes)
        writes = try store.mirror.writes(
            for: changes, refused: refused, computes: store.backend.capabilities.computesOnline)
    }

    /// Sends the save, and notes in the mirror what the server has done. If the server cannot be reached, the save waits in the
    /// mirror where the policy says so.
    func run() async throws(StoreError) -> CommitResult {
        mirror.noteUnknown(refused, asked.source)
        mirror.noteUnknown(refusedBelow, asked.source)
        let births = writes.filter { $0.kind == .insert }
        mirror.online.births.begin(births.map(\.rootedName), of: asked.source)
        var undone: Set<RowIdentity> = []
        defer { endBirths(undone) }
        mirror.online.unknown.begin(writes, of: asked.source)
        defer { mirror.online.unknown.end(writes) }
        var sending = SaveSending(
            store: store, options: options, writes: writes, refused: Set(refused.keys), source: asked.source)
        let ticket = mirror.ticket()
        await sending.run()
        undone = sending.undone
        let answered = sending
        try await forgetCarriedOut(answered)
        let done = part(changes, of: answered)
        if done.isEmpty, let error = answered.commonError {
            guard options.savePolicy == .networkElseQueue, error.kind == .unreachable || error.kind == .timeout else {
                throw StoreError(error)
            }
            undone = []
            return try await store.surroundings.elsewhere { () throws(StoreError) in
                try self.store.commitHere(self.changes)
            }
        }
        let (result, kept) = try await store.surroundings.elsewhere { () throws(StoreError) in
            try self.settleRefused(done, answered)
            return try self.finish(done, answered, ticket)
        }
        sending.failDeletions(of: kept)
        let sent = sending
        try await readUnseen(sent)
        guard case .committed(let effects) = result, !sent.isComplete else { return result }
        // In terms of what the context has sent. Compared with the rows that it was rebased on, its values would look like later changes.
        return .partly(effects, done: part(asked, of: sent), failure: sent.failure)
    }

    /// What the server has done of changes.
    private func part(_ changes: ChangeSet, of sent: SaveSending) -> ChangeSet {
        sent.isComplete ? changes : changes.part(withoutKeysIn: sent.undone, sent.following.withheld, model)
    }

    /// New objects may be told about again, and so may those that are deleted after a creation without an answer. Of those whose
    /// save may have been carried out contexts still have the change: they are left out of answers until it is saved again. So
    /// do they have those that are not made yet.
    private func endBirths(_ undone: Set<RowIdentity>) {
        let births = mirror.online.births
        if births.isEmpty { return }
        for write in writes {
            if mirror.online.unknown.write(of: write.rootedIdentity, of: asked.source) == nil {
                if write.kind == .insert, let draft, undone.contains(write.rootedIdentity) {
                    births.fail(write.rootedName, draft)
                } else {
                    births.end([write.rootedName])
                }
            } else if write.kind == .insert {
                births.leave(write.rootedName, draft)
            }
        }
    }

    // MARK: Changes that waited

    /// Takes refused changes out that the server has carried out, even if the save fails.
    private func forgetCarriedOut(_ sent: SaveSending) async throws(StoreError) {
        let left = refused.filter { !sent.isPassed($0.key) }
        guard !left.isEmpty, !sent.repeated.carriedOut.isEmpty else { return }
        try await store.surroundings.elsewhere { () throws(StoreError) in
            try self.mirror.forgetCarriedOut(left, sent.repeated.carriedOut, sent.repeated.unknown)
        }
    }

    /// Takes refused changes out that the save has said, and has the next save decide about those that it could not pass.
    private func settleRefused(_ done: ChangeSet, _ sent: SaveSending) throws(StoreError) {
        let carriedOut = sent.repeated.carriedOut
        try mirror.forgetRefused(refused.filter { sent.isPassed($0.key) }, behind: done, carriedOut: carriedOut)
        try mirror.forgetRefused(
            refusedBelow.filter { sent.repeated.overtaken.contains($0.key) }, behind: done, carriedOut: carriedOut)
        try mirror.leaveOutMembers(of: done)
        // The server has an object of the primary key, or had one, and nobody can tell whose it is; or it has another state
        // than the refused change was made to. The next save settles that first, by the conflict policy.
        let taken = refused.filter { sent.duplicates.contains($0.key) || sent.conflicting.contains($0.key) }
        let undecided = try Set(taken.keys).union(waiting(sent.conflicting))
        mirror.online.undecided.withLock { $0.formUnion(undecided) }
        try mirror.retry(taken.map(\.value))
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

    /// Reads the states that changes collided with: without these each further attempt would collide in the same way.
    private func readUnseen(_ sent: SaveSending) async throws(StoreError) {
        var unseen: [RemoteIdentity] = []
        // Of a new object that the server has not said anything of yet, not to find it would look like its end.
        for name in sent.unseen where try mirror.insertions(of: [name]).isEmpty { unseen.append(name) }
        if !unseen.isEmpty { try? await store.refresh(unseen, options) }
    }

    // MARK: In the mirror

    /// Whether the results are a part of the mirror from now on.
    private var keepsResults: Bool { options.savePolicy != .networkOnly }

    /// Writes what the back end has done into the mirror, and what it answered on top.
    /// - Returns: What became of it, and the objects that stay; see ``Landing/kept``.
    private func finish(
        _ done: ChangeSet, _ sent: SaveSending, _ ticket: ReadTicket
    ) throws(StoreError) -> (result: CommitResult, kept: Set<RowIdentity>) {
        var effects = CommitEffects()
        var landing = Landing(
            sent: SentUpdates(writes, sent: sent.writes, store.backend.capabilities), altered: behind)
        if !keepsResults {
            for (root, list) in Dictionary(grouping: done.inserts.map(\.row.row), by: { mirror.root($0.entityIndex) }) {
                try mirror.notePassing(list.map(\.key), rootIndex: root)
            }
        }
        if !done.isEmpty {
            switch try commitRebasing(done, ticket, &landing) {
            case .committed(let made), .partly(let made, _, _): effects = made
            case .conflicts(let conflicts): return (.conflicts(conflicts), [])
            }
        }
        for (identity, id) in sent.renamed {
            try mirror.rename(identity, to: id, wasRefused: sent.refused.contains(identity), since: ticket)
        }
        endBirths(sent.undone)
        let undone = sent.isComplete ? [] : writes.filter { sent.undone.contains(sent.rooted($0)) }
        try take(sent.records, ticket, landing.overtaken, undone)
        for identity in sent.repeated.overtaken {
            if let write = sent.repeated.unknown.write(of: identity) { mirror.online.unknown.take(write, identity) }
        }
        for delete in done.deletes {
            let identity = RowIdentity(entityIndex: mirror.root(delete.entityIndex), key: delete.key)
            if !landing.kept.contains(identity) { mirror.secrets.forget(identity) }
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
                return landing.altered.contains(identity) || versions[identity] != $0.row.version
            }
        }
        return (.committed(effects), landing.kept)
    }

    /// Applies what the back end answered to a save. Of what other answers have told meanwhile it is not known which is
    /// the later one.
    private func take(
        _ records: [RemoteRecord], _ ticket: ReadTicket, _ overtaken: Set<RemoteIdentity>, _ undone: [MirrorWrite]
    ) throws(StoreError) {
        let undone = Set(undone.map(\.rootedName))
        var done: [RemoteRecord] = []
        var others: [RemoteRecord] = []
        for record in records {
            guard let entity = model.entity(named: record.entity) else { continue }
            let identity = RemoteIdentity(entity: entity.rootName, id: mirror.canonical(record.id, entity))
            if overtaken.contains(identity) { continue }
            if try isDeleted(identity, ticket) {
                // The answer does not bring it back. If others have made it again, the next pull finds it.
                try mirror.noteStale(record.identity)
                continue
            }
            if undone.contains(identity) { others.append(record) } else { done.append(record) }
        }
        _ = try mirror.apply(RemotePage(records: done), keeps: keepsResults)
        if !others.isEmpty { _ = try mirror.apply(RemotePage(records: others), ticket: ticket, keeps: keepsResults) }
    }

    /// Whether a pull has told that an object was deleted since the save began, and the mirror has it no more.
    private func isDeleted(_ identity: RemoteIdentity, _ ticket: ReadTicket) throws(StoreError) -> Bool {
        guard mirror.order.isDeleted(identity, since: ticket) else { return false }
        return try mirror.key(of: identity) == nil
    }

    /// How changes that the back end has done come into the mirror.
    private struct Landing {
        let sent: SentUpdates
        /// The objects of which the mirror has other values or references than were sent.
        var altered: Set<RowIdentity>
        /// The objects that answers have told since the changes were sent.
        var overtaken: Set<RemoteIdentity> = []
        /// Objects that the back end has deleted, and the mirror keeps: another context has changed them meanwhile. What becomes of
        /// that change is decided when it is sent.
        var kept: Set<RowIdentity> = []
    }

    /// Commits what the back end has done already on top of what came meanwhile, and below what other contexts have saved
    /// to the mirror since and waits there.
    private func commitRebasing(
        _ changes: ChangeSet, _ ticket: ReadTicket, _ landing: inout Landing
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
                let done = try mirror.commitDone(changes, landing.sent, ticket)
                (result, landing.overtaken) = (done.result, done.overtaken)
                landing.altered.formUnion(done.altered)
            } catch {
                // To make the save fail would send it again, and the back end would have it twice.
                guard case .constraint = error, attempt < 10 else { throw error }
                let gone = try missing(among: changes.referenced(model))
                guard !gone.isEmpty else { throw error }
                let (rest, objects) = changes.without(gone, model)
                changes = rest
                landing.altered.formUnion(objects)
                continue
            }
            guard case .conflicts(let conflicts) = result, attempt < 10 else { return result }
            var rows: [RowIdentity: RowReference?] = [:]
            for conflict in conflicts {
                guard conflict.reason == .version else { return result }
                rows[RowIdentity(entityIndex: mirror.root(conflict.entityIndex), key: conflict.key)] =
                    .some(conflict.storeRow)
            }
            let waiting = try mirror.waitingSlots(of: rows.keys)
            let kept = Set(
                changes.deletes.map { RowIdentity(entityIndex: mirror.root($0.entityIndex), key: $0.key) }
                    .filter { waiting[$0] != nil })
            landing.kept.formUnion(kept)
            changes = changes.part(withoutKeysIn: kept, [:], model).rebased(on: rows, below: waiting, model)
        }
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
}
