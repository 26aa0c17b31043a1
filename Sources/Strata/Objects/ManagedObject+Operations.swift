import StrataStore

// Changes that say what is to be done to a value, not what the value is to be: see "Counting and collecting" in Contexts.md.

extension ManagedObject {
    /// Adds to a number, by name; nil counts as zero. The property has its new value immediately. The save adds the amount to
    /// the number that the store has then, so it is never in conflict with other contexts.
    ///
    ///     try city.increment("population")
    ///     try country.increment("areaSquareKilometres", by: Int64(-20))
    ///
    /// Several increments before a save add up; those that take each other back change nothing. A value that you assign
    /// afterwards replaces them. If you assigned one before, or if the object is new, the result is an assigned value.
    /// Validation rules apply to the sum.
    /// - Parameters:
    ///   - name: The name of a numeric attribute that is stored and not derived.
    ///   - amount: What to add; a negative number subtracts.
    /// - Throws: ``PersistenceError/invalidOperation(entity:property:reason:)`` if the attribute is not such a one, or
    ///   cannot hold the sum, ``PersistenceError/unknownProperty(entity:property:nearest:)``, and the store's error if the object
    ///   cannot be read. The object is unchanged then.
    public final func increment(
        _ name: String, by amount: any AttributeValue & Numeric = 1
    ) throws(PersistenceError) {
        try perform(.increment(amount.attributeValue), on: name)
    }

    /// Appends elements to an array, by name; nil counts as an empty array. See ``increment(_:by:)``.
    ///
    ///     try note.add(["swift", "sqlite"], to: "keywords")
    ///
    /// - Throws: As ``increment(_:by:)``, including for elements of another type.
    public final func add(_ elements: [any AttributeValue], to name: String) throws(PersistenceError) {
        try perform(.append(elements.map(\.attributeValue)), on: name)
    }

    /// Appends those elements that an array lacks, by name. See ``increment(_:by:)``.
    ///
    ///     try note.addUnique(["swift", "sqlite"], to: "keywords")
    ///
    /// - Throws: As ``increment(_:by:)``, including for elements of another type.
    public final func addUnique(_ elements: [any AttributeValue], to name: String) throws(PersistenceError) {
        try perform(.appendUnique(elements.map(\.attributeValue)), on: name)
    }

    /// Removes all elements of an array that are equal to one of the given ones, by name. See ``increment(_:by:)``.
    ///
    ///     try note.remove(["draft"], from: "keywords")
    ///
    /// - Throws: As ``increment(_:by:)``, including for elements of another type.
    public final func remove(_ elements: [any AttributeValue], from name: String) throws(PersistenceError) {
        try perform(.remove(elements.map(\.attributeValue)), on: name)
    }
}

extension ManagedObjectProtocol where Self: ManagedObject {
    /// Adds to a number. The save adds the amount to the number that the store has then, so no addition of another context is
    /// lost.
    ///
    ///     try city.increment(\.population)
    ///     try city.increment(\.population, by: -1)
    ///
    /// Use it for counters, in place of `city.population += 1`, which assigns a value and may be in conflict. The property has
    /// its new value immediately. See ``ManagedObject/increment(_:by:)-(String,_)`` for the rules.
    /// - Parameters:
    ///   - key: The key path of a stored number that is not derived.
    ///   - amount: What to add; a negative number subtracts.
    /// - Throws: As the form that takes a name: if the attribute cannot hold the sum, or the object cannot be read.
    public func increment<Number: AttributeValue & Numeric>(
        _ key: KeyPath<ObjectKeys<Self>, AttributeKey<Number>>, by amount: Number = 1
    ) throws(PersistenceError) {
        try perform(.increment(amount.attributeValue), on: Self.name(of: key))
    }

    /// Adds to an optional number; nil counts as zero. See ``ManagedObject/increment(_:by:)-(String,_)``.
    /// - Throws: As the form that takes a name: if the attribute cannot hold the sum, or the object cannot be read.
    public func increment<Number: AttributeValue & Numeric>(
        _ key: KeyPath<ObjectKeys<Self>, AttributeKey<Number?>>, by amount: Number = 1
    ) throws(PersistenceError) {
        try perform(.increment(amount.attributeValue), on: Self.name(of: key))
    }

    /// Appends elements to an array. The save appends them to the array that the store has then; see
    /// ``ManagedObject/add(_:to:)-(_,String)``.
    ///
    ///     try note.add(["swift"], to: \.keywords)
    ///
    /// - Throws: As ``ManagedObject/increment(_:by:)-(String,_)``.
    public func add<Element: AttributeValue>(
        _ elements: [Element], to key: KeyPath<ObjectKeys<Self>, JSONListKey<Element>>
    ) throws(PersistenceError) {
        try perform(.append(elements.map(\.attributeValue)), on: Self.name(of: key))
    }

    /// Appends those elements that an array lacks; see ``ManagedObject/addUnique(_:to:)-(_,String)``.
    ///
    ///     try note.addUnique(["swift"], to: \.keywords)
    ///
    /// - Throws: As ``ManagedObject/increment(_:by:)-(String,_)``.
    public func addUnique<Element: AttributeValue>(
        _ elements: [Element], to key: KeyPath<ObjectKeys<Self>, JSONListKey<Element>>
    ) throws(PersistenceError) {
        try perform(.appendUnique(elements.map(\.attributeValue)), on: Self.name(of: key))
    }

    /// Removes all elements of an array that are equal to one of the given ones; see
    /// ``ManagedObject/remove(_:from:)-(_,String)``.
    ///
    ///     try note.remove(["draft"], from: \.keywords)
    ///
    /// - Throws: As ``ManagedObject/increment(_:by:)-(String,_)``.
    public func remove<Element: AttributeValue>(
        _ elements: [Element], from key: KeyPath<ObjectKeys<Self>, JSONListKey<Element>>
    ) throws(PersistenceError) {
        try perform(.remove(elements.map(\.attributeValue)), on: Self.name(of: key))
    }

    private static func name<Value>(of key: KeyPath<ObjectKeys<Self>, AttributeKey<Value>>) -> String {
        keys[keyPath: key].path.names.joined(separator: ".")
    }

    private static func name<Element>(of key: KeyPath<ObjectKeys<Self>, JSONListKey<Element>>) -> String {
        keys[keyPath: key].path.names.joined(separator: ".")
    }
}

extension ManagedObject {
    /// The operations that have not been saved, by slot. Setting ``changes`` removes them.
    final var operations: [Int: FieldOperations] {
        get { flags.contains(.operated) ? extras?.operations ?? [:] : [:] }
        set {
            extras?.operations = newValue
            if newValue.isEmpty {
                flags.remove(.operated)
            } else {
                someExtras.operations = newValue
                flags.insert(.operated)
            }
        }
    }

    /// A slot was assigned: the operations on it before no longer count.
    final func forgetOperations(_ slot: Int) {
        guard operations[slot] != nil else { return }
        operations[slot] = nil
    }

    /// Applies an operation to an attribute.
    final func perform(_ operation: FieldOperation, on name: String) throws(PersistenceError) {
        let slot = try operableSlot(name)
        guard let type = slot.type, operation.fits(type) else { throw refused(slot, operation.misfit(for: slot.type)) }
        if flags.contains(.fault), let core { try core.faults.load(self) }
        guard perform(FieldOperations([operation.normalized(for: type)]), on: slot) else {
            throw inapplicable(slot, to: row)
        }
    }

    /// Applies operations to a slot, as a change of this context.
    /// - Returns: false, and nothing done, if the attribute cannot hold the result.
    final func perform(_ done: FieldOperations, on slot: SlotDescription) -> Bool {
        guard let type = slot.type, let old = row.operand(slot), let value = done.applied(to: old, of: type),
            RowEditing.accepts(value, slot)
        else { return false }
        guard countsAsOperation(slot) else {
            write(value, slot)
            return true
        }
        var operations = self.operations
        var all = operations[slot.index] ?? .begun
        all.append(done)
        if all.isEmpty {
            // One operation has taken back the other: the property has the value that was read, which may be nil.
            write(changes?.snapshot?.row.value(slot) ?? old, slot)
            operations[slot.index] = nil
        } else {
            write(value, slot)
            operations[slot.index] = all
        }
        self.operations = operations
        return true
    }

    /// Whether an operation on a slot counts as one now, and is not part of a value that was assigned.
    private func countsAsOperation(_ slot: SlotDescription) -> Bool {
        guard flags.isDisjoint(with: [.detached, .missing]), source.tracker?.isTracking == true else { return false }
        // An operation on a new object while that is being saved applies to the row that the save writes.
        if flags.contains(.inserted) { return core?.saves.isWaiting == true }
        if operations[slot.index] != nil { return true }
        guard let changes, changes.slots.contains(slot.index), let snapshot = changes.snapshot else { return true }
        return row.hasSameValue(as: snapshot.row, slot: slot.index, storage: slot.storage)
    }

    /// The slot of an attribute that has operations.
    private func operableSlot(_ name: String) throws(PersistenceError) -> SlotDescription {
        let entity = binding.entity
        guard let attribute = entity.attribute(named: name), let index = attribute.slots.first else {
            if let slot = entity.slot(named: name) {
                throw refused(
                    slot, "operations change whole attributes, not relationships or elements of composites")
            }
            throw .unknownProperty(name, of: entity)
        }
        let slot = entity.slots[index]
        if slot.derivation != nil { throw refused(slot, "is derived; change what it comes from") }
        if slot.isTransient { throw refused(slot, "is transient; assign a value") }
        if attribute.slots.count > 1 { throw refused(slot, "is a composite; assign a value") }
        if slot.enumeration != nil { throw refused(slot, "has the values of an enumeration; assign one of them") }
        return slot
    }

    private func refused(_ slot: SlotDescription, _ reason: String) -> PersistenceError {
        .invalidOperation(entity: binding.entity.name, property: slot.name, reason: reason)
    }

    /// The error of operations that cannot be applied to the value of a row.
    final func inapplicable(_ slot: SlotDescription, to row: RowPointer) -> PersistenceError {
        refused(
            slot,
            "the attribute cannot hold the result of the operation on \(row.value(slot)); assign a value, or roll back")
    }

    /// - Throws: ``PersistenceError/invalidOperation(entity:property:reason:)`` if an operation cannot be applied to the value
    ///   that others have saved.
    final func checkOperations() throws(PersistenceError) {
        guard let snapshot = changes?.snapshot else { return }
        for (index, done) in operations {
            let slot = binding.entity.slots[index]
            guard let type = slot.type, let old = snapshot.row.operand(slot), done.applied(to: old, of: type) != nil
            else {
                throw inapplicable(slot, to: snapshot.row)
            }
        }
    }

    /// Restores operations that lead from the row that was read to the present value.
    final func resume(_ done: FieldOperations, on slot: SlotDescription) {
        guard let snapshot = changes?.snapshot, let type = slot.type, core?.saves.isWaiting == false,
            let value = done.applied(to: snapshot.row.value(slot), of: type), value == row.value(slot)
        else { return }
        operations[slot.index] = done.opened
    }
}

extension RowPointer {
    /// The value of a slot that an operation is applied to; nil if it is damaged.
    func operand(_ slot: SlotDescription) -> Value? {
        let value = value(slot)
        // Not in one expression: there, nil would be a null value.
        if value.isNull, isPresent(slot.index) { return Optional.none }
        return value
    }
}

extension FieldOperations {
    /// Applies the operations to the value of a row, and writes the result to another row.
    /// - Returns: false, and nothing written, if the attribute cannot hold it.
    func apply(
        to row: RowPointer, _ slot: SlotDescription, layout: [SlotDescription], in slab: inout RowSlab
    ) -> Bool {
        guard let type = slot.type, let old = row.operand(slot), let value = applied(to: old, of: type) else {
            return false
        }
        return RowEditing.setValue(value, slot, layout: layout, in: &slab)
    }
}

extension FieldOperation {
    /// Why it cannot be applied to attributes of a type.
    fileprivate func misfit(for type: AttributeType?) -> String {
        let name = type?.name ?? "object"
        return switch (self, type) {
        case (.increment(let amount), .integer16), (.increment(let amount), .integer32),
            (.increment(let amount), .integer64), (.increment(let amount), .integer),
            (.increment(let amount), .decimal),
            (.increment(let amount), .double), (.increment(let amount), .float):
            "\(amount) cannot be added to a number of type \(name)"
        case (.increment, _): "is of type \(name), and only numbers can be incremented"
        case (_, .array): "has elements of another type than those of the operation"
        default: "is of type \(name), and only arrays have elements"
        }
    }
}
