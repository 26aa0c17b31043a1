import Foundation

/// Turns predicates into conditions of StackMob.
struct StackMobPredicate {
    let schema: StackMobSchema

    /// - Throws: ``RemoteError`` that names the part which StackMob has no words for; nothing is left out.
    func condition(_ predicate: FetchPredicate) throws(RemoteError) -> StackMobCondition {
        if let condition = try array(predicate, isNegated: false, in: predicate) { return condition }
        switch predicate.node {
        case .constant(true): return .and([])
        case .constant(false): throw unsupported(predicate, "a condition that never holds")
        case .and(let parts): return .and(try conditions(parts))
        case .or(let parts): return .or(try conditions(parts))
        case .not(let part):
            if let condition = try array(part, isNegated: true, in: predicate) { return condition }
            guard case .comparison(let left, .isIn, let right, let options) = part.node else {
                throw unsupported(predicate, "NOT around anything but IN")
            }
            return .isNotIn(try field(left, in: predicate), try list(right, left, options, predicate))
        case .tooDeep: throw unsupported(predicate, "a condition that is nested too deeply")
        case .quantified: throw unsupported(predicate, "ANY, ALL and NONE")
        case .geo(let geo): return try condition(geo, predicate)
        case .comparison(let left, let comparison, let right, let options):
            return try self.comparison(left, comparison, right, options, predicate)
        }
    }

    private func conditions(_ parts: [FetchPredicate]) throws(RemoteError) -> [StackMobCondition] {
        var result: [StackMobCondition] = []
        for part in parts { result.append(try condition(part)) }
        return result
    }

    private func comparison(
        _ left: FetchExpression, _ comparison: ComparisonOperator, _ right: FetchExpression,
        _ options: ComparisonOptions, _ whole: FetchPredicate
    ) throws(RemoteError) -> StackMobCondition {
        switch comparison {
        case .isIn: return .isIn(try field(left, in: whole), try list(right, left, options, whole))
        case .between:
            let field = try orderedField(left, in: whole)
            let bounds = try list(right, left, options, whole)
            guard bounds.count == 2 else { throw unsupported(whole, "BETWEEN without exactly two bounds") }
            return .and([.compare(field, .greaterOrEqual, bounds[0]), .compare(field, .lessOrEqual, bounds[1])])
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
            guard options.isEmpty else { throw unsupported(whole, "comparisons with options such as [cd]") }
            let field = try comparison.isOrdering ? orderedField(left, in: whole) : field(left, in: whole)
            let value = wire(try constant(right, in: whole), of: left)
            if case .list = value { throw unsupported(whole, "a comparison with a list; use IN") }
            if case .set = value { throw unsupported(whole, "a comparison with a set; use IN") }
            return .compare(field, Self.comparisons[comparison]!, value)
        default: throw unsupported(whole, "the operator \(comparison.rawValue)")
        }
    }

    private static let comparisons: [ComparisonOperator: StackMobCondition.Comparison] = [
        .equal: .equal, .notEqual: .notEqual, .less: .less, .lessOrEqual: .lessOrEqual, .greater: .greater,
        .greaterOrEqual: .greaterOrEqual,
    ]

    private func condition(
        _ geo: GeoCondition, _ whole: FetchPredicate
    ) throws(RemoteError) -> StackMobCondition {
        switch geo {
        case .near(let place, let point, _):
            return .near(try field(place, in: whole), try self.point(point, in: whole))
        case .within(let place, let point, let distance, let unit, let earthRadius):
            let number: Double
            switch try constant(distance, in: whole) {
            case .integer(let value): number = Double(value)
            case .double(let value): number = value
            case .decimal(let value): number = Double("\(value)") ?? .nan
            default: throw unsupported(whole, "a distance that is not a number")
            }
            return .within(
                try field(place, in: whole), try self.point(point, in: whole),
                radians: Self.radians(number, unit, earthRadius))
        case .box(let place, let southWest, let northEast):
            return .box(
                try field(place, in: whole), southWest: try point(southWest, in: whole),
                northEast: try point(northEast, in: whole))
        }
    }

    /// The angle of a distance: by StackMob's own radii, unless the condition has one that is not the usual.
    private static func radians(_ distance: Double, _ unit: GeoUnit, _ earthRadius: Double) -> Double {
        if earthRadius != GeoCondition.meanEarthRadius {
            return unit.kilometers(distance, earthRadius: earthRadius) / earthRadius
        }
        return switch unit {
        case .radians: distance
        case .miles: distance / StackMobCondition.milesPerRadian
        case .kilometers: distance / StackMobCondition.kilometersPerRadian
        }
    }

    private func point(_ expression: FetchExpression, in whole: FetchPredicate) throws(RemoteError) -> GeoPoint {
        switch try constant(expression, in: whole) {
        case .geoPoint(let point): return point
        case .list(let parts) where parts.count == 2:
            let numbers = parts.compactMap { part -> Double? in
                switch part {
                case .integer(let value): Double(value)
                case .double(let value): value
                case .decimal(let value): Double("\(value)")
                default: nil
                }
            }
            if numbers.count == 2 { return GeoPoint(latitude: numbers[0], longitude: numbers[1]) }
        default: break
        }
        throw unsupported(whole, "a position that is not a pair of latitude and longitude")
    }

    /// The field on the left of a comparison; the object itself is compared by its primary key.
    func field(_ expression: FetchExpression, in whole: FetchPredicate) throws(RemoteError) -> String {
        switch expression.node {
        case .evaluatedObject: return schema.primaryKeyField
        case .keyPath(let path) where path.count == 1 && path[0].first != "@":
            return try schema.field(ofKey: path[0])
        case .keyPath: throw unsupported(whole, "a path through relationships")
        default: throw unsupported(whole, "a left side that is not a property")
        }
    }

    /// The field on the left of an order. Numbers as keys are text on the wire, where "10" comes before "9".
    private func orderedField(_ expression: FetchExpression, in whole: FetchPredicate) throws(RemoteError) -> String {
        let field = try field(expression, in: whole)
        guard !schema.hasNumberedKeys || field != schema.primaryKeyField else {
            throw unsupported(whole, "the order of keys, which the server compares as text")
        }
        return field
    }

    func constant(_ expression: FetchExpression, in whole: FetchPredicate) throws(RemoteError) -> Value {
        guard case .constant(let value) = expression.node else {
            throw unsupported(whole, "a right side that is not a fixed value")
        }
        return value
    }

    private func list(
        _ expression: FetchExpression, _ left: FetchExpression, _ options: ComparisonOptions, _ whole: FetchPredicate
    ) throws(RemoteError) -> [Value] {
        guard options.isEmpty else { throw unsupported(whole, "comparisons with options such as [cd]") }
        switch try constant(expression, in: whole) {
        case .list(let values): return values.map { wire($0, of: left) }
        case .set(let values): return values.members.map { wire($0, of: left) }
        default: throw unsupported(whole, "a right side that is not a list")
        }
    }

    /// The value as the attribute has it: 1 and 0 are truth values where one is declared, and nowhere else.
    private func wire(_ value: Value, of left: FetchExpression) -> Value {
        guard case .keyPath(let path) = left.node, case .attribute(let type)? = schema.properties[path[0]] else {
            return value
        }
        switch (type, value) {
        case (.boolean, .integer(let number)): return .boolean(number != 0)
        case (.boolean, .double(let number)): return .boolean(number != 0)
        case (_, .boolean(let flag)) where type.isNumeric: return .integer(flag ? 1 : 0)
        default: return value
        }
    }

    func unsupported(_ predicate: FetchPredicate, _ what: String) -> RemoteError {
        StackMobError.unsupported("StackMob cannot express \(what): \(predicate)")
    }
}
