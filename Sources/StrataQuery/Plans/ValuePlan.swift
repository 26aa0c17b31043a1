/// A named value that a fetch returns for each row: an attribute, an expression, or an aggregate of a group.
///
///     var plan = ValuePlan(FetchPlan(entityIndex: entity.index), columns: [
///         FetchColumn("country", .keyPath(["country", "name"])),
///         FetchColumn("total", .function(.sum, [.keyPath(["population"])])),
///     ])
///     plan.groupBy = [.keyPath(["country", "name"])]
///
/// Columns are a part of a ``ValuePlan``, for authors of stores. Apps write columns with typed keys in a
/// ``ValueRequest``. The name identifies the column in ``ValuePlan/having``, where `$total` stands for it, and in a
/// sort with a single name. Give each column of a plan a name of its own.
public struct FetchColumn: Sendable, Hashable {
    /// The name.
    public var name: String
    /// What gives the value; see ``ValuePlan`` for aggregate functions.
    public var expression: FetchExpression

    /// Asks for the value of an expression.
    public init(_ name: String, _ expression: FetchExpression) {
        self.name = name
        self.expression = expression
    }
}

/// A fetch of values instead of objects, as stores see it: rows of columns.
///
///     let number = FetchColumn("number", .function(.count, [.evaluatedObject]))
///     let plan = ValuePlan(FetchPlan(entityIndex: entity.index), columns: [number])
///     let rows = try store.values(plan)  // one row with one value
///
/// Aggregate functions (`sum:`, `count:`, `min:`, `max:`, `average:`, `median:`, `stddev:`) of a single value are taken
/// over the objects of a group; nil is left out, so that `count:(name)` counts the objects that have a name and
/// `count:(SELF)` all. Without ``groupBy`` all objects are one group, which gives one row even of nothing. The sum of
/// whole numbers is clamped to 64 bits. Every value of a grouped answer must be such a function, fixed, made of these,
/// or one of ``groupBy``.
///
/// A context makes plans from a ``ValueRequest``. A store that cannot group uses ``evaluate(over:)``, which computes
/// the same answer in memory.
public struct ValuePlan: Sendable, Hashable {
    /// Which objects count. Limit and offset are about rows of the answer. Sorts are by the properties, or, where a sort
    /// has a single name that is a column's, by the column. Rows that agree in all sorts come in the order of keys, and
    /// rows of a grouped or distinct answer in that of their other values.
    public var fetch: FetchPlan
    /// What a row holds.
    public var columns: [FetchColumn]
    /// Whether of equal rows one is enough.
    public var isDistinct = false
    /// What objects of a group have in common.
    public var groupBy: [FetchExpression] = []
    /// Which groups are requested. `$name` stands for the column of that name.
    public var having: FetchPredicate?

    /// Requests columns of all objects that a plan selects.
    public init(_ fetch: FetchPlan, columns: [FetchColumn]) {
        self.fetch = fetch
        self.columns = columns
    }

    /// Whether rows stand for groups of objects.
    public var isGrouped: Bool { !groupBy.isEmpty || having != nil || columns.contains { $0.expression.isAggregate } }
}

extension FetchExpression {
    /// Whether an aggregate function over a group is in the expression: one of a single value that is a property or the
    /// object itself.
    public var isAggregate: Bool {
        switch node {
        case .function(let function, let arguments):
            function.isAggregate && arguments.count == 1 && arguments[0].isSingle
                || arguments.contains(where: \.isAggregate)
        case .aggregate(let parts): parts.contains(where: \.isAggregate)
        case .ternary(_, let first, let second): first.isAggregate || second.isAggregate
        case .cast(let value, _): value.isAggregate
        case .method(let receiver, _, let arguments): receiver.isAggregate || arguments.contains(where: \.isAggregate)
        default: false
        }
    }

    /// Whether the expression gives a value by itself, as far as can be told without a model.
    var isSingle: Bool {
        switch node {
        case .keyPath, .evaluatedObject, .cast, .ternary, .method, .distance: true
        case .function(let function, _): !function.isAggregate && ![.union, .intersect, .minus].contains(function)
        default: false
        }
    }
}

extension FetchFunction {
    /// Whether the function makes one value of many.
    public var isAggregate: Bool {
        switch self {
        case .sum, .count, .minimum, .maximum, .average, .median, .mode, .standardDeviation: true
        default: false
        }
    }
}

extension ValuePlan {
    /// Whether an expression has one value for all objects of a group.
    public func isSettled(_ expression: FetchExpression) -> Bool {
        if groupBy.contains(expression) { return true }
        switch expression.node {
        case .constant, .variable: return true
        case .function(let function, let arguments):
            return (arguments.count == 1 && function.isAggregate) || arguments.allSatisfy(isSettled)
        case .aggregate(let parts): return parts.allSatisfy(isSettled)
        case .ternary(let condition, let first, let second):
            return isSettled(condition) && isSettled(first) && isSettled(second)
        case .cast(let value, _): return isSettled(value)
        case .method(let receiver, _, let arguments):
            return isSettled(receiver) && arguments.allSatisfy(isSettled)
        case .distance(let a, let b, _): return isSettled(a) && isSettled(b)
        default: return false
        }
    }

    /// Whether a condition has one answer for all objects of a group.
    public func isSettled(_ predicate: FetchPredicate) -> Bool {
        switch predicate.node {
        case .constant, .tooDeep: true
        case .and(let parts), .or(let parts): parts.allSatisfy(isSettled)
        case .not(let part): isSettled(part)
        case .comparison(let left, _, let right, _), .quantified(_, let left, _, let right, _):
            isSettled(left) && isSettled(right)
        case .geo: false
        }
    }
}
