// How rows become objects, faults are filled, and relationships are loaded: always for a whole batch.

extension ManagedObjectContext {
    /// Wraps the store's errors.
    func store<R>(_ body: () throws(StoreError) -> R) throws(PersistenceError) -> R {
        do { return try body() } catch { throw PersistenceError(error) }
    }

    // MARK: Rows from below

    /// The rows of some keys, as the parent or the store has them.
    /// - Parameter group: What keeps the rows in the row cache.
    func sourceRows(entityIndex: Int, keys: [Int64], group: FetchGroup? = nil) throws(PersistenceError)
        -> [RowReference]
    {
        if let parent { return try parent.viewRows(entityIndex: entityIndex, keys: keys) }
        let rootIndex = model.entities[entityIndex].rootIndex
        try settleClearings(rootIndex: rootIndex)
        let (found, missing) = coordinator.rowCache.rows(rootIndex: rootIndex, keys: keys)
        guard !missing.isEmpty else { return found }
        let stamp = coordinator.rowCache.stamp
        let batch = try store { () throws(StoreError) in
            try coordinator.store.rows(entityIndex: entityIndex, keys: missing)
        }
        if let group {
            group.batch = batch
            coordinator.rowCache.add(batch, rootIndex: rootIndex, stamp: stamp)
        }
        return found + batch.rows
    }

    /// The rows of some keys as this context shows them to a child: changed ones as they are now, deleted ones not at
    /// all.
    private func viewRows(entityIndex: Int, keys: [Int64]) throws(PersistenceError) -> [RowReference] {
        try settleClearings(rootIndex: model.entities[entityIndex].rootIndex)
        var result: [RowReference] = []
        var unknown: [Int64] = []
        for key in keys {
            guard let object = tables[entityIndex].object(key), !object.isFault else {
                unknown.append(key)
                continue
            }
            if !object.isDeleted { result.append(object.sharedRow) }
        }
        guard !unknown.isEmpty else { return result }
        return result + (try sourceRows(entityIndex: entityIndex, keys: unknown))
    }

    // MARK: Objects from rows

    /// The object of a row: the one that the context knows, which keeps what it has unless it is a fault, or a new one.
    /// - Parameter refreshing: Whether an unchanged object takes a newer row.
    @discardableResult
    func materialize(_ reference: RowReference, group: FetchGroup?, refreshing: Bool = false) -> ManagedObject {
        let row = reference.row
        let known = tables[row.entityIndex].object(row.key)
        if row.isHeaderOnly { return materialize(header: row, known: known, group: group) }
        if let known, takes(known, reference, group, refreshing) { return known }
        let origin = makeOrigin(coordinator.bindings[row.entityIndex], slab: reference.slab, group: group)
        return register(ObjectSeed(origin: origin, row: row, key: row.key, flags: newFlags))
    }

    /// The objects of a batch; they fire their faults together.
    func materialize(_ batch: RowBatch, refreshing: Bool = false) -> [ManagedObject] {
        var objects: [ManagedObject] = []
        objects.reserveCapacity(batch.count)
        // A group keeps the targets of its objects alive, and some of the rows to come may be headers of those.
        var left: [FetchGroup] = []
        defer { withExtendedLifetime(left) {} }
        var index = 0
        for (slab, (end, group)) in zip(batch.slabs, zip(batch.ends, FetchGroup.groups(of: batch))) {
            // Rows of one entity mostly come together; what depends on the entity alone is looked up when it changes.
            var origins: [Int: ObjectOrigin] = [:]
            while index < end {
                let entityIndex = RowPointer(batch.pointers[index]).entityIndex
                let origin =
                    origins[entityIndex] ?? makeOrigin(coordinator.bindings[entityIndex], slab: slab, group: group)
                origins[entityIndex] = origin
                let table = origin.table
                var seed = ObjectSeed(origin: origin, row: RowPointer(batch.pointers[index]), key: 0, flags: newFlags)
                while index < end {
                    let row = RowPointer(batch.pointers[index])
                    guard row.entityIndex == entityIndex else { break }
                    index += 1
                    let known = table.object(row.key)
                    if let old = known?.extras?.group, old !== left.last { left.append(old) }
                    if row.isHeaderOnly {
                        objects.append(materialize(header: row, known: known, group: group))
                    } else if let known, takes(known, RowReference(slab: slab, row: row), group, refreshing) {
                        objects.append(known)
                    } else {
                        seed.row = row
                        seed.key = row.key
                        objects.append(register(seed))
                    }
                }
            }
        }
        return objects
    }

    private var newFlags: ObjectFlags { observesObjects ? .observed : [] }

    func makeOrigin(_ binding: EntityBinding, slab: RowSlab, group: FetchGroup?) -> ObjectOrigin {
        ObjectOrigin(
            binding: binding, home: home, table: tables[binding.entity.index], slab: slab, group: group)
    }

    /// Gives a row to the object that the context knows by its key.
    /// - Returns: false if it was made for an ID of another entity of the hierarchy: there is no such object, and the
    ///   context has forgotten it.
    private func takes(
        _ object: ManagedObject, _ reference: RowReference, _ group: FetchGroup?, _ refreshing: Bool
    ) -> Bool {
        guard object.binding.entity.index == reference.row.entityIndex else {
            object.markMissing()
            detach(object)
            return false
        }
        if !object.flags.isDisjoint(with: [.fault, .missing])
            || (refreshing && !object.hasChanges && reference.row.version > object.row.version)
        {
            object.mutatingAll { object.fill(reference, isAwakening: isAwakening) }
        }
        if let group { object.join(group) }
        return true
    }

    /// A new object, of whose key the context knows none.
    private func register(_ seed: borrowing ObjectSeed) -> ManagedObject {
        let origin = seed.origin
        let object = origin.binding.objectClass.init(_seed: seed)
        origin.table.insert(object, key: seed.key)
        if !isAwakening {
            isAwakening = true
            object.awakeFromFetch()
            isAwakening = false
            object.freezeRow()
        }
        return object
    }

    /// - Parameter origin: Of a batch of faults that fire together; nil for one alone.
    func makeFault(key: Int64, binding: EntityBinding, origin: ObjectOrigin? = nil) -> ManagedObject {
        let origin = origin ?? bareOrigin(binding)
        let seed = ObjectSeed(
            origin: origin, row: binding.emptyRow.row, key: key,
            flags: observesObjects ? [.fault, .observed] : .fault)
        let object = binding.objectClass.init(_seed: seed)
        origin.table.insert(object, key: key)
        return object
    }

    /// What objects of an entity have in common that came alone and have no row of the store's yet.
    func bareOrigin(_ binding: EntityBinding) -> ObjectOrigin {
        let index = binding.entity.index
        if let known = bareOrigins[index] { return known }
        let made = makeOrigin(binding, slab: binding.emptyRow.slab, group: nil)
        bareOrigins[index] = made
        return made
    }

    // MARK: Faults

    /// Fills a fault and the others of its batch.
    func fire(_ object: ManagedObject) {
        do throws(PersistenceError) {
            try load(object)
        } catch {
            report(error, object)
        }
    }

    func load(_ object: ManagedObject) throws(PersistenceError) {
        try settleClearings(rootIndex: object.binding.entity.rootIndex)
        guard object.isFault else { return }
        let table = tables[object.binding.entity.index]
        var faults = [object]
        if let group = object.group {
            for key in group.keys(around: object.key) where key != object.key {
                if let other = table.object(key), other.isFault { faults.append(other) }
            }
        }
        var absent = try fill(faults, in: table, group: object.group)
        if let network = coordinator.network, absent.contains(object.key) {
            let root = object.binding.entity.rootIndex
            let keys = absent.sorted()
            try store { () throws(StoreError) in try network.prepareRowsNow(entityIndex: root, keys: keys) }
            faults = faults.filter { absent.contains($0.key) }
            absent = try fill(faults, in: table, group: object.group)
        }
        for fault in faults where fault.isFault && !absent.contains(fault.key) { fault.markMissing() }
    }

    /// Fills the faults of one batch.
    /// - Returns: The keys of those of which the store has no more than the key.
    private func fill(
        _ faults: [ManagedObject], in table: ObjectTable, group: FetchGroup?
    ) throws(PersistenceError) -> Set<Int64> {
        guard let first = faults.first else { return [] }
        let rows = try sourceRows(
            entityIndex: first.binding.entity.rootIndex, keys: faults.map(\.key), group: group)
        var absent: Set<Int64> = []
        var origin: ObjectOrigin?
        for row in rows {
            if row.row.isHeaderOnly {
                absent.insert(row.row.key)
                continue
            }
            // A fault that was made for an ID of another entity of the hierarchy stands for nothing.
            guard let fault = table.object(row.row.key), fault.binding.entity.index == row.row.entityIndex else {
                continue
            }
            let old = fault.origin
            if origin?.slab !== row.slab || origin?.binding !== old.binding || origin?.group !== old.group {
                origin = makeOrigin(old.binding, slab: row.slab, group: old.group)
            }
            fault.fill(row, isAwakening: isAwakening, origin: origin)
        }
        return absent
    }

    // MARK: To-one

    /// The object of a key in a to-one slot. If the context does not know it, faults are made for the targets of the
    /// whole batch, so that they are filled together.
    func target(
        _ key: Int64, of relationship: RelationshipDescription, from object: ManagedObject, slot: Int
    ) -> ManagedObject? {
        let table = tables[relationship.destinationIndex]
        if let known = table.object(key) { return known }
        var keys: [Int64] = [key]
        if let group = object.group {
            var seen: Set<Int64> = [key]
            let owners = tables[object.binding.entity.index]
            for ownerKey in group.keys(around: object.key) {
                guard let owner = owners.object(ownerKey), !owner.isFault,
                    slot < owner.binding.entity.slots.count, owner.relationship(slot: slot)?.name == relationship.name,
                    let target = owner.targetKey(slot), seen.insert(target).inserted, table.object(target) == nil
                else { continue }
                keys.append(target)
            }
        }
        let targets: [ManagedObject]
        do throws(PersistenceError) {
            targets = try makeTargets(keys, destinationIndex: relationship.destinationIndex)
        } catch {
            report(error, object)
            return nil
        }
        object.group?.targets += targets
        let found = targets.first { $0.key == key }
        if let found, found.isFault,
            deletedKeys[model.entities[relationship.destinationIndex].rootIndex]?.contains(key) == true
        {
            // Most likely the row of `object` is older than the delete. The store knows.
            fire(found)
        }
        return found
    }

    /// Faults for keys; objects with their rows where only the row tells the class.
    func makeTargets(_ keys: [Int64], destinationIndex: Int) throws(PersistenceError) -> [ManagedObject] {
        guard !keys.isEmpty else { return [] }
        let binding = coordinator.bindings[destinationIndex]
        let group = keys.count > 1 ? FetchGroup(keys: keys) : nil
        guard binding.entity.hasSubentities else {
            let origin = group.map { makeOrigin(binding, slab: binding.emptyRow.slab, group: $0) }
            return keys.map { makeFault(key: $0, binding: binding, origin: origin) }
        }
        return try sourceRows(entityIndex: destinationIndex, keys: keys, group: group).map {
            materialize($0, group: group)
        }
    }

    // MARK: To-many

    /// Loads a to-many relationship for all objects of the batch.
    func loadMembers(toMany index: Int, of object: ManagedObject) throws(PersistenceError) {
        let relationship = object.relationship(toMany: index)
        var owners: [Int64: ManagedObject] = [object.key: object]
        if let group = object.group {
            let table = tables[object.binding.entity.index]
            for key in group.keys(around: object.key) {
                guard let other = table.object(key), other.flags.isDisjoint(with: [.missing, .inserted]),
                    index < other.binding.entity.toManyIndexes.count,
                    other.relationship(toMany: index).name == relationship.name,
                    other.extras?.toMany(index)?.members == nil
                else { continue }
                owners[key] = other
            }
        }
        try loadMembers(of: relationship, owners: owners)
    }

    /// Loads a to-many relationship for some objects that have it and have not loaded it.
    /// - Parameter areAll: Whether these are all that there are.
    func loadMembers(
        of relationship: RelationshipDescription, owners: [Int64: ManagedObject], areAll: Bool = false
    ) throws(PersistenceError) {
        guard let index = relationship.toManyIndex, let first = owners.values.first else { return }
        let members = try loadedMembers(
            of: relationship, entityIndex: first.binding.entity.index, owners: owners, areAll: areAll)
        for (key, owner) in owners {
            owner.toManyState(index).members = members[key] ?? owner.makeStorage(index)
        }
        if case .pairs = relationship.storage {
            pairHolders[relationship.qualifiedName, default: []].formUnion(owners.keys)
        }
    }

    private func loadedMembers(
        of relationship: RelationshipDescription, entityIndex: Int, owners: [Int64: ManagedObject],
        areAll: Bool = false
    ) throws(PersistenceError) -> [Int64: MemberStorage] {
        let index = relationship.toManyIndex ?? 0
        let keys = owners.keys.sorted()
        var result: [Int64: MemberStorage] = [:]
        func storage(_ key: Int64) -> MemberStorage {
            if let found = result[key] { return found }
            let made = owners[key]?.makeStorage(index) ?? ManagedObject.makeMembers(ordered: false, isClosed: true)
            result[key] = made
            return made
        }
        if case .inverseSlot(let slot) = relationship.storage {
            let runs = try sourceMembers(
                relationship, entityIndex: entityIndex, owners: keys, slot: slot, areAll: areAll)
            for run in runs where owners[run.owner] != nil { storage(run.owner).insert(contentsOf: run.members) }
            for member in changedObjects
            where !member.isDeleted && member.hasChanges
                && member.binding.entity.descends(from: relationship.destinationIndex, in: model)
            {
                guard let owner = member.targetKey(slot), let state = owners[owner] else { continue }
                if state.extras?.toMany(index)?.appended.contains(member) != true { _ = storage(owner).insert(member) }
            }
        } else {
            for (owner, member) in try sourcePairs(relationship, entityIndex: entityIndex, owners: keys) {
                _ = storage(owner).insert(member)
            }
        }
        for (key, owner) in owners {
            guard let state = owner.extras?.toMany(index) else { continue }
            for object in state.removed.values { _ = storage(key).remove(object) }
            for object in state.added.values where !object.isDeleted && !state.appended.contains(object) {
                _ = storage(key).insert(object)
            }
            for object in state.appended where !object.isDeleted {
                if case .inverseSlot(let slot) = relationship.storage, object.targetKey(slot) != key { continue }
                _ = storage(key).remove(object)
                _ = storage(key).insert(object)
            }
            if state.isRearranged, let list = storage(key) as? AnyMemberList {
                let present = Set(list.objects)
                list.replaceAll(OrderMerge.merge(state.arrangement.filter(present.contains), with: list.objects))
            }
        }
        return result
    }

    /// The members of owners whose relationship is kept as pairs. Unknown ones are made as faults.
    private func sourcePairs(
        _ relationship: RelationshipDescription, entityIndex: Int, owners: [Int64]
    ) throws(PersistenceError) -> [(owner: Int64, member: ManagedObject)] {
        let pairs: [(owner: Int64, member: Int64)]
        if let parent {
            pairs = try parent.viewMembers(relationship, entityIndex: entityIndex, owners: owners)
                .flatMap { entry in entry.members.map { (entry.owner, $0.key) } }
        } else {
            pairs = try store { () throws(StoreError) in
                try coordinator.store.memberKeys(
                    entityIndex: entityIndex, relationshipIndex: relationship.index, owners: owners)
            }
        }
        let table = tables[relationship.destinationIndex]
        var seen: Set<Int64> = []
        let unknown = pairs.map(\.member).filter { table.object($0) == nil && seen.insert($0).inserted }
        let made = try makeTargets(unknown, destinationIndex: relationship.destinationIndex)
        // `made` keeps the new objects alive until the pairs hold them.
        return withExtendedLifetime(made) {
            pairs.compactMap { pair in
                guard let member = table.object(pair.member), !member.isDeleted else { return nil }
                return (pair.owner, member)
            }
        }
    }

    /// The members of owners as this context shows them to a child: its own objects, loaded for all the owners at once.
    func viewMembers(
        _ relationship: RelationshipDescription, entityIndex: Int, owners: [Int64]
    ) throws(PersistenceError) -> [(owner: Int64, members: [ManagedObject])] {
        let index = relationship.toManyIndex ?? 0
        let group = FetchGroup(keys: owners)
        let table = tables[entityIndex]
        // The owners may be of several entities of the hierarchy; where that is so, only their rows tell of which.
        let made = try makeTargets(
            owners.filter { table.object($0) == nil }, destinationIndex: model.entities[entityIndex].rootIndex)
        let objects = withExtendedLifetime(made) { owners.compactMap { table.object($0) } }
        for object in objects { object.join(group) }
        for object in objects
        where !object.flags.contains(.missing) && object.toManyState(index).members == nil {
            try loadMembers(toMany: index, of: object)
        }
        let living = objects.filter { !$0.isDeleted }.map { owner in
            (owner: owner.key, members: owner.members(toMany: index).objects)
        }
        var shown = living
        let missing = objects.filter { $0.flags.contains(.missing) }
        if case .inverseSlot = relationship.storage, !missing.isEmpty {
            // Others deleted these, but the child may have changed them, and then they live on there: with those that
            // are set to lead to them here.
            let owners = Dictionary(missing.map { ($0.key, $0) }) { first, _ in first }
            let members = try loadedMembers(of: relationship, entityIndex: entityIndex, owners: owners)
            shown += members.sorted { $0.key < $1.key }.map { entry in (owner: entry.key, members: entry.value.objects)
            }
        }
        for object in shown.flatMap(\.members) where object.isFault { try load(object) }
        return shown.map { entry in (entry.owner, entry.members.filter { !$0.isDeleted }) }
    }
}

extension EntityDescription {
    /// Whether the entity is the one at a position, or inherits from it.
    func descends(from index: Int, in model: ManagedObjectModel) -> Bool {
        self.index == index
            || (rootIndex == model.entities[index].rootIndex
                && model.entities[index].descendantIndexes.contains(self.index))
    }
}
