import Foundation

/// Any JSON value, as transformables and `Codable` attributes contain it: it becomes a part of the object's JSON.
struct JSONFragment: Codable {
    /// Nil, a truth value, a number, text, a list or a composite of these.
    let value: Value

    /// The value of an attribute that is kept as JSON; nil for a value that JSON cannot express.
    init?(_ value: Value) {
        guard Self.isJSON(value) else { return nil }
        self.value = value
    }

    /// Takes what is known to be JSON, so that nested values are checked once.
    private init(known value: Value) { self.value = value }

    private static func isJSON(_ value: Value) -> Bool {
        switch value {
        case .null, .boolean, .integer, .double, .string: true
        case .list(let elements): elements.allSatisfy(isJSON)
        case .composite(let members): members.values.allSatisfy(isJSON)
        default: false
        }
    }

    init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: PropertyCodingKey.self) {
            var members: [String: Value] = [:]
            for key in container.allKeys {
                members[key.stringValue] = try container.decode(JSONFragment.self, forKey: key).value
            }
            value = .composite(members)
        } else if var list = try? decoder.unkeyedContainer() {
            var elements: [Value] = []
            while !list.isAtEnd { elements.append(try list.decode(JSONFragment.self).value) }
            value = .list(elements)
        } else {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                value = .null
            } else if let flag = try? container.decode(Bool.self) {
                value = .boolean(flag)
            } else if let number = try? container.decode(Int64.self) {
                value = .integer(number)
            } else if let number = try? container.decode(Double.self) {
                value = .double(number)
            } else {
                value = .string(try container.decode(String.self))
            }
        }
    }

    func encode(to encoder: any Encoder) throws {
        switch value {
        case .composite(let members):
            var container = encoder.container(keyedBy: PropertyCodingKey.self)
            for (name, member) in members {
                try container.encode(JSONFragment(known: member), forKey: PropertyCodingKey(name))
            }
        case .list(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(JSONFragment(known: element)) }
        default:
            var container = encoder.singleValueContainer()
            switch value {
            case .boolean(let flag): try container.encode(flag)
            case .integer(let number): try container.encode(number)
            case .double(let number): try container.encode(number)
            case .string(let text): try container.encode(text)
            default: try container.encodeNil()
            }
        }
    }

    /// The bytes of a transformable.
    func bytes() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// The content of a transformable.
    init(bytes: Data) throws { self = try JSONDecoder().decode(JSONFragment.self, from: bytes) }

    /// What `JSONSerialization` and property lists make of JSON; nil for anything else.
    init?(untyped value: Any) {
        switch value {
        case is NSNull: self.init(known: .null)
        case let text as String: self.init(known: .string(text))
        case let list as [Any]:
            var elements: [Value] = []
            for element in list {
                guard let fragment = JSONFragment(untyped: element) else { return nil }
                elements.append(fragment.value)
            }
            self.init(known: .list(elements))
        case let object as [String: Any]:
            var members: [String: Value] = [:]
            for (name, member) in object {
                guard let fragment = JSONFragment(untyped: member) else { return nil }
                members[name] = fragment.value
            }
            self.init(known: .composite(members))
        case let number as NSNumber:
            // A truth value bridges to a number, and only its type encoding tells it from one. On Apple's platforms, an
            // `Int8` has the same.
            if String(cString: number.objCType) == "c", type(of: value) != Int8.self {
                self.init(known: .boolean(number.boolValue))
            } else if let whole = Int64(exactly: number) {
                self.init(known: .integer(whole))
            } else {
                self.init(known: .double(number.doubleValue))
            }
        default:
            guard let value = Unboxed.value(value, nil) else { return nil }
            self.init(value)
        }
    }
}
