import Foundation
import StrataQuery

/// JSON as `strata predicate` reads it: numbers by their spelling, so that a whole number keeps all its digits, and
/// objects in their order.
enum TypedJSON {
    case null
    case boolean(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([TypedJSON])
    case object([(name: String, value: TypedJSON)])

    /// Why a text is no JSON, or no value of ours.
    struct Fault: Error {
        let reason: String
    }

    /// How deeply arrays and objects may be nested.
    static let nesting = 200

    init(_ text: String) throws(Fault) {
        var reader = TypedJSONReader(text)
        self = try reader.document()
    }

    /// The member of an object; nil for all else.
    subscript(name: String) -> TypedJSON? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }

    /// The value that predicates see. Objects with one member whose name begins with `$` are typed values; in all
    /// others a member that is null is left out.
    func value() throws(Fault) -> Value {
        switch self {
        case .null: return .null
        case .boolean(let flag): return .boolean(flag)
        case .integer(let number): return .integer(number)
        case .double(let number): return .double(number)
        case .string(let text): return .string(text)
        case .array(let elements): return .list(try Self.values(elements))
        case .object(let members):
            if members.count == 1, members[0].name.hasPrefix("$") {
                return try Self.typed(members[0].name, members[0].value)
            }
            var result: [String: Value] = [:]
            for (name, member) in members {
                let value = try member.value()
                if !value.isNull { result[name] = value }
            }
            return .composite(result)
        }
    }

    /// The elements of an array as values.
    static func values(_ elements: [TypedJSON]) throws(Fault) -> [Value] {
        var values: [Value] = []
        for element in elements { values.append(try element.value()) }
        return values
    }

    private static func typed(_ name: String, _ content: TypedJSON) throws(Fault) -> Value {
        switch (name, content) {
        case ("$null", .boolean(true)): return .null
        case ("$date", .integer(let seconds)): return .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
        case ("$date", .double(let seconds)): return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case ("$set", .array(let elements)): return .set(ValueSet(try values(elements)))
        case ("$int", .string(let digits)):
            guard let number = Int64(digits) else { throw Fault(reason: "$int: \(digits) is no 64-bit integer") }
            return .integer(number)
        case ("$int", .integer(let number)): return .integer(number)
        case ("$dbl", .integer(let number)): return .double(Double(number))
        case ("$dbl", .double(let number)): return .double(number)
        case ("$data", .string(let digits)):
            guard case .binary(let data) = CastType.data.convert(.string(digits)) else {
                throw Fault(reason: "$data: \(digits.prefix(40)) is not hexadecimal")
            }
            return .binary(data)
        default:
            throw Fault(
                reason:
                    "\(name.prefix(40)) with such content is no typed value; there are $date, $set, $null, $int, $dbl and $data"
            )
        }
    }
}
