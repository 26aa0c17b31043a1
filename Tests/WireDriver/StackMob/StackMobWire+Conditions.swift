import Foundation
import StrataStackMob

extension StackMobWire {
    /// `["<", "age", 21]`, `{"and": […]}`, `{"or": […]}`.
    static func condition(_ json: JSONValue) throws -> StackMobCondition {
        if let parts = json["and"]?.elements { return .and(try parts.map(condition)) }
        if let parts = json["or"]?.elements { return .or(try parts.map(condition)) }
        guard let parts = json.elements, parts.count >= 2, let name = parts[0].string, let field = parts[1].string
        else {
            throw WireFault("\(json.description.prefix(80)) is not a condition")
        }
        let operands = Array(parts.dropFirst(2))
        if let comparison = comparisons[name.lowercased()] {
            let value = try operands.first.map(WireValues.value) ?? .null
            return .compare(field, comparison, value)
        }
        let plain = WireCase.plain(name)
        switch plain {
        case "in", "isin": return .isIn(field, try list(operands))
        case "nin", "notin": return .isNotIn(field, try list(operands))
        case "between":
            let bounds = try list(operands)
            guard bounds.count == 2 else { throw StackMobError.invalidArguments.error("BETWEEN has two bounds") }
            return .and([.compare(field, .greaterOrEqual, bounds[0]), .compare(field, .lessOrEqual, bounds[1])])
        case "null", "isnull": return .compare(field, operands.first == false ? .notEqual : .equal, .null)
        case "notnull", "isnotnull": return .compare(field, .notEqual, .null)
        case "empty", "isempty": return .compare(field, operands.first == false ? .notEqual : .equal, "")
        case "notempty", "isnotempty": return .compare(field, .notEqual, "")
        default:
            if plain.contains("near") || plain.contains("within") || plain.contains("box") || plain.contains("bounds") {
                return try geo(plain, field, operands)
            }
            throw WireFault("there is no operator \(name.prefix(40))")
        }
    }

    private static let comparisons: [String: StackMobCondition.Comparison] = [
        "==": .equal, "=": .equal, "eq": .equal, "equal": .equal, "!=": .notEqual, "<>": .notEqual, "ne": .notEqual,
        "<": .less, "lt": .less, "<=": .lessOrEqual, "=<": .lessOrEqual, "lte": .lessOrEqual, ">": .greater,
        "gt": .greater, ">=": .greaterOrEqual, "=>": .greaterOrEqual, "gte": .greaterOrEqual,
    ]

    /// The values of a list: one operand that is an array, or the operands themselves.
    private static func list(_ operands: [JSONValue]) throws -> [Value] {
        if operands.count == 1 {
            switch try WireValues.value(operands[0]) {
            case .list(let values): return values
            case .set(let values): return values.members
            case let value: return [value]
            }
        }
        return try WireValues.values(operands)
    }

    private static let coordinates: Set<String> = ["lat", "lon", "latitude", "longitude", "$geo"]

    /// Points and a distance in any order; the unit is in the operator's name, after the distance, or names it.
    private static func geo(_ name: String, _ field: String, _ operands: [JSONValue]) throws -> StackMobCondition {
        let points = operands.compactMap(WireValues.point)
        guard let point = points.first else { throw WireFault("a condition on positions has no position") }
        if points.count > 1 { return .box(field, southWest: point, northEast: points[1]) }
        var distance: Double?
        var unit = name
        for operand in operands {
            if let number = operand.double { distance = number }
            if let text = operand.string { unit += WireCase.plain(text) }
            // {"miles": 3}, {"value": 3, "unit": "miles"}, and a position with its distance in one.
            for (key, value) in operand.members ?? [:] where !Self.coordinates.contains(key) {
                distance = value.double ?? distance
                unit += WireCase.plain(key) + WireCase.plain(value.string ?? "")
            }
        }
        guard let distance else { return .near(field, point) }
        let radians =
            if unit.contains("mile") {
                distance / StackMobCondition.milesPerRadian
            } else if unit.contains("kilo") || unit.contains("km") {
                distance / StackMobCondition.kilometersPerRadian
            } else {
                distance
            }
        return name.contains("near")
            ? .near(field, point, maximumRadians: radians) : .within(field, point, radians: radians)
    }
}
