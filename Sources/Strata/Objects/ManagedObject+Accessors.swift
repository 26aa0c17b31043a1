import Foundation

// What generated accessors and initializers call. The names begin with an underscore because they take slots, not
// names: a slot of another type gives a wrong value or a trap, never a read or write outside the row (``RowPointer``
// checks). They take nothing else, because an app's compiler translates each call anew in every accessor it generates.
//
// `withExtendedLifetime` keeps the object, and so the memory of the row, alive until the value has been made: after
// inlining, nothing else would stop the optimizer from releasing the object between the two.

extension ManagedObject {
    /// Reads a required attribute; its zero value if there is none.
    @inlinable
    @inline(__always)
    public final func _value<T: RowValue>(_ slot: Int) -> T {
        if !flags.isDisjoint(with: .slowAccess) { willAccess(slot) }
        return withExtendedLifetime(self) { row.isPresent(slot) ? T.load(row, slot) : T.zeroValue }
    }

    /// Reads an optional attribute.
    @inlinable
    @inline(__always)
    @_disfavoredOverload
    public final func _optionalValue<T: RowValue>(_ slot: Int) -> T? {
        if !flags.isDisjoint(with: .slowAccess) { willAccess(slot) }
        return withExtendedLifetime(self) { row.isPresent(slot) ? T.load(row, slot) : nil }
    }

    /// Reads required bytes, also such as stand in a file of their own.
    public final func _value(_ slot: Int) -> Data {
        if !flags.isDisjoint(with: .slowAccess) { willAccess(slot) }
        return data(slot) ?? Data()
    }

    /// Reads optional bytes, also such as stand in a file of their own.
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

    /// Writes an attribute of a new object unless it is left out.
    @inlinable
    public final func _initialize<T: RowValue>(_ value: T?, _ slot: Int) {
        if let value { _setValue(value, slot) }
    }

    /// Writes an attribute of a new object unless the value is that of the model's default, which it has already.
    @inlinable
    public final func _initialize<T: RowValue & Equatable>(_ value: T?, _ slot: Int, default defaultValue: T) {
        if value != defaultValue { _setOptionalValue(value, slot) }
    }

    /// Reads a required transformable; its zero value if there is none or it cannot be decoded.
    public final func _transformable<T: TransformableValue>(_ slot: Int) -> T {
        _optionalTransformable(slot) ?? T.zeroValue
    }

    /// Reads an optional transformable; nil if it cannot be decoded.
    public final func _optionalTransformable<T: TransformableValue>(_ slot: Int) -> T? {
        if !flags.isDisjoint(with: .slowAccess) { willAccess(slot) }
        return data(slot).flatMap { TransformableCoding.decode(T.self, from: $0) }
    }

    /// Writes a transformable.
    public final func _setTransformable<T: TransformableValue>(_ value: T, _ slot: Int) {
        _setValue(TransformableCoding.encode(value), slot)
    }

    /// Writes an optional transformable.
    public final func _setOptionalTransformable<T: TransformableValue>(_ value: T?, _ slot: Int) {
        if let value { _setTransformable(value, slot) } else { setNil(slot) }
    }

    /// Reads a required to-one relationship. If nothing is there, because it was deleted or not set yet, the answer is
    /// an object of no context whose properties are zero and empty; ``context`` is nil.
    public final func _toOne<D: ManagedObject>(_ slot: Int) -> D {
        if !flags.isDisjoint(with: .slowAccess) { willAccess(slot) }
        return target(slot) as? D ?? placeholder(D.self, slot: slot)
    }

    /// Reads an optional to-one relationship.
    public final func _optionalToOne<D: ManagedObject>(_ slot: Int) -> D? {
        if !flags.isDisjoint(with: .slowAccess) { willAccess(slot) }
        return target(slot) as? D
    }

    /// Writes a to-one relationship and keeps its inverse right. The object must be of the same context.
    public final func _setToOne<D: ManagedObject>(_ object: D?, _ slot: Int) {
        setTarget(object, slot)
    }

    /// Sets a to-one relationship of a new object unless it is left out.
    public final func _initializeToOne<D: ManagedObject>(_ object: D?, _ slot: Int) {
        if let object { setTarget(object, slot) }
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

    /// Replaces the members of a to-many relationship and keeps inverses right.
    public final func _setToMany<D: ManagedObject>(_ objects: Set<D>, _ index: Int) {
        setMembers(Array(objects), toMany: index)
    }

    /// Reads an ordered to-many relationship.
    @inlinable
    public final func _orderedToMany<D: ManagedObject>(_ index: Int) -> [D] {
        if flags.contains(.observed) { recordAccess(toMany: index) }
        let storage = members(toMany: index)
        return (storage as? MemberList<D>)?.list ?? members(storage)
    }

    /// Replaces the members and the order of an ordered to-many relationship. Of an object that stands in the array
    /// twice, the first counts.
    public final func _setOrderedToMany<D: ManagedObject>(_ objects: [D], _ index: Int) {
        setMembers(objects, toMany: index)
    }

    /// Adds a member to a to-many relationship, as the other form does several.
    public final func _add(_ object: ManagedObject, _ index: Int) {
        mutating(observerIndex(toMany: index)) { add(object, toMany: index) }
    }

    /// Removes a member from a to-many relationship, as the other form does several.
    public final func _remove(_ object: ManagedObject, _ index: Int) {
        mutating(observerIndex(toMany: index)) { remove(object, toMany: index) }
    }

    /// Adds members to a to-many relationship, at the end if it is ordered. Loads nothing unless it is an ordered
    /// many-to-many relationship, in which a member keeps its place.
    public final func _add<D: ManagedObject>(_ objects: some Sequence<D>, _ index: Int) {
        mutating(observerIndex(toMany: index)) { for object in objects { add(object, toMany: index) } }
    }

    /// Removes members from a to-many relationship. Loads nothing unless it is ordered.
    public final func _remove<D: ManagedObject>(_ objects: some Sequence<D>, _ index: Int) {
        mutating(observerIndex(toMany: index)) { for object in objects { remove(object, toMany: index) } }
    }

    /// Inserts a member of an ordered to-many relationship at a position, or moves it there; positions beyond the ends
    /// count as the ends.
    public final func _insert(_ object: ManagedObject, at position: Int, _ index: Int) {
        var objects = members(toMany: index).objects.filter { $0 !== object }
        objects.insert(object, at: min(max(position, 0), objects.count))
        setMembers(objects, toMany: index)
    }

    /// Moves a member of an ordered to-many relationship. Positions that do not exist change nothing.
    public final func _move(from position: Int, to newPosition: Int, _ index: Int) {
        var objects = members(toMany: index).objects
        guard objects.indices.contains(position), objects.indices.contains(newPosition) else { return }
        objects.insert(objects.remove(at: position), at: newPosition)
        setMembers(objects, toMany: index)
    }
}

extension ManagedObject {
    /// The long way before a read: fires a fault, tells the registrar.
    @usableFromInline
    final func willAccess(_ slot: Int) {
        if flags.contains(.fault) { fireFault() }
        if flags.contains(.observed) { recordAccess(slot) }
    }

    @usableFromInline
    final func recordAccess(toMany index: Int) { recordAccess(observerIndex(toMany: index)) }

    /// The members of a class that is not the one which the container binds to their entity.
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
        guard let context else { return extras }
        context.changeCount &+= 1
        if !flags.contains(.inserted), !context.isAwakening { noteChange(slot, extras, context) }
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

    /// Makes the row this object's own.
    private func takeRow() -> ObjectExtras {
        let extras = someExtras
        if extras.changes == nil, !flags.contains(.inserted) {
            extras.changes = ChangeRecord(snapshot: RowReference(slab: extras.slab, row: row))
        }
        extras.slab = RowSlab.copy(of: row, room: 32)
        row = extras.slab.row
        flags.insert(.ownsRow)
        return extras
    }

    private func noteChange(_ slot: Int, _ extras: ObjectExtras, _ context: ManagedObjectContext) {
        if extras.changes == nil { extras.changes = ChangeRecord(snapshot: RowReference(slab: extras.slab, row: row)) }
        extras.changes?.slots.insert(slot)
        if flags.isDisjoint(with: [.updated, .missing]) {
            flags.insert(.updated)
            context.list(self)
        }
    }

    /// The bytes of a slot, read from their file where they stand in one.
    final func data(_ slot: Int) -> Data? {
        withExtendedLifetime(self) {
            guard row.isPresent(slot) else { return nil }
            guard row.isExternal(slot) else { return Data.load(row, slot) }
            return context?.externalData(named: String.load(row, slot), of: self)
        }
    }

    /// An object that stands for nothing: of the destination's class, in no context, all zero and empty.
    private func placeholder<D: ManagedObject>(_ type: D.Type, slot: Int) -> D {
        let entity = binding.entity.slots[slot].relationshipIndex.map {
            binding.model.destination(of: binding.entity.relationships[$0])
        }
        let destination = EntityBinding(
            model: binding.model, entity: entity ?? binding.entity, objectClass: type, isClosed: true,
            storeIdentifier: binding.storeIdentifier)
        let origin = ObjectOrigin(
            binding: destination, home: ContextHome(context: nil, tables: []), table: ObjectTable(),
            slab: destination.emptyRow.slab, group: nil)
        return D(
            _seed: ObjectSeed(origin: origin, row: destination.emptyRow.row, key: 0, flags: [.detached, .missing]))
    }
}

/// The encoded form of transformables: JSON with sorted keys, so that equal values have equal bytes.
enum TransformableCoding {
    static func encode(_ value: some TransformableValue) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        do {
            return try encoder.encode(value)
        } catch {
            fatalError(
                "\(type(of: value)) cannot be kept: its encode(to:) threw \(error); make it encode every value it can have"
            )
        }
    }

    static func decode<T: TransformableValue>(_ type: T.Type, from data: Data) -> T? {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try? decoder.decode(type, from: data)
    }
}
