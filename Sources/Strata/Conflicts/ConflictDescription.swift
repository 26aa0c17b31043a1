import StrataStore

/// Describes conflicts for the application.
struct ConflictDescription {
    let core: ContextCore

    func describe(_ conflict: StoreConflict) -> MergeConflict {
        let entity = core.model.entities[conflict.entityIndex]
        let object = core.object(conflict.entityIndex, conflict.key)
        let id =
            object?.objectID ?? core.objectID(RowIdentity(entityIndex: conflict.entityIndex, key: conflict.key))
        if case .unique(let slots) = conflict.reason {
            let otherKey = conflict.storeRow?.row.key ?? conflict.otherKey ?? conflict.key
            let other = core.objectID(RowIdentity(entityIndex: conflict.entityIndex, key: otherKey))
            return MergeConflict(
                objectID: id, reason: .unique(properties: slots.map { entity.slots[$0].name }, other: other),
                properties: [])
        }
        guard let store = conflict.storeRow else {
            return MergeConflict(objectID: id, reason: .deletedInStore, properties: [])
        }
        var properties: [(name: String, snapshot: Value, memory: Value, store: Value)] = []
        if let object, let snapshot = object.changes?.snapshot, !object.flags.contains(.deleted) {
            for slot in object.storedChanges {
                let description = object.binding.entity.slots[slot]
                guard !store.row.hasSameValue(as: snapshot.row, slot: slot, storage: description.storage) else {
                    continue
                }
                properties.append(
                    (
                        description.name, snapshot.row.value(description), object.row.value(description),
                        store.row.value(description)
                    ))
            }
        }
        return MergeConflict(objectID: id, reason: .changedInStore, properties: properties)
    }
}
