import StrataStore

/// Makes one change of each object from the rows of a transaction: a save may write an object several times, and its
/// relationships are in other tables.
struct TransactionFold {
    /// What happened to an object so far.
    struct Object {
        var entity: Int64
        let key: Int64
        var wasThere: Bool
        var isThere: Bool
        /// Whether it was deleted and came back, so that the difference is not known.
        var isReplaced = false
        var changed: Set<String> = []
        /// The first old value of each slot: what others saw before the transaction.
        var oldValues: [String: Value] = [:]
    }

    /// A row of ``HistoryTables/changes``.
    struct Row {
        let kind: Int64
        let entity: Int64
        let key: Int64
        let changed: Int64
    }

    private struct Identity: Hashable {
        let root: String
        let key: Int64
    }

    let names: HistoryNames
    private(set) var objects: [Object] = []
    private var places: [Identity: Int] = [:]

    init(names: HistoryNames) { self.names = names }

    mutating func removeAll() {
        objects = []
        places = [:]
    }

    /// Takes a row.
    /// - Returns: The place of the object that it is about; nil for a row that says nothing.
    mutating func add(_ row: Row) -> Int? {
        guard let entity = names.entities[row.entity] else { return nil }
        // A version went up, and nothing else.
        if row.kind >= HistoryTables.Kind.update, row.changed == 0 { return nil }
        let identity = Identity(root: entity.root, key: row.key)
        let place: Int
        if let known = places[identity] {
            place = known
        } else {
            place = objects.count
            places[identity] = place
            let wasThere = row.kind != HistoryTables.Kind.insert
            objects.append(Object(entity: row.entity, key: row.key, wasThere: wasThere, isThere: wasThere))
        }
        switch row.kind {
        case HistoryTables.Kind.insert:
            if objects[place].isThere {
                // The row of a relationship came before that of its new object.
                objects[place].wasThere = false
            } else if objects[place].wasThere {
                objects[place].isReplaced = true
            }
            objects[place].isThere = true
            objects[place].entity = row.entity
        case HistoryTables.Kind.delete:
            objects[place].isThere = false
            objects[place].entity = row.entity
        default: note(row, place)
        }
        return place
    }

    private mutating func note(_ row: Row, _ place: Int) {
        // The row of a relationship may know no more than the topmost entity of the object.
        if let name = names.entities[objects[place].entity]?.name, let new = names.description(row.entity),
            let known = names.model.entity(named: name), new.index != known.index, new.isKind(of: known)
        {
            objects[place].entity = row.entity
        }
        let first = Int(row.kind - HistoryTables.Kind.update) * HistoryTables.Kind.word
        var rest = UInt64(bitPattern: row.changed)
        while rest != 0 {
            let bit = first + rest.trailingZeroBitCount
            rest &= rest &- 1
            if let name = names.name(bit, row.entity) { objects[place].changed.insert(name) }
        }
    }

    /// Notes an old value; the first one counts.
    mutating func note(_ value: Value, of slot: String, place: Int) {
        if objects[place].oldValues[slot] == nil { objects[place].oldValues[slot] = value }
    }

    /// The changes, in the order in which the objects were first touched.
    func changes() -> [HistoryChange] {
        objects.compactMap { object in
            guard object.wasThere || object.isThere, let entity = names.entities[object.entity] else { return nil }
            let description = names.description(object.entity)
            let kind: HistoryChange.Kind =
                !object.isThere ? .deleted : object.wasThere ? .updated : .inserted
            var properties: Set<String> = []
            if kind == .updated {
                properties = Set(object.changed.map(HistoryEntity.property))
                if object.isReplaced {
                    properties.formUnion(entity.properties.compactMap { $0.map(HistoryEntity.property) })
                }
                if properties.isEmpty { return nil }
            }
            return HistoryChange(
                entityName: entity.name, key: object.key,
                objectID: description.map {
                    ObjectID(entity: $0, key: object.key, storeIdentifier: names.storeIdentifier)
                },
                kind: kind, properties: properties.sorted(), oldValues: kind == .inserted ? [:] : object.oldValues)
        }
    }
}
