// Typed keys for what is in JSON. Nobody checks the text that a store keeps, so that every member may be missing or of
// another kind: a comparison is false then, and a sort takes it for nil.

/// A type that a member of JSON can have in typed conditions: text, truth values and numbers.
///
///     let request = Page.where { $0.extras.json("mood", as: String.self) == "calm" }
///     let rated = Page.where { $0.extras.jsonList("ratings", of: Int.self).contains(5) }
///
/// `String`, `Bool`, `Int` and its fixed-size forms, `Double` and `Float` conform; enumerations have a `json(_:as:)` of their
/// own. JSON has no dates and no bytes: encoded as text or numbers, they compare as such.
///
/// A member that is missing is nil. One that is of another kind than you name is unequal to every value, and `<` is false for
/// it; no error is thrown.
public protocol JSONMemberValue: ComparableAttribute {}

extension String: JSONMemberValue {}
extension Bool: JSONMemberValue {}
extension Int: JSONMemberValue {}
extension Int16: JSONMemberValue {}
extension Int32: JSONMemberValue {}
extension Int64: JSONMemberValue {}
extension Double: JSONMemberValue {}
extension Float: JSONMemberValue {}

/// Typed keys of the members of a type that is kept as JSON.
///
///     let dark = Page.where { $0.layout.theme == "dark" && $0.layout.columns > 2 }
///     let sorted = FetchRequest<Page>(sortedBy: [Page.keys.layout.columns.descending])
///
/// The generator writes them for types whose members the model file lists. For other types, ``JSONKey`` conforms, and you name
/// the members yourself with `json` and `jsonList`. You can do that with generated keys, too, for members that the model file
/// does not list.
///
/// The store reads the members from its JSON text, so no object is decoded; such a condition reads every row that the rest of
/// the condition leaves. A store does not check the text that others write, so each member may be missing, and then it is nil.
public protocol JSONKeys: PredicateOperand, Sendable {
    /// The path from the fetched object to the value.
    var path: TypedPath { get }
    /// Creates the keys of the value that a path leads to.
    init(path: TypedPath)
}

extension JSONKeys {
    /// The value as one side of a comparison with nil: nil if there is no value.
    public var expression: FetchExpression { path.expression }

    /// The key of a member, by the names on the way to it: `$0.settings.json("window", "width", as: Int.self)`.
    ///
    ///     let calm = Page.where { $0.extras.json("mood", as: String.self) == "calm" }
    ///
    /// Names lead into JSON objects, not through arrays; for an array, use ``jsonList(_:of:)``.
    /// - Parameters:
    ///   - names: The keys in the JSON text.
    ///   - type: The type of the member.
    /// - Returns: A key whose value is nil if the member is missing.
    public func json<T: JSONMemberValue>(_ names: String..., as type: T.Type) -> AttributeKey<T?> {
        AttributeKey(names.reduce(path) { $0.appending($1) })
    }

    /// The key of a member whose values are cases of an enumeration: `$0.settings.json("status", as: Status.self) == .draft`.
    /// - Parameters:
    ///   - names: The keys in the JSON text.
    ///   - type: The type of the member.
    /// - Returns: A key whose value is nil if the member is missing.
    public func json<T: EnumValue>(_ names: String..., as type: T.Type) -> AttributeKey<T?> {
        AttributeKey(names.reduce(path) { $0.appending($1) })
    }

    /// The key of a member that is an array: `$0.settings.jsonList("tags", of: String.self).contains("urgent")`.
    ///
    ///     let best = Page.where { $0.extras.jsonList("ratings", of: Int.self).contains(allOf: [4, 5]) }
    ///
    /// - Parameters:
    ///   - names: The keys in the JSON text.
    ///   - type: The type of the elements.
    public func jsonList<T: JSONMemberValue>(_ names: String..., of type: T.Type) -> JSONListKey<T> {
        JSONListKey(names.reduce(path) { $0.appending($1) })
    }
}

/// The key of an attribute that is kept as JSON, if the model does not list its members.
///
///     // In the model file: `extras: {type: json?, codable: PageExtras}`
///     let calm = Page.where { $0.extras.json("mood", as: String.self) == "calm" }
///     let rated = Page.where { !$0.extras.jsonList("ratings", of: Int.self).isEmpty }
///     let without = Page.where { $0.extras == nil }
///
/// Name a member by its key in the JSON text, which is the coding key of your `Codable` type, and by its type. The compiler
/// cannot check either of them: a wrong name is a member that is always missing. If you list the members in the model file,
/// the generator writes keys with checked names instead; see ``JSONKeys``.
public struct JSONKey<Value>: JSONKeys {
    /// The type of the attribute.
    public typealias Operand = Value
    /// The path from the fetched object to the attribute.
    public let path: TypedPath

    /// Creates the key of the attribute that a path leads to.
    public init(path: TypedPath) { self.path = path }
    /// Creates the key of an attribute, by its name, of the object that a path leads to.
    public init(_ path: TypedPath, _ name: String) { self.path = path.appending(name) }
}

/// The key of an array: of an array attribute, or of an array that is a member of JSON.
///
///     let notes = try context.fetch(Note.where { $0.keywords.contains("urgent") })
///     let both = Note.where { $0.keywords.contains(allOf: ["swift", "sqlite"]) }
///     let long = FetchRequest<Note>(where: Note.keys.keywords.count > 10, sortedBy: [Note.keys.keywords.count.descending])
///
/// Conditions ask for elements by their exact value; text is compared by its bytes. Arrays are kept as JSON text, so a
/// condition looks at each row, and an index does not help. For values that you look up often, model an entity and a
/// relationship.
///
/// The same key names the array in ``ManagedObject/add(_:to:)-(_,String)`` and its relatives, which change an array without a
/// conflict.
public struct JSONListKey<Element>: PredicateOperand, Sendable {
    /// The Swift type of the array.
    public typealias Operand = [Element]
    /// The path from the fetched object to the array.
    public let path: TypedPath

    /// Creates the key of the array that a path leads to.
    public init(_ path: TypedPath) { self.path = path }
    /// Creates the key of an array, by its name, of the object that a path leads to.
    public init(_ path: TypedPath, _ name: String) { self.path = path.appending(name) }

    /// The array as one side of a comparison; with nil, that there is none.
    public var expression: FetchExpression { path.expression }

    /// The number of elements; nil if there is no array.
    public var count: ValueExpression<Int?> {
        ValueExpression(path.appending(CollectionOperator.count.rawValue).expression)
    }
}

extension JSONListKey where Element: JSONMemberValue {
    /// The array has the element: `$0.tags.contains("urgent")`.
    public func contains(_ element: Element.Wrapped) -> FetchPredicate {
        // Of text, `CONTAINS` would look for a part.
        .quantified(.any, expression, .equal, .constant(element.attributeValue), [])
    }

    /// The array has at least one of the given elements; false if none are given.
    public func contains(anyOf elements: some Sequence<Element.Wrapped>) -> FetchPredicate {
        .quantified(.any, expression, .isIn, .constant(.list(elements.map(\.attributeValue))), [])
    }

    /// The array has all of the given elements; true if none are given.
    public func contains(allOf elements: some Sequence<Element.Wrapped>) -> FetchPredicate {
        .and(elements.map { contains($0) })
    }

    /// The array has no elements, or there is no array.
    public var isEmpty: FetchPredicate {
        .not(
            .comparison(
                path.appending(CollectionOperator.count.rawValue).expression, .greater, .constant(.integer(0)), []))
    }
}
