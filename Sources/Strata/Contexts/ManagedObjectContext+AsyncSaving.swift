import Foundation

// A save to a store of which a part is elsewhere takes time, and the context may be changed meanwhile. So what is
// saved is a copy, and when the store is done, each object is clean as far as it still is what was saved.

extension ManagedObjectContext {
    /// As ``save()``, without blocking the caller, and with what the save asks of the kind of store: where a remote store
    /// writes first, for instance. Other stores, and parents, are saved to as by ``save()``.
    ///
    /// Objects may be changed while the save goes on; such changes stay for the next one. A second `save(options:)` of
    /// the context waits for the first; ``save()`` meanwhile throws.
    ///
    /// A back end may do some of the writes and refuse others. The error names each object that was refused; these keep
    /// their changes, the others are saved.
    /// - Parameter options: What is asked of the kind of store; nil as the store is told.
    /// - Throws: As ``save()``; ``PersistenceError/store(_:)`` with ``StoreError/remote(_:)`` if a back end failed.
    public nonisolated(nonsending) func save(options: (any StoreRequestOptions)?) async throws(PersistenceError) {
        guard parent == nil, let network = coordinator.network else { return try save() }
        while isSaving {
            guard isSavingElsewhere else { throw .recursiveSave }
            await withCheckedContinuation { waitingSaves.append($0) }
        }
        isSaving = true
        isSavingElsewhere = true
        defer { endSavingElsewhere() }
        guard try prepareSave() else { return }
        let saved = changedObjects.filter { $0.hasChanges && !$0.isStillborn }
        let outcome = try await save(saved, to: network, options)
        endSavingElsewhere()
        for object in saved where !outcome.refused.contains(object.objectID) { object.didSave() }
        if let failure = outcome.failure { throw .store(.remote(failure)) }
    }

    private func endSavingElsewhere() {
        guard isSavingElsewhere else { return }
        isSaving = false
        isSavingElsewhere = false
        let waiting = waitingSaves
        waitingSaves = []
        for continuation in waiting { continuation.resume() }
    }

    private nonisolated(nonsending) func save(
        _ objects: [ManagedObject], to network: any NetworkStore, _ options: (any StoreRequestOptions)?
    ) async throws(PersistenceError) -> (refused: Set<ObjectID>, failure: RemoteFailure?) {
        for attempt in 1... {
            let changes = makeChangeSet(bumpingVersions: false).copied(of: self)
            guard !changes.isEmpty else {
                finishSave(of: changes, CommitEffects(), objects, refused: [])
                break
            }
            let result: CommitResult
            do throws(StoreError) {
                result = try await network.commit(changes, options: options)
            } catch {
                throw PersistenceError(error)
            }
            switch result {
            case .committed(let effects):
                finishSave(of: changes, effects, objects, refused: [])
                return ([], nil)
            case .partly(let effects, let done, let failure):
                let refused = Set(failure.objects.map(\.objectID))
                finishSave(of: done, effects, objects, refused: refused)
                return (refused, failure)
            case .conflicts(let conflicts):
                for conflict in conflicts {
                    coordinator.rowCache.invalidate(
                        [conflict.key], rootIndex: model.entities[conflict.entityIndex].rootIndex)
                }
                guard attempt < Self.attempts else { throw .conflicts(conflicts.map(describe)) }
                if automaticallyMergesChanges, mailbox.hasNotices {
                    // What came while the save was under way stands below the changes, as it does at its beginning.
                    processPendingChanges()
                    continue
                }
                let memory = ContextMemory(of: self)
                do throws(PersistenceError) {
                    try resolve(conflicts)
                } catch {
                    memory.restore(self)
                    throw error
                }
            }
        }
        return ([], nil)
    }

    /// Objects are clean as far as they still are what was saved; those that were refused stay as they are.
    /// - Parameters:
    ///   - done: What was saved.
    ///   - objects: What had changes when the save began.
    ///   - refused: What the store did not save.
    func finishSave(
        of done: ChangeSet, _ effects: CommitEffects, _ objects: [ManagedObject], refused: Set<ObjectID>
    ) {
        let known = Dictionary(
            effects.rows.map { (RowIdentity($0, model), $0) }, uniquingKeysWith: { _, last in last })
        let committed = done.replacingRows { known[RowIdentity($0, model)] ?? $0 }
        let notice = makeNotice(committed, effects)
        for (sent, now) in zip(done.inserts.map(\.row), committed.inserts.map(\.row)) { settle(sent, now) }
        for (sent, now) in zip(done.updates.map(\.row), committed.updates.map(\.row)) { settle(sent, now) }
        for delete in done.deletes {
            guard let object = tables[delete.entityIndex].object(delete.key) else { continue }
            object.flags.remove([.changed, .listed])
            object.flags.insert(.missing)
            detach(object)
        }
        for pair in done.pairs { settle(pair) }
        for order in done.orders { settle(order) }
        for object in objects where !refused.contains(object.objectID) { clean(object) }
        changedObjects.removeAll { !$0.flags.contains(.listed) }
        for clearing in done.clearings {
            for index in clearings.indices
            where clearings[index].entityIndex == clearing.entityIndex && clearings[index].slot == clearing.slot {
                clearings[index].targets.removeAll { clearing.targets.contains($0) }
            }
            take(clearing)
        }
        clearings.removeAll { $0.targets.isEmpty }
        clearReferences(to: done.deletes, effects.referrers, changed: objects)
        if !done.isEmpty { coordinator.announce(notice) }
    }

    private func settle(_ sent: RowReference, _ now: RowReference) {
        guard let object = tables[sent.row.entityIndex].object(sent.row.key) else { return }
        var record = ChangeRecord(snapshot: sent)
        for slot in object.binding.entity.slots { record.slots.insert(slot.index) }
        object.changes = record
        object.flags.remove([.inserted, .updated])
        object.takeSnapshot(now)
        if object.flags.contains(.deleted) { return }
        if !object.storedChanges.isEmpty { object.flags.insert(.updated) }
    }

    private func settle(_ pair: ChangeSet.PairChange) {
        let relationship = model.entities[pair.entityIndex].relationships[pair.relationshipIndex]
        func settle(_ object: ManagedObject?, _ index: Int?, added: [Int64], removed: [Int64]) {
            guard let object, let index, let state = object.extras?.toMany(index) else { return }
            for key in added { state.added[key] = nil }
            for key in removed { state.removed[key] = nil }
            if state.added.isEmpty, state.removed.isEmpty, state.appended.isEmpty { state.isTouched = false }
        }
        settle(
            tables[pair.entityIndex].object(pair.owner), relationship.toManyIndex, added: pair.added,
            removed: pair.removed)
        let inverse = model.inverse(of: relationship)?.toManyIndex
        let table = tables[relationship.destinationIndex]
        for key in pair.added { settle(table.object(key), inverse, added: [pair.owner], removed: []) }
        for key in pair.removed { settle(table.object(key), inverse, added: [], removed: [pair.owner]) }
    }

    private func settle(_ order: ChangeSet.OrderChange) {
        let relationship = model.entities[order.entityIndex].relationships[order.relationshipIndex]
        guard let index = relationship.toManyIndex,
            let state = tables[order.entityIndex].object(order.owner)?.extras?.toMany(index)
        else { return }
        switch order.kind {
        case .append(let keys):
            let saved = Set(keys)
            state.appended.removeAll { saved.contains($0.key) }
        case .arrange(let keys):
            let shown = (state.members?.objects ?? state.arrangement).filter { !$0.isDeleted }
            guard shown.map(\.key) == keys else { return }
            state.isRearranged = false
            state.arrangement = []
            state.appended = []
        }
        if state.added.isEmpty, state.removed.isEmpty, state.appended.isEmpty { state.isTouched = false }
    }

    /// An object that has nothing left to save is no changed one any more.
    private func clean(_ object: ManagedObject) {
        guard object.context === self, object.flags.isDisjoint(with: [.inserted, .deleted]) else { return }
        for (index, state) in (object.extras?.toManys ?? []).enumerated() {
            guard let state, state.added.isEmpty, state.removed.isEmpty, state.appended.isEmpty else { continue }
            // What came and went stands in the rows of the members.
            if case .inverseSlot = object.relationship(toMany: index).storage { state.isTouched = false }
        }
        guard object.storedChanges.isEmpty, !(object.extras?.toManys ?? []).contains(where: { $0?.hasChanges == true })
        else { return }
        object.flags.remove(.listed)
        if object.flags.contains(.gone) { return object.markMissing() }
        object.flags.remove([.updated, .ownsRow])
        object.changes = nil
    }
}

extension ChangeSet {
    /// The changes with rows of their own, which have the versions that they shall have.
    fileprivate func copied(of context: ManagedObjectContext) -> ChangeSet {
        func copy(_ row: RowPointer, version: Int64) -> RowReference {
            let slab = RowSlab.copy(of: row)
            RowEditing.setVersion(version, in: slab)
            return RowReference(slab: slab, row: slab.row)
        }
        var result = self
        result.inserts = inserts.map { insert in
            let row = insert.row.row
            let object = context.tables[row.entityIndex].object(row.key)
            return Insert(row: copy(row, version: object?.extras?.firstVersion ?? 1))
        }
        result.updates = updates.map { update in
            Update(
                row: copy(update.row.row, version: update.baseVersion + 1), slots: update.slots,
                baseVersion: update.baseVersion)
        }
        return result
    }

    /// The changes with other rows for its inserts and updates.
    fileprivate func replacingRows(_ row: (RowReference) -> RowReference) -> ChangeSet {
        var result = self
        result.inserts = inserts.map { Insert(row: row($0.row)) }
        result.updates = updates.map { Update(row: row($0.row), slots: $0.slots, baseVersion: $0.baseVersion) }
        return result
    }
}

extension RowIdentity {
    /// What tells a row from others of its hierarchy.
    fileprivate init(_ reference: RowReference, _ model: ManagedObjectModel) {
        self.init(entityIndex: model.entities[reference.row.entityIndex].rootIndex, key: reference.row.key)
    }
}
