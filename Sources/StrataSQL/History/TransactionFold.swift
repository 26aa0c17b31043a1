import StrataStore

/// Makes one change of each object from the rows of a transaction: a save may write an object several times, and its
/// relationships are in other tables.
package struct TransactionFold {
    /// What happened to an object so far.
    package struct Object {
        package var entity: Int64
        package let key: Int64
        package var wasThere: Bool
        package var isThere: Bool
        /// Whether it was deleted and came back, so that the difference is not known.
        package var isReplaced = false
        package var changed: Set<String> = []
        /// The first old value of each slot: what others saw before the transaction.
        package var oldValues: [String: Value] = [:]
    }

    /// A row of history.
    package struct Row {
        package let kind: Int64
        package let entity: Int64
        package let key: Int64
        package let changed: Int64

        package init(kind: Int64, entity: Int64, key: Int64, changed: Int64) {
            self.kind = kind
            self.entity = entity
            self.key = key
            self.changed = changed
        }
    }

    private struct Identity: Hashable {
        let root: String
        let key: Int64
    }

    package let names: HistoryNames
    package private(set) var objects: [Object] = []
    private var places: [Identity: Int] = [:]

    package init(names: HistoryNames) { self.names = names }

    package mutating func removeAll() {
        objects = []
        places = [:]
    }

    /// Takes a row.
    /// - Returns: The place of the object that it is about; nil for a row that says nothing.
    package mutating func add(_ row: Row) -> Int? {
        guard let entity = names.entities[row.entity] else { return nil }
        // A version went up, and nothing else.
        if row.kind >= HistoryKind.update, row.changed == 0 { return nil }
        let identity = Identity(root: entity.root, key: row.key)
        let place: Int
        if let known = places[identity] {
            place = known
        } else {
            place = objects.count
            places[identity] = place
            let wasThere = row.kind != HistoryKind.insert
            objects.append(Object(entity: row.entity, key: row.key, wasThere: wasThere, isThere: wasThere))
        }
        switch row.kind {
        case HistoryKind.insert:
            if objects[place].isThere {
                // The row of a relationship came before that of its new object.
                objects[place].wasThere = false
            } else if objects[place].wasThere {
                objects[place].isReplaced = true
            }
            objects[place].isThere = true
            objects[place].entity = row.entity
        case HistoryKind.delete:
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
        let first = Int(row.kind - HistoryKind.update) * HistoryKind.word
        var rest = UInt64(bitPattern: row.changed)
        while rest != 0 {
            let bit = first + rest.trailingZeroBitCount
            rest &= rest &- 1
            if let name = names.name(bit, row.entity) { objects[place].changed.insert(name) }
        }
    }

    /// Notes an old value; the first one counts.
    package mutating func note(_ value: Value, of slot: String, place: Int) {
        if objects[place].oldValues[slot] == nil { objects[place].oldValues[slot] = value }
    }

    /// The changes, in the order in which the objects were first touched.
    package func changes() -> [HistoryChange] {
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
