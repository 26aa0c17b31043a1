import Foundation
import StrataQuery
import StrataWire

/// Values of predicates in JSON, as `strata predicate` reads them.
enum TypedJSON {
    /// Why a text is not JSON, or not a value of ours.
    struct Fault: Error {
        let reason: String
    }

    /// Reads JSON.
    static func read(_ text: String) throws(Fault) -> JSONValue {
        do throws(JSONError) {
            return try JSONValue(parsing: text)
        } catch {
            throw Fault(reason: error.description)
        }
    }

    /// The value that predicates see. Objects with one member whose name begins with `$` are typed values; in all
    /// others a member that is null is left out.
    static func value(_ json: JSONValue) throws(Fault) -> Value {
        switch json {
        case .array(let elements): return .list(try values(elements))
        case .object(let members):
            if members.count == 1, members[0].name.hasPrefix("$") {
                return try typed(members[0].name, members[0].value)
            }
            return .composite(try values(members).filter { !$0.value.isNull })
        default: return scalar(json)
        }
    }

    /// The value of what is neither an array nor an object; null for these.
    private static func scalar(_ json: JSONValue) -> Value {
        switch json {
        case .boolean(let flag): .boolean(flag)
        case .integer(let number): .integer(number)
        case .double(let number): .double(number)
        case .decimal(let number): .decimal(number)
        case .string(let text): .string(text)
        case .null, .array, .object: .null
        }
    }

    /// The elements of an array as values.
    static func values(_ elements: [JSONValue]) throws(Fault) -> [Value] {
        var values: [Value] = []
        for element in elements { values.append(try value(element)) }
        return values
    }

    /// The members of an object as values.
    static func values(_ members: JSONObject) throws(Fault) -> [String: Value] {
        var values: [String: Value] = [:]
        for (name, member) in members { values[name] = try value(member) }
        return values
    }

    private static func typed(_ name: String, _ content: JSONValue) throws(Fault) -> Value {
        switch (name, content) {
        case ("$null", .boolean(true)): return .null
        case ("$date", _):
            if let seconds = content.double { return .date(Date(timeIntervalSinceReferenceDate: seconds)) }
        case ("$set", .array(let elements)): return .set(ValueSet(try values(elements)))
        case ("$int", .string(let digits)):
            guard let number = Int64(digits) else { throw Fault(reason: "$int: \(digits) is not a 64-bit integer") }
            return .integer(number)
        case ("$int", .integer(let number)): return .integer(number)
        case ("$dbl", _): if let number = content.double { return .double(number) }
        case ("$data", .string(let digits)):
            guard case .binary(let data) = CastType.data.convert(.string(digits)) else {
                throw Fault(reason: "$data: \(digits.prefix(40)) is not hexadecimal")
            }
            return .binary(data)
        default: break
        }
        throw Fault(
            reason:
                "\(name.prefix(40)) with such content is not a typed value; there are $date, $set, $null, $int, $dbl and $data"
        )
    }
}
