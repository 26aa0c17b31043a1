/// Inserts or updates objects by a key: one lookup for all of them, then changes in memory.
///
/// Everything that may fail, conversions and lookups, comes before the first change.
final class Upserter {
    let core: ContextCore
    let entity: EntityDescription
    /// The slots of the key.
    private let keySlots: [SlotDescription]
    private(set) var result = UpsertResult<ManagedObject>()
    /// The objects that exist, and those that were inserted by this upsert.
    private var entries: [Entry] = []
    /// Positions in ``entries``, by key.
    private var known: [KeyTuple: Int] = [:]

    private struct Entry {
        let object: ManagedObject
        var outcome: Outcome
        /// Whether the object is in one of the lists of the result.
        var isListed = false
    }

    private enum Outcome { case inserted, updated, unchanged }

    /// - Parameter names: The properties of the key; nil for the primary key.
    /// - Throws: ``PersistenceError/noPrimaryKey(entity:)``, ``PersistenceError/invalidUpsert(entity:reason:)``.
    init(core: ContextCore, entity: EntityDescription, names: [String]?) throws(PersistenceError) {
        self.core = core
        self.entity = entity
        guard let names = names ?? entity.primaryKeyField.map({ [$0] }) else {
            throw .noPrimaryKey(entity: entity.name)
        }
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
        finish(try entries(for: rows))
    }

    /// As ``upsert(_:)``, with a closure that assigns more.
    func upsert(_ rows: [PropertyValues], assign: (ManagedObject, Int) throws -> Void) throws {
        let positions = try entries(for: rows)
        for (row, position) in positions.enumerated() {
            let object = entries[position].object
            let before = object.sharedRow
            try assign(object, row)
            let isSame = object.binding.entity.slots.allSatisfy {
                !$0.isStored || object.row.hasSameValue(as: before.row, slot: $0.index, storage: $0.storage)
            }
            if !isSame || object.hasToManyChanges { noteUpdated(position) }
        }
        finish(positions)
    }

    /// - Returns: For each row the position of its object in ``entries``.
    private func entries(for rows: [PropertyValues]) throws(PersistenceError) -> [Int] {
        var keys: [KeyTuple] = []
        keys.reserveCapacity(rows.count)
        for (position, row) in rows.enumerated() { keys.append(KeyTuple(try key(of: row, position))) }
        try lookUp(keys)
        if entity.isAbstract, keys.contains(where: { known[$0] == nil }) { throw .abstractEntity(name: entity.name) }
        // Rows may refer to one another, so all objects are there before the first relationship is set.
        let own = keySlots.map(\.name) == [entity.primaryKeyField] ? Set(keys) : []
        let related = RelatedObjects(core: core)
        try related.lookUp(rows) { $0.rootIndex == entity.rootIndex && own.contains($1) }
        let positions = zip(rows, keys).map { row, key in assign(row, key) }
        for (position, row) in zip(positions, rows) where !row.relationships.isEmpty {
            if try related.connect(entries[position].object, row, own: { known[$0].map { entries[$0].object } }) {
                noteUpdated(position)
            }
        }
        return positions
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
        let conditions = keySlots.enumerated().map { index, slot -> FetchPredicate in
            .comparison(.keyPath(slot.path), .isIn, .constant(.list(keys.map { $0.value(index) })), [])
        }
        let request = FetchRequest<ManagedObject>(
            entity: entity.name, where: conditions.count == 1 ? conditions[0] : .and(conditions))
        // Each value of a key may be wanted, but not all of them together.
        let wanted = conditions.count == 1 ? nil : Set(keys)
        let objects = try core.fetcher.fetch(request, besides: new)
        entries.reserveCapacity(keys.count)
        known.reserveCapacity(keys.count)
        for object in objects {
            let key = KeyTuple(keySlots, of: object.row)
            guard wanted?.contains(key) ?? true else { continue }
            if known.updateValue(entries.count, forKey: key) != nil {
                throw .invalidUpsert(
                    entity: entity.name,
                    reason:
                        "several objects have the same \(keySlots.map(\.name).joined(separator: ", ")); remove all but one"
                )
            }
            entries.append(Entry(object: object, outcome: .unchanged))
        }
    }

    /// Adds an object that did not exist.
    /// - Returns: Its position in ``entries``.
    private func add(_ object: ManagedObject, _ key: KeyTuple) -> Int {
        known[key] = entries.count
        entries.append(Entry(object: object, outcome: .inserted))
        return entries.count - 1
    }

    private func assign(_ row: PropertyValues, _ key: KeyTuple) -> Int {
        let position = known[key] ?? add(core.factory.insert(core.binding(at: row.entity.index)), key)
        let object = entries[position].object
        for (index, value) in row.values {
            let slot = object.binding.entity.slots[index]
            if !object.isInserted, object.currentValue(slot).isSame(as: value) { continue }
            object.write(value, slot)
            noteUpdated(position)
        }
        return position
    }

    private func noteUpdated(_ position: Int) {
        if entries[position].outcome == .unchanged { entries[position].outcome = .updated }
    }

    /// Fills the result.
    /// - Parameter positions: For each element of the input the position of its object in ``entries``.
    private func finish(_ positions: [Int]) {
        result.objects.reserveCapacity(positions.count)
        for position in positions {
            let entry = entries[position]
            result.objects.append(entry.object)
            guard !entry.isListed else { continue }
            entries[position].isListed = true
            switch entry.outcome {
            case .inserted: result.inserted.append(entry.object)
            case .updated: result.updated.append(entry.object)
            case .unchanged: result.unchanged.append(entry.object)
            }
        }
    }

    // MARK: Objects

    /// Lets new objects of the context give way to the objects that have their keys. If it throws, nothing has changed.
    func upsert(_ objects: [ManagedObject]) throws(PersistenceError) {
        var keys: [KeyTuple] = []
        keys.reserveCapacity(objects.count)
        for (position, object) in objects.enumerated() {
            guard object.core === core, object.isInserted, !object.isDeleted else {
                throw .invalidUpsert(
                    entity: entity.name, reason: "element \(position), \(object), is not a new object of this context")
            }
            if let slot = keySlots.first(where: { !object.row.isPresent($0.index) }) {
                throw .invalidUpsert(
                    entity: entity.name,
                    reason: "\(object) has no value for \(slot.name), by which objects are recognized")
            }
            keys.append(KeyTuple(keySlots, of: object.row))
        }
        try lookUp(keys, otherThan: Set(objects))
        let resolver = ConflictResolver(core: core)
        let positions = zip(objects, keys).map { object, key in
            guard let position = known[key] else { return add(object, key) }
            let survivor = entries[position].object
            if survivor !== object, resolver.merge(object, into: survivor) { noteUpdated(position) }
            return position
        }
        resolver.redirect()
        finish(positions)
    }
}

extension Value {
    /// Whether two values are the same in a store: text by its bytes.
    fileprivate func isSame(as other: Value) -> Bool {
        if case .string(let a) = self, case .string(let b) = other { return a.utf8.elementsEqual(b.utf8) }
        return self == other
    }
}
