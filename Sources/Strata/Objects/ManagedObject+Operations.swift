// Changes that say what is to be done to a value, not what the value is to be: see "Count without conflicts" in Contexts.md.

extension ManagedObject {
    /// Adds to a number, by name; no number counts as zero. The property has its new value immediately. The save adds the
    /// amount to what others have made of the number meanwhile, and so is never in conflict with them.
    ///
    ///     try article.increment("views")
    ///     try account.increment("balance", by: Decimal(-20))
    ///
    /// Several increments before a save add up. A value that you assign afterwards replaces them; if you assigned one before,
    /// or if the object is new, the result is an assigned value. Rules of the model are checked for the sum, too.
    /// - Parameters:
    ///   - name: The name of a numeric attribute, which is kept in the store and not derived.
    ///   - amount: What to add; a negative number subtracts.
    /// - Throws: ``PersistenceError/invalidOperation(entity:property:reason:)`` if the attribute is not such a one, or
    ///   cannot hold the sum, ``PersistenceError/unknownProperty(entity:property:)``, and the store's error if the object
    ///   cannot be read. The object is unchanged then.
    public final func increment(
        _ name: String, by amount: any AttributeValue & Numeric = 1
    ) throws(PersistenceError) {
        try perform(.increment(amount.attributeValue), on: name)
    }

    /// Puts elements at the end of an array, by name; no array counts as an empty one. See ``increment(_:by:)``.
    ///
    ///     try article.add(["swift", "sqlite"], to: "keywords")
    ///
    /// - Throws: As ``increment(_:by:)``, also for elements of another type.
    public final func add(_ elements: [any AttributeValue], to name: String) throws(PersistenceError) {
        try perform(.append(elements.map(\.attributeValue)), on: name)
    }

    /// Puts those elements at the end of an array that it lacks, by name. See ``increment(_:by:)``.
    /// - Throws: As ``increment(_:by:)``, also for elements of another type.
    public final func addUnique(_ elements: [any AttributeValue], to name: String) throws(PersistenceError) {
        try perform(.appendUnique(elements.map(\.attributeValue)), on: name)
    }

    /// Takes all elements out of an array that are equal to one of some, by name. See ``increment(_:by:)``.
    /// - Throws: As ``increment(_:by:)``, also for elements of another type.
    public final func remove(_ elements: [any AttributeValue], from name: String) throws(PersistenceError) {
        try perform(.remove(elements.map(\.attributeValue)), on: name)
    }
}

extension ManagedObjectProtocol where Self: ManagedObject {
    /// Adds to a number; see ``ManagedObject/increment(_:by:)-(String,_)``.
    ///
    ///     try article.increment(\.views)
    ///
    public func increment<Number: AttributeValue & Numeric>(
        _ key: KeyPath<ObjectKeys<Self>, AttributeKey<Number>>, by amount: Number = 1
    ) throws(PersistenceError) {
        try perform(.increment(amount.attributeValue), on: Self.name(of: key))
    }

    /// Adds to an optional number; no number counts as zero. See ``ManagedObject/increment(_:by:)-(String,_)``.
    public func increment<Number: AttributeValue & Numeric>(
        _ key: KeyPath<ObjectKeys<Self>, AttributeKey<Number?>>, by amount: Number = 1
    ) throws(PersistenceError) {
        try perform(.increment(amount.attributeValue), on: Self.name(of: key))
    }

    /// Puts elements at the end of an array; see ``ManagedObject/add(_:to:)-([_],String)``.
    ///
    ///     try article.add(["swift"], to: \.keywords)
    ///
    public func add<Element: AttributeValue>(
        _ elements: [Element], to key: KeyPath<ObjectKeys<Self>, JSONListKey<Element>>
    ) throws(PersistenceError) {
        try perform(.append(elements.map(\.attributeValue)), on: Self.name(of: key))
    }

    /// Puts those elements at the end of an array that it lacks; see ``ManagedObject/addUnique(_:to:)-([_],String)``.
    public func addUnique<Element: AttributeValue>(
        _ elements: [Element], to key: KeyPath<ObjectKeys<Self>, JSONListKey<Element>>
    ) throws(PersistenceError) {
        try perform(.appendUnique(elements.map(\.attributeValue)), on: Self.name(of: key))
    }

    /// Takes elements out of an array; see ``ManagedObject/remove(_:from:)-([_],String)``.
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
    /// The operations that have not been saved, by slot. To set ``changes`` forgets them.
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

    /// A slot was assigned: what was done to it before does not count any more.
    final func forgetOperations(_ slot: Int) {
        guard operations[slot] != nil else { return }
        operations[slot] = nil
    }

    /// Does something to an attribute.
    final func perform(_ operation: FieldOperation, on name: String) throws(PersistenceError) {
        let slot = try operableSlot(name)
        guard let type = slot.type, operation.fits(type) else { throw refused(slot, operation.misfit(for: slot.type)) }
        if flags.contains(.fault), let core { try core.faults.load(self) }
        guard perform(FieldOperations([operation.normalized(for: type)]), on: slot) else {
            throw inapplicable(slot, to: row)
        }
    }

    /// Does something to a slot, as the change of this context that it is.
    /// - Returns: false, and nothing done, if the attribute cannot hold the result.
    final func perform(_ done: FieldOperations, on slot: SlotDescription) -> Bool {
        guard let type = slot.type, let old = row.operand(slot), let value = done.applied(to: old, of: type),
            RowEditing.accepts(value, slot)
        else { return false }
        var operations = self.operations
        let counts = countsAsOperation(slot)
        write(value, slot)
        guard counts else { return true }
        operations[slot.index, default: FieldOperations()].append(done)
        if operations[slot.index]?.isEmpty == true { operations[slot.index] = nil }
        self.operations = operations
        return true
    }

    /// Whether what is done to a slot now is an operation, and not part of a value that was assigned.
    private func countsAsOperation(_ slot: SlotDescription) -> Bool {
        guard flags.isDisjoint(with: [.detached, .missing]), source.tracker?.isTracking == true else { return false }
        // What is done to a new object while it is being saved is done to the row that the save makes.
        if flags.contains(.inserted) { return core?.saves.isWaiting == true }
        if operations[slot.index] != nil { return true }
        guard let changes, changes.slots.contains(slot.index), let snapshot = changes.snapshot else { return true }
        return row.hasSameValue(as: snapshot.row, slot: slot.index, storage: slot.storage)
    }

    /// The slot of an attribute to which something can be done.
    private func operableSlot(_ name: String) throws(PersistenceError) -> SlotDescription {
        let entity = binding.entity
        guard let attribute = entity.attribute(named: name), let index = attribute.slots.first else {
            if let slot = entity.slot(named: name) {
                throw refused(
                    slot, "operations change whole attributes, and no relationships and elements of composites")
            }
            throw .unknownProperty(entity: entity.name, property: name)
        }
        let slot = entity.slots[index]
        if slot.derivation != nil { throw refused(slot, "is derived; change what it comes from") }
        if slot.isTransient { throw refused(slot, "is transient, and kept in no store; assign a value") }
        if attribute.slots.count > 1 { throw refused(slot, "is a composite; assign a value") }
        if slot.enumeration != nil { throw refused(slot, "has the values of an enumeration; assign one of them") }
        return slot
    }

    private func refused(_ slot: SlotDescription, _ reason: String) -> PersistenceError {
        .invalidOperation(entity: binding.entity.name, property: slot.name, reason: reason)
    }

    /// What was done to a slot cannot be done to the value of a row.
    final func inapplicable(_ slot: SlotDescription, to row: RowPointer) -> PersistenceError {
        refused(
            slot,
            "the attribute cannot hold the result of the operation on \(row.value(slot)); assign a value, or roll back")
    }

    /// - Throws: ``PersistenceError/invalidOperation(entity:property:reason:)`` if what was done cannot be done to what
    ///   others have made of a value.
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

    /// Takes up operations again that lead from the row that was read to the present value.
    final func resume(_ done: FieldOperations, on slot: SlotDescription) {
        guard let snapshot = changes?.snapshot, let type = slot.type, core?.saves.isWaiting == false,
            let value = done.applied(to: snapshot.row.value(slot), of: type), value == row.value(slot)
        else { return }
        operations[slot.index] = done.opened
    }
}

extension RowPointer {
    /// The value of a slot to which something is to be done; nil if it is damaged, so that it says nothing.
    func operand(_ slot: SlotDescription) -> Value? {
        let value = value(slot)
        return value.isNull && isPresent(slot.index) ? nil : value
    }
}

extension FieldOperations {
    /// Writes what becomes of the value of a row to another row.
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
    /// Why it cannot be done to attributes of a type.
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
