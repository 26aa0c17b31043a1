import Strata

/// A change of one object that is not saved: what was read, and what was set since.
struct PendingUpdate {
    var snapshot: WorldRow
    var version: Int64
    var values: [String: Cell?] = [:]

    /// Values that differ from what was read.
    var changes: [String: Cell?] { values.filter { $0.value != snapshot.cells[$0.key] } }
}

/// A reference to a deleted object in a row that the context has not read: the save clears it, whatever the version of the
/// row, unless the row leads elsewhere by then.
struct DeferredNullification: Hashable {
    let id: Ident
    let name: String
    let target: Ident
}

struct PendingOrder {
    var appended: [Ident] = []
    var arranged: [Ident]?
}

/// A context in the reference model: what is pending on top of what lies below.
final class WorldContext {
    let name: String
    let context: ManagedObjectContext
    let parent: WorldContext?
    let store: WorldStore
    var children: [WorldContext] = []
    var inserted: [Ident: WorldRow] = [:]
    var updates: [Ident: PendingUpdate] = [:]
    var deleted: [Ident: Int64] = [:]
    /// Pairs added (true) or removed (false).
    var pairs: [String: [Pair: Bool]] = [:]
    var orders: [OrderKey: PendingOrder] = [:]
    var deferred: Set<DeferredNullification> = []
    /// Whether the context has applied all that others saved.
    var isSynced = true
    /// Objects that the application holds.
    var held: [Ident: ManagedObject] = [:]
    /// What the store's IDs are called.
    var objectIDs: [Ident: ObjectID] { store.objectIDs }

    init(name: String, context: ManagedObjectContext, parent: WorldContext?, store: WorldStore) {
        self.name = name
        self.context = context
        self.parent = parent
        self.store = store
    }

    var isClean: Bool { inserted.isEmpty && updates.isEmpty && deleted.isEmpty && pairs.isEmpty && orders.isEmpty }
    var below: World { parent?.view ?? store.world }
    var descendants: [WorldContext] { children.flatMap { [$0] + $0.descendants } }
    /// Everything that this context or one inherited from it has pending for an object.
    func touches(_ id: Ident) -> Bool { inserted[id] != nil || updates[id] != nil || deleted[id] != nil }

    func forget() {
        inserted = [:]
        updates = [:]
        deleted = [:]
        pairs = [:]
        orders = [:]
        deferred = []
    }

    /// After a delete: references that the context has not read are not changes of objects yet.
    /// - Parameter changed: The objects that have changes.
    func deferNullifications(otherThan changed: Set<Ident>) {
        for (id, update) in updates where !changed.contains(id) {
            for (name, cell) in update.changes where cell == nil {
                guard case .ref(let target)? = update.snapshot.cells[name], deleted[target] != nil else { continue }
                deferred.insert(DeferredNullification(id: id, name: name, target: target))
                updates[id]?.values[name] = nil
            }
            if updates[id]?.changes.isEmpty == true { updates[id] = nil }
        }
    }

    /// What was deferred and has been read since is a change like any other.
    func settleNullifications() {
        guard !deferred.isEmpty else { return }
        for object in context.updatedObjects {
            let id = Ident(object.objectID)
            for item in deferred where item.id == id && object.changedValues()[item.name] != nil {
                deferred.remove(item)
                if updates[id] == nil, let row = store.history[id]?[object.version] {
                    updates[id] = PendingUpdate(snapshot: row, version: object.version)
                }
                if updates[id]?.values[item.name] == nil { updates[id]?.values.updateValue(nil, forKey: item.name) }
            }
        }
    }

    /// All objects as this context sees them.
    var view: World {
        var world = below
        for id in deleted.keys { world.rows[id] = nil }
        for (id, update) in updates {
            // An object that others deleted lives on if values of it were changed when that became known.
            var row = world.rows[id] ?? update.snapshot
            for (name, cell) in update.values { row.cells[name] = cell }
            world.rows[id] = row
        }
        for (id, row) in inserted { world.rows[id] = row }
        for (relation, changes) in pairs {
            for (pair, isAdded) in changes {
                if isAdded {
                    world.pairs[relation, default: []].insert(pair)
                } else {
                    world.pairs[relation]?.remove(pair)
                }
            }
        }
        world.apply(orders)
        return world
    }

    /// Objects that others deleted and that live on here for their changes: they have no place in an order any more.
    var unplaced: Set<Ident> {
        Set(updates.keys.filter { store.world.rows[$0] == nil }).union(parent?.unplaced ?? [])
    }

    func version(_ id: Ident) -> Int64 { store.versions[id] ?? 0 }

    // MARK: Writing

    func write(_ id: Ident, _ name: String, _ cell: Cell?) {
        if inserted[id] != nil {
            inserted[id]?.cells[name] = cell
        } else {
            if updates[id] == nil {
                guard let row = below.rows[id] else { return }
                updates[id] = PendingUpdate(snapshot: row, version: version(id))
            }
            updates[id]?.values.updateValue(cell, forKey: name)
        }
    }

    func setRef(_ id: Ident, _ relation: WorldSchema.Relation, _ target: Ident?) {
        let inverse = WorldSchema.inverse(relation)
        let world = view
        let old = world.ref(id, relation.name)
        let stored: Cell? = world.rows[id]?.cells[relation.name]
        if old == target, stored == target.map(Cell.ref) { return write(id, relation.name, target.map(Cell.ref)) }
        guard inverse.cardinality == .one else {
            if let old { orderRemove(OrderKey(relation: inverse.id, owner: old), id) }
            write(id, relation.name, target.map(Cell.ref))
            if let target, inverse.cardinality == .ordered {
                orderAppend(OrderKey(relation: inverse.id, owner: target), id)
            }
            return
        }
        if let old, world.ref(old, inverse.name) == id { write(old, inverse.name, nil) }
        write(id, relation.name, target.map(Cell.ref))
        guard let target else { return }
        if let rival = view.ref(target, inverse.name), rival != id, view.ref(rival, relation.name) == target {
            write(rival, relation.name, nil)
        }
        write(target, inverse.name, .ref(id))
    }

    func setPair(_ owner: Ident, _ relation: WorldSchema.Relation, _ member: Ident, _ isAdded: Bool) {
        let canonical = WorldSchema.canonical(relation)
        let pair = relation.id == canonical.id ? Pair(a: owner, b: member) : Pair(a: member, b: owner)
        pairs[canonical.id, default: [:]][pair] = isAdded
        let inverse = WorldSchema.inverse(relation)
        if inverse.id == relation.id { pairs[canonical.id]?[Pair(a: member, b: owner)] = isAdded }
        for (side, key, id) in [(relation, owner, member), (inverse, member, owner)] where side.cardinality == .ordered
        {
            if isAdded {
                orderAppend(OrderKey(relation: side.id, owner: key), id)
            } else {
                orderRemove(OrderKey(relation: side.id, owner: key), id)
            }
        }
    }

    func addMember(_ owner: Ident, _ relation: WorldSchema.Relation, _ member: Ident) {
        if WorldSchema.inverse(relation).cardinality == .one {
            setRef(member, WorldSchema.inverse(relation), owner)
        } else if !view.members(owner, relation).contains(member) {
            setPair(owner, relation, member, true)
        }
    }

    func removeMember(_ owner: Ident, _ relation: WorldSchema.Relation, _ member: Ident) {
        if WorldSchema.inverse(relation).cardinality == .one {
            if view.ref(member, relation.inverse) == owner { setRef(member, WorldSchema.inverse(relation), nil) }
        } else if view.members(owner, relation).contains(member) {
            setPair(owner, relation, member, false)
        }
    }

    func setMembers(_ owner: Ident, _ relation: WorldSchema.Relation, _ wanted: [Ident]) {
        let current = view.list(owner, relation)
        for id in current where !wanted.contains(id) { removeMember(owner, relation, id) }
        for id in wanted where !current.contains(id) { addMember(owner, relation, id) }
        if relation.cardinality == .ordered, view.list(owner, relation) != wanted {
            orders[OrderKey(relation: relation.id, owner: owner), default: PendingOrder()].arranged = wanted
        }
    }

    private func orderAppend(_ key: OrderKey, _ id: Ident) {
        orderRemove(key, id)
        orders[key, default: PendingOrder()].appended.append(id)
        orders[key]?.arranged?.append(id)
    }

    private func orderRemove(_ key: OrderKey, _ id: Ident) {
        orders[key]?.appended.removeAll { $0 == id }
        orders[key]?.arranged?.removeAll { $0 == id }
    }

    // MARK: Deleting

    /// What goes with an object by cascades.
    func doomed(by id: Ident) -> [Ident] {
        let world = view
        var result: [Ident] = []
        var seen: Set<Ident> = [id]
        var queue = [id]
        while let next = queue.popLast() {
            result.append(next)
            guard let row = world.rows[next] else { continue }
            for relation in WorldSchema.relations(row.entity) where relation.rule == .cascade {
                let targets =
                    relation.cardinality == .one
                    ? world.ref(next, relation.name).map { [$0] } ?? [] : Array(world.members(next, relation))
                for target in targets where seen.insert(target).inserted { queue.append(target) }
            }
        }
        return result
    }

    func delete(_ id: Ident) {
        let world = view
        let doomed = Set(doomed(by: id))
        for id in doomed {
            guard let row = world.rows[id] else { continue }
            for relation in WorldSchema.relations(row.entity) where relation.rule != .deny || inserted[id] != nil {
                let inverse = WorldSchema.inverse(relation)
                guard inverse.cardinality == .one else { continue }
                let others =
                    relation.cardinality == .one
                    ? world.ref(id, relation.name).map { [$0] } ?? [] : Array(world.members(id, relation))
                for other in others where !doomed.contains(other) && world.ref(other, inverse.name) == id {
                    write(other, inverse.name, nil)
                }
            }
        }
        for id in doomed {
            if inserted.removeValue(forKey: id) == nil { deleted[id] = updates[id]?.version ?? version(id) }
            updates[id] = nil
            dropPending(id)
        }
    }

    /// Takes an object out of pending pairs and orders.
    func dropPending(_ id: Ident) {
        for relation in pairs.keys { pairs[relation] = pairs[relation]?.filter { $0.key.a != id && $0.key.b != id } }
        orders = orders.filter { $0.key.owner != id }
        for key in orders.keys { orderRemove(key, id) }
    }

    // MARK: Merging what others saved

    /// What was read led to objects that others have deleted.
    func forgetReferences(to gone: Set<Ident>) {
        for (id, update) in updates where below.rows[id] == nil {
            updates[id]?.values = update.changes
            for (name, cell) in update.snapshot.cells {
                if case .ref(let target) = cell, gone.contains(target) { updates[id]?.snapshot.cells[name] = nil }
            }
        }
    }

    /// Puts the changes on top of what lies below now. A value that was not a change does not become one.
    /// - Parameter gone: What others deleted just now; nil looks at everything.
    func rebase(gone: Set<Ident>? = nil) {
        let world = below
        for (id, update) in updates {
            guard let row = world.rows[id] else {
                if update.changes.isEmpty, gone?.contains(id) ?? true { updates[id] = nil }
                continue
            }
            updates[id] = PendingUpdate(snapshot: row, version: version(id), values: update.changes)
        }
        for id in deleted.keys where world.rows[id] != nil { deleted[id] = version(id) }
        // What an object that others deleted was read with may be gone as well.
        let known = view.rows
        for (id, update) in updates where world.rows[id] == nil {
            for (name, cell) in update.snapshot.cells {
                if case .ref(let target) = cell, known[target] == nil, deleted[target] == nil {
                    updates[id]?.values = update.changes
                    updates[id]?.snapshot.cells[name] = nil
                }
            }
        }
        let living = view.rows
        for (name, changes) in pairs {
            let parts = name.split(separator: ".").map(String.init)
            let relation = WorldSchema.relation(parts[0], parts[1])
            let inverse = WorldSchema.inverse(relation)
            for pair in changes.keys where living[pair.a] == nil || living[pair.b] == nil {
                // Neither it nor the place at the end comes back if the parent takes its delete back.
                pairs[name]?[pair] = nil
                for (key, id) in [
                    (OrderKey(relation: relation.id, owner: pair.a), pair.b),
                    (OrderKey(relation: inverse.id, owner: pair.b), pair.a),
                ] { orders[key]?.appended.removeAll { $0 == id } }
            }
        }
        mendOneToOnes()
    }

    /// An object that was given another partner here than below leaves the one that it has there.
    private func mendOneToOnes() {
        defer {
            // What others deleted and lives on for its changes has no partner that does not know of it.
            for (id, update) in updates where below.rows[id] == nil {
                for relation in WorldSchema.relations(update.snapshot.entity)
                where relation.cardinality == .one && WorldSchema.inverse(relation).cardinality == .one {
                    let world = view
                    if let partner = world.ref(id, relation.name), world.ref(partner, relation.inverse) != id {
                        updates[id]?.values.updateValue(nil, forKey: relation.name)
                    }
                }
            }
        }
        for (id, update) in updates {
            for relation in WorldSchema.relations(update.snapshot.entity)
            where relation.cardinality == .one && WorldSchema.inverse(relation).cardinality == .one {
                guard let change = update.changes[relation.name],
                    case .ref(let old)? = update.snapshot.cells[relation.name],
                    change != .ref(old), view.ref(old, relation.inverse) == id
                else { continue }
                write(old, relation.inverse, nil)
            }
        }
    }
}

extension World {
    /// Applies pending orders: to what a context sees, or to the store.
    mutating func apply(_ changes: [OrderKey: PendingOrder]) {
        for (key, order) in changes {
            guard rows[key.owner] != nil else { continue }
            let parts = key.relation.split(separator: ".").map(String.init)
            let relation = WorldSchema.relation(parts[0], parts[1])
            let members = members(key.owner, relation)
            let current = list(key.owner, relation)
            if let arranged = order.arranged {
                orders[key] = World.merge(arranged.filter(members.contains), with: current)
            } else {
                let appended = order.appended.filter(members.contains)
                orders[key] = current.filter { !appended.contains($0) } + appended
            }
        }
    }
}
