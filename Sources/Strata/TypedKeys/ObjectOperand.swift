/// What stands for an object in a typed predicate: the object that is fetched, a member of a to-many relationship, or
/// the end of a to-one relationship.
public protocol ObjectOperand {
    /// The class of the object.
    associatedtype Object: ManagedObject
    /// The way that leads to it.
    var path: TypedPath { get }
}

extension ObjectOperand {
    /// It is this very object; with nil, that there is none.
    public static func == (a: Self, object: Object?) -> FetchPredicate {
        .comparison(a.path.expression, .equal, .constant(object.map { .object($0.key) } ?? .null), [])
    }
    /// It is another object, or none; with nil, that there is one.
    public static func != (a: Self, object: Object?) -> FetchPredicate {
        .comparison(a.path.expression, .notEqual, .constant(object.map { .object($0.key) } ?? .null), [])
    }
    /// It is the object of an ID.
    public static func == (a: Self, id: ObjectID) -> FetchPredicate {
        .comparison(a.path.expression, .equal, .constant(.object(id.key)), [])
    }
    /// It is not the object of an ID.
    public static func != (a: Self, id: ObjectID) -> FetchPredicate {
        .comparison(a.path.expression, .notEqual, .constant(.object(id.key)), [])
    }
    /// Both are the same object, or both are nil.
    public static func == <B: ObjectOperand>(a: Self, b: B) -> FetchPredicate where B.Object == Object {
        .comparison(a.path.expression, .equal, b.path.expression, [])
    }
    /// They are different objects.
    public static func != <B: ObjectOperand>(a: Self, b: B) -> FetchPredicate where B.Object == Object {
        .comparison(a.path.expression, .notEqual, b.path.expression, [])
    }

    /// It is one of some objects.
    public func isIn(_ objects: some Sequence<Object>) -> FetchPredicate {
        .comparison(path.expression, .isIn, .constant(.list(objects.map { .object($0.key) })), [])
    }
    /// It is the object of one of some IDs.
    public func isIn(ids: some Sequence<ObjectID>) -> FetchPredicate {
        .comparison(path.expression, .isIn, .constant(.list(ids.map { .object($0.key) })), [])
    }
    /// Its full-text index has the words; see `TextQuery`.
    public func matchesText(_ query: String) -> FetchPredicate {
        .comparison(path.expression, .matchesText, .constant(.string(query)), [])
    }
}
