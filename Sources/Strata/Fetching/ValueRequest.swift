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
    /// Whether of equal rows one is enough.
    public var isDistinct = false
    /// What objects of a group have in common; empty for one group of all, or for no groups if no column is an aggregate.
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

    /// Each row once.
    public func distinct() -> ValueRequest { with { $0.isDistinct = true } }

    /// One row for all objects that agree in some values.
    public func grouped(by keys: any PredicateOperand...) -> ValueRequest {
        with { $0.groupBy += keys.map(\.expression) }
    }

    /// Only groups for which a condition holds.
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

/// What a ``ValueRequest`` can ask for.
public protocol ValueColumn {
    /// The expression with its name.
    var column: FetchColumn { get }
}

extension FetchColumn: ValueColumn {
    /// Itself.
    public var column: FetchColumn { self }
}

extension ValueColumn where Self: PredicateOperand {
    /// The value under the name that its format is: `country.code`, `sum:(population)`.
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
