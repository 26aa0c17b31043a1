/// The objects that a context knows: one for each ID. It holds them weakly.
final class IdentityMap {
    private let entities: [EntityDescription]
    /// By position of the entity; the entities of one hierarchy share a table. Each is made when it is needed, because the
    /// contexts of a server's requests look at few entities.
    @exclusivity(unchecked) private var tables: [ObjectTable?]
    /// One for each hierarchy that has a table.
    private var hierarchies: [ObjectTable] = []
    /// Where keys for new objects come from: a child draws those of its parent, because a run of its own for a few
    /// objects would leave most keys unused.
    private let keys: KeyRuns
    /// Keys that IDs have been given out for and that lead to other rows now; see ``MergePolicy``.
    @exclusivity(unchecked) private(set) var aliases = KeyAliases()
    /// What is known to be deleted, though rows that were read before may still refer to it.
    private var deletions = KnownDeletions()

    init(coordinator: StoreCoordinator, parent: IdentityMap?) {
        entities = coordinator.model.entities
        tables = Array(repeating: nil, count: entities.count)
        keys = parent?.keys ?? KeyRuns(allocator: coordinator.keys, entityCount: entities.count)
    }

    /// The objects of an entity's hierarchy, by key.
    @inline(__always)
    func table(_ entityIndex: Int) -> ObjectTable { tables[entityIndex] ?? makeTable(entityIndex) }

    private func makeTable(_ entityIndex: Int) -> ObjectTable {
        let rootIndex = entities[entityIndex].rootIndex
        let table = tables[rootIndex] ?? ObjectTable()
        if tables[rootIndex] == nil { hierarchies.append(table) }
        tables[rootIndex] = table
        tables[entityIndex] = table
        return table
    }

    /// All objects, kept alive by the answer.
    var objects: [ManagedObject] { isEmpty ? [] : hierarchies.flatMap(\.objects) }

    /// Whether the context knows no object at all.
    var isEmpty: Bool { hierarchies.allSatisfy { $0.count == 0 } }

    /// Registers an object by its key. There must be none of that key.
    func register(_ object: ManagedObject) { table(object.binding.entity.index).insert(object, key: object.key) }

    /// Takes an object out of the context for good.
    func detach(_ object: ManagedObject) {
        table(object.binding.entity.index).remove(object, key: object.key)
        object.flags.insert(.detached)
        object.extras?.batch = nil
        object.forgetMembers()
    }

    /// Gives an object another key. Its old ID, if anybody has it, leads to it from now on.
    func rekey(_ object: ManagedObject, to key: Int64) {
        noteAlias(object, to: key)
        let table = table(object.binding.entity.index)
        table.remove(object, key: object.key)
        object.key = key
        table.insert(object, key: key)
    }

    /// Lets the ID of an object that gave way to another one lead to that one, if anybody has the ID.
    func noteAlias(_ object: ManagedObject, to key: Int64) {
        if object.flags.contains(.idTaken) { aliases.add(object.objectID, key) }
    }

    /// The key under which the context knows the object of an ID.
    @inline(__always)
    func key(of id: ObjectID) -> Int64 { aliases.isEmpty ? id.key : aliases[id] ?? id.key }

    /// Replaces the aliases, after a failed save.
    func restore(_ aliases: KeyAliases) { self.aliases = aliases }

    // MARK: Keys

    /// A key for a new object.
    func nextKey(rootIndex: Int) -> Int64 { keys.next(rootIndex: rootIndex) }

    /// Gives back the keys that were reserved for this context and never used.
    func returnUnusedKeys() { keys.returnUnused() }

    // MARK: Deletions

    /// Notes deleted keys, by hierarchy.
    func noteDeleted(_ keys: [Int: Set<Int64>]) {
        // Without objects there are no old rows that could refer to them.
        if isEmpty { deletions = KnownDeletions() } else { deletions.add(keys) }
    }

    /// Notes the keys of new objects that were never saved and are dropped. A child may have objects that refer to them.
    func noteDropped(_ keys: [Int: Set<Int64>]) { deletions.add(keys) }

    /// Notes that others may have deleted anything.
    func noteAnyMayBeDeleted() {
        if isEmpty { deletions = KnownDeletions() } else { deletions.addAll() }
    }

    /// Whether a reference to a key may be older than the delete of its object.
    func mayBeDeleted(_ key: Int64, rootIndex: Int) -> Bool { deletions.mayContain(key, rootIndex: rootIndex) }
}
