import Strata

/// How a save of the reference model ends.
enum Outcome: Hashable {
    case saved(withConflicts: Bool)
    case invalid
    case conflicts
    /// A relationship leads to an object that others deleted.
    case dangling
    /// A child changed an object that is gone below.
    case notFound
    /// The store failed.
    case failed
}

/// The store in the reference model.
final class WorldStore {
    var world = World()
    var versions: [Ident: Int64] = [:]
    /// Every state of a row that was ever saved.
    var history: [Ident: [Int64: WorldRow]] = [:]
    var objectIDs: [Ident: ObjectID] = [:]

    /// Saves a root context by its policy.
    func save(_ context: WorldContext, policy: MergePolicy) -> Outcome {
        if isInvalid(context) { return .invalid }
        var writes: [Ident: [String: Cell?]] = [:]
        var inserts = context.inserted
        var dropped: Set<Ident> = []
        var deletes = Set(context.deleted.keys)
        var hasConflicts = false
        let keepsMemory = policy == .objectWinsByProperty || policy == .overwrite
        for (id, update) in context.updates where !update.changes.isEmpty {
            guard let row = world.rows[id] else {
                hasConflicts = true
                if keepsMemory { inserts[id] = memory(update) } else { dropped.insert(id) }
                continue
            }
            if versions[id] == update.version {
                writes[id] = update.changes
                continue
            }
            hasConflicts = true
            switch policy {
            case .error, .rollback: dropped.insert(id)
            case .objectWinsByProperty: writes[id] = update.changes
            case .storeWinsByProperty:
                writes[id] = update.changes.filter { row.cells[$0.key] == update.snapshot.cells[$0.key] }
            case .overwrite:
                let mine = memory(update)
                writes[id] = Dictionary(
                    uniqueKeysWithValues: Set(mine.cells.keys).union(row.cells.keys).map { ($0, mine.cells[$0]) })
            }
        }
        for (id, version) in context.deleted where world.rows[id] != nil && versions[id] != version {
            hasConflicts = true
            if !keepsMemory { deletes.remove(id) }
        }
        var next = world
        for id in deletes { next.rows[id] = nil }
        for (id, row) in inserts { next.rows[id] = row }
        for (id, cells) in writes { for (name, cell) in cells { next.rows[id]?.cells[name] = cell } }
        for item in context.deferred where next.rows[item.id]?.cells[item.name] == .ref(item.target) {
            next.rows[item.id]?.cells[item.name] = nil
        }
        if breaksUnique(next, context, inserts: inserts) { hasConflicts = true }
        if policy == .error, hasConflicts { return .conflicts }
        let pairs = context.pairs.mapValues { changes in
            changes.filter { !dropped.contains($0.key.a) && !dropped.contains($0.key.b) }
        }
        if policy == .error, dangles(next, writes: writes, inserts: inserts, pairs: pairs) { return .dangling }
        for (relation, changes) in pairs {
            for (pair, isAdded) in changes {
                if isAdded {
                    next.pairs[relation, default: []].insert(pair)
                } else {
                    next.pairs[relation]?.remove(pair)
                }
            }
        }
        next.apply(context.orders.filter { !dropped.contains($0.key.owner) })
        next.prune()
        world = next
        return .saved(withConflicts: hasConflicts)
    }

    private func memory(_ update: PendingUpdate) -> WorldRow {
        var row = update.snapshot
        for (name, cell) in update.values { row.cells[name] = cell }
        return row
    }

    /// What validation refuses: names that are missing or too long, and denied deletes.
    func isInvalid(_ context: WorldContext) -> Bool {
        let world = context.view
        for id in Array(context.inserted.keys) + context.updates.keys where world.rows[id] != nil {
            guard case .string(let name) = world.value(id, "name"), name.count <= WorldSchema.longestName else {
                return true
            }
        }
        for id in context.deleted.keys {
            for relation in WorldSchema.kinds.flatMap(\.relations)
            where relation.rule == .deny && relation.entity == id.root {
                if !world.members(id, relation).isEmpty { return true }
            }
        }
        return false
    }

    /// Whether a pending relationship leads to an object that the store has no more.
    func leadsNowhere(_ context: WorldContext) -> Bool {
        func isGone(_ cell: Cell?) -> Bool {
            if case .ref(let target)? = cell {
                world.rows[target] == nil && context.inserted[target] == nil
            } else {
                false
            }
        }
        return context.updates.values.contains { $0.changes.values.contains(where: isGone) }
            || context.inserted.values.contains { $0.cells.values.contains(where: isGone) }
    }

    private func breaksUnique(_ next: World, _ context: WorldContext, inserts: [Ident: WorldRow]) -> Bool {
        var seen: Set<Cell> = []
        return next.rows.values.contains { row in row.cells["code"].map { !seen.insert($0).inserted } ?? false }
    }

    private func dangles(
        _ next: World, writes: [Ident: [String: Cell?]], inserts: [Ident: WorldRow], pairs: [String: [Pair: Bool]]
    ) -> Bool {
        func isGone(_ cell: Cell?) -> Bool {
            if case .ref(let target)? = cell { next.rows[target] == nil } else { false }
        }
        return writes.values.contains { $0.values.contains(where: isGone) }
            || inserts.values.contains { $0.cells.values.contains(where: isGone) }
            || pairs.values.contains { changes in
                changes.contains { $0.value && (next.rows[$0.key.a] == nil || next.rows[$0.key.b] == nil) }
            }
    }

    /// Saves a child: its changes become the parent's, as if the application had made them there.
    func apply(_ child: WorldContext, to parent: WorldContext) -> Outcome {
        if isInvalid(child) { return .invalid }
        let world = parent.view
        for (id, update) in child.updates where !update.changes.isEmpty && world.rows[id] == nil { return .notFound }
        func alive(_ cell: Cell?) -> Cell? {
            guard case .ref(let target)? = cell else { return cell }
            return world.rows[target] != nil || child.inserted[target] != nil ? cell : nil
        }
        for (id, row) in child.inserted {
            parent.inserted[id] = WorldRow(entity: row.entity, cells: row.cells.compactMapValues(alive))
        }
        for (id, update) in child.updates {
            for (name, cell) in update.changes where world.rows[id]?.cells[name] != alive(cell) {
                if let relation = WorldSchema.oneToOne(update.snapshot.entity, name) {
                    // The parent may have given the new partner to another object, which the child does not mention if
                    // it deletes that one: the child wins, and a partner that it has taken away is not to be cascaded
                    // to.
                    parent.setRef(id, relation, alive(cell)?.target)
                } else {
                    parent.write(id, name, alive(cell))
                }
            }
        }
        for (relation, changes) in child.pairs {
            for (pair, isAdded) in changes {
                let view = parent.view
                guard view.rows[pair.a] != nil, view.rows[pair.b] != nil else { continue }
                parent.pairs[relation, default: [:]][pair] = isAdded
            }
        }
        for (key, order) in child.orders {
            guard parent.view.rows[key.owner] != nil else { continue }
            let parts = key.relation.split(separator: ".").map(String.init)
            let relation = WorldSchema.relation(parts[0], parts[1])
            let members = parent.view.members(key.owner, relation)
            // The child's new members come after those that the parent has.
            let current = world.list(key.owner, relation).filter(members.contains)
            if let arranged = order.arranged {
                let merged = World.merge(arranged.filter(members.contains), with: current)
                parent.orders[key, default: PendingOrder()].arranged = merged
            } else {
                let appended = order.appended.filter(members.contains)
                guard !appended.isEmpty else { continue }
                parent.orders[key, default: PendingOrder()].appended.removeAll(where: appended.contains)
                parent.orders[key]?.appended += appended
                parent.orders[key]?.arranged?.removeAll(where: appended.contains)
                parent.orders[key]?.arranged? += appended
            }
        }
        for id in child.deleted.keys where parent.view.rows[id] != nil { parent.delete(id) }
        return .saved(withConflicts: false)
    }
}

extension World {
    /// Forgets what leads to objects that are not there.
    mutating func prune() {
        for (id, row) in rows {
            for (name, cell) in row.cells {
                if case .ref(let target) = cell, rows[target] == nil { rows[id]?.cells[name] = nil }
            }
        }
        pairs = pairs.mapValues { $0.filter { rows[$0.a] != nil && rows[$0.b] != nil } }
        for key in orders.keys {
            if rows[key.owner] == nil {
                orders[key] = nil
            } else {
                let parts = key.relation.split(separator: ".").map(String.init)
                orders[key] = list(key.owner, WorldSchema.relation(parts[0], parts[1]))
            }
        }
    }
}
