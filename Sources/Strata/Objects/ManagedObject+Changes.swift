extension ManagedObject {
    /// The attributes and to-one relationships that differ from what was last read or saved, with their values now.
    ///
    ///     city.population += 1
    ///     print(city.changedValues())                    // the new population
    ///     print(city.committedValues()["population"]!)   // the one before
    ///
    /// For a new object, they are those that differ from the defaults. A property that was set back to the value it had is not
    /// among them. For to-many relationships, see ``changedPropertyNames``. Does not fire a fault.
    public final func changedValues() -> [String: Value] {
        let slots = binding.entity.slots
        var result: [String: Value] = [:]
        if isInserted {
            for slot in slots
            where !row.hasSameValue(as: binding.defaultRow.row, slot: slot.index, storage: slot.storage) {
                result[slot.name] = row.value(slot)
            }
            return result
        }
        for index in differingSlots() { result[slots[index].name] = row.value(slots[index]) }
        return result
    }

    /// The names of all properties that differ from what was last read or saved: those of ``changedValues()``, and
    /// to-many relationships whose members came, went or changed places. Does not fire a fault.
    public final var changedPropertyNames: Set<String> {
        var result = Set(changedValues().keys)
        for (index, state) in (extras?.toManys ?? []).enumerated() where state?.hasChanges == true {
            result.insert(relationship(toMany: index).name)
        }
        return result
    }

    /// The values that were last read or saved, of all attributes and to-one relationships; ``Value/null`` stands for nil.
    ///
    ///     let before = city.committedValues()["name"]
    ///
    /// Compare them with ``changedValues()`` in ``ManagedObject/willSave()``, to log edits for instance. They are what this
    /// context has read, which may be older than what the store has now. Empty for a new object. Fires a fault.
    public final func committedValues() -> [String: Value] {
        if flags.contains(.fault) { fireFault() }
        guard !isInserted else { return [:] }
        let committed = changes?.snapshot?.row ?? row
        return Dictionary(uniqueKeysWithValues: binding.entity.slots.map { ($0.name, committed.value($0)) })
    }

    /// The IDs at the other end of a relationship, without reading the objects.
    ///
    ///     let ids = try peru.objectIDs(forRelationship: "cities")
    ///
    /// Use it to count, compare or send related objects whose properties you do not need. For a to-one relationship, the ID
    /// comes from the row; for a to-many relationship, the members' keys are read if they are not loaded.
    /// - Throws: ``PersistenceError/unknownProperty(entity:property:nearest:)`` if there is no such relationship.
    public final func objectIDs(forRelationship name: String) throws(PersistenceError) -> [ObjectID] {
        guard let relationship = binding.entity.relationship(named: name) else {
            throw .unknownProperty(
                name, of: binding.entity, among: binding.entity.relationships.map(\.name))
        }
        if let index = relationship.toManyIndex { return members(toMany: index).objects.map(\.objectID) }
        if flags.contains(.fault) { fireFault() }
        return relationship.slot.flatMap { target($0) }.map { [$0.objectID] } ?? []
    }

    /// Whether anything differs from what was last read or saved in a way that the store keeps.
    public final var hasPersistentChangedValues: Bool {
        if isInserted || flags.contains(.deleted) { return true }
        return !storedChanges.isEmpty || hasToManyChanges
    }
}
