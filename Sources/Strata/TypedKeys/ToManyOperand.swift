/// An operand that stands for the members of a to-many relationship in a typed condition, or for some of them.
///
///     let withMetropolis = Country.where { $0.cities.any { $0.population > 5_000_000 } }
///     let urban = Country.where { $0.cities.sum(\.population) * 2 > $0.population }
///     let empty = FetchRequest<Country>(where: Country.keys.cities.isEmpty)
///
/// Use `any`, `all`, `none` and `filter` for conditions on single members, and `count`, `sum`, `average`, `min` and `max` for
/// values of all of them. The closure sees one member with all its properties. Conditions can be nested, and an inner one can
/// use the keys of an outer one.
///
/// The store examines the members, so they are not loaded. Each such condition is a subquery that runs for each object that
/// the rest of the condition leaves; it finds the members by the index that each relationship has.
public protocol ToManyOperand {
    /// The keys of a member.
    associatedtype Keys: EntityKeys
    /// The members as a collection in the one tree of all predicates.
    var expression: FetchExpression { get }
}

/// Those members of a to-many relationship that satisfy a condition; ``ToManyOperand/filter(_:)`` returns it.
///
///     let large = Country.where { $0.cities.filter { $0.population > 1_000_000 }.count >= 3 }
///     let byCities = FetchRequest<Country>(
///         sortedBy: [Country.keys.cities.filter { $0.timeZone == "America/Lima" }.count.descending])
///
/// You can do the same with it as with the whole relationship: count the members, aggregate their attributes, filter them
/// again, or set conditions on them. To ask only whether there is such a member, ``ToManyOperand/any(_:)`` is shorter. The
/// filter runs in the store and loads nothing; to filter members that are loaded already, use Swift's `filter` on the property
/// of the object.
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

    /// The members that satisfy a condition.
    ///
    ///     let request = Country.where { $0.cities.filter { $0.note != nil }.sum(\.population) > 1_000_000 }
    public func filter(_ condition: (Keys) -> some PredicateConvertible) -> ToManySubset<Keys> {
        ToManySubset(expression: subquery { condition($0).predicate })
    }

    /// At least one member satisfies the condition; false if there are no members.
    public func any(_ condition: (Keys) -> some PredicateConvertible) -> FetchPredicate {
        Self.count(subquery { condition($0).predicate }, .greater)
    }
    /// Every member satisfies the condition; true if there are no members.
    public func all(_ condition: (Keys) -> some PredicateConvertible) -> FetchPredicate {
        Self.count(subquery { .not(condition($0).predicate) }, .equal)
    }
    /// No member satisfies the condition; true if there are no members.
    public func none(_ condition: (Keys) -> some PredicateConvertible) -> FetchPredicate {
        Self.count(subquery { condition($0).predicate }, .equal)
    }

    /// There are no members.
    public var isEmpty: FetchPredicate { Self.count(expression, .equal) }
    /// The number of members.
    public var count: ValueExpression<Int> { aggregate(.count, []) }

    /// The given object is a member.
    ///
    ///     let neighbours = try context.fetch(Country.where { $0.neighbours.contains(peru) })
    public func contains(_ object: Keys.Object) -> FetchPredicate {
        .comparison(expression, .contains, .constant(.object(object.key)), [])
    }
    /// The object with the given ID is a member.
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
