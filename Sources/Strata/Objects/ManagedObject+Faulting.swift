// A fault points to the empty row of its entity; firing it reads the rows of all faults that came in the same batch.

extension ManagedObject {
    /// Reads the row, with those of the other faults of the batch.
    @usableFromInline
    final func fireFault() {
        guard flags.contains(.fault) else { return }
        guard let context else {
            flags.remove(.fault)
            return
        }
        context.fire(self)
    }

    /// Takes a row that was read.
    /// - Parameter origin: That of the row, if it has one.
    final func fill(_ reference: RowReference, isAwakening: Bool, origin: ObjectOrigin? = nil) {
        row = reference.row
        if let origin { self.origin = origin }
        slab = reference.slab
        flags.remove([.fault, .missing, .ownsRow, .gone])
        changes = nil
        guard let context, !isAwakening else { return }
        let outer = context.isAwakening
        context.isAwakening = true
        awakeFromFetch()
        context.isAwakening = outer
        freezeRow()
    }

    /// Makes the object one of a group, unless it has one of at least that size already.
    final func join(_ group: FetchGroup) {
        if let own = self.group, own.count >= group.count { return }
        someExtras.group = group
    }

    /// Lets others see the row: the next write copies it.
    final func freezeRow() { flags.remove(.ownsRow) }

    /// The row with what keeps it alive, not to be written in place any more.
    final var sharedRow: RowReference {
        freezeRow()
        return RowReference(slab: slab, row: row)
    }

    /// There is no row. Relationships that led to the object are loaded again where they are looked at next.
    final func markMissing() {
        if let context { context.unloadOwners(of: row, binding) }
        mutatingAll {
            flags.remove([.fault, .updated, .deleted, .ownsRow, .gone])
            flags.insert(.missing)
            changes = nil
            forgetMembers()
        }
    }

    /// Forgets the row and the members of relationships; the next touch reads them again. Changes are lost.
    final func turnIntoFault() {
        guard !flags.contains(.fault) else { return forgetMembers() }
        willTurnIntoFault()
        mutatingAll {
            row = binding.emptyRow.row
            slab = binding.emptyRow.slab
            changes = nil
            flags.remove([.updated, .ownsRow, .missing, .gone])
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

    /// Whether the members of a to-many relationship have not been loaded.
    /// - Returns: true for a name that is no to-many relationship.
    public final func hasFault(forRelationship name: String) -> Bool {
        guard let relationship = binding.entity.relationship(named: name) else { return true }
        if let index = relationship.toManyIndex { return extras?.toMany(index)?.members == nil }
        return relationship.slot.flatMap { target($0) }?.isFault ?? false
    }
}
