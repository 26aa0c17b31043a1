import Foundation

/// Any JSON value, as transformables contain it: what is encoded in an attribute becomes a part of the object's JSON.
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
}
