import Foundation
import StrataSQLite

extension RemoteStore {
    public func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
        guard options(nil).savePolicy != .cacheOnly else { return try commitHere(changes) }
        try refuseToBlock("a save")
        return try Waiting.wait { () async throws(StoreError) in try await self.commit(changes, options: nil) }
    }

    public func commit(
        _ changes: ChangeSet, options: (any StoreRequestOptions)?
    ) async throws(StoreError) -> CommitResult {
        let options = self.options(options)
        guard options.savePolicy != .cacheOnly else {
            return try await Waiting.elsewhere { () throws(StoreError) in try self.commitHere(changes) }
        }
        do throws(StoreError) {
            try await sendWhatGoesBefore(changes)
        } catch {
            guard options.savePolicy == .networkElseQueue, error.isUnreachable else { throw error }
            return try await Waiting.elsewhere { () throws(StoreError) in try self.commitHere(changes) }
        }
        // A change of what has changed since is no business of the server's yet.
        let conflicts = try versionConflicts(changes)
        guard conflicts.isEmpty else { return .conflicts(conflicts) }
        let clears = !backend.capabilities.features.contains(.inverses)
        let refused = try mirror.refusedEntries(of: changes)
        let writes = try mirror.writes(for: changes, clears: clears, refused: refused)
        let births = writes.filter { $0.kind == .insert }
        let born = births.map { RemoteIdentity(entity: $0.entity.rootName, id: $0.write.id) }
        mirror.births.begin(born)
        var sending = SaveSending(store: self, options: options, writes: writes)
        await sending.run()
        let sent = sending
        defer { endBirths(births) }
        let done = sent.isComplete ? changes : changes.part(withoutKeysIn: sent.undone, model)
        if done.isEmpty, let error = sent.commonError {
            guard options.savePolicy == .networkElseQueue, error.kind == .unreachable || error.kind == .timeout else {
                throw StoreError(error)
            }
            return try await Waiting.elsewhere { () throws(StoreError) in try self.queue(changes, writes) }
        }
        let keeps = options.savePolicy != .networkOnly
        let result = try await Waiting.elsewhere { () throws(StoreError) in
            try self.mirror.forgetRefused(refused.filter { !sent.undone.contains($0.key) })
            return try self.finish(done, sent, births, keeps: keeps)
        }
        guard case .committed(let effects) = result, !sent.isComplete else { return result }
        return .partly(effects, done: done, failure: sent.failure)
    }

    /// New objects may be told of again. Of those whose save may have been carried out contexts still have the change: they
    /// are left out of answers until it is saved again.
    private func endBirths(_ births: [MirrorWrite]) {
        for write in births {
            let identity = RowIdentity(entityIndex: write.entity.rootIndex, key: write.identity.key)
            let name = [RemoteIdentity(entity: write.entity.rootName, id: write.write.id)]
            if mirror.unknown.write(of: identity) == nil { mirror.births.end(name) } else { mirror.births.leave(name) }
        }
    }

    // MARK: Here

    /// Saves to the mirror. What the back end is to hear waits there.
    private func commitHere(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
        let result = try mirror.commit(changes, enqueues: true)
        guard case .committed = result else { return result }
        for (root, list) in Dictionary(grouping: changes.updates.map(\.row.row), by: { mirror.root($0.entityIndex) }) {
            try mirror.forgetPassing(list.map(\.key), rootIndex: root)
        }
        if options(nil).pushesAutomatically {
            let sync = sync
            // How it goes is told by the engine.
            Task { _ = try? await sync.push() }
        }
        return result
    }

    /// Saves to the mirror what could not be sent.
    private func queue(_ changes: ChangeSet, _ writes: [MirrorWrite]) throws(StoreError) -> CommitResult {
        let result = try commitHere(changes)
        guard case .committed = result else { return result }
        try mirror.adopt(writes.filter { write in
            let identity = RowIdentity(entityIndex: write.entity.rootIndex, key: write.identity.key)
            return mirror.unknown.write(of: identity)?.write.token == write.write.token
        })
        mirror.births.end(writes.map { RemoteIdentity(entity: $0.entity.rootName, id: $0.write.id) })
        return result
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

    /// Writes what the back end has done into the mirror, and what it answered on top.
    private func finish(
        _ done: ChangeSet, _ sent: SaveSending, _ births: [MirrorWrite], keeps: Bool
    ) throws(StoreError) -> CommitResult {
        var effects = CommitEffects()
        let records = sent.records
        if !keeps {
            for (root, list) in Dictionary(grouping: done.inserts.map(\.row.row), by: { mirror.root($0.entityIndex) }) {
                try mirror.notePassing(list.map(\.key), rootIndex: root)
            }
        }
        if !done.isEmpty {
            switch try commitRebasing(done) {
            case .committed(let made), .partly(let made, _, _): effects = made
            case .conflicts(let conflicts): return .conflicts(conflicts)
            }
        }
        for (identity, id) in sent.renamed { try mirror.rename(identity, to: id) }
        endBirths(births)
        _ = try mirror.apply(RemotePage(records: records), keeps: keeps)
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
                versions[RowIdentity(entityIndex: root, key: $0.row.key)] != $0.row.version
            }
        }
        return .committed(effects)
    }

    /// Commits what the back end has done already: what came meanwhile stands below it.
    private func commitRebasing(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
        var changes = changes
        for _ in 0..<10 {
            let result = try mirror.commit(changes, enqueues: false)
            guard case .conflicts(let conflicts) = result else { return result }
            var rows: [RowIdentity: RowReference?] = [:]
            for conflict in conflicts {
                guard conflict.reason == .version else { return result }
                rows[RowIdentity(entityIndex: mirror.root(conflict.entityIndex), key: conflict.key)] =
                    .some(conflict.storeRow)
            }
            changes = changes.rebased(on: rows, model)
        }
        return try mirror.commit(changes, enqueues: false)
    }
}

extension ChangeSet {
    /// The changes of objects on top of rows that are newer than those which were read; of objects that are gone,
    /// nothing.
    fileprivate func rebased(on rows: [RowIdentity: RowReference?], _ model: ManagedObjectModel) -> ChangeSet {
        func found(_ entityIndex: Int, _ key: Int64) -> RowReference?? {
            rows[RowIdentity(entityIndex: model.entities[entityIndex].rootIndex, key: key)]
        }
        var result = self
        result.updates = updates.compactMap { update in
            guard let found = found(update.row.row.entityIndex, update.row.row.key) else { return update }
            guard let now = found else { return nil }
            let layout = model.entities[update.row.row.entityIndex].slots
            var slab = RowSlab.copy(of: now.row, room: 64)
            for slot in update.slots {
                RowEditing.copySlot(slot, layout: layout, from: update.row.row, to: &slab)
            }
            RowEditing.setVersion(now.row.version + 1, in: slab)
            return Update(
                row: RowReference(slab: slab, row: slab.row), slots: update.slots, baseVersion: now.row.version)
        }
        result.deletes = deletes.compactMap { delete in
            guard let found = found(delete.entityIndex, delete.key) else { return delete }
            guard let now = found else { return nil }
            return Delete(entityIndex: delete.entityIndex, key: delete.key, baseVersion: now.row.version)
        }
        return result
    }

    /// The changes but for those of some objects, named by topmost entity and key. References to new ones among these
    /// are left out; they stay to be saved.
    fileprivate func part(withoutKeysIn undone: Set<RowIdentity>, _ model: ManagedObjectModel) -> ChangeSet {
        func isDone(_ entityIndex: Int, _ key: Int64) -> Bool {
            !undone.contains(RowIdentity(entityIndex: model.entities[entityIndex].rootIndex, key: key))
        }
        let unborn = Set(
            inserts.map {
                RowIdentity(entityIndex: model.entities[$0.row.row.entityIndex].rootIndex, key: $0.row.row.key)
            }
            .filter(undone.contains))
        func without(_ row: RowReference) -> RowReference {
            let entity = model.entities[row.row.entityIndex]
            var copy: RowSlab?
            for slot in entity.slots where slot.storage == .key && row.row.isPresent(slot.index) {
                guard let index = slot.relationshipIndex else { continue }
                let root = model.entities[entity.relationships[index].destinationIndex].rootIndex
                let key = Int64(bitPattern: row.row.word(slot.index))
                guard unborn.contains(RowIdentity(entityIndex: root, key: key)) else { continue }
                let slab = copy ?? RowSlab.copy(of: row.row)
                RowEditing.setNil(slot.index, in: slab)
                copy = slab
            }
            return copy.map { RowReference(slab: $0, row: $0.row) } ?? row
        }
        func isBorn(_ entityIndex: Int, _ key: Int64) -> Bool {
            !unborn.contains(RowIdentity(entityIndex: model.entities[entityIndex].rootIndex, key: key))
        }
        var result = self
        result.inserts = inserts.filter { isDone($0.row.row.entityIndex, $0.row.row.key) }
            .map { Insert(row: without($0.row)) }
        result.updates = updates.filter { isDone($0.row.row.entityIndex, $0.row.row.key) }
            .map { Update(row: without($0.row), slots: $0.slots, baseVersion: $0.baseVersion) }
        result.deletes = deletes.filter { isDone($0.entityIndex, $0.key) }
        // What is cleared belongs to a delete, and is done with it.
        result.clearings = clearings.compactMap { clearing in
            let relationship = model.entities[clearing.entityIndex].slots[clearing.slot].relationshipIndex
                .map { model.entities[clearing.entityIndex].relationships[$0] }
            guard let relationship else { return nil }
            var part = clearing
            part.targets = clearing.targets.filter { isDone(relationship.destinationIndex, $0) }
            return part.targets.isEmpty ? nil : part
        }
        result.pairs = pairs.filter { isDone($0.entityIndex, $0.owner) }.map { pair in
            let end = model.entities[pair.entityIndex].relationships[pair.relationshipIndex].destinationIndex
            return PairChange(
                entityIndex: pair.entityIndex, relationshipIndex: pair.relationshipIndex, owner: pair.owner,
                added: pair.added.filter { isBorn(end, $0) }, removed: pair.removed)
        }
        result.orders = orders.compactMap { order in
            guard isDone(order.entityIndex, order.owner) else { return nil }
            let end = model.entities[order.entityIndex].relationships[order.relationshipIndex].destinationIndex
            let kind: OrderChange.Kind =
                switch order.kind {
                case .append(let keys): .append(keys.filter { isBorn(end, $0) })
                case .arrange(let keys): .arrange(keys.filter { isBorn(end, $0) })
                }
            return OrderChange(
                entityIndex: order.entityIndex, relationshipIndex: order.relationshipIndex, owner: order.owner,
                kind: kind)
        }
        return result
    }
}
