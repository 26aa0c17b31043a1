/// Describes a fetch of values instead of objects: columns, over all objects or over groups of them.
///
///     let request = try FetchRequest<City>()
///         .select(City.keys.country.countryId, City.keys.population.sum, City.keys.name.valueCount.named("cities"))
///         .grouped(by: City.keys.country.countryId)
///         .having("$cities > 10")
///     for row in try context.fetchValues(request) {
///         print(row[City.keys.country.countryId] ?? "-", row[City.keys.population.sum] ?? 0, row["cities"])
///     }
///
/// Aggregate functions of a single value are taken over the objects of a group, nil left out; without groups all objects
/// are one. See ``ValuePlan`` for the rules. A row is a ``FetchedRow``, or a tuple where the columns are chosen by a
/// closure.
public struct ValueRequest<Object: ManagedObject, Row>: Sendable {
    /// Which objects count. Its sorts, limit and offset are about rows of the answer; a sort may name a column.
    /// Settings that only concern objects, such as prefetching, are ignored here.
    public var objects: FetchRequest<Object>
    /// What a row holds.
    public let columns: [FetchColumn]
    /// Whether duplicate rows are removed.
    public var isDistinct = false
    /// The values that objects of a group have in common; empty for one group of all objects, or for no groups if no column is
    /// an aggregate.
    public var groupBy: [FetchExpression] = []
    /// Which groups are requested. `$name` stands for the column of that name.
    public var having: FetchPredicate?

    /// What becomes of a row.
    let row: @Sendable (FetchedRow) throws(UnfitColumn) -> Row

    init(
        _ objects: FetchRequest<Object>, columns: [FetchColumn],
        row: @escaping @Sendable (FetchedRow) throws(UnfitColumn) -> Row
    ) {
        self.objects = objects
        self.columns = columns
        self.row = row
    }

    /// The request without duplicate rows.
    public func distinct() -> ValueRequest { with { $0.isDistinct = true } }

    /// The request with one row for all objects that have the same values of the given keys.
    ///
    ///     let request = FetchRequest<City>().select(City.keys.timeZone, City.keys.population.sum)
    ///         .grouped(by: City.keys.timeZone)
    ///
    /// Each column must be one of these keys, or an aggregate. Nil is a group of its own.
    public func grouped(by keys: any PredicateOperand...) -> ValueRequest {
        with { $0.groupBy += keys.map(\.expression) }
    }

    /// The request with only those groups that satisfy a condition. `$name` in it is the column of that name.
    public func having(_ condition: FetchPredicate) -> ValueRequest {
        with { $0.having = having.map { $0 && condition } ?? condition }
    }

    /// Only groups for which a condition in the format language holds; see ``FetchPredicate/init(format:_:)``.
    /// - Throws: A ``PredicateParseError`` with the place of the fault.
    public func having(
        _ format: String, _ arguments: (any PredicateArgument)?...
    ) throws(PredicateParseError) -> ValueRequest {
        having(try FetchPredicate(format: format, arguments: arguments.map { $0?.predicateArgument ?? .null }))
    }

    private func with(_ change: (inout ValueRequest) -> Void) -> ValueRequest {
        var request = self
        change(&request)
        return request
    }
}

extension ValueRequest where Row == FetchedRow {
    /// Asks for columns of objects.
    public init(_ objects: FetchRequest<Object>, columns: [FetchColumn]) {
        self.init(objects, columns: columns) { (row) throws(UnfitColumn) in row }
    }
}

extension FetchRequest {
    /// Requests columns instead of objects: typed keys, calculations with them, or named expressions.
    public func select(_ columns: any ValueColumn...) -> ValueRequest<Object, FetchedRow> {
        ValueRequest(self, columns: columns.map(\.column))
    }
}

/// A column of a ``ValueRequest``: a typed key, a value calculated from keys, or a named expression.
///
///     let median = FetchColumn("median", try FetchExpression(format: "median:(population)"))
///     let request = FetchRequest<City>()
///         .select(City.keys.country.name, City.keys.population.maximum, City.keys.name.valueCount.named("cities"), median)
///         .grouped(by: City.keys.country.name)
///
/// ``AttributeKey``, ``ValueExpression`` and ``FetchColumn`` conform. The names of the columns of a request must differ: that
/// of a key is its path, that of a calculation its format; `named(_:)` gives another one, by which a sort or `having` can refer
/// to it.
///
/// A relationship is not a column. Select its `objectID`, or an attribute of its destination.
public protocol ValueColumn {
    /// The expression with its name.
    var column: FetchColumn { get }
}

extension FetchColumn: ValueColumn {
    /// Itself.
    public var column: FetchColumn { self }
}

extension ValueColumn where Self: PredicateOperand {
    /// The value, named after its expression: `country.code`, `sum(population)`.
    public var column: FetchColumn { FetchColumn("\(expression)", expression) }
}

extension AttributeKey: ValueColumn {}
extension ValueExpression: ValueColumn {}

extension PredicateOperand {
    /// The value as a column under a name.
    public func named(_ name: String) -> FetchColumn { FetchColumn(name, expression) }
    /// How many objects of a group have the value.
    public var valueCount: ValueExpression<Int> { ValueExpression(.function(.count, [expression])) }
}

extension PredicateOperand where Operand: ComparableAttribute, Operand.Kind == NumberKind {
    /// The sum over a group; 0 of nothing.
    public var sum: ValueExpression<Operand.Wrapped> { ValueExpression(.function(.sum, [expression])) }
    /// The mean of a group; nil of nothing.
    public var average: ValueExpression<Double?> { ValueExpression(.function(.average, [expression])) }
}

extension PredicateOperand where Operand: ComparableAttribute {
    /// The smallest value of a group; nil of nothing.
    public var minimum: ValueExpression<Operand.Wrapped?> { ValueExpression(.function(.minimum, [expression])) }
    /// The largest value of a group; nil of nothing.
    public var maximum: ValueExpression<Operand.Wrapped?> { ValueExpression(.function(.maximum, [expression])) }
}
