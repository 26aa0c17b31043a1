@_exported import StrataModel

/// One side of a comparison, or a criterion of an order: an expression that gives a value for each object.
///
///     let density = try FetchExpression(format: "population / areaSquareKilometres")
///     let densest = FetchRequest<Country>(sortedBy: [FetchSort(density, ascending: false)], limit: 10)
///     let path = FetchExpression.keyPath(["country", "name"])
///
/// Typed keys are shorter where the class is known. Use expressions for formats from a file or a user, and to write or
/// read trees in code. Build one from the functions here, which are named like the cases of ``Node``, and read it by
/// switching over ``node``. As for a ``FetchPredicate``, the height of the tree is bounded.
///
/// An expression without a result, such as a division by zero, is nil. A property that the entity does not have is an
/// error of the fetch, not of the expression. ``evaluate(on:variables:environment:)`` computes the value in memory.
public struct FetchExpression: Sendable, Hashable {
    /// What is at the top of an expression.
    public indirect enum Node: Sendable, Hashable {
        /// A fixed value. A collection of only fixed elements is a fixed value, too.
        case constant(Value)
        /// A property of the object, or one that relationships lead to: `["country", "name"]`. An element of a composite
        /// is two components, too. A to-one relationship at the end stands for the object it leads to; after a to-many
        /// relationship the rest of the path is mapped over the members.
        ///
        /// A component that begins with `@` is a collection operator; see ``CollectionOperator``.
        case keyPath([String])
        /// The object itself: `SELF`.
        case evaluatedObject
        /// A value that is given later: `$name`.
        case variable(String)
        /// A key path that starts at the value of another expression: `$x.name`, `SUBQUERY(…).@count`.
        case path(FetchExpression, [String])
        /// Several values: `{a, b}`. If all are fixed it is a ``constant(_:)`` of a list.
        case aggregate([FetchExpression])
        /// A function or an arithmetic or set operator.
        case function(FetchFunction, [FetchExpression])
        /// An element of a collection, or a value of a composite by name: `stops[FIRST]`.
        case index(FetchExpression, FetchIndex)
        /// The elements of a collection for which a condition holds, where `$name` stands for the element.
        case subquery(FetchExpression, String, FetchPredicate)
        /// One of two values, by a condition: `TERNARY(condition, first, second)`.
        case ternary(FetchPredicate, FetchExpression, FetchExpression)
        /// The value as another type: `CAST(value, 'NSDate')`.
        case cast(FetchExpression, CastType)
        /// A method of a value: `FUNCTION(name, 'length')`.
        case method(FetchExpression, FetchMethod, [FetchExpression])
        /// The distance between two points on the earth, in the unit of the radius, which is kilometers in formats; see
        /// ``GeoCondition``.
        case distance(FetchExpression, FetchExpression, earthRadius: Double)
        /// An expression that was nested more deeply than ``PredicateLimits/height``. It has no value.
        case tooDeep
    }

    /// What is at the top.
    public let node: Node
    /// How many levels the tree has; 1 for a leaf.
    let height: UInt8

    private init(_ node: Node, over height: UInt8 = 0) {
        let isTooDeep = height >= PredicateLimits.height
        self.node = isTooDeep ? .tooDeep : node
        self.height = isTooDeep ? height : height + 1
    }

    /// A fixed value; a list of fixed values, too.
    public static func constant(_ value: Value) -> FetchExpression { FetchExpression(.constant(value)) }

    /// A property of the object, or one that relationships lead to; see ``Node/keyPath(_:)``.
    public static func keyPath(_ names: [String]) -> FetchExpression { FetchExpression(.keyPath(names)) }

    /// The object itself: `SELF`.
    public static let evaluatedObject = FetchExpression(.evaluatedObject)

    /// A value that is given later: `$name`.
    public static func variable(_ name: String) -> FetchExpression { FetchExpression(.variable(name)) }

    /// A key path that starts at the value of another expression: `$x.name`.
    public static func path(_ base: FetchExpression, _ names: [String]) -> FetchExpression {
        FetchExpression(.path(base, names), over: base.height)
    }

    /// Several values, not all of them fixed: `{a, 1}`.
    public static func aggregate(_ parts: [FetchExpression]) -> FetchExpression {
        FetchExpression(.aggregate(parts), over: parts.height)
    }

    /// A function or an arithmetic or set operator.
    public static func function(_ function: FetchFunction, _ arguments: [FetchExpression]) -> FetchExpression {
        FetchExpression(.function(function, arguments), over: arguments.height)
    }

    /// An element of a collection, or a value of a composite by name: `stops[FIRST]`.
    public static func index(_ base: FetchExpression, _ index: FetchIndex) -> FetchExpression {
        FetchExpression(.index(base, index), over: max(base.height, index.height))
    }

    /// The elements of a collection for which a condition holds, where `$name` stands for the element.
    public static func subquery(
        _ collection: FetchExpression, _ name: String, _ condition: FetchPredicate
    ) -> FetchExpression {
        FetchExpression(.subquery(collection, name, condition), over: max(collection.height, condition.height))
    }

    /// One of two values, by a condition: `TERNARY(condition, first, second)`.
    public static func ternary(
        _ condition: FetchPredicate, _ first: FetchExpression, _ second: FetchExpression
    ) -> FetchExpression {
        FetchExpression(
            .ternary(condition, first, second), over: max(condition.height, first.height, second.height))
    }

    /// The value as another type: `CAST(value, 'NSDate')`.
    public static func cast(_ operand: FetchExpression, _ type: CastType) -> FetchExpression {
        FetchExpression(.cast(operand, type), over: operand.height)
    }

    /// A method of a value: `FUNCTION(name, 'length')`.
    public static func method(
        _ receiver: FetchExpression, _ method: FetchMethod, _ arguments: [FetchExpression]
    ) -> FetchExpression {
        FetchExpression(.method(receiver, method, arguments), over: max(receiver.height, arguments.height))
    }

    /// The distance between two points on an earth of a radius, in the unit of the radius.
    public static func distance(
        _ a: FetchExpression, _ b: FetchExpression, earthRadius: Double
    ) -> FetchExpression {
        FetchExpression(.distance(a, b, earthRadius: earthRadius), over: max(a.height, b.height))
    }
}

extension [FetchExpression] {
    fileprivate var height: UInt8 { reduce(0) { Swift.max($0, $1.height) } }
}

extension FetchIndex {
    fileprivate var height: UInt8 {
        if case .at(let position) = self { position.height } else { 0 }
    }
}

extension GeoCondition {
    /// The height of the highest of the expressions.
    var height: UInt8 {
        switch self {
        case .near(let place, let point, _): max(place.height, point.height)
        case .within(let place, let point, let distance, _, _): max(place.height, point.height, distance.height)
        case .box(let place, let southWest, let northEast): max(place.height, southWest.height, northEast.height)
        }
    }
}
