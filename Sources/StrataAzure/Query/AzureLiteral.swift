import Foundation

/// A fixed value in a filter, with the type that it has there.
///
///     query.filter = .predicate(try FetchPredicate(format: "price > $price"), ["price": .float(50)])
///
/// Servers compare by type: `50f` is a number of 32 bits, `1.99m` an exact decimal one. Constants in a predicate have a type by
/// themselves, ``value(_:)``. Give a variable a literal if the column has another type and the server refuses the comparison:
/// 32 bits, an offset from UTC. Datasync services spell some types differently; the dialect does that.
public enum AzureLiteral: Sendable, Hashable {
    /// A value with the type that it has by itself.
    case value(Value)
    /// A whole number of 32 bits.
    case int32(Int32)
    /// A whole number of 64 bits.
    case int64(Int64)
    /// A floating-point number of 32 bits.
    case float(Float)
    /// A point in time, for columns with an offset from UTC.
    case dateOffset(Date)
    /// Several values, for `IN` and `BETWEEN`.
    case list([AzureLiteral])

    /// Several values; nil if this is one.
    var elements: [AzureLiteral]? {
        switch self {
        case .list(let elements): elements
        case .value(.list(let values)): values.map(AzureLiteral.value)
        case .value(.set(let values)): values.members.map(AzureLiteral.value)
        default: nil
        }
    }

    var isNull: Bool { self == .value(.null) }

    /// The value without the type that it has in a filter.
    var plain: Value {
        switch self {
        case .value(let value): value
        case .int32(let number): .integer(Int64(number))
        case .int64(let number): .integer(number)
        case .float(let number): .double(Double(number))
        case .dateOffset(let date): .date(date)
        case .list(let elements): .list(elements.map(\.plain))
        }
    }
}

extension AzureLiteral {
    /// The text in a filter of one version.
    /// - Returns: nil for values that have none.
    func text(in version: AzureVersion) -> String? {
        let isOData4 = version == .datasync
        switch self {
        case .int32(let number): return String(number)
        case .int64(let number): return "\(number)\(isOData4 ? "L" : "l")"
        case .float(let number): return number.isFinite ? Self.short("\(number)") + "f" : nil
        case .dateOffset(let date): return Self.time(date, "datetimeoffset", version)
        case .list: return nil
        case .value(let value): return Self.text(value, version)
        }
    }

    private static func text(_ value: Value, _ version: AzureVersion) -> String? {
        let isOData4 = version == .datasync
        switch value {
        case .null: return "null"
        case .boolean(let flag): return flag ? "true" : "false"
        // What 32 bits do not hold would be no number at all without its type.
        case .integer(let number):
            return Int32(exactly: number).map { String($0) } ?? AzureLiteral.int64(number).text(in: version)
        case .double(let number):
            guard number.isFinite else { return nil }
            return isOData4 ? "\(number)" : short("\(number)") + "d"
        case .decimal(let number): return number.isNaN ? nil : "\(number)\(isOData4 ? "M" : "m")"
        case .string(let text): return quoted(text)
        case .uri(let uri): return quoted(uri.absoluteString)
        case .date(let date): return time(date, "datetime", version)
        case .uuid(let uuid): return isOData4 ? "cast(\(uuid.uuidString),Edm.Guid)" : "guid'\(uuid.uuidString)'"
        case .binary, .geoPoint, .composite, .object, .list, .set: return nil
        }
    }

    private static func time(_ date: Date, _ type: String, _ version: AzureVersion) -> String? {
        AzureDate.text(date).map { time($0, type, version) }
    }

    /// A time that is text already.
    static func time(_ text: String, _ type: String, _ version: AzureVersion) -> String {
        version == .datasync ? "cast(\(text),Edm.DateTimeOffset)" : "\(type)'\(text)'"
    }

    static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }

    /// The shortest text that gives the number back, without a fraction that is zero.
    private static func short(_ text: String) -> String { text.hasSuffix(".0") ? String(text.dropLast(2)) : text }
}
