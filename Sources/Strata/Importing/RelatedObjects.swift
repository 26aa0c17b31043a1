/// The objects at the other ends of the relationships of an import: found by their primary keys, or imported with their
/// owners.
final class RelatedObjects {
    private let core: ContextCore
    /// By the entity that a relationship leads to, the objects by the value of their primary key.
    private var found: [Int: [KeyTuple: ManagedObject]] = [:]
    /// Imported with their owners: by the same entity, in the order in which they are asked for.
    private var imported: [Int: [ManagedObject]] = [:]
    private var position: [Int: Int] = [:]

    init(core: ContextCore) { self.core = core }

    /// Finds and imports everything that some rows refer to.
    /// - Parameter isOwn: Whether an object will be there because one of the rows is about it.
    func lookUp(
        _ rows: [PropertyValues], isOwn: (EntityDescription, KeyTuple) -> Bool
    ) throws(PersistenceError) {
        var keys: [Int: Set<KeyTuple>] = [:]
        var names: [KeyTuple: String] = [:]
        var nested: [Int: [PropertyValues]] = [:]
        for row in rows {
            for (relationship, related) in row.relationships {
                let destination = relationship.destinationIndex
                for other in related {
                    switch other {
                    case .object: break
                    case .values(let values): nested[destination, default: []].append(values)
                    case .key(let value):
                        let key = KeyTuple(value)
                        guard !isOwn(core.model.entities[destination], key) else { continue }
                        keys[destination, default: []].insert(key)
                        names[key] = "\(row.entity.name).\(relationship.name)"
                    }
                }
            }
        }
        // Keys may lead to objects that a row has nested.
        for (destination, rows) in nested.sorted(by: { $0.key < $1.key }) { try importNested(rows, destination) }
        for (destination, keys) in keys.sorted(by: { $0.key < $1.key }) { try find(keys, destination, names) }
    }

    private func importNested(_ rows: [PropertyValues], _ destination: Int) throws(PersistenceError) {
        let entity = core.model.entities[destination]
        guard let field = entity.primaryKeyField, let slot = entity.slot(named: field) else {
            throw .invalidUpsert(
                entity: entity.name,
                reason: "\(entity.name) has no primary key by which nested objects are recognized")
        }
        let upserter = try Upserter(core: core, entity: entity, names: nil)
        try upserter.upsert(rows)
        imported[destination, default: []] += upserter.result.objects
        for object in upserter.result.objects {
            found[destination, default: [:]][KeyTuple(object.row.value(slot))] = object
        }
    }

    private func find(
        _ keys: Set<KeyTuple>, _ destination: Int, _ names: [KeyTuple: String]
    ) throws(PersistenceError) {
        let entity = core.model.entities[destination]
        guard let field = entity.primaryKeyField, let slot = entity.slot(named: field) else {
            throw .noPrimaryKey(entity: entity.name)
        }
        let unknown = keys.filter { found[destination]?[$0] == nil }
        if unknown.isEmpty { return }
        let request = FetchRequest<ManagedObject>(
            entity: entity.name,
            where: .comparison(.keyPath([field]), .isIn, .constant(.list(unknown.map { $0.value(0) })), []))
        for object in try core.fetcher.fetch(request) {
            found[destination, default: [:]][KeyTuple(object.row.value(slot))] = object
        }
        for key in unknown where found[destination]?[key] == nil {
            throw .invalidUpsert(
                entity: entity.name,
                reason: "\(names[key] ?? "") leads to \(key.value(0)), which no \(entity.name) has as \(field); "
                    + "upsert that first, or give a row in place of the key")
        }
    }

    /// Sets the relationships of an object.
    /// - Parameter own: The object of a key that one of the rows is about.
    /// - Returns: Whether that changed anything.
    func connect(
        _ object: ManagedObject, _ row: PropertyValues, own: (KeyTuple) -> ManagedObject?
    ) throws(PersistenceError) -> Bool {
        var isChanged = false
        for (relationship, related) in row.relationships {
            let objects = related.compactMap { other -> ManagedObject? in
                switch other {
                case .object(let object): object
                case .values: next(relationship.destinationIndex)
                case .key(let value): found[relationship.destinationIndex]?[KeyTuple(value)] ?? own(KeyTuple(value))
                }
            }
            if let index = relationship.toManyIndex {
                let members = try object.loadedMembers(toMany: index).objects
                let isSame = relationship.isOrdered ? members == objects : Set(members) == Set(objects)
                guard !isSame else { continue }
                try core.inverses.setMembers(of: object, objects, index)
                isChanged = true
            } else if let slot = relationship.slot, object.target(slot) !== objects.first {
                object.setTarget(objects.first, slot)
                isChanged = true
            }
        }
        return isChanged
    }

    private func next(_ destination: Int) -> ManagedObject? {
        let index = position[destination, default: 0]
        position[destination] = index + 1
        return imported[destination]?[index]
    }
}
