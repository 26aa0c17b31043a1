// Typed keys for what is in JSON. Nobody checks the text that a store keeps, so that every member may be missing or of
// another kind: a comparison is false then, and a sort takes it for nil.

/// What a member of JSON can be for conditions: `String`, `Bool`, numbers, and enumerations of these.
public protocol JSONMemberValue: ComparableAttribute {}

extension String: JSONMemberValue {}
extension Bool: JSONMemberValue {}
extension Int: JSONMemberValue {}
extension Int16: JSONMemberValue {}
extension Int32: JSONMemberValue {}
extension Int64: JSONMemberValue {}
extension Double: JSONMemberValue {}
extension Float: JSONMemberValue {}

/// Keys of the members of a type that is kept as JSON. The generator writes them for types whose members the model file
/// lists; for others there is ``JSONKey``.
public protocol JSONKeys: PredicateOperand, Sendable {
    /// The way that led here.
    var path: TypedPath { get }
    /// Makes the keys at the end of a path.
    init(path: TypedPath)
}

extension JSONKeys {
    /// The value as one side of a comparison; with nil, that there is none.
    public var expression: FetchExpression { path.expression }

    /// The key of a member, by the names on the way to it: `$0.settings.json("window", "width", as: Int.self)`.
    /// - Parameters:
    ///   - names: The keys in the JSON text.
    ///   - type: The type of the member.
    public func json<T: JSONMemberValue>(_ names: String..., as type: T.Type) -> AttributeKey<T?> {
        AttributeKey(names.reduce(path) { $0.appending($1) })
    }

    /// The key of a member whose values are cases of an enumeration.
    /// - Parameters:
    ///   - names: The keys in the JSON text.
    ///   - type: The type of the member.
    public func json<T: EnumValue>(_ names: String..., as type: T.Type) -> AttributeKey<T?> {
        AttributeKey(names.reduce(path) { $0.appending($1) })
    }

    /// The key of a member that is an array: `$0.settings.jsonList("tags", of: String.self).contains("urgent")`.
    /// - Parameters:
    ///   - names: The keys in the JSON text.
    ///   - type: The type of the elements.
    public func jsonList<T: JSONMemberValue>(_ names: String..., of type: T.Type) -> JSONListKey<T> {
        JSONListKey(names.reduce(path) { $0.appending($1) })
    }
}

/// The key of an attribute that is kept as JSON, of whose members the model knows nothing.
public struct JSONKey<Value>: JSONKeys {
    /// What the attribute holds.
    public typealias Operand = Value
    /// The way to the attribute.
    public let path: TypedPath

    /// Names an attribute.
    public init(path: TypedPath) { self.path = path }
    /// Names an attribute at the end of a path.
    public init(_ path: TypedPath, _ name: String) { self.path = path.appending(name) }
}

/// The key of an array in JSON.
public struct JSONListKey<Element>: PredicateOperand, Sendable {
    /// What the array is in Swift.
    public typealias Operand = [Element]
    /// The way to the array.
    public let path: TypedPath

    /// Names an array.
    public init(_ path: TypedPath) { self.path = path }
    /// Names an array at the end of a path.
    public init(_ path: TypedPath, _ name: String) { self.path = path.appending(name) }

    /// The array as one side of a comparison; with nil, that there is none.
    public var expression: FetchExpression { path.expression }

    /// How many elements there are; nil where there is no array.
    public var count: ValueExpression<Int?> {
        ValueExpression(path.appending(CollectionOperator.count.rawValue).expression)
    }
}

extension JSONListKey where Element: JSONMemberValue {
    /// It has an element: `$0.tags.contains("urgent")`.
    public func contains(_ element: Element.Wrapped) -> FetchPredicate {
        // Of text, `CONTAINS` would look for a part.
        .quantified(.any, expression, .equal, .constant(element.attributeValue), [])
    }

    /// It has at least one of some elements. False if there are none to look for.
    public func contains(anyOf elements: some Sequence<Element.Wrapped>) -> FetchPredicate {
        .quantified(.any, expression, .isIn, .constant(.list(elements.map(\.attributeValue))), [])
    }

    /// It has all of some elements. True if there are none to look for.
    public func contains(allOf elements: some Sequence<Element.Wrapped>) -> FetchPredicate {
        .and(elements.map { contains($0) })
    }

    /// It has no elements, or there is no array.
    public var isEmpty: FetchPredicate {
        .not(
            .comparison(
                path.appending(CollectionOperator.count.rawValue).expression, .greater, .constant(.integer(0)), []))
    }
}
