/// An operand that stands for an object in a typed condition: the fetched object, a member of a to-many relationship, or the
/// end of a to-one relationship.
///
///     let inPeru = City.where { $0.country == peru }
///     let elsewhere = City.where { $0.country != peru.objectID }
///     let neighbours = Country.where { country in country.neighbours.any { $0.continent != country.continent } }
///
/// Compare it with an object, an ``ObjectID``, another operand of the same class, or nil. Only keys are compared, so nothing is
/// read, and an object need not be saved. A relationship that is nil is unequal to every object: `!=` finds those objects, too.
///
/// ``ObjectKeys`` and ``ToOneKey`` conform to this protocol. You need it yourself only to write generic code about keys.
public protocol ObjectOperand {
    /// The class of the object that the operand stands for.
    associatedtype Object: ManagedObject
    /// The path from the fetched object to this one; empty for the fetched object itself.
    var path: TypedPath { get }
}

extension ObjectOperand {
    /// The operand is the given object; with nil, there is no object.
    public static func == (a: Self, object: Object?) -> FetchPredicate {
        .comparison(a.path.expression, .equal, .constant(object.map { .object($0.key) } ?? .null), [])
    }
    /// The operand is another object, or there is none; with nil, there is an object.
    public static func != (a: Self, object: Object?) -> FetchPredicate {
        .comparison(a.path.expression, .notEqual, .constant(object.map { .object($0.key) } ?? .null), [])
    }
    /// The operand is the object with the given ID.
    public static func == (a: Self, id: ObjectID) -> FetchPredicate {
        .comparison(a.path.expression, .equal, .constant(.object(id.key)), [])
    }
    /// The operand is another object than the one with the given ID, or there is none.
    public static func != (a: Self, id: ObjectID) -> FetchPredicate {
        .comparison(a.path.expression, .notEqual, .constant(.object(id.key)), [])
    }
    /// Both operands are the same object, or both are nil.
    public static func == <B: ObjectOperand>(a: Self, b: B) -> FetchPredicate where B.Object == Object {
        .comparison(a.path.expression, .equal, b.path.expression, [])
    }
    /// The operands are different objects, or only one of them is nil.
    public static func != <B: ObjectOperand>(a: Self, b: B) -> FetchPredicate where B.Object == Object {
        .comparison(a.path.expression, .notEqual, b.path.expression, [])
    }

    /// The operand is one of the given objects.
    ///
    ///     let cities = try context.fetch(City.where { $0.country.isIn(peru.neighbours) })
    public func isIn(_ objects: some Sequence<Object>) -> FetchPredicate {
        .comparison(path.expression, .isIn, .constant(.list(objects.map { .object($0.key) })), [])
    }
    /// The operand is the object of one of the given IDs. Use it for IDs that come from another context.
    public func isIn(ids: some Sequence<ObjectID>) -> FetchPredicate {
        .comparison(path.expression, .isIn, .constant(.list(ids.map { .object($0.key) })), [])
    }
    /// The full-text index of the object's entity has the words of a query; see ``TextQuery``. The model must declare an index.
    public func matchesText(_ query: String) -> FetchPredicate {
        .comparison(path.expression, .matchesText, .constant(.string(query)), [])
    }
}
