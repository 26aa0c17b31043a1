import Foundation

/// What has to be true of one object: comparisons of fields that all have to hold.
public struct SchemaCondition: Sendable, Hashable {
    /// One comparison.
    public struct Term: Sendable, Hashable {
        /// The field.
        public var field: String
        /// What its value has to be like.
        public var comparison: SchemaComparison
    }

    /// The comparisons.
    public var terms: [Term] = []

    /// True of all objects.
    public init() {}

    /// True where a field compares so.
    public init(_ field: String, _ comparison: SchemaComparison) {
        terms = [Term(field: field, comparison: comparison)]
    }

    /// True where another field compares so as well.
    public func and(_ field: String, _ comparison: SchemaComparison) -> SchemaCondition {
        var copy = self
        copy.terms.append(Term(field: field, comparison: comparison))
        return copy
    }
}

/// What the value of a field has to be like.
///
/// The server compares texts, numbers, truth values and dates, which are numbers: see ``JSONValue/milliseconds(_:)``. A
/// related object is its primary key.
public enum SchemaComparison: Sendable, Hashable {
    /// Equal. `null` stands for fields without a value.
    case equal(JSONValue)
    /// Not equal. `null` stands for fields without a value.
    case notEqual(JSONValue)
    /// Less.
    case less(JSONValue)
    /// Less or equal.
    case lessOrEqual(JSONValue)
    /// Greater.
    case greater(JSONValue)
    /// Greater or equal.
    case greaterOrEqual(JSONValue)
    /// Equal to one of these; for an array, with one of these among its elements. No text may contain a comma.
    case `in`([JSONValue])
    /// Equal to none of these. No text may contain a comma.
    case notIn([JSONValue])
    /// Near a point, nearest first, whatever the order of the query.
    /// - Parameter radians: How far at most, as an angle at the centre of the earth; nil for any distance. Not all
    ///   servers know it.
    case near(GeoPoint, radians: Double? = nil)
    /// No farther from a point than an angle at the centre of the earth.
    case within(GeoPoint, radians: Double)
    /// In a box.
    case inBox(southWest: GeoPoint, northEast: GeoPoint)

    /// No farther from a point than so many miles. The earth's radius is 3956.6 miles in this protocol.
    public static func within(_ point: GeoPoint, miles: Double) -> SchemaComparison {
        .within(point, radians: miles / 3956.6)
    }

    /// No farther from a point than so many kilometres. The earth's radius is 6367.5 kilometres in this protocol.
    public static func within(_ point: GeoPoint, kilometers: Double) -> SchemaComparison {
        .within(point, radians: kilometers / 6367.5)
    }
}

extension JSONValue {
    /// A date as the server has it: whole milliseconds since 1970, rounded down.
    public static func milliseconds(_ date: Date) -> JSONValue {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded(.down)
        return Int64(exactly: milliseconds).map(JSONValue.integer) ?? .double(milliseconds)
    }

    /// A position as the server has it.
    public static func geoPoint(_ point: GeoPoint) -> JSONValue {
        ["lat": .double(point.latitude), "lon": .double(point.longitude)]
    }
}
