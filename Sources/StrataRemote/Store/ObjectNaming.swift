import StrataSQLite

/// Puts primary keys in the place of objects: back ends know no others.
struct ObjectNaming {
    let mirror: Mirror
    let entity: EntityDescription

    private var model: ManagedObjectModel { mirror.model }

    /// The condition with primary keys for the objects that it compares with paths. An object that the back end has
    /// never heard about is not what any of its objects refers to.
    func named(_ predicate: FetchPredicate) throws(StoreError) -> FetchPredicate {
        switch predicate.node {
        case .comparison(let left, let op, let right, let options):
            return try named(left, op, right) { .comparison($0, op, $1, options) }
        case .quantified(let quantifier, let left, let op, let right, let options):
            return try named(left, op, right) { .quantified(quantifier, $0, op, $1, options) }
        case .and(let parts):
            return .and(try all(parts))
        case .or(let parts):
            return .or(try all(parts))
        case .not(let part): return .not(try named(part))
        case .constant, .geo, .tooDeep: return predicate
        }
    }

    private func all(_ parts: [FetchPredicate]) throws(StoreError) -> [FetchPredicate] {
        var result: [FetchPredicate] = []
        for part in parts { result.append(try named(part)) }
        return result
    }

    private func named(
        _ left: FetchExpression, _ op: ComparisonOperator, _ right: FetchExpression,
        _ make: (FetchExpression, FetchExpression) -> FetchPredicate
    ) throws(StoreError) -> FetchPredicate {
        if let destination = destination(of: left), case .constant(let value) = right.node {
            guard let named = try self.named(value, destination, isSelf: left == .evaluatedObject) else {
                return op == .notEqual ? .constant(true) : .constant(false)
            }
            return make(path(left, destination), .constant(named))
        }
        if let destination = destination(of: right), case .constant(let value) = left.node {
            guard let named = try self.named(value, destination, isSelf: right == .evaluatedObject) else {
                return op == .notEqual ? .constant(true) : .constant(false)
            }
            return make(.constant(named), path(right, destination))
        }
        return make(left, right)
    }

    /// The object itself is told by its primary key.
    private func path(_ expression: FetchExpression, _ destination: EntityDescription) -> FetchExpression {
        expression == .evaluatedObject ? .keyPath([destination.primaryKeyField ?? ""]) : expression
    }

    /// The entity of the objects that a path leads to; nil where it leads to values.
    private func destination(of expression: FetchExpression) -> EntityDescription? {
        guard case .keyPath(let path) = expression.node else { return expression == .evaluatedObject ? entity : nil }
        var current = entity
        for name in path {
            guard let relationship = current.relationship(named: name) else { return nil }
            current = model.destination(of: relationship)
        }
        return current
    }

    /// A value with primary keys for objects; nil for an object that has none.
    private func named(
        _ value: Value, _ destination: EntityDescription, isSelf: Bool
    ) throws(StoreError) -> Value? {
        switch value {
        case .object(let key): return try names([key], destination, isSelf)[key]
        case .list(let values): return .list(try list(values, destination, isSelf))
        case .set(let set): return .list(try list(set.members, destination, isSelf))
        default: return value
        }
    }

    private func list(
        _ values: [Value], _ destination: EntityDescription, _ isSelf: Bool
    ) throws(StoreError) -> [Value] {
        let keys = values.compactMap { if case .object(let key) = $0 { key } else { nil } }
        let names = try names(keys, destination, isSelf)
        return values.compactMap { if case .object(let key) = $0 { names[key] } else { $0 } }
    }

    /// - Parameter isSelf: Whether the values are compared with the primary key, and so have its type.
    private func names(
        _ keys: [Int64], _ destination: EntityDescription, _ isSelf: Bool
    ) throws(StoreError) -> [Int64: Value] {
        let slot = isSelf ? mirror.primaryKeys[destination.index] : nil
        return try mirror.ids(entityIndex: destination.index, keys: keys.sorted()).compactMapValues { name in
            slot.map { PrimaryKey.value(name.id, $0) } ?? .string(name.id)
        }
    }
}

extension FetchPredicate {
    /// Whether an object is in the condition by its key here, which no back end knows.
    var mentionsObjects: Bool {
        switch node {
        case .constant, .tooDeep: false
        case .comparison(let left, _, let right, _), .quantified(_, let left, _, let right, _):
            left.mentionsObjects || right.mentionsObjects
        case .geo(.near(let place, let point, _)): place.mentionsObjects || point.mentionsObjects
        case .geo(.within(let place, let point, let distance, _, _)):
            [place, point, distance].contains(where: \.mentionsObjects)
        case .geo(.box(let place, let southWest, let northEast)):
            [place, southWest, northEast].contains(where: \.mentionsObjects)
        case .and(let parts), .or(let parts): parts.contains(where: \.mentionsObjects)
        case .not(let part): part.mentionsObjects
        }
    }
}

extension FetchExpression {
    fileprivate var mentionsObjects: Bool {
        switch node {
        case .constant(let value): value.mentionsObjects
        case .keyPath, .evaluatedObject, .variable, .tooDeep: false
        case .path(let base, _), .cast(let base, _): base.mentionsObjects
        case .index(let base, .at(let position)): base.mentionsObjects || position.mentionsObjects
        case .index(let base, _): base.mentionsObjects
        case .aggregate(let parts), .function(_, let parts): parts.contains(where: \.mentionsObjects)
        case .subquery(let collection, _, let condition): collection.mentionsObjects || condition.mentionsObjects
        case .ternary(let condition, let first, let second):
            condition.mentionsObjects || first.mentionsObjects || second.mentionsObjects
        case .method(let receiver, _, let arguments):
            receiver.mentionsObjects || arguments.contains(where: \.mentionsObjects)
        case .distance(let a, let b, _): a.mentionsObjects || b.mentionsObjects
        }
    }
}

extension Value {
    fileprivate var mentionsObjects: Bool {
        switch self {
        case .object: true
        case .list(let values): values.contains(where: \.mentionsObjects)
        case .set(let set): set.members.contains(where: \.mentionsObjects)
        default: false
        }
    }
}
