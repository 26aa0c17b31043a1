import Foundation

/// Turns predicates into conditions of MaxLeap and Parse.
///
/// With a schema the names are those of properties, and a condition that the server would read in another way than a store
/// does is refused. Without one names are those of fields, and conditions mean what they mean in the libraries of MaxLeap
/// and Parse: `NOT (a < 5)` is `a >= 5`, which finds no object without an `a`.
struct MaxLeapPredicate {
    /// What a variable stands for.
    enum Binding {
        case value(MaxLeapValue)
        case query(MaxLeapQuery)
    }

    let dialect: MaxLeapDialect?
    let schema: MaxLeapSchema?
    var bindings: [String: Binding] = [:]

    init(dialect: MaxLeapDialect? = nil, schema: MaxLeapSchema? = nil, bindings: [String: Binding] = [:]) {
        self.dialect = dialect
        self.schema = schema
        self.bindings = bindings
    }

    /// - Throws: ``RemoteError`` with code 102 that names the part which the server has no words for; nothing is left out.
    func condition(_ predicate: FetchPredicate) throws(RemoteError) -> MaxLeapWhere {
        try normal(predicate, isNegated: false).condition()
    }

    private func normal(_ predicate: FetchPredicate, isNegated: Bool) throws(RemoteError) -> MaxLeapNormalForm {
        switch predicate.node {
        case .constant(let answer): return answer != isNegated ? .always : .never
        case .and(let parts):
            let forms = try normal(parts, isNegated)
            return isNegated ? try .or(forms) : try .and(forms)
        case .or(let parts):
            let forms = try normal(parts, isNegated)
            return isNegated ? try .and(forms) : try .or(forms)
        case .not(let part): return try normal(part, isNegated: !isNegated)
        case .tooDeep: throw unsupported(predicate, "a condition that is nested too deeply")
        case .quantified(let quantifier, let left, let comparison, let right, let options):
            return try quantified(quantifier, left, comparison, right, options, predicate, isNegated)
        case .geo(let geo):
            guard !isNegated else { throw unsupported(predicate, "NOT around a condition on positions") }
            return MaxLeapNormalForm(try condition(geo, predicate))
        case .comparison(let left, let comparison, let right, let options):
            return try normal(left, comparison, right, options, predicate, isNegated)
        }
    }

    private func normal(_ parts: [FetchPredicate], _ isNegated: Bool) throws(RemoteError) -> [MaxLeapNormalForm] {
        var forms: [MaxLeapNormalForm] = []
        for part in parts { forms.append(try normal(part, isNegated: isNegated)) }
        return forms
    }

    private func normal(
        _ left: FetchExpression, _ comparison: ComparisonOperator, _ right: FetchExpression,
        _ options: ComparisonOptions, _ whole: FetchPredicate, _ isNegated: Bool
    ) throws(RemoteError) -> MaxLeapNormalForm {
        if let size = try size(left, comparison, right, whole, isNegated) { return size }
        var (left, comparison, right) = (left, comparison, right)
        if path(left) == nil, path(right) != nil {
            // A constant in a field is what the field equals, or has among its elements. In a store it may be a part of a text.
            if comparison == .isIn, right.node != .evaluatedObject {
                comparison = schema == nil ? .equal : .contains
            } else if comparison.mirrored != comparison || comparison == .equal || comparison == .notEqual {
                comparison = comparison.mirrored
            } else {
                throw unsupported(whole, "\(comparison.rawValue) with a fixed value on its left")
            }
            swap(&left, &right)
        }
        guard let path = path(left) else { throw unsupported(whole, "a comparison without a property") }
        if let (relationship, rest) = try nested(path, whole) {
            return try within(relationship, rest, comparison, right, options, whole, isNegated)
        }
        let target = try self.target(path, whole)
        if let element = target.element {
            return try array(target, element, comparison, right, options, whole, isNegated)
        }
        if comparison == .between {
            guard options.isEmpty, case .array(let bounds) = try value(right, target, whole), bounds.count == 2 else {
                throw unsupported(whole, "BETWEEN without exactly two bounds, or with options")
            }
            let parts = [MaxLeapConstraint.greaterOrEqual(bounds[0]), .lessOrEqual(bounds[1])]
            var forms: [MaxLeapNormalForm] = []
            for part in parts { forms.append(MaxLeapNormalForm(try leaf(target, part, whole, isNegated))) }
            return isNegated ? try .or(forms) : try .and(forms)
        }
        let constraint = try constraint(target, comparison, right, options, whole)
        return MaxLeapNormalForm(try leaf(target, constraint, whole, isNegated))
    }

    func leaf(
        _ target: Target, _ constraint: MaxLeapConstraint, _ whole: FetchPredicate, _ isNegated: Bool
    ) throws(RemoteError) -> MaxLeapWhere {
        // Reports a value that the operator does not take.
        _ = try constraint.form(target.field)
        guard isNegated else { return .key(target.field, constraint) }
        guard let negated = constraint.negated else { throw unsupported(whole, "NOT around a match of text") }
        guard schema == nil || !constraint.isOrder else {
            throw unsupported(
                whole, "NOT around an order, which in a store holds for objects without a value and there does not")
        }
        return .key(target.field, negated)
    }

    // MARK: Comparisons

    private func constraint(
        _ target: Target, _ comparison: ComparisonOperator, _ right: FetchExpression, _ options: ComparisonOptions,
        _ whole: FetchPredicate
    ) throws(RemoteError) -> MaxLeapConstraint {
        if comparison == .isIn {
            guard options.isEmpty else { throw unsupported(whole, "IN with options such as [c]") }
            if right.node == .evaluatedObject, schema == nil { return .exists(true) }
            if case .variable(let name) = right.node, case .query(let query)? = bindings[name] {
                return .inQuery(query)
            }
            guard case .array(let values) = try value(right, target, whole) else {
                throw unsupported(whole, "a right side of IN that is not a list")
            }
            // In a store nil is in no list.
            return .isIn(schema == nil ? values : values.filter { $0 != .null })
        }
        let value = try value(right, target, whole)
        if options.isEmpty {
            switch comparison {
            case .equal, .notEqual:
                guard schema == nil || value.elements == nil || target.isJSON else {
                    throw unsupported(whole, "a comparison with a list; use IN")
                }
                return comparison == .equal ? .equal(value) : .notEqual(value)
            case .less: return .less(value)
            case .lessOrEqual: return .lessOrEqual(value)
            case .greater: return .greater(value)
            case .greaterOrEqual: return .greaterOrEqual(value)
            case .contains where target.isCollection: return .equal(value)
            default: break
            }
        }
        guard options.isEmpty || options == .caseInsensitive else {
            throw unsupported(whole, "the options \(options.suffix); only [c] is supported")
        }
        guard schema == nil || !target.isJSON else {
            throw unsupported(whole, "\(comparison.rawValue)\(options.suffix) of JSON, which may be an array")
        }
        guard case .string(let text) = value else { throw unsupported(whole, "\(comparison.rawValue) with no text") }
        // In a store `*` stands for line breaks, too.
        let breaks = comparison == .like && schema != nil ? "s" : ""
        return .matches(try pattern(comparison, text, whole), options: (options.isEmpty ? "" : "i") + breaks)
    }

    private func pattern(
        _ comparison: ComparisonOperator, _ text: String, _ whole: FetchPredicate
    ) throws(RemoteError) -> String {
        // The dollar sign of the libraries matches before a line break at the end of a text, too; a store compares whole texts.
        let end = schema == nil ? "$" : "\\z"
        return switch comparison {
        case .equal: "^" + MaxLeapRegex.quoted(text) + end
        case .beginsWith: "^" + MaxLeapRegex.quoted(text)
        case .endsWith: MaxLeapRegex.quoted(text) + end
        case .contains: MaxLeapRegex.quoted(text)
        case .like: MaxLeapRegex.like(text) + end
        case .matches: "^(?:\(text))" + end
        default: throw unsupported(whole, "\(comparison.rawValue) in this form")
        }
    }

    // MARK: Positions

    private func condition(_ geo: GeoCondition, _ whole: FetchPredicate) throws(RemoteError) -> MaxLeapWhere {
        func place(_ expression: FetchExpression) throws(RemoteError) -> Target {
            guard let path = path(expression) else { throw unsupported(whole, "a position that is not a property") }
            return try self.target(path, whole)
        }
        func point(_ expression: FetchExpression, _ target: Target) throws(RemoteError) -> GeoPoint {
            switch try value(expression, target, whole) {
            case .geoPoint(let point): return point
            case .array(let parts) where parts.count == 2:
                if let latitude = parts[0].number, let longitude = parts[1].number {
                    return GeoPoint(latitude: latitude, longitude: longitude)
                }
            default: break
            }
            throw unsupported(whole, "a position that is not a pair of latitude and longitude")
        }
        let target: Target
        let constraint: MaxLeapConstraint
        switch geo {
        case .near(let left, let right, _):
            target = try place(left)
            constraint = .near(try point(right, target))
        case .within(let left, let right, let distance, let unit, let earthRadius):
            target = try place(left)
            guard let number = try value(distance, target, whole).number else {
                throw unsupported(whole, "a distance that is not a number")
            }
            constraint = .near(
                try point(right, target), maximumRadians: Self.radians(number, unit, earthRadius))
        case .box(let left, let southWest, let northEast):
            target = try place(left)
            constraint = .box(southWest: try point(southWest, target), northEast: try point(northEast, target))
        }
        _ = try constraint.form(target.field)
        return .key(target.field, constraint)
    }

    /// The angle of a distance: by the libraries' own radii, unless the condition has one that is not the usual.
    private static func radians(_ distance: Double, _ unit: GeoUnit, _ earthRadius: Double) -> Double {
        if earthRadius != GeoCondition.meanEarthRadius {
            return unit.kilometers(distance, earthRadius: earthRadius) / earthRadius
        }
        return switch unit {
        case .radians: distance
        case .miles: distance / MaxLeapConstraint.milesPerRadian
        case .kilometers: distance / MaxLeapConstraint.kilometersPerRadian
        }
    }

    func unsupported(_ predicate: FetchPredicate, _ what: String) -> RemoteError {
        MaxLeapError.unsupported("MaxLeap and Parse cannot express \(what): \(predicate)")
    }
}
