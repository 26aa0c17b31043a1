import StrataStore

/// The net changes in a context from one boundary to the next, or over several boundaries if a reader is slow.
///
///     for await change in context.changes where !change.isEverything {
///         for (id, properties) in change.updated where properties.names.contains("name") {
///             print(id, "was called", properties.oldValues["name"] ?? .null)
///         }
///     }
///
/// ``ManagedObjectContext/changes`` gives them. ``updated`` are edits made in this context; ``refreshed`` are objects that now
/// show what others have saved, or that were refreshed or rolled back. Both name the properties, with the values before. To
/// learn the values now, look the object up by its ID in the context.
///
/// It is a value, so you can send it anywhere. Beyond ``mostObjects`` it only says ``isEverything``; reload what you show then.
public struct ContextChange: Sendable {
    /// What changed in one object.
    public struct Properties: Sendable, Hashable {
        /// The attributes and to-one relationships that changed, with the values that they had before; ``Value/null``
        /// stands for nil.
        public internal(set) var oldValues: [String: Value] = [:]
        /// The to-many relationships whose members came, went or changed places.
        public internal(set) var relationships: Set<String> = []

        /// The names of all properties that changed. Empty if the context only knows that something may have changed.
        public var names: Set<String> { relationships.union(oldValues.keys) }
    }

    /// Objects that were inserted in this context, or that others have inserted.
    public internal(set) var inserted: Set<ObjectID> = []
    /// Objects that were changed in this context.
    public internal(set) var updated: [ObjectID: Properties] = [:]
    /// The deleted objects. An object that was inserted and deleted since your last change is not among them.
    public internal(set) var deleted: Set<ObjectID> = []
    /// Objects that show what others saved, or that were refreshed or rolled back.
    public internal(set) var refreshed: [ObjectID: Properties] = [:]
    /// Whether anything may have changed: too much happened to be listed, or the context was reset. The lists are empty
    /// then.
    public internal(set) var isEverything = false

    /// The number of objects in one change beyond which it says ``isEverything``.
    public static let mostObjects = 10_000

    /// Whether nothing changed.
    public var isEmpty: Bool {
        !isEverything && inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty
    }

    private var count: Int { inserted.count + updated.count + deleted.count + refreshed.count }

    /// Adds what happened afterwards.
    mutating func append(_ next: ContextChange) {
        if isEverything { return }
        for id in next.deleted {
            updated[id] = nil
            refreshed[id] = nil
            if inserted.remove(id) == nil { deleted.insert(id) }
        }
        for id in next.inserted {
            // It was deleted and came back.
            if deleted.remove(id) != nil { refreshed[id] = Properties() } else { inserted.insert(id) }
        }
        for (id, properties) in next.updated where !inserted.contains(id) {
            updated[id, default: refreshed.removeValue(forKey: id) ?? Properties()].append(properties)
        }
        for (id, properties) in next.refreshed where !inserted.contains(id) {
            if updated[id] != nil {
                updated[id]?.append(properties)
            } else {
                refreshed[id, default: Properties()].append(properties)
            }
        }
        if next.isEverything || count > Self.mostObjects {
            self = ContextChange()
            isEverything = true
        }
    }
}

extension ContextChange.Properties {
    /// Adds what happened afterwards: the older values count.
    mutating func append(_ next: Self) {
        oldValues.merge(next.oldValues) { old, _ in old }
        relationships.formUnion(next.relationships)
    }
}

extension ContextChange {
    /// What a boundary comes to.
    init(_ changes: BoundaryChanges, _ core: ContextCore) {
        guard !changes.isEverything, changes.objects.count + changes.rows.count <= Self.mostObjects else {
            isEverything = true
            return
        }
        let isOwn = changes.kind != .merge && changes.kind != .rollback
        var seen: Set<ObjectID> = []
        for touch in changes.objects { add(touch, changes, core, isOwn: isOwn, &seen) }
        for touch in changes.rows {
            let id = core.objectID(touch.identity)
            if !seen.contains(id) { add(touch, id, core) }
        }
    }

    private mutating func add(
        _ touch: ObjectTouch, _ changes: BoundaryChanges, _ core: ContextCore, isOwn: Bool, _ seen: inout Set<ObjectID>
    ) {
        let object = touch.object
        let id = core.objectID(touch.identity)
        seen.insert(id)
        if object.isInserted { object.flags.insert(.idTaken) }
        if object.key != touch.key {
            // The object turned out to be the row of another key.
            if touch.wasShown { deleted.insert(id) }
            if object.isShown { inserted.insert(object.identity) }
            return
        }
        switch (touch.wasShown, object.isShown) {
        case (false, false): return
        case (false, true): inserted.insert(id)
        case (true, false): deleted.insert(id)
        case (true, true):
            var properties = Properties()
            if let row = touch.row, !object.isFault {
                for slot in touch.changedSlots {
                    let description = object.binding.entity.slots[slot]
                    properties.oldValues[description.name] = row.row.value(description)
                }
            }
            for index in touch.toManys.keys where changes.hasChanged(object, toMany: index) {
                properties.relationships.insert(object.relationship(toMany: index).name)
            }
            if isOwn, object.hasChanges || !properties.names.isEmpty, !object.isFault {
                if !properties.names.isEmpty { updated[id] = properties }
            } else if !properties.names.isEmpty || (object.isFault && !touch.wasFault) {
                refreshed[id] = properties
            }
        }
    }

    private mutating func add(_ touch: RowTouch, _ id: ObjectID, _ core: ContextCore) {
        switch touch.kind {
        case .inserted: inserted.insert(id)
        case .deleted:
            if inserted.remove(id) == nil { deleted.insert(id) }
            refreshed[id] = nil
        case .updated, .unknown:
            guard !inserted.contains(id) else { return }
            let entity = core.model.entities[touch.identity.entityIndex]
            var properties = Properties()
            for slot in touch.slots ?? SlotSet() where slot < entity.slots.count {
                let description = entity.slots[slot]
                properties.oldValues[description.name] = touch.before?.value(description) ?? .null
            }
            if let index = touch.toManyIndex {
                properties.relationships.insert(entity.relationships[entity.toManyIndexes[index]].name)
            }
            refreshed[id, default: Properties()].append(properties)
        }
    }
}
