/// A value of a row that a fetch of values gives.
public enum FetchedValue: Sendable, Hashable {
    /// The value of an attribute, or what is calculated from them; null for none.
    case value(Value)
    /// An object.
    case object(ObjectID)

    /// The value; nil for an object.
    public var value: Value? { if case .value(let value) = self { value } else { nil } }
    /// The object; nil for a value.
    public var objectID: ObjectID? { if case .object(let id) = self { id } else { nil } }
    /// Whether there is neither a value nor an object.
    public var isNull: Bool { self == .value(.null) }
}

extension FetchedValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    /// A text.
    public init(stringLiteral value: String) { self = .value(.string(value)) }
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .value(.integer(value)) }
    /// A floating-point number.
    public init(floatLiteral value: Double) { self = .value(.double(value)) }
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .value(.boolean(value)) }
}

extension FetchedValue: CustomStringConvertible {
    /// The value, or the ID.
    public var description: String {
        switch self {
        case .value(let value): value.description
        case .object(let id): id.description
        }
    }
}

/// What a typed column can give: the types of attributes, IDs of objects, and optionals of these.
public protocol FetchableValue: Sendable {
    /// Takes a value of a row.
    /// - Returns: nil if it is of another kind, does not fit, or is missing where the type knows no nil.
    init?(fetched: FetchedValue)
}

extension FetchableValue where Self: AttributeValue {
    /// Takes a value of the attribute's type.
    public init?(fetched: FetchedValue) {
        guard case .value(let value) = fetched else { return nil }
        self.init(value)
    }
}

extension ObjectID: FetchableValue {
    /// Takes the ID of an object.
    public init?(fetched: FetchedValue) {
        guard case .object(let id) = fetched else { return nil }
        self = id
    }
}

extension Optional: FetchableValue where Wrapped: FetchableValue {
    /// Takes a value of the type, or none.
    public init?(fetched: FetchedValue) {
        if fetched.isNull {
            self = .none
        } else if let value = Wrapped(fetched: fetched) {
            self = value
        } else {
            return nil
        }
    }
}
