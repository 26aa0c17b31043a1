import Foundation
import Strata

extension WorldDriver {
    /// Compares all that a context shows with the model.
    func check(_ context: WorldContext) throws {
        guard root(of: context).isSynced else { return try checkPending(context) }
        let world: World
        do {
            world = try WorldReading.world(context.context).world
        } catch {
            throw Difference("\(context.name): \(error)")
        }
        try WorldReading.compare(world, context.view, exactly: true, unplaced: context.unplaced, context.name)
        try checkPending(context)
    }

    /// Compares the pending changes of a context with the model.
    func checkPending(_ context: WorldContext) throws {
        context.settleNullifications()
        let view = context.view
        let inserted = Set(context.context.insertedObjects.map { Ident($0.objectID) })
        if inserted != Set(context.inserted.keys) {
            throw Difference(
                "\(context.name): new are \(inserted.sorted()), should be \(context.inserted.keys.sorted())")
        }
        let deleted = Set(context.context.deletedObjects.filter { !$0.isInserted }.map { Ident($0.objectID) })
        if deleted != Set(context.deleted.keys) {
            throw Difference(
                "\(context.name): deleted are \(deleted.sorted()), should be \(context.deleted.keys.sorted())")
        }
        let updated = Dictionary(
            uniqueKeysWithValues: context.context.updatedObjects.map { (Ident($0.objectID), $0) })
        for (id, update) in context.updates where !update.changes.isEmpty && updated[id] == nil {
            throw Difference("\(context.name): \(id) should be changed: \(update.changes)")
        }
        for (id, object) in updated {
            let changes = object.changedValues()
            let expected = context.updates[id]?.changes ?? [:]
            guard Set(changes.keys) == Set(expected.keys) else {
                throw Difference(
                    "\(context.name): changed in \(id) are \(changes.keys.sorted()), should be \(expected.keys.sorted())"
                )
            }
            for (name, value) in changes {
                let actual: Cell? =
                    switch value {
                    case .null: nil
                    case .object: view.rows[id]?.cells[name]
                    default: .value(value)
                    }
                if actual != view.rows[id]?.cells[name] {
                    throw Difference(
                        "\(context.name): \(id).\(name) is \(value), should be \(WorldReading.text(view.rows[id]?.cells[name]))"
                    )
                }
            }
        }
    }

    /// Looks at a few properties of one object.
    func peek(_ context: WorldContext) throws {
        guard let id = anyObject(context), let row = context.view.rows[id] else { return }
        let view = context.view
        let object = try object(id, context)
        note(context, "peek \(id)")
        if let name = random.pick(WorldSchema.attributes(row.entity)) {
            let cell = try WorldReading.cell(object, name)
            if cell != row.cells[name] {
                throw Difference(
                    "\(context.name): \(id).\(name) is \(WorldReading.text(cell)), should be \(WorldReading.text(row.cells[name]))"
                )
            }
        }
        guard let relation = random.pick(WorldSchema.relations(row.entity)) else { return }
        if relation.cardinality == .one {
            let target = try WorldReading.ref(object, relation.name)
            if target != view.ref(id, relation.name) {
                throw Difference(
                    "\(context.name): \(id).\(relation.name) is \(WorldReading.text(target)), should be \(WorldReading.text(view.ref(id, relation.name)))"
                )
            }
        } else {
            let members = try WorldReading.members(object, relation)
            let expected =
                relation.cardinality == .ordered ? view.list(id, relation) : view.members(id, relation).sorted()
            let unplaced = context.unplaced
            if Set(members) != Set(expected)
                || members.filter({ !unplaced.contains($0) }) != expected.filter({ !unplaced.contains($0) })
            {
                throw Difference("\(context.name): \(id).\(relation.name) is \(members), should be \(expected)")
            }
        }
    }

    // MARK: Fetching

    /// Fetches by a random condition, order, limit and offset, and lets the model answer, too.
    /// What the context and its parents have of an object, and what the plain model says.
    private func state(of id: Ident, in context: WorldContext) -> String {
        var lines: [String] = []
        var current: WorldContext? = context
        while let level = current {
            let object = level.objectIDs[id].flatMap { level.context.registeredObject(for: $0) }
            let flags = object.map {
                "version \($0.version)\($0.isFault ? ", a fault" : ""), changed \($0.changedValues()), deleted \($0.isDeleted)"
            }
            lines.append(
                "  \(level.name) has \(id): \(flags ?? "not"); model \(level.view.rows[id].map { "\($0)" } ?? "none")")
            current = level.parent
        }
        lines.append("  the file has \(store.world.rows[id].map { "\($0)" } ?? "none")")
        return lines.joined(separator: "\n")
    }

    func fetch(_ context: WorldContext) throws {
        guard let kind = random.pick(WorldSchema.kinds) else { return }
        let condition = condition(kind.name, context.view, depth: 2)
        let criteria = (0..<random.below(3)).compactMap { _ in criterion(kind.name) }
        let sorts = criteria.map(\.sort)
        let limit = random.oneIn(2) ? nil : random.below(5)
        let offset = random.oneIn(2) ? 0 : random.below(4)
        let request = FetchRequest<ManagedObject>(
            entity: kind.name, where: condition?.predicate, sortedBy: sorts, limit: limit, offset: offset)
        note(
            context,
            "fetch \(kind.name) where \(condition.map { "\($0.predicate)" } ?? "-") by \(sorts) limit \(WorldReading.text(limit)) offset \(offset)"
        )
        let view = context.view
        var expected = view.all(kind.name).filter { condition?.holds($0, view) ?? true }
        expected.sort { a, b in
            for criterion in criteria {
                let x = criterion.value(a, view)
                let y = criterion.value(b, view)
                if WorldDriver.precedes(x, y) { return criterion.sort.ascending }
                if WorldDriver.precedes(y, x) { return !criterion.sort.ascending }
            }
            return a.key < b.key
        }
        expected = Array(expected.dropFirst(offset))
        if let limit { expected = Array(expected.prefix(limit)) }
        let count = try context.context.count(request)
        let ids = try context.context.fetchIDs(request).map(Ident.init)
        let found = try context.context.fetch(request).map { Ident($0.objectID) }
        guard found == expected else {
            let differing = Set(found).symmetricDifference(expected).sorted()
            throw Difference(
                (["the fetch found \(found), should find \(expected)"] + differing.map { state(of: $0, in: context) })
                    .joined(separator: "\n"))
        }
        guard ids == expected else { throw Difference("the fetch of IDs found \(ids), should find \(expected)") }
        guard count == expected.count else { throw Difference("the count is \(count), should be \(expected.count)") }
    }

    private static func precedes(_ a: Value, _ b: Value) -> Bool {
        switch (a, b) {
        case (.null, .null): false
        case (.null, _): true
        case (.integer(let x), .integer(let y)): x < y
        case (.double(let x), .double(let y)): x < y
        case (.decimal(let x), .decimal(let y)): x < y
        case (.string(let x), .string(let y)): x.utf8.lexicographicallyPrecedes(y.utf8)
        default: false
        }
    }

    /// A path to an attribute, some through to-one relationships.
    private func path(_ entity: String) -> [String]? {
        if random.oneIn(3), let relation = random.pick(WorldSchema.relations(entity).filter({ $0.cardinality == .one }))
        {
            return random.pick(WorldSchema.comparableAttributes(relation.destination)).map { [relation.name, $0] }
        }
        return random.pick(WorldSchema.comparableAttributes(entity)).map { [$0] }
    }

    struct Criterion {
        let sort: FetchSort
        let value: (Ident, World) -> Value
    }

    /// An order by an attribute, or by an aggregate of a to-many relationship.
    private func criterion(_ entity: String) -> Criterion? {
        let ascending = random.oneIn(2)
        let toMany = WorldSchema.relations(entity).filter { $0.cardinality != .one }
        guard random.oneIn(3), let relation = random.pick(toMany) else {
            return path(entity).map { path in
                Criterion(sort: FetchSort(path, ascending: ascending)) { $1.value($0, at: path) }
            }
        }
        guard random.oneIn(2), WorldSchema.attributes(relation.destination).contains("score") else {
            return Criterion(sort: FetchSort([relation.name, "@count"], ascending: ascending)) {
                .integer(Int64($1.members($0, relation).count))
            }
        }
        let aggregate = random.pick(["@sum", "@min", "@max"]) ?? "@sum"
        return Criterion(sort: FetchSort([relation.name, aggregate, "score"], ascending: ascending)) { id, world in
            let scores = world.members(id, relation).compactMap { member -> Int64? in
                if case .integer(let score) = world.value(member, "score") { score } else { nil }
            }
            switch aggregate {
            case "@sum": return .integer(scores.reduce(0, +))
            case "@min": return scores.min().map(Value.integer) ?? .null
            default: return scores.max().map(Value.integer) ?? .null
            }
        }
    }

    struct Condition {
        let predicate: FetchPredicate
        let holds: (Ident, World) -> Bool
    }

    private func condition(_ entity: String, _ world: World, depth: Int) -> Condition? {
        if depth > 0, random.oneIn(3), let a = condition(entity, world, depth: depth - 1),
            let b = condition(entity, world, depth: depth - 1)
        {
            switch random.below(3) {
            case 0: return Condition(predicate: a.predicate && b.predicate) { a.holds($0, $1) && b.holds($0, $1) }
            case 1: return Condition(predicate: a.predicate || b.predicate) { a.holds($0, $1) || b.holds($0, $1) }
            default: return Condition(predicate: !a.predicate) { !a.holds($0, $1) }
            }
        }
        if random.oneIn(4), let relation = random.pick(WorldSchema.relations(entity).filter({ $0.cardinality == .one }))
        {
            let target = random.oneIn(3) ? nil : random.pick(world.all(relation.destination))
            let value: Value = target.map { .object($0.key) } ?? .null
            return Condition(predicate: .comparison(.keyPath([relation.name]), .equal, .constant(value), [])) {
                $1.ref($0, relation.name) == target
            }
        }
        guard let path = path(entity), let attribute = path.last else { return nil }
        let value: Value
        switch attribute {
        case "name": value = .string("v\(random.below(4))")
        case "score": value = .integer(Int64(random.below(4)))
        case "ratio": value = random.oneIn(3) ? .null : .double(Double(random.below(4)) / 2)
        case "price": value = random.oneIn(3) ? .null : .decimal(Decimal(random.below(4)) / 10)
        case "code": value = random.oneIn(3) ? .null : .string("c\(random.below(40))")
        default: value = random.oneIn(3) ? .null : .string("é")
        }
        let isOrder = !value.isNull && random.oneIn(2)
        let operation: ComparisonOperator = isOrder ? .less : random.oneIn(2) ? .equal : .notEqual
        return Condition(predicate: .comparison(.keyPath(path), operation, .constant(value), [])) { id, world in
            let actual = world.value(id, at: path)
            switch operation {
            case .less: return !actual.isNull && WorldDriver.precedes(actual, value)
            case .equal: return actual == value
            default: return actual != value
            }
        }
    }
}

extension World {
    func value(_ id: Ident, at path: [String]) -> Value {
        if path.count == 1 { return value(id, path[0]) }
        return ref(id, path[0]).map { value($0, path[1]) } ?? .null
    }
}
