/// Inserts or updates objects by a key: one look-up for all of them, then changes in memory.
///
/// Everything that may fail, conversions and look-ups, comes before the first change.
final class Upserter {
    let core: ContextCore
    let entity: EntityDescription
    /// The slots of the key.
    private let keySlots: [SlotDescription]
    private(set) var result = UpsertResult<ManagedObject>()
    /// Objects by key: those that exist, and those that were inserted by this upsert.
    private var known: [KeyTuple: ManagedObject] = [:]
    private var outcomes: [ObjectIdentifier: Outcome] = [:]

    private enum Outcome { case inserted, updated, unchanged }

    /// - Parameter names: The properties of the key; nil for the primary key.
    /// - Throws: ``PersistenceError/noPrimaryKey(entity:)``, ``PersistenceError/invalidUpsert(entity:reason:)``.
    init(core: ContextCore, entity: EntityDescription, names: [String]?) throws(PersistenceError) {
        self.core = core
        self.entity = entity
        guard let names = names ?? entity.primaryKeyField.map({ [$0] }) else { throw .noPrimaryKey(entity: entity.name) }
        var slots: [SlotDescription] = []
        for name in names {
            guard let slot = entity.slot(named: name), slot.relationshipIndex == nil, slot.isStored else {
                throw .invalidUpsert(
                    entity: entity.name, reason: "\(name) is not a stored attribute that a key can consist of")
            }
            slots.append(slot)
        }
        keySlots = slots
    }

    // MARK: Rows

    /// Inserts or updates an object for each of some sets of values.
    func upsert(_ rows: [PropertyValues]) throws(PersistenceError) {
        finish(try objects(for: rows))
    }

    /// As ``upsert(_:)``, with a closure that assigns more.
    func upsert(_ rows: [PropertyValues], assign: (ManagedObject, Int) throws -> Void) throws {
        let objects = try objects(for: rows)
        for (position, object) in objects.enumerated() {
            let before = object.sharedRow
            try assign(object, position)
            let isSame = object.binding.entity.slots.allSatisfy {
                !$0.isStored || object.row.hasSameValue(as: before.row, slot: $0.index, storage: $0.storage)
            }
            if !isSame || object.hasToManyChanges { noteUpdated(object) }
        }
        finish(objects)
    }

    private func objects(for rows: [PropertyValues]) throws(PersistenceError) -> [ManagedObject] {
        var keys: [KeyTuple] = []
        keys.reserveCapacity(rows.count)
        for (position, row) in rows.enumerated() { keys.append(KeyTuple(try key(of: row, position))) }
        try lookUp(keys)
        if entity.isAbstract, keys.contains(where: { known[$0] == nil }) { throw .abstractEntity(name: entity.name) }
        // Rows may refer to one another, so all objects are there before the first relationship is set.
        let own = keySlots.map(\.name) == [entity.primaryKeyField] ? Set(keys) : []
        let related = RelatedObjects(core: core)
        try related.lookUp(rows) { $0.rootIndex == entity.rootIndex && own.contains($1) }
        let objects = zip(rows, keys).map { row, key in assign(row, key) }
        for (object, row) in zip(objects, rows) where !row.relationships.isEmpty {
            if try related.connect(object, row, own: { known[$0] }) { noteUpdated(object) }
        }
        return objects
    }

    private func key(of row: PropertyValues, _ position: Int) throws(PersistenceError) -> [Value] {
        var key: [Value] = []
        for slot in keySlots {
            guard let value = row.value(slot.index), !value.isNull else {
                throw .invalidUpsert(
                    entity: entity.name,
                    reason: "element \(position) has no value for \(slot.name), by which objects are recognized")
            }
            key.append(value)
        }
        return key
    }

    /// Finds the objects that have one of some keys.
    /// - Parameter new: Objects that are not looked for.
    private func lookUp(_ keys: [KeyTuple], otherThan new: Set<ManagedObject> = []) throws(PersistenceError) {
        guard !keys.isEmpty else { return }
        let wanted = Set(keys)
        let conditions = keySlots.enumerated().map { index, slot -> FetchPredicate in
            .comparison(.keyPath(slot.path), .isIn, .constant(.list(wanted.map { $0.value(index) })), [])
        }
        let request = FetchRequest<ManagedObject>(
            entity: entity.name, where: conditions.count == 1 ? conditions[0] : .and(conditions))
        for object in try core.fetcher.fetch(request) where !new.contains(object) {
            let key = KeyTuple(keySlots.map { object.row.value($0) })
            guard wanted.contains(key) else { continue }
            if known.updateValue(object, forKey: key) != nil {
                throw .invalidUpsert(
                    entity: entity.name,
                    reason: "several objects have the same \(keySlots.map(\.name).joined(separator: ", "))")
            }
        }
    }

    private func assign(_ row: PropertyValues, _ key: KeyTuple) -> ManagedObject {
        let object: ManagedObject
        if let found = known[key] {
            object = found
            if outcomes[ObjectIdentifier(found)] == nil { outcomes[ObjectIdentifier(found)] = .unchanged }
        } else {
            object = core.factory.insert(core.binding(at: row.entity.index))
            known[key] = object
            outcomes[ObjectIdentifier(object)] = .inserted
        }
        for (index, value) in row.values {
            let slot = object.binding.entity.slots[index]
            if !object.isInserted, object.currentValue(slot).isSame(as: value) { continue }
            object.write(value, slot)
            noteUpdated(object)
        }
        return object
    }

    private func noteUpdated(_ object: ManagedObject) {
        if outcomes[ObjectIdentifier(object)] == .unchanged { outcomes[ObjectIdentifier(object)] = .updated }
    }

    private func finish(_ objects: [ManagedObject]) {
        var seen: Set<ObjectIdentifier> = []
        for object in objects where seen.insert(ObjectIdentifier(object)).inserted {
            switch outcomes[ObjectIdentifier(object)] {
            case .inserted: result.inserted.append(object)
            case .updated: result.updated.append(object)
            default: result.unchanged.append(object)
            }
        }
        result.objects = objects
    }

    // MARK: Objects

    /// Lets new objects of the context give way to the objects that have their keys.
    func upsert(_ objects: [ManagedObject]) throws(PersistenceError) {
        var keys: [KeyTuple] = []
        for (position, object) in objects.enumerated() {
            guard object.core === core, object.isInserted, !object.isDeleted else {
                throw .invalidUpsert(
                    entity: entity.name, reason: "element \(position), \(object), is not a new object of this context")
            }
            let key = keySlots.map { object.row.value($0) }
            if let index = key.firstIndex(where: \.isNull) {
                throw .invalidUpsert(
                    entity: entity.name,
                    reason: "\(object) has no value for \(keySlots[index].name), by which objects are recognized")
            }
            keys.append(KeyTuple(key))
        }
        try lookUp(keys, otherThan: Set(objects))
        let resolver = ConflictResolver(core: core)
        var survivors: [ManagedObject] = []
        for (object, key) in zip(objects, keys) {
            guard let survivor = known[key] else {
                known[key] = object
                outcomes[ObjectIdentifier(object)] = .inserted
                survivors.append(object)
                continue
            }
            survivors.append(survivor)
            guard survivor !== object else { continue }
            if outcomes[ObjectIdentifier(survivor)] == nil { outcomes[ObjectIdentifier(survivor)] = .unchanged }
            if resolver.merge(object, into: survivor) { noteUpdated(survivor) }
        }
        resolver.redirect()
        finish(survivors)
    }
}

extension Value {
    /// Whether two values are the same in a store: text by its bytes.
    fileprivate func isSame(as other: Value) -> Bool {
        if case .string(let a) = self, case .string(let b) = other { return a.utf8.elementsEqual(b.utf8) }
        return self == other
    }
}
