/// The changes of a bulk update, in typed keys; see ``ManagedObjectContext/update(_:validating:set:)``.
///
///     try context.update(City.where { $0.timeZone == "America/Lima" }) { city in
///         city.population += 1
///         city.note = nil
///         city.admin1 = "15"
///         city.timeZone = .value(TimeZone.current.identifier)
///         city.country = .object(peru.objectID)
///     }
///     try context.update(FetchRequest<Country>()) { $0.population = BulkValue(Country.keys.areaSquareKilometres * 2) }
@dynamicMemberLookup
public struct BulkChanges<Object: ManagedObject> {
    /// By name of the attribute or relationship.
    var expressions: [String: FetchExpression] = [:]

    /// The value of an attribute: what has been set, or the one that each object has.
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

/// A value in a bulk update or insert: a constant, or calculated from the object's attributes.
public struct BulkValue<Operand>: PredicateOperand, Sendable {
    /// The value in the tree of all expressions.
    public let expression: FetchExpression

    init(expression: FetchExpression) { self.expression = expression }

    /// The value of an expression of typed keys for each object: `BulkValue(City.keys.population * 2)`.
    public init<Other: PredicateOperand>(_ operand: Other) where Other.Operand == Operand {
        expression = operand.expression
    }
}

extension BulkValue where Operand: ComparableAttribute {
    /// A constant.
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

/// Where a to-one relationship leads in a bulk update or insert.
public struct BulkTarget: Sendable, ExpressibleByNilLiteral {
    let expression: FetchExpression

    init(expression: FetchExpression) { self.expression = expression }

    /// Nowhere.
    public init(nilLiteral: ()) { expression = .constant(.null) }

    /// To an object.
    public static func object(_ id: ObjectID) -> BulkTarget { BulkTarget(expression: .constant(.object(id.key))) }
}
