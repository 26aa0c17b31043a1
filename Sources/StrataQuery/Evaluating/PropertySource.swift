/// An object that predicates can be evaluated on in memory.
///
///     struct Draft: PropertySource {
///         var title: String
///         var evaluatedObject: Value { .string(title) }
///         func property(_ name: String) -> PropertyValue {
///             name == "title" ? .value(.string(title)) : .value(.null)
///         }
///     }
///     let condition = try FetchPredicate(format: "title CONTAINS[c] %@", "lima")
///     print(try condition.evaluate(on: Draft(title: "Flights to Lima")))  // true
///
/// Conform a type of yours to filter values that are not managed objects by the same conditions. For a few values, a
/// ``Value/composite(_:)`` is a source already. Managed objects do not conform: fetch them, which evaluates conditions
/// with unsaved changes, too.
///
/// ``evaluatedObject`` must not be ``Value/null``: an object that is nil has no properties, so every path would be nil.
public protocol PropertySource {
    /// A property by its name; null for an unknown name.
    func property(_ name: String) -> PropertyValue
    /// The object itself as a value: what `SELF` and references to it compare as.
    var evaluatedObject: Value { get }
    /// The texts in which `SELF MATCHESTEXT` looks for words: those of the first full-text index of the object's entity.
    var indexedTexts: [String] { get }
}

extension PropertySource {
    /// No texts.
    public var indexedTexts: [String] { [] }
}

/// The result of looking up a property of a ``PropertySource``.
///
///     struct Visit: PropertySource {
///         var note: String
///         var city: Value  // a composite
///         var evaluatedObject: Value { .string(note) }
///         func property(_ name: String) -> PropertyValue {
///             switch name {
///             case "note": .value(.string(note))
///             case "city": .object(city)
///             default: .value(.null)
///             }
///         }
///     }
///
/// Return ``value(_:)`` for attributes, and for a nil of any kind. With ``object(_:)`` a path such as `city.name` goes
/// on into another source, and with ``objects(_:isOrdered:)`` it is mapped over several. The sources are asked only for
/// the properties that a condition looks at.
public enum PropertyValue {
    /// A plain value.
    case value(Value)
    /// A value kept as JSON, or a member of one. Its kind is not known in advance: a comparison with a value of another
    /// kind is false instead of an error, and a function gives nil for a kind that it does not accept. A path leads
    /// into objects, not through arrays.
    case json(Value)
    /// Another object.
    case object(any PropertySource)
    /// Other objects. Mapping a key over those without order drops nil and what already exists.
    case objects([any PropertySource], isOrdered: Bool)
}

extension PropertySource {
    /// The value at the end of a path through to-one relationships and composites; null where anything on the way is
    /// nil, and after a collection.
    public func value(at path: [String]) -> Value {
        switch propertyValue(at: path) {
        case .value(let value), .json(let value): value
        case .object(let source): source.evaluatedObject
        case .objects: .null
        }
    }

    /// What is at the end of a path through to-one relationships, composites and members of JSON.
    func propertyValue(at path: [String]) -> PropertyValue {
        var current: PropertyValue = .object(self)
        for name in path {
            switch current {
            case .object(let source): current = source.property(name)
            case .value(let value): current = value.property(name)
            case .json(let value): current = .json(value.member(name))
            case .objects: return .value(.null)
            }
        }
        return current
    }
}

extension Value {
    /// A member of a JSON object by its name; null for everything else.
    func member(_ name: String) -> Value {
        if case .composite(let members) = self { members[name] ?? .null } else { .null }
    }
}

/// Values are sources, too: composites have their elements as properties, and all others have none.
extension Value: PropertySource {
    /// An element of a composite.
    public func property(_ name: String) -> PropertyValue {
        if case .composite(let elements) = self { .value(elements[name] ?? .null) } else { .value(.null) }
    }

    /// The value itself.
    public var evaluatedObject: Value { self }
}
