import Foundation
import StrataStore

extension PredicateCompiler {
    /// A condition on points: the evaluator's answer, after a search of the spatial index where there is one.
    package func geo(_ condition: GeoCondition, at position: Int) throws(StoreError) -> String {
        switch condition {
        case .near(let place, let center, let radius):
            let operands = [
                try point(operand(place, at: position)), try point(operand(center, at: position + Self.count(place))),
            ]
            guard let operands = present(operands) else { return dialect.constant(false) }
            return try geo(.near, operands) { .near($0[0], $0[1], earthRadius: radius) }
        case .within(let place, let center, let limit, let unit, _):
            let middle = position + Self.count(place)
            let end = middle + Self.count(center)
            let radius = SQLConstant(value: .null, position: end + Self.count(limit))
            let from = try point(operand(place, at: position))
            let to = try operand(center, at: middle)
            let distance = try operand(limit, at: end)
            let number = try number(distance, unit.rawValue)
            guard let operands = present([from, try point(to), number]),
                case .double(let earthRadius) = radius.value(in: constants)
            else { return dialect.constant(false) }
            // The earth's radius is a parameter like the others, because the SQL serves all of them.
            let exact = try geo(
                .within(unit),
                operands + [try term(.constant(SQLConstant(value: .double(earthRadius), position: radius.position)))]
            ) {
                guard case .constant(.double(let radius)) = $0[3].node else { return .near($0[0], $0[1]) }
                return .within($0[0], $0[1], distance: $0[2], unit, earthRadius: radius)
            }
            guard case .constant(let center) = to, case .constant(let limit) = distance else { return exact }
            return search(operands[0], exact) { (constants: [Value]) -> [GeoBox] in
                guard let point = Self.point(center.value(in: constants)),
                    let distance = Double(Self.plain(limit.value(in: constants))),
                    case .double(let radius) = radius.value(in: constants)
                else { return [] }
                return GeoBox.around(
                    point, angle: unit.kilometers(distance, earthRadius: radius) / radius)
            }
        case .box(let place, let southWest, let northEast):
            let middle = position + Self.count(place)
            let from = try point(operand(place, at: position))
            let low = try operand(southWest, at: middle)
            let high = try operand(northEast, at: middle + Self.count(southWest))
            guard let operands = present([from, try point(low), try point(high)]) else {
                return dialect.constant(false)
            }
            let exact = try geo(.box, operands) { .box($0[0], southWest: $0[1], northEast: $0[2]) }
            guard case .constant(let low) = low, case .constant(let high) = high else { return exact }
            return search(operands[0], exact) { (constants: [Value]) -> [GeoBox] in
                guard let southWest = Self.point(low.value(in: constants)),
                    let northEast = Self.point(high.value(in: constants))
                else { return [] }
                return GeoBox.boxes(southWest: southWest, northEast: northEast)
            }
        }
    }

    /// The distance of two points in the unit of a radius; nil if either is not a point.
    package func distance(_ a: SQLOperand, _ b: SQLOperand, radius: SQLConstant) throws(StoreError) -> SQLOperand {
        guard let from = try point(a), let to = try point(b) else { return .null }
        let radius = try term(.constant(radius))
        return .term(SQLTerm(sql: dialect.distance(from.sql, to.sql, radius: radius.sql), kind: .double))
    }

    private func geo(
        _ operation: SQLOperation, _ terms: [SQLTerm],
        _ condition: @escaping @Sendable ([FetchExpression]) -> GeoCondition
    ) throws(StoreError) -> String {
        try call(operation, terms) { (values) throws(PredicateEvaluationError) in
            .boolean(
                try FetchPredicate.geo(condition(values.map(FetchExpression.constant))).evaluate(on: Value.null))
        }
    }

    private func present(_ terms: [SQLTerm?]) -> [SQLTerm]? {
        let present = terms.compactMap(\.self)
        return present.count == terms.count ? present : nil
    }

    /// An operand as a point; nil for nil.
    private func point(_ operand: SQLOperand) throws(StoreError) -> SQLTerm? {
        let wrong = StoreError.invalidPredicate(
            .wrongOperand(found: operand.kindName, context: "a condition on points"))
        switch operand {
        case .term(let term):
            if term.kind == .text { throw unsupported("text as a point") }
            guard term.kind == .point else { throw wrong }
            return term
        case .constant(let constant):
            if constant.value.isNull { return nil }
            guard Self.point(constant.value) != nil else { throw wrong }
            let sql = parameters.add(.point) { (constants: [Value]) throws(StoreError) -> SQLValue in
                guard let point = Self.point(constant.value(in: constants)) else { throw wrong }
                return .blob(SQLCoding.canonicalBytes(point))
            }
            return SQLTerm(sql: sql, kind: .point)
        case .list: throw unsupported("a list of expressions as a point")
        case .json, .choice: throw unsupported("a member of JSON as a point")
        case .object, .composite, .collection: throw wrong
        }
    }

    package static func point(_ value: Value) -> GeoPoint? {
        if case .geoPoint(let point) = CastType.geoPoint.convert(value) { point } else { nil }
    }

    private static func plain(_ value: Value) -> Value {
        if case .boolean(let flag) = value { .integer(flag ? 1 : 0) } else { value }
    }

    private func number(_ operand: SQLOperand, _ context: String) throws(StoreError) -> SQLTerm? {
        if operand.isNull { return nil }
        switch operand {
        case .term(let term) where term.kind.isNumber: return term
        case .json, .choice: throw unsupported("a member of JSON as a distance")
        case .constant(let constant) where SQLKind(constant.value)?.isNumber == true: return try term(operand)
        default: throw .invalidPredicate(.wrongOperand(found: operand.kindName, context: context))
        }
    }

    // MARK: Spatial indexes

    /// Puts a search of a spatial index before a condition, where the point is of one.
    package func search(
        _ term: SQLTerm, _ exact: String, _ boxes: @escaping @Sendable ([Value]) -> [GeoBox]
    ) -> String {
        guard let origin = term.origin, let tree = schema.spatialIndex(of: origin) else { return exact }
        // A box across the 180° meridian becomes two boxes. An invalid box has NULL bounds, which nothing satisfies.
        let areas = [0, 1].map { index in
            [\GeoBox.south, \.north, \.west, \.east].map { bound in
                parameters.add(.double) { (constants: [Value]) throws(StoreError) -> SQLValue in
                    let boxes = boxes(constants)
                    return boxes.indices.contains(index) ? .double(boxes[index][keyPath: bound]) : .null
                }
            }
        }
        return "(\(dialect.areaSearch(tree, key: origin.object.key, point: term.sql, areas)) AND \(exact))"
    }
}

/// An area between two meridians and two parallels, which does not cross the 180° meridian.
package struct GeoBox {
    package var south: Double
    package var north: Double
    package var west: Double
    package var east: Double

    /// The area between two corners: two boxes if its west is greater than its east.
    package static func boxes(southWest: GeoPoint, northEast: GeoPoint) -> [GeoBox] {
        let west = southWest.longitude
        let east = northEast.longitude
        let spans = west <= east ? [(west, east)] : [(west, 180.0), (-180.0, east)]
        return spans.map { GeoBox(south: southWest.latitude, north: northEast.latitude, west: $0.0, east: $0.1) }
    }

    /// Boxes that hold all points within an angle (in radians) of a point. They are a little wider, so that rounding
    /// loses none: who searches by them looks at the distance afterwards.
    package static func around(_ point: GeoPoint, angle: Double) -> [GeoBox] {
        guard point.isValid, angle >= 0 else { return [] }
        let angle = angle * (1 + 1e-9) + 1e-9
        let degrees = angle * 180 / .pi
        let south = point.latitude - degrees
        let north = point.latitude + degrees
        // An area that has a pole in it has all meridians.
        guard south > -90, north < 90 else {
            return [GeoBox(south: max(south, -90), north: min(north, 90), west: -180, east: 180)]
        }
        // The widest point of a circle on the sphere: sin Δλ = sin angle / cos φ.
        let ratio = sin(angle) / cos(point.latitude * .pi / 180)
        guard ratio < 1 else { return [GeoBox(south: south, north: north, west: -180, east: 180)] }
        let width = asin(ratio) * 180 / .pi + 1e-7
        let west = point.longitude - width
        let east = point.longitude + width
        if west < -180 {
            return [
                GeoBox(south: south, north: north, west: west + 360, east: 180),
                GeoBox(south: south, north: north, west: -180, east: east),
            ]
        }
        if east > 180 {
            return [
                GeoBox(south: south, north: north, west: west, east: 180),
                GeoBox(south: south, north: north, west: -180, east: east - 360),
            ]
        }
        return [GeoBox(south: south, north: north, west: west, east: east)]
    }
}
