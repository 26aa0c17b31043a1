/// A value in a ``FetchedRow``: the value of an attribute or of a calculation, or the ID of an object.
///
///     let rows = try context.fetchValues(FetchRequest<City>().select(City.keys.name.named("name"), City.keys.objectID))
///     for row in rows {
///         if row["name"] == "Lima", let id = row[1].objectID { print(try context.existingObject(City.self, with: id)) }
///     }
///
/// You get it if you read a column by name or position. It can be compared with literals, which is convenient in tests. Use
/// ``value`` to get the ``Value`` in it, such as `.integer(12)`; numbers keep the type that the store or the calculation gave
/// them. A typed key as the subscript of the row, or a tuple, gives you the Swift value directly.
public enum FetchedValue: Sendable, Hashable {
    /// The value of an attribute, or the result of a calculation; `Value.null` if there is none.
    case value(Value)
    /// An object, by its ID.
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

/// A type that a column of a tuple can have: the types of attributes, IDs of objects, and optionals of these.
///
///     let request = City.where { $0.population > 100_000 }.select { ($0.name, $0.note, $0.country.objectID) }
///     for (name, note, countryID) in try context.fetchValues(request) {  // String, String?, ObjectID?
///         print(name, note ?? "-", countryID?.key ?? 0)
///     }
///
/// The type of a column follows from its key, so you do not name this protocol. It decides what happens to a value that does
/// not fit: if nil meets a type that is not optional, the fetch throws ``PersistenceError/invalidFetch(entity:reason:)`` and
/// names the column. Ask for ``PredicateOperand/optional`` where a relationship on the way may be nil.
public protocol FetchableValue: Sendable {
    /// Creates a value from one of a row.
    /// - Returns: nil if it is of another kind, does not fit, or is missing and the type is not optional.
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
