/// The typed keys of an entity, for predicates and sorts that the compiler checks: ``ObjectKeys``, or what is written by
/// hand.
public protocol EntityKeys {
    /// The class of the entity.
    associatedtype Object: ManagedObject
    /// The path through to-one relationships that led here; empty at the beginning.
    var path: [String] { get }
    /// Makes the keys at the end of a path.
    init(path: [String])
}

/// The key of an attribute. Compare it with a value, or make a sort of it.
public struct AttributeKey<Value>: Sendable {
    /// The path through to-one relationships to the attribute.
    public let path: [String]

    /// Names an attribute.
    public init(_ path: [String]) { self.path = path }
    /// Names an attribute at the end of a path.
    public init(_ path: [String], _ name: String) { self.path = path + [name] }

    /// The attribute as one side of a comparison.
    public var expression: FetchExpression { .keyPath(path) }
    /// Small values first.
    public var ascending: FetchSort { FetchSort(path) }
    /// Great values first.
    public var descending: FetchSort { FetchSort(path, ascending: false) }
}

/// The key of a to-one relationship: its destination's keys continue the path.
@dynamicMemberLookup
public struct ToOneKey<Keys: EntityKeys> {
    /// The path to the relationship.
    public let path: [String]

    /// Names a to-one relationship.
    public init(_ path: [String]) { self.path = path }
    /// Names a to-one relationship at the end of a path.
    public init(_ path: [String], _ name: String) { self.path = path + [name] }

    /// The keys of the destination.
    public subscript<T>(dynamicMember member: KeyPath<Keys, T>) -> T { Keys(path: path)[keyPath: member] }

    /// Leads to this very object.
    public static func == (key: ToOneKey, object: Keys.Object?) -> FetchPredicate {
        .comparison(.keyPath(key.path), .equal, .constant(object.map { .object($0.key) } ?? .null), [])
    }
    /// Leads to another object, or to none.
    public static func != (key: ToOneKey, object: Keys.Object?) -> FetchPredicate {
        .comparison(.keyPath(key.path), .notEqual, .constant(object.map { .object($0.key) } ?? .null), [])
    }
    /// Leads to the object of an ID.
    public static func == (key: ToOneKey, id: ObjectID) -> FetchPredicate {
        .comparison(.keyPath(key.path), .equal, .constant(.object(id.key)), [])
    }
}

/// The key of a to-many relationship.
public struct ToManyKey<Keys: EntityKeys> {
    /// The path to the relationship.
    public let path: [String]

    /// Names a to-many relationship.
    public init(_ path: [String]) { self.path = path }
    /// Names a to-many relationship at the end of a path.
    public init(_ path: [String], _ name: String) { self.path = path + [name] }
}

/// What typed keys compare with: the type of the attribute, whether it is optional or not.
public protocol ComparableAttribute {
    /// The type without its optionality.
    associatedtype Wrapped: AttributeValue
}

extension Int16: ComparableAttribute { public typealias Wrapped = Int16 }
extension Int32: ComparableAttribute { public typealias Wrapped = Int32 }
extension Int64: ComparableAttribute { public typealias Wrapped = Int64 }
extension Double: ComparableAttribute { public typealias Wrapped = Double }
extension Float: ComparableAttribute { public typealias Wrapped = Float }
extension Bool: ComparableAttribute { public typealias Wrapped = Bool }
extension GeoPoint: ComparableAttribute { public typealias Wrapped = GeoPoint }
extension String: ComparableAttribute { public typealias Wrapped = String }
extension Optional: ComparableAttribute where Wrapped: AttributeValue {}

extension AttributeKey where Value: ComparableAttribute {
    private static func compare(_ key: AttributeKey, _ op: ComparisonOperator, _ value: Value.Wrapped) -> FetchPredicate
    {
        .comparison(key.expression, op, .constant(value.attributeValue), [])
    }

    /// Equal.
    public static func == (key: AttributeKey, value: Value.Wrapped) -> FetchPredicate { compare(key, .equal, value) }
    /// Unequal; nil is unequal to every value.
    public static func != (key: AttributeKey, value: Value.Wrapped) -> FetchPredicate { compare(key, .notEqual, value) }
    /// Less.
    public static func < (key: AttributeKey, value: Value.Wrapped) -> FetchPredicate { compare(key, .less, value) }
    /// Less or equal.
    public static func <= (key: AttributeKey, value: Value.Wrapped) -> FetchPredicate {
        compare(key, .lessOrEqual, value)
    }
    /// Greater.
    public static func > (key: AttributeKey, value: Value.Wrapped) -> FetchPredicate { compare(key, .greater, value) }
    /// Greater or equal.
    public static func >= (key: AttributeKey, value: Value.Wrapped) -> FetchPredicate {
        compare(key, .greaterOrEqual, value)
    }
    /// Nil.
    public static func == (key: AttributeKey, value: _OptionalNilComparisonType) -> FetchPredicate {
        .comparison(key.expression, .equal, .constant(.null), [])
    }
    /// Not nil.
    public static func != (key: AttributeKey, value: _OptionalNilComparisonType) -> FetchPredicate {
        .comparison(key.expression, .notEqual, .constant(.null), [])
    }

    /// Equal to one of some values.
    public func isIn(_ values: some Sequence<Value.Wrapped>) -> FetchPredicate {
        .comparison(expression, .isIn, .constant(.list(values.map(\.attributeValue))), [])
    }

    /// Within a closed range.
    public func isBetween(_ low: Value.Wrapped, _ high: Value.Wrapped) -> FetchPredicate {
        .comparison(expression, .between, .constant(.list([low.attributeValue, high.attributeValue])), [])
    }
}

extension AttributeKey where Value: ComparableAttribute, Value.Wrapped == String {
    /// Begins with a text.
    public func hasPrefix(_ text: String, _ options: ComparisonOptions = []) -> FetchPredicate {
        .comparison(expression, .beginsWith, .constant(.string(text)), options)
    }
    /// Ends with a text.
    public func hasSuffix(_ text: String, _ options: ComparisonOptions = []) -> FetchPredicate {
        .comparison(expression, .endsWith, .constant(.string(text)), options)
    }
    /// Contains a text.
    public func contains(_ text: String, _ options: ComparisonOptions = []) -> FetchPredicate {
        .comparison(expression, .contains, .constant(.string(text)), options)
    }
    /// Equal as far as the options look.
    public func equals(_ text: String, _ options: ComparisonOptions) -> FetchPredicate {
        .comparison(expression, .equal, .constant(.string(text)), options)
    }
    /// In the order of the text as far as the options look.
    public func ascending(_ options: ComparisonOptions) -> FetchSort { FetchSort(path, options: options) }
    /// In the opposite order of the text as far as the options look.
    public func descending(_ options: ComparisonOptions) -> FetchSort {
        FetchSort(path, ascending: false, options: options)
    }
}
