import Foundation

extension ManagedObjectContext {
    /// Inserts a new object of an entity by name. Its class is the one that the container binds to the entity.
    /// - Throws: ``PersistenceError/unknownEntity(name:model:)``, ``PersistenceError/abstractEntity(name:)``.
    public func insert(entityNamed name: String) throws(PersistenceError) -> ManagedObject {
        guard let entity = model.entity(named: name) else { throw .unknownEntity(name: name, model: model.name) }
        guard !entity.isAbstract else { throw .abstractEntity(name: name) }
        let binding = coordinator.bindings[entity.index]
        let object = binding.objectClass.init(_seed: seed(binding))
        didInsert(object)
        return object
    }

    func seedForInsertion(of objectClass: ManagedObject.Type) -> ObjectSeed {
        guard let binding = coordinator.binding(for: objectClass) else {
            fatalError(
                """
                the container's model \(model.name) binds no entity to the class \(objectClass); \
                pass the class to PersistentContainer, or use insert(entityNamed:)
                """)
        }
        guard !binding.entity.isAbstract else {
            fatalError("\(binding.entity.name) is abstract; insert one of the entities that inherit from it")
        }
        return seed(binding)
    }

    private func seed(_ binding: EntityBinding) -> ObjectSeed {
        let key = nextKey(rootIndex: binding.entity.rootIndex)
        let slab = RowSlab.copy(of: binding.defaultRow.row, room: 64)
        RowEditing.setKey(key, in: slab)
        return ObjectSeed(
            origin: bareOrigin(binding), row: slab.row, key: key,
            flags: observesObjects ? [.inserted, .ownsRow, .observed] : [.inserted, .ownsRow], slab: slab)
    }

    /// A context made from another draws its keys there: one for a few objects would reserve a block, which is a
    /// transaction, and leave most of it unused.
    private func nextKey(rootIndex: Int) -> Int64 {
        guard var top = parent else { return keys.next(rootIndex: rootIndex, store: coordinator.store) }
        while let next = top.parent { top = next }
        return top.keys.next(rootIndex: rootIndex, store: coordinator.store)
    }

    /// Registers a new object and runs its hook.
    func didInsert(_ object: ManagedObject) {
        tables[object.binding.entity.index].insert(object, key: object.key)
        list(object)
        for (slot, value) in object.binding.freshDefaults {
            let description = object.binding.entity.slots[slot]
            object.write(EntityBinding.fresh(value, for: description), description)
        }
        object.awakeFromInsert()
    }
}

extension ManagedObject {
    /// Writes a boxed value that fits the slot.
    /// - Returns: false, and nothing written, if it does not fit.
    @discardableResult
    final func write(_ value: Value, _ slot: SlotDescription) -> Bool {
        beginWrite(slot.index)
        let fits = RowEditing.setValue(value, slot, layout: binding.entity.slots, in: &slab)
        row = slab.row
        endWrite(slot.index)
        return fits
    }

    /// Fills the primary key, if it has no value yet, with a new UUID in upper case. It is one of version
    /// 7 (RFC 9562), which begins with the time: those that are made later come later in the order of text, too.
    /// - Returns: The primary key's value.
    /// - Throws: ``PersistenceError/noPrimaryKey(entity:)`` if the entity has none by the convention.
    @discardableResult
    public final func assignObjectID() throws(PersistenceError) -> String {
        guard let field = binding.entity.primaryKeyField, let slot = binding.entity.slot(named: field) else {
            throw .noPrimaryKey(entity: binding.entity.name)
        }
        if case .string(let value) = currentValue(slot), !value.isEmpty { return value }
        let value = TimeOrderedUUID.next().uuidString
        write(.string(value), slot)
        return value
    }

    /// The boxed value of a slot; fires a fault.
    final func currentValue(_ slot: SlotDescription) -> Value {
        if flags.contains(.fault) { fireFault() }
        guard slot.storage == .bytes, row.isPresent(slot.index) else { return row.value(slot) }
        return data(slot.index).map(Value.binary) ?? .null
    }
}
