import StrataStore

extension ObjectFactory {
    /// A new object of an entity. Its class is the one that the container binds to the entity.
    func insert(_ binding: EntityBinding) -> ManagedObject {
        let object = binding.objectClass.init(_seed: seed(binding))
        didInsert(object)
        return object
    }

    /// What an initializer of a class creates a new object from.
    func seedForInsertion(of objectClass: ManagedObject.Type) -> ObjectSeed {
        guard let binding = core.coordinator.binding(for: objectClass) else {
            fatalError(
                """
                the container's model \(core.model.name) binds no entity to the class \(objectClass); \
                pass the class to PersistentContainer, or use insert(entityNamed:)
                """)
        }
        guard !binding.entity.isAbstract else {
            fatalError("\(binding.entity.name) is abstract; insert one of the entities that inherit from it")
        }
        return seed(binding)
    }

    private func seed(_ binding: EntityBinding) -> ObjectSeed {
        let key = core.identityMap.nextKey(rootIndex: binding.entity.rootIndex)
        let slab = RowSlab.copy(of: binding.defaultRow.row, room: binding.roomForBytes)
        RowEditing.setKey(key, in: slab)
        return ObjectSeed(
            source: sharedSource(binding), row: slab.row, key: key,
            flags: newFlags.union(.new), slab: slab)
    }

    /// Registers a new object, gives it the defaults that are new for each object, and runs its hook.
    func didInsert(_ object: ManagedObject) {
        if object.flags.contains(.recorded) { core.tracker.willInsert(object) }
        core.identityMap.register(object)
        core.tracker.add(object)
        for (slot, value) in object.binding.freshDefaults {
            let description = object.binding.entity.slots[slot]
            object.write(EntityBinding.fresh(value, for: description), description)
        }
        object.awakeFromInsert()
        // These were defaults. Later assignments are deliberate, and an upsert writes only those.
        object.record(nil)
    }

    /// Registers an object that a child context has inserted.
    func adopt(_ reference: RowReference, assigned: SlotSet) {
        let row = reference.row
        let binding = core.binding(at: row.entityIndex)
        let known = core.object(row.entityIndex, row.key)
        let isMadeAgain =
            known != nil || row.version > 1
            || core.mayBeDeleted(row.key, rootIndex: core.rootIndex(of: row.entityIndex))
        if let known { giveUp(known) }
        let object = binding.objectClass.init(
            _seed: ObjectSeed(
                source: sharedSource(binding), row: row, key: row.key,
                flags: newFlags.union(.inserted), slab: reference.slab))
        object.record(ChangeRecord(slots: assigned, snapshot: nil))
        if object.flags.contains(.recorded) { core.tracker.willInsert(object) }
        core.identityMap.register(object)
        core.tracker.add(object)
        if isMadeAgain { object.forgetAllMembers() }
    }

    /// Drops an object that is gone from the store, with what was changed of it here: a child has made it again.
    private func giveUp(_ known: ManagedObject) {
        if known.hasChanges { core.unloading.pendingPairs(of: known) }
        core.merger.takeOutOfPairs([known])
        core.tracker.remove(known)
        known.markMissing()
        core.identityMap.detach(known)
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

    /// Fills the primary key, if it has no value yet, with a new UUID in upper case. The UUID is of version 7 (RFC 9562),
    /// which begins with the time: newer ones come later in text order, too. A primary key of type `integer64` gets a random
    /// negative number, which the server replaces; 0 counts as no value.
    /// - Returns: The primary key's value as text.
    /// - Throws: ``PersistenceError/noPrimaryKey(entity:)`` if the entity has none by the convention.
    @discardableResult
    public final func assignObjectID() throws(PersistenceError) -> String {
        guard let field = binding.entity.primaryKeyField, let slot = binding.entity.slot(named: field) else {
            throw .noPrimaryKey(entity: binding.entity.name)
        }
        let current = currentValue(slot)
        switch current {
        case .string(let value) where !NewPrimaryKey.isNone(current, slot): return value
        case .integer(let value) where !NewPrimaryKey.isNone(current, slot): return String(value)
        default: break
        }
        let value = NewPrimaryKey.value(for: slot)
        write(value, slot)
        return if case .string(let text) = value { text } else { "\(value)" }
    }

    /// The boxed value of a slot; fires a fault.
    final func currentValue(_ slot: SlotDescription) -> Value {
        if lacks(slot.index) { fireFault() }
        guard slot.storage == .bytes, row.isPresent(slot.index) else { return row.value(slot) }
        return data(slot.index).map(Value.binary) ?? .null
    }
}
