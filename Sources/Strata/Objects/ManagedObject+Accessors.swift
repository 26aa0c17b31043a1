import Foundation
import StrataStore

// What generated accessors and initializers call. The names begin with an underscore because they take slots, not
// names: a slot of another type gives a wrong value or a trap, never a read or write outside the row (``RowPointer``
// checks). They take nothing else, because an app's compiler translates each call again in every accessor it generates.
//
// `withExtendedLifetime` keeps the object, and so the memory of the row, alive until the value has been made: after
// inlining, nothing else would stop the optimizer from releasing the object between the two.

extension ManagedObject {
    /// Reads a required attribute; its zero value if there is none.
    @inlinable
    @inline(__always)
    public final func _value<T: RowValue>(_ slot: Int) -> T {
        if !flags.isDisjoint(with: .slowAccess) { willAccess(slot) }
        return withExtendedLifetime(self) {
            guard row.isPresent(slot) else { return T.zeroValue }
            if let value = T.validated(row, slot) { return value }
            return damagedValue(slot)
        }
    }

    /// Reads an optional attribute.
    @inlinable
    @inline(__always)
    @_disfavoredOverload
    public final func _optionalValue<T: RowValue>(_ slot: Int) -> T? {
        if !flags.isDisjoint(with: .slowAccess) { willAccess(slot) }
        return withExtendedLifetime(self) {
            guard row.isPresent(slot) else { return nil }
            if let value = T.validated(row, slot) { return value }
            return damagedOptionalValue(slot)
        }
    }

    /// Reads required bytes, including those in a file of their own.
    public final func _value(_ slot: Int) -> Data {
        if !flags.isDisjoint(with: .slowAccess) { willAccess(slot) }
        return data(slot) ?? Data()
    }

    /// Reads optional bytes, including those in a file of their own.
    public final func _optionalValue(_ slot: Int) -> Data? {
        if !flags.isDisjoint(with: .slowAccess) { willAccess(slot) }
        return data(slot)
    }

    /// Writes an attribute.
    @inlinable
    public final func _setValue<T: RowValue>(_ value: T, _ slot: Int) {
        let extras = beginWrite(slot)
        value.store(to: &extras.slab, slot, layout)
        row = extras.slab.row
        if flags.contains(.observed) { endWrite(slot) }
    }

    /// Writes an optional attribute.
    @inlinable
    public final func _setOptionalValue<T: RowValue>(_ value: T?, _ slot: Int) {
        if let value { _setValue(value, slot) } else { setNil(slot) }
    }

    /// Reads a required transformable; its zero value if there is none or it cannot be decoded.
    public final func _transformable<T: TransformableValue>(_ slot: Int) -> T {
        _optionalTransformable(slot) ?? T.zeroValue
    }

    /// Reads an optional transformable; nil if it cannot be decoded.
    public final func _optionalTransformable<T: TransformableValue>(_ slot: Int) -> T? {
        if !flags.isDisjoint(with: .slowAccess) { willAccess(slot) }
        guard let data = data(slot) else { return nil }
        if let value = TransformableCoding.decode(T.self, from: data) { return value }
        reportUndecodable(slot)
        return nil
    }

    /// Writes a transformable.
    public final func _setTransformable<T: TransformableValue>(_ value: T, _ slot: Int) {
        _setValue(TransformableCoding.encodeOrTrap(value), slot)
    }

    /// Writes an optional transformable.
    public final func _setOptionalTransformable<T: TransformableValue>(_ value: T?, _ slot: Int) {
        if let value { _setTransformable(value, slot) } else { setNil(slot) }
    }

    /// Reads a required to-one relationship. If it has no value, because the object was deleted or the relationship has
    /// not been set yet, you get an object without a context whose properties are zero and empty; its ``context`` is
    /// nil.
    public final func _toOne<D: ManagedObject>(_ slot: Int) -> D {
        if !flags.isDisjoint(with: .slowAccess) { willAccess(slot) }
        return target(slot) as? D ?? placeholder(D.self, slot: slot)
    }

    /// Reads an optional to-one relationship.
    public final func _optionalToOne<D: ManagedObject>(_ slot: Int) -> D? {
        if !flags.isDisjoint(with: .slowAccess) { willAccess(slot) }
        return target(slot) as? D
    }

    /// Writes a to-one relationship and updates its inverse. The object must belong to the same context.
    @inlinable
    public final func _setToOne<D: ManagedObject>(_ object: D?, _ slot: Int) {
        setTarget(object, slot)
    }

    /// Reads a to-many relationship.
    @inlinable
    public final func _toMany<D: ManagedObject>(_ index: Int) -> Set<D> {
        if flags.contains(.observed) { recordAccess(toMany: index) }
        let storage = members(toMany: index)
        guard let typed = storage as? MemberSet<D> else {
            let found: [D] = members(storage)
            return Set(found)
        }
        typed.settle()
        return typed.members
    }

    /// Replaces the members of a to-many relationship and updates inverses.
    public final func _setToMany<D: ManagedObject>(_ objects: Set<D>, _ index: Int) {
        assignMembers(Array(objects), index)
    }

    /// Reads an ordered to-many relationship.
    @inlinable
    public final func _orderedToMany<D: ManagedObject>(_ index: Int) -> [D] {
        if flags.contains(.observed) { recordAccess(toMany: index) }
        let storage = members(toMany: index)
        return (storage as? MemberList<D>)?.list ?? members(storage)
    }

    /// Replaces the members and the order of an ordered to-many relationship. If an object is in the array twice, its first
    /// place counts.
    public final func _setOrderedToMany<D: ManagedObject>(_ objects: [D], _ index: Int) {
        assignMembers(objects, index)
    }

    /// Adds a member to a to-many relationship; see ``_add(_:_:)-(Sequence<D>,_)``.
    public final func _add(_ object: ManagedObject, _ index: Int) {
        mutating(observerIndex(toMany: index)) {
            changeRelationship { (inverses) throws(PersistenceError) in try inverses.add(object, to: self, index) }
        }
    }

    /// Removes a member from a to-many relationship; see ``_remove(_:_:)-(Sequence<D>,_)``.
    public final func _remove(_ object: ManagedObject, _ index: Int) {
        mutating(observerIndex(toMany: index)) {
            changeRelationship { (inverses) throws(PersistenceError) in try inverses.remove(object, from: self, index) }
        }
    }

    /// Adds members to a to-many relationship, at the end if it is ordered. Loads nothing unless it is an ordered
    /// many-to-many relationship, in which a member keeps its place.
    public final func _add<D: ManagedObject>(_ objects: some Sequence<D>, _ index: Int) {
        mutating(observerIndex(toMany: index)) {
            for object in objects {
                changeRelationship { (inverses) throws(PersistenceError) in try inverses.add(object, to: self, index) }
            }
        }
    }

    /// Removes members from a to-many relationship. Loads nothing unless it is ordered.
    public final func _remove<D: ManagedObject>(_ objects: some Sequence<D>, _ index: Int) {
        mutating(observerIndex(toMany: index)) {
            for object in objects {
                changeRelationship { (inverses) throws(PersistenceError) in
                    try inverses.remove(object, from: self, index)
                }
            }
        }
    }

    /// Inserts a member of an ordered to-many relationship at a position, or moves it there; positions beyond the ends
    /// count as the ends.
    public final func _insert(_ object: ManagedObject, at position: Int, _ index: Int) {
        changeRelationship { (inverses) throws(PersistenceError) in
            try inverses.insert(object, at: position, in: self, index)
        }
    }

    /// Moves a member of an ordered to-many relationship. Positions that do not exist change nothing.
    public final func _move(from position: Int, to newPosition: Int, _ index: Int) {
        changeRelationship { (inverses) throws(PersistenceError) in
            try inverses.move(in: self, from: position, to: newPosition, index)
        }
    }
}

extension ManagedObject {
    /// The long way before a read: fires a fault, tells the registrar.
    @usableFromInline
    final func willAccess(_ slot: Int) {
        if lacks(slot) { fireFault() }
        if flags.contains(.observed) { recordAccess(slot) }
    }

    @usableFromInline
    final func recordAccess(toMany index: Int) { recordAccess(observerIndex(toMany: index)) }

    /// The members of a class that is not the one that the container binds to their entity.
    @usableFromInline
    final func members<D: ManagedObject>(_ storage: MemberStorage) -> [D] { storage.objects.compactMap { $0 as? D } }

    /// The layout of the row.
    @usableFromInline final var layout: [SlotDescription] { binding.entity.slots }

    /// Before a write: fires a fault, copies a row that others can see, notes the change.
    /// - Returns: What holds the object's own row.
    @discardableResult
    @usableFromInline
    final func beginWrite(_ slot: Int) -> ObjectExtras {
        if !flags.isDisjoint(with: .slowAccess) { willWrite(slot) }
        let extras = flags.contains(.ownsRow) ? someExtras : takeRow()
        if !flags.contains(.detached) { source.tracker?.noteWrite(self, slot, extras) }
        return extras
    }

    /// The long way before a write.
    private func willWrite(_ slot: Int) {
        if flags.contains(.fault) { fireFault() }
        if flags.contains(.observed) { willChange(slot) }
    }

    @usableFromInline
    final func endWrite(_ slot: Int) {
        if flags.contains(.observed) { didChange(slot) }
    }

    /// Writes nil.
    @usableFromInline
    final func setNil(_ slot: Int) {
        RowEditing.setNil(slot, in: beginWrite(slot).slab)
        endWrite(slot)
    }

    /// Copies the value of a slot from another row of the same layout.
    final func writeSlot(_ slot: Int, from other: RowPointer) {
        beginWrite(slot)
        RowEditing.copySlot(slot, layout: layout, from: other, to: &slab)
        row = slab.row
        endWrite(slot)
    }

    /// Makes the row this object's own.
    private func takeRow() -> ObjectExtras {
        var extras = someExtras
        if !extras.hasChanges, !flags.contains(.inserted) {
            // The row of a fault that could not be filled is not what the store has.
            let snapshot = flags.contains(.fault) ? nil : RowReference(slab: extras.slab, row: row)
            extras = record(ChangeRecord(snapshot: snapshot), in: extras)
        }
        extras.slab = RowSlab.copy(of: row, room: 32)
        row = extras.slab.row
        flags.insert(.ownsRow)
        return extras
    }

    /// The bytes of a slot, read from their file where they are in one.
    final func data(_ slot: Int) -> Data? {
        withExtendedLifetime(self) {
            guard row.isPresent(slot) else { return nil }
            guard row.isExternal(slot) else { return Data.load(row, slot) }
            return core?.externalData(named: String.load(row, slot), of: self)
        }
    }

    /// An object of the destination's class, in no context, whose properties are all zero and empty.
    private func placeholder<D: ManagedObject>(_ type: D.Type, slot: Int) -> D {
        let entity = binding.entity.slots[slot].relationshipIndex.map {
            binding.model.destination(of: binding.entity.relationships[$0])
        }
        let placeholders = source.core?.coordinator.placeholders ?? PlaceholderBindings()
        let destination = placeholders.binding(
            of: type, entity: entity ?? binding.entity, model: binding.model,
            storeIdentifier: binding.storeIdentifier)
        let source = RowSource(
            binding: destination, core: nil, table: ObjectTable(), slab: destination.emptyRow.slab, batch: nil)
        return D(
            _seed: ObjectSeed(source: source, row: destination.emptyRow.row, key: 0, flags: [.detached, .missing]))
    }
}
