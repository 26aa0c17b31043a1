import Foundation

/// A condition of a ``StackMobQuery``, in terms of the server's fields.
///
///     let query = StackMobQuery("city").whereAny(
///         .compare("visited", .less, .date(.now)),
///         .and([.isIn("country", ["PE", "CL"]), .compare("note", .notEqual, nil)]))
///     let cities = try await client.dataStore.query(query)
///
/// The protocol can express a conjunction with one group of alternatives in it. A second group, the same comparison of a field
/// with two values, or a comma in a list of values is an error that names the part, before anything is sent. Managed objects
/// have `FetchPredicate` instead, which the dialect translates.
public indirect enum StackMobCondition: Sendable, Hashable {
    /// How a field is compared with a value.
    public enum Comparison: String, Sendable, Hashable, CaseIterable {
        /// Same value; nil and the empty text have conditions of their own on the wire.
        case equal = ""
        /// Another value.
        case notEqual = "[ne]"
        /// Less.
        case less = "[lt]"
        /// Less or equal.
        case lessOrEqual = "[lte]"
        /// Greater.
        case greater = "[gt]"
        /// Greater or equal.
        case greaterOrEqual = "[gte]"
    }

    /// A field compared with a value.
    case compare(String, Comparison, Value)
    /// One of several values, or an array with one of them.
    case isIn(String, [Value])
    /// None of several values.
    case isNotIn(String, [Value])
    /// Nearest first, up to a distance in radians if there is one.
    case near(String, GeoPoint, maximumRadians: Double? = nil)
    /// No further than a distance in radians.
    case within(String, GeoPoint, radians: Double)
    /// In a box, from its south-west to its north-east corner.
    case box(String, southWest: GeoPoint, northEast: GeoPoint)
    /// All hold.
    case and([StackMobCondition])
    /// At least one holds. A query can have one such group, and no other within it.
    case or([StackMobCondition])

    /// The miles in a radian, as StackMob has it.
    public static let milesPerRadian = 3956.6
    /// The kilometres in a radian, as StackMob has it.
    public static let kilometersPerRadian = 6367.5
}

/// One query parameter of a condition, before it is encoded.
///
///     let query = StackMobQuery("city").where("country", isIn: ["PE", "CL"]).where("capital", .equal, false)
///     for parameter in try query.parameters() { print(parameter.name, parameter.value) }
///     // country[in] PE,CL
///     // capital false
///
/// ``StackMobQuery/parameters()`` gives them in the order of the conditions. Use it to see in a test, or in a log, what a query
/// asks the server.
public struct StackMobParameter: Sendable, Hashable {
    /// The name, with operator and group.
    public var name: String
    /// The value.
    public var value: String
}

extension StackMobCondition {
    /// The parameter of a condition that is not made of others.
    func parameter() throws(RemoteError) -> StackMobParameter? {
        switch self {
        case .compare(let field, let comparison, let value):
            return try Self.parameter(field, comparison, value)
        case .isIn(let field, let values):
            return StackMobParameter(name: field + "[in]", value: try Self.list(values, of: field))
        case .isNotIn(let field, let values):
            return StackMobParameter(name: field + "[nin]", value: try Self.list(values, of: field))
        case .near(let field, let point, let radians):
            return StackMobParameter(
                name: field + "[near]", value: try Self.numbers([point], radians, of: field))
        case .within(let field, let point, let radians):
            return StackMobParameter(name: field + "[within]", value: try Self.numbers([point], radians, of: field))
        case .box(let field, let southWest, let northEast):
            return StackMobParameter(
                name: field + "[within]", value: try Self.numbers([southWest, northEast], nil, of: field))
        case .and, .or: return nil
        }
    }

    private static func parameter(
        _ field: String, _ comparison: Comparison, _ value: Value
    ) throws(RemoteError) -> StackMobParameter {
        let isEquality = comparison == .equal || comparison == .notEqual
        switch value {
        case .null where isEquality:
            return StackMobParameter(name: field + "[null]", value: comparison == .equal ? "true" : "false")
        case .null:
            throw StackMobError.invalid("\(field): nil is neither less nor greater than anything")
        case .string("") where isEquality:
            return StackMobParameter(name: field + "[empty]", value: comparison == .equal ? "true" : "false")
        default:
            return StackMobParameter(
                name: field + comparison.rawValue, value: try StackMobText.parameter(value, of: field))
        }
    }

    private static func list(_ values: [Value], of field: String) throws(RemoteError) -> String {
        guard !values.isEmpty else {
            throw StackMobError.unsupported("\(field): StackMob has no condition with an empty list")
        }
        var texts: [String] = []
        for value in values {
            let text = try StackMobText.parameter(value, of: field)
            guard !text.contains(",") else {
                throw StackMobError.unsupported(
                    "\(field): StackMob separates the values of a list by commas, so none can contain one: \"\(text)\"")
            }
            texts.append(text)
        }
        return texts.joined(separator: ",")
    }

    private static func numbers(
        _ points: [GeoPoint], _ radians: Double?, of field: String
    ) throws(RemoteError) -> String {
        guard points.allSatisfy(\.isValid), radians?.isFinite != false else {
            throw StackMobError.invalid(
                "\(field): a position has a latitude within 90 and a longitude within 180 degrees")
        }
        let numbers = points.flatMap { [$0.latitude, $0.longitude] } + (radians.map { [$0] } ?? [])
        return numbers.map(StackMobText.coordinate).joined(separator: ",")
    }
}
