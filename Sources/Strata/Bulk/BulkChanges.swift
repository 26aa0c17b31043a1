/// The new values of a bulk update or insert, set by the names of the properties.
///
///     try context.update(City.where { $0.timeZone == "America/Lima" }) { city in
///         city.population += 1
///         city.note = nil
///         city.admin1 = "15"
///         city.timeZone = .value(TimeZone.current.identifier)
///         city.country = .object(peru.objectID)
///     }
///     try context.update(FetchRequest<Country>()) { $0.population = BulkValue(Country.keys.areaSquareKilometres * 2) }
///
/// You get it as the argument of the closure of ``ManagedObjectContext/update(_:validating:set:)`` and
/// ``ManagedObjectContext/insertAll(_:from:validating:set:)``. It looks like an object but is a description: the closure of an
/// update runs once, however many objects there are, and cannot look at their values. Calculations become part of the
/// statement.
///
/// Literals and nil can be assigned as they are; other constants need ``BulkValue/value(_:)``. Properties that you do not
/// mention keep their values in an update, and have their defaults in an insert. In an insert, only constants are allowed.
@dynamicMemberLookup
public struct BulkChanges<Object: ManagedObject> {
    /// By name of the attribute or relationship.
    var expressions: [String: FetchExpression] = [:]

    /// The value of an attribute: the one that was set, or the one that each object has.
    public subscript<T>(dynamicMember member: KeyPath<ObjectKeys<Object>, AttributeKey<T>>) -> BulkValue<T> {
        get {
            let key = ObjectKeys<Object>()[keyPath: member]
            return BulkValue(expression: expressions[Self.name(key.path)] ?? key.expression)
        }
        set { expressions[Self.name(ObjectKeys<Object>()[keyPath: member].path)] = newValue.expression }
    }

    /// The target of a to-one relationship.
    public subscript<K: EntityKeys>(dynamicMember member: KeyPath<ObjectKeys<Object>, ToOneKey<K>>) -> BulkTarget {
        get { BulkTarget(expression: ObjectKeys<Object>()[keyPath: member].path.expression) }
        set { expressions[Self.name(ObjectKeys<Object>()[keyPath: member].path)] = newValue.expression }
    }

    private static func name(_ path: TypedPath) -> String { path.names.joined(separator: ".") }
}

/// The value of an attribute in a bulk update or insert: a constant, or a calculation with the object's attributes.
///
///     try context.update(City.where { $0.country == peru }) { city in
///         city.note = "checked"                                      // a literal
///         city.population *= 2                                       // from the value that each city has
///         city.name = BulkValue(City.keys.name.uppercased())         // from an expression of typed keys
///         city.admin1 = .value(String(15))                           // any other constant
///     }
///
/// Calculations read the values as they were before the update, and the store does them row by row: no object is loaded, and
/// concurrent changes are not lost. An expression of another type than the attribute does not compile. In an insert, values
/// must be constants, because there is nothing to calculate from yet.
public struct BulkValue<Operand>: PredicateOperand, Sendable {
    /// The value as an expression.
    public let expression: FetchExpression

    init(expression: FetchExpression) { self.expression = expression }

    /// Calculates the value from typed keys, for each object: `BulkValue(City.keys.population * 2)`.
    public init<Other: PredicateOperand>(_ operand: Other) where Other.Operand == Operand {
        expression = operand.expression
    }
}

extension BulkValue where Operand: ComparableAttribute {
    /// A constant, for values that are not literals.
    ///
    ///     let date = Date.now
    ///     try context.update(Visit.where { $0.note == "" }) { $0.date = .value(date) }
    public static func value(_ value: Operand.Wrapped) -> BulkValue {
        BulkValue(expression: .constant(value.attributeValue))
    }
}

extension BulkValue where Operand: ComparableAttribute, Operand.Kind == NumberKind {
    /// Adds to the value of each object.
    public static func += (a: inout BulkValue, b: Operand.Wrapped) { a = BulkValue(a + b) }
    /// Subtracts from the value of each object.
    public static func -= (a: inout BulkValue, b: Operand.Wrapped) { a = BulkValue(a - b) }
    /// Multiplies the value of each object.
    public static func *= (a: inout BulkValue, b: Operand.Wrapped) { a = BulkValue(a * b) }
    /// Divides the value of each object; whole numbers are rounded towards zero.
    public static func /= (a: inout BulkValue, b: Operand.Wrapped) { a = BulkValue(a / b) }
}

extension BulkValue: ExpressibleByNilLiteral where Operand: ExpressibleByNilLiteral {
    /// No value.
    public init(nilLiteral: ()) { self.init(expression: .constant(.null)) }
}

extension BulkValue: ExpressibleByIntegerLiteral
where Operand: ComparableAttribute, Operand.Wrapped: ExpressibleByIntegerLiteral {
    /// A constant number.
    public init(integerLiteral value: Operand.Wrapped.IntegerLiteralType) {
        self.init(expression: .constant(Operand.Wrapped(integerLiteral: value).attributeValue))
    }
}

extension BulkValue: ExpressibleByFloatLiteral
where Operand: ComparableAttribute, Operand.Wrapped: ExpressibleByFloatLiteral {
    /// A constant number.
    public init(floatLiteral value: Operand.Wrapped.FloatLiteralType) {
        self.init(expression: .constant(Operand.Wrapped(floatLiteral: value).attributeValue))
    }
}

extension BulkValue: ExpressibleByBooleanLiteral where Operand: ComparableAttribute, Operand.Wrapped == Bool {
    /// A constant truth value.
    public init(booleanLiteral value: Bool) { self.init(expression: .constant(.boolean(value))) }
}

extension BulkValue: ExpressibleByUnicodeScalarLiteral, ExpressibleByExtendedGraphemeClusterLiteral,
    ExpressibleByStringLiteral
where Operand: ComparableAttribute, Operand.Wrapped == String {
    /// A constant text.
    public init(stringLiteral value: String) { self.init(expression: .constant(.string(value))) }
}

/// The target of a to-one relationship in a bulk update or insert: an object by its ID, or nil.
///
///     try context.update(City.where { $0.admin1 == "15" }) { $0.country = .object(peru.objectID) }
///     try context.update(FetchRequest<Town>()) { $0.region = nil }
///
/// The other side, a to-many relationship, follows, and objects in memory are updated. A one-to-one relationship cannot be set,
/// because its partners would have to change, too; change objects and save instead. The object must be in the store: save a
/// new one first. If the relationship is required, setting it to nil makes the operation throw.
public struct BulkTarget: Sendable, ExpressibleByNilLiteral {
    let expression: FetchExpression

    init(expression: FetchExpression) { self.expression = expression }

    /// The relationship is nil.
    public init(nilLiteral: ()) { expression = .constant(.null) }

    /// The relationship leads to the object with the given ID.
    public static func object(_ id: ObjectID) -> BulkTarget { BulkTarget(expression: .constant(.object(id.key))) }
}
