import Foundation

extension FetchPredicate {
    /// Whether the condition holds for an object. The result is never undecided: a comparison with nil is true or
    /// false.
    ///
    /// Nil is unequal to every value but nil, and in no order with any. A path through nil is nil; a nil collection has
    /// no elements.
    /// - Parameters:
    ///   - source: The object.
    ///   - variables: Values of the `$variables` that are in the condition.
    ///   - environment: What `now()` means; the same one for all objects that belong together.
    /// - Throws: A ``PredicateEvaluationError`` for a part that cannot be evaluated: an unbound variable, an invalid
    ///   pattern, an order of different kinds, a quantifier before what is not a collection. Conditions whose answer no
    ///   longer matters, after a false part of an AND for instance, are not evaluated.
    public func evaluate(
        on source: some PropertySource, variables: [String: Value] = [:],
        environment: EvaluationEnvironment = EvaluationEnvironment()
    ) throws(PredicateEvaluationError) -> Bool {
        try PredicateEvaluator(source, variables, environment).holds(self)
    }
}

extension FetchExpression {
    /// The value of the expression for an object. Objects are given by what they compare as.
    /// - Throws: See ``FetchPredicate/evaluate(on:variables:environment:)``.
    public func evaluate(
        on source: some PropertySource, variables: [String: Value] = [:],
        environment: EvaluationEnvironment = EvaluationEnvironment()
    ) throws(PredicateEvaluationError) -> Value {
        try PredicateEvaluator(source, variables, environment).value(of: self).value
    }
}

/// A value while a predicate is evaluated: objects are kept, so that paths can go on from them.
enum Evaluated {
    /// A value that holds no objects: of lists and sets of values, too.
    case plain(Value)
    case object(any PropertySource)
    case array([Evaluated])
    case set([Evaluated])
    /// A value kept as JSON or a member of one; see ``PropertyValue/json(_:)``.
    case json(Value)

    /// The value, with objects as what they compare as.
    var value: Value {
        switch self {
        case .plain(let value), .json(let value): value
        case .object(let source): source.evaluatedObject
        case .array(let elements): .list(elements.map(\.value))
        case .set(let elements): .set(ValueSet(elements.map(\.value)))
        }
    }

    var isNull: Bool {
        switch self {
        case .plain(.null), .json(.null): true
        case .object(let source): source.evaluatedObject.isNull
        default: false
        }
    }

    /// The elements of a collection; nil for anything else.
    var elements: [Evaluated]? {
        switch self {
        case .plain(.list(let values)): values.map(Evaluated.plain)
        case .plain(.set(let values)): values.members.map(Evaluated.plain)
        case .array(let elements), .set(let elements): elements
        case .json(.list(let values)): values.map(Evaluated.json)
        default: nil
        }
    }

    var isJSON: Bool { if case .json = self { true } else { false } }

    var isSet: Bool {
        switch self {
        case .set, .plain(.set): true
        default: false
        }
    }

    init(_ value: PropertyValue) {
        switch value {
        case .value(let value): self = .plain(value)
        case .json(let value): self = .json(value)
        case .object(let source): self = .object(source)
        case .objects(let sources, let isOrdered):
            self = isOrdered ? .array(sources.map(Evaluated.object)) : .set(sources.map(Evaluated.object))
        }
    }
}

/// Walks trees for one object.
struct PredicateEvaluator {
    let root: Evaluated
    private var variables: [String: Evaluated]
    let environment: EvaluationEnvironment
    /// Constant lists by hash, if the predicate is evaluated for many objects.
    private let lists: ConstantLists?

    init(
        _ source: some PropertySource, _ variables: [String: Value], _ environment: EvaluationEnvironment,
        _ lists: ConstantLists? = nil
    ) {
        root = (source as? Value).map(Evaluated.plain) ?? .object(source)
        self.variables = variables.mapValues(Evaluated.plain)
        self.environment = environment
        self.lists = lists
    }

    /// Evaluates what depends on given objects only.
    init(objects: [String: any PropertySource], _ environment: EvaluationEnvironment) {
        root = .plain(.null)
        variables = objects.mapValues { ($0 as? Value).map(Evaluated.plain) ?? .object($0) }
        self.environment = environment
        lists = nil
    }

    func holds(_ predicate: FetchPredicate) throws(PredicateEvaluationError) -> Bool {
        switch predicate.node {
        case .constant(let flag): return flag
        case .and(let parts):
            for part in parts where try !holds(part) { return false }
            return true
        case .or(let parts):
            for part in parts where try holds(part) { return true }
            return false
        case .not(let part): return try !holds(part)
        case .comparison(let left, let op, let right, let options):
            let value = try value(of: left)
            if op == .isIn, options.isEmpty, case .constant(let list) = right.node,
                let isMember = lists?.contains(value, in: list)
            {
                return isMember
            }
            return try op.evaluate(value, try self.value(of: right), options)
        case .quantified(let quantifier, let left, let op, let right, let options):
            return try holds(quantifier, try value(of: left), op, try value(of: right), options)
        case .geo(let condition): return try holds(condition)
        case .tooDeep: throw .nestedTooDeeply
        }
    }

    private func holds(
        _ quantifier: ComparisonQuantifier, _ left: Evaluated, _ op: ComparisonOperator, _ right: Evaluated,
        _ options: ComparisonOptions
    ) throws(PredicateEvaluationError) -> Bool {
        guard let elements = left.isNull ? [] : left.elements ?? (left.isJSON ? [] : nil) else {
            throw .noCollection(found: left.value.kind, context: quantifier.rawValue)
        }
        for element in elements {
            if try op.evaluate(element, right, options) != (quantifier == .all) { return quantifier == .any }
        }
        return quantifier != .any
    }

    func value(of expression: FetchExpression) throws(PredicateEvaluationError) -> Evaluated {
        switch expression.node {
        case .constant(let value): return .plain(value)
        case .evaluatedObject: return root
        case .keyPath(let names): return try walk(root, names[...])
        case .variable(let name):
            guard let value = variables[name] else { throw .unboundVariable(name: name) }
            return value
        case .path(let base, let names): return try walk(try value(of: base), names[...])
        case .aggregate(let parts): return .array(try values(of: parts))
        case .function(let function, let arguments):
            let values = try values(of: arguments)
            return try lenient(values) { (evaluator) throws(PredicateEvaluationError) in
                try evaluator.call(function, values)
            }
        case .index(let base, let index): return try element(index, of: try value(of: base))
        case .subquery(let collection, let name, let condition):
            return try select(try value(of: collection), name, condition)
        case .ternary(let condition, let first, let second): return try value(of: try holds(condition) ? first : second)
        case .cast(let operand, let type): return cast(try value(of: operand), type)
        case .method(let receiver, let method, let arguments):
            let values = [try value(of: receiver)] + (try values(of: arguments))
            return try lenient(values) { (evaluator) throws(PredicateEvaluationError) in
                try evaluator.call(method, on: values[0], Array(values.dropFirst()))
            }
        case .distance(let a, let b, let radius):
            guard let from = try point(a), let to = try point(b) else { return .plain(.null) }
            return .plain(.double(from.distance(to: to, earthRadius: radius)))
        case .tooDeep: throw .nestedTooDeeply
        }
    }

    private func values(of parts: [FetchExpression]) throws(PredicateEvaluationError) -> [Evaluated] {
        var values: [Evaluated] = []
        values.reserveCapacity(parts.count)
        for part in parts { values.append(try value(of: part)) }
        return values
    }

    /// Calls a function; nil for values of JSON that it does not take.
    private func lenient(
        _ values: [Evaluated], _ call: (PredicateEvaluator) throws(PredicateEvaluationError) -> Evaluated
    ) throws(PredicateEvaluationError) -> Evaluated {
        do throws(PredicateEvaluationError) {
            return try call(self)
        } catch {
            guard values.contains(where: \.isJSON) else { throw error }
            switch error {
            case .wrongOperand, .incomparable, .noCollection: return .plain(.null)
            default: throw error
            }
        }
    }

    private func cast(_ operand: Evaluated, _ type: CastType) -> Evaluated {
        switch (type, operand.elements) {
        case (.set, let elements?): .set(Evaluated.distinct(elements))
        case (.array, let elements?): .array(elements)
        default: .plain(type.convert(operand.value))
        }
    }

    private func select(
        _ collection: Evaluated, _ name: String, _ condition: FetchPredicate
    ) throws(PredicateEvaluationError) -> Evaluated {
        guard let elements = collection.isNull ? [] : collection.elements ?? (collection.isJSON ? [] : nil) else {
            throw .noCollection(found: collection.value.kind, context: "SUBQUERY")
        }
        var inner = self
        var selected: [Evaluated] = []
        for element in elements {
            inner.variables[name] = element
            if try inner.holds(condition) { selected.append(element) }
        }
        return collection.isSet ? .set(selected) : .array(selected)
    }

    private func element(_ index: FetchIndex, of base: Evaluated) throws(PredicateEvaluationError) -> Evaluated {
        if base.isNull { return .plain(.null) }
        var position = Value.null
        if case .at(let expression) = index {
            position = try value(of: expression).value
            if case .string(let key) = position, base.elements == nil { return try walk(base, [key]) }
        }
        guard let elements = base.elements else {
            if base.isJSON { return .plain(.null) }
            if case .size = index, case .plain(.composite(let parts)) = base {
                return .plain(.integer(Int64(parts.count)))
            }
            throw .noCollection(found: base.value.kind, context: "an index")
        }
        switch index {
        case .size: return .plain(.integer(Int64(elements.count)))
        case _ where base.isSet: throw .wrongOperand(found: "set", context: "an index other than [SIZE]")
        case .first: return elements.first ?? .plain(.null)
        case .last: return elements.last ?? .plain(.null)
        case .at:
            if position.isNull { return .plain(.null) }
            guard let number = NumberOperation(position)?.asInteger else {
                if base.isJSON { return .plain(.null) }
                throw .wrongOperand(found: position.kind, context: "an index")
            }
            let isInside = number >= 0 && number < elements.count
            return isInside ? elements[Int(number)] : .plain(.null)
        }
    }

    // MARK: Points

    /// The valid point that an expression gives; nil for nil and for coordinates outside their ranges.
    private func point(_ expression: FetchExpression) throws(PredicateEvaluationError) -> GeoPoint? {
        let found = try self.value(of: expression)
        let value = found.value
        if value.isNull { return nil }
        guard let point = GeoPoint(predicateValue: value) else {
            if found.isJSON { return nil }
            throw .wrongOperand(found: value.kind, context: "a condition on points")
        }
        return point.isValid ? point : nil
    }

    private func holds(_ condition: GeoCondition) throws(PredicateEvaluationError) -> Bool {
        switch condition {
        case .near(let place, let center, _):
            let from = try point(place)
            let to = try point(center)
            return from != nil && to != nil
        case .within(let place, let center, let limit, let unit, let radius):
            let from = try point(place)
            let to = try point(center)
            let found = try self.value(of: limit)
            let value = found.value
            if value.isNull { return false }
            guard let distance = NumberOperation(value)?.asDouble else {
                if found.isJSON { return false }
                throw .wrongOperand(found: value.kind, context: unit.rawValue)
            }
            guard let from, let to else { return false }
            return from.distance(to: to, earthRadius: radius) <= unit.kilometers(distance, earthRadius: radius)
        case .box(let place, let southWest, let northEast):
            let point = try point(place)
            let low = try self.point(southWest)
            let high = try self.point(northEast)
            guard let point, let low, let high else { return false }
            return point.isInside(southWest: low, northEast: high)
        }
    }
}

extension GeoPoint {
    /// Whether the point lies in a box, edges included. A box whose west is greater than its east crosses the 180°
    /// meridian.
    public func isInside(southWest: GeoPoint, northEast: GeoPoint) -> Bool {
        guard southWest.latitude <= latitude, latitude <= northEast.latitude else { return false }
        return southWest.longitude <= northEast.longitude
            ? southWest.longitude <= longitude && longitude <= northEast.longitude
            : southWest.longitude <= longitude || longitude <= northEast.longitude
    }
}
