import StrataStore

/// What happened to an object since a moment.
package struct ObjectPast {
    /// What happened up to its first end.
    package let object: TransactionFold.Object
    /// Whether it has been deleted since, even if it came back.
    package let hasGone: Bool

    package init(object: TransactionFold.Object, hasGone: Bool) {
        self.object = object
        self.hasGone = hasGone
    }
}

extension HistoryNames {
    /// The entity of an object of the store; nil if the object is of another store or another model.
    package func ownEntity(of id: ObjectID) -> EntityDescription? {
        id.storeIdentifier == storeIdentifier ? model.entity(named: id.entity.name) : nil
    }

    /// What an object was at a moment: the old values of what has changed since, and for the rest what is in its row.
    /// - Parameters:
    ///   - entity: Its entity now.
    ///   - past: What happened to it since that moment; nil if nothing did.
    ///   - present: Reads its row; nil if there is none.
    ///   - value: The value of a slot of the row.
    /// - Returns: nil if it was not there.
    package func object<E: Error>(
        _ id: ObjectID, _ entity: EntityDescription, past: ObjectPast?,
        present: () throws(E) -> RowReference?, value: (RowReference, SlotDescription) throws(E) -> Value
    ) throws(E) -> HistoricalObject? {
        if let past, !past.object.wasThere { return nil }
        var values = past?.object.oldValues ?? [:]
        var found = past.flatMap { description($0.object.entity) } ?? entity
        if past?.hasGone != true {
            guard let row = try present() else { return nil }
            found = model.entities[row.entityIndex]
            for slot in found.slots where slot.isStored && past?.object.changed.contains(slot.name) != true {
                values[slot.name] = try value(row, slot)
            }
        }
        return HistoricalObject(
            objectID: ObjectID(entity: found, key: id.key, storeIdentifier: storeIdentifier), values: values)
    }
}
