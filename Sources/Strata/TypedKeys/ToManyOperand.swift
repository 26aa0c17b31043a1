/// The members of a to-many relationship in a typed predicate, or some of them.
public protocol ToManyOperand {
    /// The keys of a member.
    associatedtype Keys: EntityKeys
    /// The members as a collection in the one tree of all predicates.
    var expression: FetchExpression { get }
}

/// The members of a to-many relationship for which a condition holds.
public struct ToManySubset<Keys: EntityKeys>: ToManyOperand, Sendable {
    /// The members as a collection.
    public let expression: FetchExpression
}

/// Conditions on members become `SUBQUERY`s. `ANY` and `ALL` of the format language see one value of each member and
/// leave out nil; a subquery sees the member as it is, with all its properties together.
extension ToManyOperand {
    private func subquery(_ condition: (Keys) -> FetchPredicate) -> FetchExpression {
        TypedPath.withMember { path, variable in
            .subquery(expression, variable, condition(Keys(path: path)))
        }
    }

    private static func count(_ collection: FetchExpression, _ op: ComparisonOperator) -> FetchPredicate {
        .comparison(collection.appending([CollectionOperator.count.rawValue]), op, .constant(.integer(0)), [])
    }

    /// The members for which a condition holds.
    public func filter(_ condition: (Keys) -> some PredicateConvertible) -> ToManySubset<Keys> {
        ToManySubset(expression: subquery { condition($0).predicate })
    }

    /// The condition holds for at least one member.
    public func any(_ condition: (Keys) -> some PredicateConvertible) -> FetchPredicate {
        Self.count(subquery { condition($0).predicate }, .greater)
    }
    /// The condition holds for every member; true if there are none.
    public func all(_ condition: (Keys) -> some PredicateConvertible) -> FetchPredicate {
        Self.count(subquery { .not(condition($0).predicate) }, .equal)
    }
    /// The condition holds for no member; true if there are none.
    public func none(_ condition: (Keys) -> some PredicateConvertible) -> FetchPredicate {
        Self.count(subquery { condition($0).predicate }, .equal)
    }

    /// There are no members.
    public var isEmpty: FetchPredicate { Self.count(expression, .equal) }
    /// The number of members.
    public var count: ValueExpression<Int> { aggregate(.count, []) }

    /// This very object is a member.
    public func contains(_ object: Keys.Object) -> FetchPredicate {
        .comparison(expression, .contains, .constant(.object(object.key)), [])
    }
    /// The object of an ID is a member.
    public func contains(_ id: ObjectID) -> FetchPredicate {
        .comparison(expression, .contains, .constant(.object(id.key)), [])
    }
}

/// Values of an attribute over all members, nil left out. The attribute is named by a key path: `\.population`,
/// including through to-one relationships: `\.capital.population`.
extension ToManyOperand {
    private func aggregate<Result>(_ op: CollectionOperator, _ names: [String]) -> ValueExpression<Result> {
        ValueExpression(expression.appending([op.rawValue] + names))
    }

    private func aggregate<Value, Result>(
        _ op: CollectionOperator, _ key: KeyPath<Keys, AttributeKey<Value>>
    ) -> ValueExpression<Result> {
        aggregate(op, Keys(path: [])[keyPath: key].path.names)
    }

    /// The sum; 0 of nothing.
    public func sum<Value: ComparableAttribute>(
        _ key: KeyPath<Keys, AttributeKey<Value>>
    ) -> ValueExpression<Value.Wrapped> where Value.Kind == NumberKind { aggregate(.sum, key) }

    /// The mean; nil of nothing.
    public func average<Value: ComparableAttribute>(
        _ key: KeyPath<Keys, AttributeKey<Value>>
    ) -> ValueExpression<Double?> where Value.Kind == NumberKind { aggregate(.average, key) }

    /// The smallest value; nil of nothing.
    public func min<Value: ComparableAttribute>(
        _ key: KeyPath<Keys, AttributeKey<Value>>
    ) -> ValueExpression<Value.Wrapped?> { aggregate(.minimum, key) }

    /// The largest value; nil of nothing.
    public func max<Value: ComparableAttribute>(
        _ key: KeyPath<Keys, AttributeKey<Value>>
    ) -> ValueExpression<Value.Wrapped?> { aggregate(.maximum, key) }
}
