import Foundation

extension ManagedObjectContext {
    /// Hands all changes on: to the store in one transaction, or to the parent in memory.
    ///
    /// Hooks run first (`willSave`, until nothing changes any more), then validation of every changed object, then the
    /// write. A save that throws leaves objects and store as they were; what `willSave` changed stays changed.
    /// - Throws: ``PersistenceError/validation(_:)`` with all failures of all objects,
    ///   ``PersistenceError/conflicts(_:)`` under ``MergePolicy/error``, ``PersistenceError/store(_:)``,
    ///   ``PersistenceError/hooksNeverSettle(entities:)``, ``PersistenceError/recursiveSave`` in `willSave` and
    ///   validators; for a child ``PersistenceError/objectNotFound(_:)`` if the parent's store has lost an object that
    ///   was changed here.
    public func save() throws(PersistenceError) {
        guard !isSaving else { throw isSavingElsewhere ? .saveInProgress : .recursiveSave }
        isSaving = true
        defer { isSaving = false }
        guard try prepareSave() else { return }
        let saved = changedObjects.filter { $0.hasChanges && !$0.isStillborn }
        if let parent {
            try parent.apply(makeChangeSet(bumpingVersions: false))
            finishSave()
        } else {
            try saveToStore()
        }
        // The save is over: hooks may change objects, and save again.
        isSaving = false
        for object in saved { object.didSave() }
    }

    /// Runs the hooks and validates.
    /// - Returns: Whether there is anything to save.
    func prepareSave() throws(PersistenceError) -> Bool {
        processPendingChanges()
        guard hasChanges else {
            dropUnchanged()
            return false
        }
        try runWillSave()
        if coordinator.network != nil { assignPrimaryKeys() }
        try validate()
        return true
    }

    /// A back end knows objects by their primary keys. New ones that have none get one.
    private func assignPrimaryKeys() {
        for object in changedObjects where object.isInserted && !object.isStillborn {
            guard let field = object.binding.entity.primaryKeyField,
                let slot = object.binding.entity.slot(named: field),
                !object.row.isPresent(slot.index)
                    || object.row.value(slot) == .string("")
            else { continue }
            let id = TimeOrderedUUID.next()
            object.write(slot.type == .uuid ? .uuid(id) : .string(id.uuidString), slot)
        }
    }

    private func dropUnchanged() {
        for object in changedObjects { object.flags.remove(.listed) }
        changedObjects = []
    }

    private func runWillSave() throws(PersistenceError) {
        var changing: Set<String> = []
        for round in 0..<1000 {
            let before = changeCount
            for object in changedObjects where object.hasChanges && !object.isStillborn {
                let count = changeCount
                object.willSave()
                if round > 990, changeCount != count { changing.insert(object.binding.entity.name) }
            }
            if changeCount == before { return }
        }
        throw .hooksNeverSettle(entities: changing.sorted())
    }

    private func validate() throws(PersistenceError) {
        var changing: Set<String> = []
        for round in 0..<1000 {
            var failures: [ValidationFailure] = []
            let before = changeCount
            for object in changedObjects where object.hasChanges && !object.isStillborn {
                let count = changeCount
                object.collectFailures(&failures)
                if round > 990, changeCount != count { changing.insert(object.binding.entity.name) }
            }
            guard changeCount == before else { continue }
            guard failures.isEmpty else { throw .validation(ValidationError(failures)) }
            return
        }
        throw .hooksNeverSettle(entities: changing.sorted())
    }

    // MARK: To the store

    /// Others may change the same rows again and again between two attempts; beyond this many, the save gives up.
    static let attempts = 100

    private func saveToStore() throws(PersistenceError) {
        var changes = makeChangeSet(bumpingVersions: true)
        var memory: ContextMemory?
        var effects = CommitEffects()
        do throws(PersistenceError) {
            for attempt in 1... {
                let result: CommitResult
                do throws(StoreError) {
                    result = try changes.isEmpty ? .committed(effects) : coordinator.store.commit(changes)
                } catch {
                    guard case .constraint = error, mergePolicy != .error, attempt < Self.attempts else {
                        throw .store(error)
                    }
                    resetVersions()
                    if memory == nil { memory = ContextMemory(of: self) }
                    guard try dropDangling() else { throw .store(error) }
                    changes = makeChangeSet(bumpingVersions: true)
                    continue
                }
                let conflicts: [StoreConflict]
                switch result {
                case .committed(let made):
                    effects = made
                    conflicts = []
                case .conflicts(let found): conflicts = found
                case .partly(let effects, let done, let failure):
                    let refused = Set(failure.objects.map(\.objectID))
                    finishSave(of: done, effects, changedObjects, refused: refused)
                    memory = nil
                    throw .store(.remote(failure))
                }
                if conflicts.isEmpty { break }
                for conflict in conflicts {
                    // Others, perhaps of another process, wrote these rows: what the cache has of them is old.
                    coordinator.rowCache.invalidate(
                        [conflict.key], rootIndex: model.entities[conflict.entityIndex].rootIndex)
                }
                guard attempt < Self.attempts else { throw .conflicts(conflicts.map(describe)) }
                resetVersions()
                if memory == nil { memory = ContextMemory(of: self) }
                try resolve(conflicts)
                changes = makeChangeSet(bumpingVersions: true)
            }
        } catch {
            resetVersions()
            memory?.restore(self)
            throw error
        }
        let notice = makeNotice(changes, effects)
        for (rootIndex, keys) in notice.staleKeys(model) { coordinator.rowCache.invalidate(keys, rootIndex: rootIndex) }
        coordinator.forgetRows(referringTo: changes.deletes)
        let changed = changedObjects
        finishSave()
        for row in effects.rows { tables[row.row.entityIndex].object(row.row.key)?.takeSnapshot(row) }
        for clearing in changes.clearings { take(clearing) }
        clearReferences(to: changes.deletes, effects.referrers, changed: changed)
        if !changes.isEmpty { coordinator.broadcast(notice) }
    }

    /// Everything that is pending, as values.
    func makeChangeSet(bumpingVersions: Bool) -> ChangeSet {
        var changes = ChangeSet()
        changes.author = author
        for object in changedObjects where object.hasChanges && !object.isStillborn {
            if object.flags.contains(.deleted) {
                changes.deletes.append(
                    .init(entityIndex: object.binding.entity.index, key: object.key, baseVersion: object.version))
                continue
            }
            object.computeDerived()
            if object.isInserted {
                if bumpingVersions { object.setRowVersion(object.extras?.firstVersion ?? 1) }
                changes.inserts.append(.init(row: RowReference(slab: object.slab, row: object.row)))
            } else {
                let slots = object.storedChanges
                if !slots.isEmpty {
                    let base = object.version
                    if bumpingVersions { object.setRowVersion(base + 1) }
                    changes.updates.append(
                        .init(row: RowReference(slab: object.slab, row: object.row), slots: slots, baseVersion: base))
                }
            }
            object.appendToManyChanges(to: &changes)
        }
        changes.clearings = pendingClearings
        return changes
    }

    /// After a failed attempt: the version in a row is that of the snapshot again.
    private func resetVersions() {
        for object in changedObjects where object.flags.contains(.ownsRow) && !object.flags.contains(.deleted) {
            object.setRowVersion(object.isInserted ? 0 : object.version)
        }
    }

    func makeNotice(_ changes: ChangeSet, _ effects: CommitEffects) -> CommitNotice {
        CommitNotice(
            contextNumber: number, changes: changes, effects: effects,
            previousRows: changes.updates.map { update in
                tables[update.row.row.entityIndex].object(update.row.row.key)?.changes?.snapshot ?? update.row
            },
            deletedRows: changes.deletes.map { delete in
                tables[delete.entityIndex].object(delete.key).map { $0.changes?.snapshot ?? $0.sharedRow }
            })
    }

    /// The objects are clean now.
    private func finishSave() {
        let objects = changedObjects
        changedObjects = []
        clearings = []
        for object in objects {
            object.flags.remove(.listed)
            if object.flags.contains(.deleted) {
                object.flags.remove(.changed)
                object.flags.insert(.missing)
                detach(object)
                continue
            }
            if object.flags.contains(.gone) {
                object.markMissing()
                continue
            }
            object.flags.remove([.inserted, .updated, .ownsRow])
            object.changes = nil
            object.extras?.toManys.forEach { $0?.clearChanges() }
        }
    }
}

extension CommitNotice {
    /// The keys whose rows in older batches are out of date, by hierarchy.
    func staleKeys(_ model: ManagedObjectModel) -> [Int: [Int64]] {
        var result: [Int: [Int64]] = [:]
        for update in changes.updates {
            result[model.entities[update.row.row.entityIndex].rootIndex, default: []].append(update.row.row.key)
        }
        for clearing in changes.clearings {
            result[model.entities[clearing.entityIndex].rootIndex, default: []] += clearing.keys
        }
        for delete in changes.deletes {
            result[model.entities[delete.entityIndex].rootIndex, default: []].append(delete.key)
        }
        return result
    }
}

extension ManagedObject {
    /// Inserted and deleted before any save: nothing to write.
    final var isStillborn: Bool { flags.contains(.inserted) && flags.contains(.deleted) }

    /// Slots with another value than the snapshot, as far as the store keeps them.
    final var storedChanges: SlotSet {
        guard let changes, let snapshot = changes.snapshot else { return SlotSet() }
        let slots = binding.entity.slots
        var result = SlotSet()
        for slot in changes.slots
        where slots[slot].isStored && !row.hasSameValue(as: snapshot.row, slot: slot, storage: slots[slot].storage) {
            result.insert(slot)
        }
        return result
    }

    /// Writes the version into the row, which must be this object's own.
    final func setRowVersion(_ version: Int64) {
        if !flags.contains(.ownsRow) {
            slab = RowSlab.copy(of: row)
            row = slab.row
            flags.insert(.ownsRow)
        }
        RowEditing.setVersion(version, in: slab)
    }

    /// Fills the derived attributes that are computed at a save.
    final func computeDerived() {
        guard !binding.savedDerivations.isEmpty, isInserted || !storedChanges.isEmpty else { return }
        for (slot, derivation) in binding.savedDerivations {
            let description = binding.entity.slots[slot]
            let value: Value =
                switch derivation {
                case .lowercase(let source): text(source).map { .string($0.lowercased()) } ?? .null
                case .uppercase(let source): text(source).map { .string($0.uppercased()) } ?? .null
                case .canonical(let source):
                    text(source).map { .string(TextComparison.fold($0, [.caseInsensitive, .diacriticInsensitive])) }
                        ?? .null
                case .now: .date(Date())
                default: .null
                }
            if value != row.value(description) { write(value, description) }
        }
    }

    private func text(_ name: String) -> String? {
        binding.entity.slot(named: name).flatMap { String(row.value($0)) }
    }

    /// Adds changed pairs and orders to a change set.
    final func appendToManyChanges(to changes: inout ChangeSet) {
        guard let extras, !flags.contains(.deleted) else { return }
        for (index, state) in extras.toManys.enumerated() {
            guard let state, state.hasChanges else { continue }
            let relationship = relationship(toMany: index)
            let entityIndex = binding.model.entity(named: relationship.declaringEntity)?.index ?? binding.entity.index
            if case .pairs(isPrimary: true) = relationship.storage, !state.added.isEmpty || !state.removed.isEmpty {
                changes.pairs.append(
                    .init(
                        entityIndex: entityIndex, relationshipIndex: relationship.index, owner: key,
                        added: state.added.values.filter { !$0.isDeleted }.map(\.key).sorted(),
                        removed: state.removed.keys.sorted()))
            }
            guard relationship.isOrdered else { continue }
            if state.isRearranged {
                let members = state.members?.objects ?? state.arrangement
                changes.orders.append(
                    .init(
                        entityIndex: entityIndex, relationshipIndex: relationship.index, owner: key,
                        kind: .arrange(members.filter { !$0.isDeleted }.map(\.key))))
            } else if !state.appended.isEmpty {
                changes.orders.append(
                    .init(
                        entityIndex: entityIndex, relationshipIndex: relationship.index, owner: key,
                        kind: .append(state.appended.filter { !$0.isDeleted }.map(\.key))))
            }
        }
    }
}
