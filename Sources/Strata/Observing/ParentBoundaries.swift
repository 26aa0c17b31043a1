import StrataStore

/// Lets a child context follow its parent while the child has listeners, or if it merges changes: unchanged objects take the
/// values that the parent shows now, and the child reaches a boundary of its own.
final class ParentBoundaries: BoundaryListener {
    private unowned let child: ContextCore

    init(of child: ContextCore) { self.child = child }

    func boundaryReached(_ changes: BoundaryChanges, _ parent: ContextCore) {
        guard !changes.isEmpty else { return }
        child.recorder?.close(.beforeMerge)
        if changes.isEverything { return refreshAll() }
        for touch in changes.objects { noteIfTakenBack(touch.identity) }
        for touch in changes.rows { noteIfTakenBack(touch.identity) }
        if changes.hasUnknownRows { unloadAll() }
        var touches = changes.rows
        for touch in changes.objects {
            var row = RowTouch(
                identity: touch.identity,
                kind: touch.object.isShown ? (touch.wasShown ? .updated : .inserted) : .deleted,
                before: touch.wasShown ? touch.row : nil)
            if touch.object.isShown, !touch.object.isFault {
                row.after = touch.object.sharedRow
                row.slots = touch.changedSlots
            }
            row.mayHaveOtherPairs = mayHaveOtherPairs(touch)
            unload(touch)
            touches.append(row)
        }
        child.unloading.pairs(of: Set(touches.filter(\.mayHaveOtherPairs).map(\.identity.entityIndex)))
        takeOut(touches)
        for touch in changes.rows { unloadOwners(touch) }
        for touch in touches { refresh(touch.identity, wasDeleted: touch.kind == .deleted) }
        child.oneToOneRepair.repairAll()
        child.recorder?.note(touches, areKnown: !changes.hasUnknownRows)
        child.recorder?.close(.merge)
    }

    /// An object of the child takes what the parent shows, and keeps its own changes on top.
    private func refresh(_ identity: RowIdentity, wasDeleted: Bool = false) {
        guard let object = child.object(identity.entityIndex, identity.key), !object.isInserted else { return }
        // A list that cannot be read now is read at its next access.
        do throws(PersistenceError) {
            if object.flags.contains(.missing) {
                let rows = try child.rows.rows(entityIndex: identity.entityIndex, keys: [identity.key])
                if let row = rows.first, !row.isHeaderOnly { object.mutatingAll { object.fill(row) } }
            } else if object.flags.contains(.deletedElsewhere) {
                if try isBack(object) { try child.refresher.reread(object) }
            } else if !object.isFault {
                try child.refresher.reread(object)
            } else if wasDeleted, try child.rows.rows(entityIndex: identity.entityIndex, keys: [identity.key]).isEmpty {
                // No reference shows it any more.
                child.merger.noteDeletedElsewhere(object)
            }
        } catch {
            child.report(error, object)
        }
    }

    /// Whether the parent shows an object again that it had deleted, and that the child has kept because it had changed it.
    private func isBack(_ object: ManagedObject) throws(PersistenceError) -> Bool {
        try !child.rows.rows(entityIndex: object.binding.entity.index, keys: [object.key]).isEmpty
    }

    /// An object that is back has its pairs again. Its lists are noted before they are unloaded.
    private func noteIfTakenBack(_ identity: RowIdentity) {
        guard let object = child.object(identity.entityIndex, identity.key), object.flags.contains(.deletedElsewhere)
        else { return }
        // If that cannot be read now, the refresh says so.
        if (try? isBack(object)) == true { child.tracker.willChangeAllMembers(object) }
    }

    /// The child loads lists again that the parent shows with other members.
    private func unload(_ touch: ObjectTouch) {
        let object = touch.object
        if let row = touch.row { child.unloading.owners(of: row.row, object.binding) }
        if !object.isFault { child.unloading.owners(of: object.row, object.binding) }
        guard let mine = child.object(object.binding.entity.index, object.key) else { return }
        for index in touch.toManys.keys { child.unloading.members(of: mine, index) }
    }

    private func unloadOwners(_ touch: RowTouch) {
        for row in [touch.before, touch.after].compactMap(\.self) {
            child.unloading.owners(of: row.row, child.binding(at: row.entityIndex))
        }
        guard let index = touch.toManyIndex,
            let mine = child.object(touch.identity.entityIndex, touch.identity.key)
        else { return }
        child.unloading.members(of: mine, index)
    }

    /// Whether an object may have lost its many-to-many pairs, or got them back, without a change of its lists. Where the parent
    /// keeps an object that others have deleted, the pairs are gone.
    private func mayHaveOtherPairs(_ touch: ObjectTouch) -> Bool {
        let object = touch.object
        if touch.wasDeletedElsewhere || object.flags.contains(.deletedElsewhere) { return true }
        return !touch.wasShown && object.isShown && !object.isInserted
    }

    /// The parent need not have the lists that showed what is deleted, nor objects that would make it remember the deletes.
    private func takeOut(_ touches: [RowTouch]) {
        var gone: [ManagedObject] = []
        var kept: [ManagedObject] = []
        var keys: [Int: Set<Int64>] = [:]
        for touch in touches where touch.kind == .deleted {
            keys[child.rootIndex(of: touch.identity.entityIndex), default: []].insert(touch.identity.key)
            guard let object = child.object(touch.identity.entityIndex, touch.identity.key) else { continue }
            let below = child.parent?.core.object(touch.identity.entityIndex, touch.identity.key)
            if below?.isShown == true { kept.append(object) } else { gone.append(object) }
        }
        if !keys.isEmpty { child.identityMap.noteDeleted(keys) }
        child.merger.takeOutOfPairs(gone)
        child.unloading.pairs(of: Set(kept.map(\.binding.entity.index)))
    }

    private func unloadAll() {
        child.identityMap.noteAnyMayBeDeleted()
        for object in child.identityMap.objects where !object.isInserted { child.unloading.allMembers(of: object) }
    }

    private func refreshAll() {
        unloadAll()
        for object in child.identityMap.objects where !object.isInserted {
            refresh(RowIdentity(entityIndex: object.binding.entity.index, key: object.key))
        }
        child.recorder?.noteEverything()
        child.recorder?.close(.merge)
    }
}
