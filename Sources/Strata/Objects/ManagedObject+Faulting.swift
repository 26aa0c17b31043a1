import StrataStore

// A fault points to the empty row of its entity; firing it reads the rows of all faults that were read in the same batch.

extension ManagedObject {
    /// Reads the row, with those of the other faults of the batch. If the store fails the error is reported, and the object
    /// stays a fault.
    @usableFromInline
    final func fireFault() {
        guard flags.contains(.fault) else { return }
        guard let core else {
            flags.remove(.fault)
            return
        }
        do throws(PersistenceError) {
            let count = try core.faults.load(self)
            core.settings.loads?.note(self, nil, count: count)
        } catch {
            core.report(error, self)
        }
    }

    /// Takes a row that was read. Values that were written before the row could be read stay on top of it.
    /// - Parameter source: That of the row, if it has one.
    final func fill(_ reference: RowReference, source: RowSource? = nil) {
        let written = flags.contains(.fault) ? changes?.slots : nil
        guard let written, !written.isEmpty else {
            row = reference.row
            if let source { self.source = source }
            slab = reference.slab
            flags.remove(.beforeRow)
            changes = nil
            forgetPart()
            core?.factory.awake(self)
            return
        }
        let mine = RowReference(slab: slab, row: row)
        var record = ChangeRecord(snapshot: reference)
        record.slots = written
        changes = record
        forgetPart()
        flags.remove([.fault, .missing, .deletedElsewhere])
        flags.insert(.ownsRow)
        slab = RowSlab.copy(of: reference.row, room: 64)
        for slot in written { RowEditing.copySlot(slot, layout: layout, from: mine.row, to: &slab) }
        row = slab.row
        core?.factory.awake(self)
        core?.unloading.owners(of: reference.row, binding)
    }

    /// Makes the object one of a batch, unless it has one of at least that size already.
    final func join(_ batch: FaultBatch) {
        if let own = self.batch, own.count >= batch.count { return }
        someExtras.batch = batch
    }

    /// Lets others see the row: the next write copies it.
    final func freezeRow() { flags.remove(.ownsRow) }

    /// The row with its owner. From now on, it must not be written in place.
    final var sharedRow: RowReference {
        freezeRow()
        return RowReference(slab: slab, row: row)
    }

    /// There is no row. Relationships that led to the object are loaded again when they are looked at next.
    final func markMissing() {
        core?.unloading.owners(of: row, binding)
        mutatingAll {
            flags.remove([.fault, .updated, .deleted, .ownsRow, .deletedElsewhere])
            flags.insert(.missing)
            changes = nil
            forgetPart()
            forgetMembers()
        }
    }

    /// Forgets the row and the members of relationships; the next touch reads them again. Changes are lost.
    final func turnIntoFault() {
        guard !flags.contains(.fault) || changes != nil || isPartial else { return forgetMembers() }
        willTurnIntoFault()
        mutatingAll {
            row = binding.emptyRow.row
            slab = binding.emptyRow.slab
            changes = nil
            forgetPart()
            flags.remove([.updated, .ownsRow, .missing, .deletedElsewhere])
            flags.insert(.fault)
            forgetMembers()
        }
        didTurnIntoFault()
    }

    /// Forgets the members of to-many relationships, what changed in them, and what fetched properties have found.
    final func forgetMembers() {
        guard let extras else { return }
        extras.fetched = [:]
        for index in extras.toManys.indices { extras.toManys[index] = nil }
    }

    /// Forgets the members of to-many relationships that were read, and what fetched properties have found; what changed
    /// in relationships stays.
    final func forgetLoadedMembers() {
        extras?.fetched = [:]
        for state in extras?.toManys ?? [] { state?.forgetLoaded() }
    }

    /// Lets members be loaded at their next access although the object is new: it was deleted and is made again, so unsaved
    /// references may have led to it all the time.
    final func forgetAllMembers() {
        for index in binding.entity.toManyIndexes.indices { _ = toManyState(index) }
        forgetLoadedMembers()
    }

    /// Releases all other objects that this one or its batch keeps alive.
    final func releaseRelated() {
        source.batch?.releaseTargets()
        extras?.batch?.releaseTargets()
        forgetMembers()
    }

    /// Goes back to what was last read or saved, because the context is gone. A new object keeps its values.
    final func dropChanges() {
        if flags.contains(.inserted) {
            if flags.contains(.recorded) { source.tracker?.willChange(self) }
            flags.remove(.changed)
            flags.insert(.missing)
            if let core { core.identityMap.detach(self) }
            return
        }
        revert()
    }

    /// Whether a relationship has not been loaded: the members of a to-many relationship, or the row of a to-one's target.
    ///
    ///     if country.hasFault(forRelationship: "cities") { print("reading country.cities runs a statement") }
    ///
    /// - Returns: true for a name that is not a relationship.
    public final func hasFault(forRelationship name: String) -> Bool {
        guard let relationship = binding.entity.relationship(named: name) else { return true }
        if let index = relationship.toManyIndex { return extras?.toMany(index)?.members == nil }
        return relationship.slot.flatMap { target($0) }?.isFault ?? false
    }
}
