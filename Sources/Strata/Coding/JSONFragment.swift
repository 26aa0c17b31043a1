import Foundation

/// Any JSON value, as transformables and `Codable` attributes contain it: it becomes a part of the object's JSON.
enum JSONFragment: Codable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONFragment])
    case object([String: JSONFragment])

    init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: PropertyCodingKey.self) {
            var members: [String: JSONFragment] = [:]
            for key in container.allKeys {
                members[key.stringValue] = try container.decode(JSONFragment.self, forKey: key)
            }
            self = .object(members)
            return
        }
        if var list = try? decoder.unkeyedContainer() {
            var elements: [JSONFragment] = []
            while !list.isAtEnd { elements.append(try list.decode(JSONFragment.self)) }
            self = .array(elements)
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else {
            self = .string(try container.decode(String.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let members):
            var container = encoder.container(keyedBy: PropertyCodingKey.self)
            for (name, value) in members { try container.encode(value, forKey: PropertyCodingKey(name)) }
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        default:
            var container = encoder.singleValueContainer()
            switch self {
            case .boolean(let value): try container.encode(value)
            case .integer(let value): try container.encode(value)
            case .number(let value): try container.encode(value)
            case .string(let value): try container.encode(value)
            default: try container.encodeNil()
            }
        }
    }

    /// The bytes of a transformable.
    static func bytes(_ value: JSONFragment) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }

    /// The content of a transformable.
    init(bytes: Data) throws { self = try JSONDecoder().decode(JSONFragment.self, from: bytes) }

    /// The value of an attribute that is kept as JSON; nil for a value that JSON cannot express.
    init?(_ value: Value) {
        switch value {
        case .null: self = .null
        case .boolean(let flag): self = .boolean(flag)
        case .integer(let number): self = .integer(number)
        case .double(let number): self = .number(number)
        case .string(let text): self = .string(text)
        case .list(let values):
            var elements: [JSONFragment] = []
            for value in values {
                guard let element = JSONFragment(value) else { return nil }
                elements.append(element)
            }
            self = .array(elements)
        case .composite(let values):
            var members: [String: JSONFragment] = [:]
            for (name, value) in values {
                guard let member = JSONFragment(value) else { return nil }
                members[name] = member
            }
            self = .object(members)
        default: return nil
        }
    }

    /// What `JSONSerialization` and property lists make of JSON; nil for anything else.
    init?(untyped value: Any) {
        switch value {
        case is NSNull: self = .null
        case let text as String: self = .string(text)
        case let list as [Any]:
            var elements: [JSONFragment] = []
            for value in list {
                guard let element = JSONFragment(untyped: value) else { return nil }
                elements.append(element)
            }
            self = .array(elements)
        case let object as [String: Any]:
            var members: [String: JSONFragment] = [:]
            for (name, value) in object {
                guard let member = JSONFragment(untyped: value) else { return nil }
                members[name] = member
            }
            self = .object(members)
        case let number as NSNumber:
            // A truth value bridges to a number, and only its type encoding tells it from one. On Apple's platforms, an
            // `Int8` has the same.
            if String(cString: number.objCType) == "c", type(of: value) != Int8.self {
                self = .boolean(number.boolValue)
            } else if let whole = Int64(exactly: number) {
                self = .integer(whole)
            } else {
                self = .number(number.doubleValue)
            }
        default:
            guard let value = Unboxed.value(value, nil), let fragment = JSONFragment(value) else { return nil }
            self = fragment
        }
    }

    /// The value of an attribute that is kept as JSON.
    var value: Value {
        switch self {
        case .null: .null
        case .boolean(let flag): .boolean(flag)
        case .integer(let number): .integer(number)
        case .number(let number): .double(number)
        case .string(let text): .string(text)
        case .array(let elements): .list(elements.map(\.value))
        case .object(let members): .composite(members.mapValues(\.value))
        }
    }
}
