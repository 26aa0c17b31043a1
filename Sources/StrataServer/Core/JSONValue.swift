#if Server
    /// A JSON value that keeps whole numbers apart from others, so that milliseconds and 64-bit integers lose nothing.
    public enum JSONValue: Sendable, Hashable {
        /// No value.
        case null
        /// `true` or `false`.
        case boolean(Bool)
        /// A number without fraction and exponent that fits 64 bits.
        case integer(Int64)
        /// Any other number.
        case number(Double)
        /// Text.
        case string(String)
        /// Values in order.
        case array([JSONValue])
        /// Members by name. Of a name that stands there twice, the last value counts.
        case object([String: JSONValue])

        /// The member of an object; nil for other values and unknown names.
        public subscript(name: String) -> JSONValue? {
            guard case .object(let members) = self else { return nil }
            return members[name]
        }

        /// The text of a string.
        public var string: String? {
            guard case .string(let text) = self else { return nil }
            return text
        }

        /// The whole number of an integer.
        public var integer: Int64? {
            guard case .integer(let number) = self else { return nil }
            return number
        }

        /// The number of an integer or another number.
        public var double: Double? {
            switch self {
            case .integer(let number): Double(number)
            case .number(let number): number
            default: nil
            }
        }

        /// The truth value of a boolean.
        public var boolean: Bool? {
            guard case .boolean(let flag) = self else { return nil }
            return flag
        }

        /// The members of an object.
        public var members: [String: JSONValue]? {
            guard case .object(let members) = self else { return nil }
            return members
        }

        /// The elements of an array.
        public var elements: [JSONValue]? {
            guard case .array(let elements) = self else { return nil }
            return elements
        }

        /// What the value is, for messages.
        var kind: String {
            switch self {
            case .null: "null"
            case .boolean: "boolean"
            case .integer: "integer"
            case .number: "number"
            case .string: "string"
            case .array: "array"
            case .object: "object"
            }
        }
    }

    extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
        ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
    {
        /// Makes a string.
        public init(stringLiteral value: String) { self = .string(value) }
        /// Makes an integer.
        public init(integerLiteral value: Int64) { self = .integer(value) }
        /// Makes a boolean.
        public init(booleanLiteral value: Bool) { self = .boolean(value) }
        /// Makes a number.
        public init(floatLiteral value: Double) { self = .number(value) }
        /// Makes an array.
        public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
        /// Makes an object; the last value of a name counts.
        public init(dictionaryLiteral elements: (String, JSONValue)...) {
            self = .object(Dictionary(elements, uniquingKeysWith: { $1 }))
        }
        /// Makes null.
        public init(nilLiteral: ()) { self = .null }
    }
#endif
