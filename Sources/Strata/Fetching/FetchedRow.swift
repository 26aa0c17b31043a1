/// One row of the result of a ``ValueRequest`` whose columns are listed: an immutable copy that you can send anywhere.
///
///     let request = FetchRequest<City>()
///         .select(City.keys.country.countryId, City.keys.population.sum, City.keys.name.valueCount.named("cities"))
///         .grouped(by: City.keys.country.countryId)
///     for row in try context.fetchValues(request) {
///         let people: Int64? = row[City.keys.population.sum]  // by the same key as in the request
///         print(row[0], people ?? 0, row["cities"])           // by position, and by name
///     }
///
/// A typed key gives a value of its type, and nil if the value is nil or the request does not have the column. A name or a
/// position gives a ``FetchedValue``. Columns without a name of their own are named after their expression:
/// `country.countryId`.
///
/// If you choose the columns in a closure instead, rows are tuples, and a column that is missing does not compile.
public struct FetchedRow: Sendable, Hashable {
    /// The values in the order of the columns. An object is represented by its ID.
    public let values: [FetchedValue]
    /// The columns of the request, with their names and expressions.
    public let columns: [FetchColumn]

    /// The value of a column by its position. A position outside of the row is a programmer error.
    public subscript(position: Int) -> FetchedValue { values[position] }

    /// The value of a column by its name; null for a name that the request does not have.
    public subscript(name: String) -> FetchedValue {
        columns.firstIndex { $0.name == name }.map { values[$0] } ?? .value(.null)
    }

    /// The value of a typed column; nil if it is nil, or the request does not have the column.
    public subscript<Column: PredicateOperand>(column: Column) -> Column.Operand.Wrapped?
    where Column.Operand: ComparableAttribute {
        value(of: column.expression)?.value.flatMap(Column.Operand.Wrapped.init)
    }

    /// The object of a typed column such as `City.keys.country.objectID`. Nil if there is none, or the request does not
    /// have the column.
    public subscript(column: ValueExpression<ObjectID?>) -> ObjectID? { value(of: column.expression)?.objectID }

    /// The object itself, of the column `City.keys.objectID`. Nil if the request does not have the column.
    public subscript(column: ValueExpression<ObjectID>) -> ObjectID? { value(of: column.expression)?.objectID }

    private func value(of expression: FetchExpression) -> FetchedValue? {
        columns.firstIndex { $0.expression == expression }.map { values[$0] }
    }
}

extension FetchedRow: CustomStringConvertible {
    /// Names and values.
    public var description: String {
        zip(columns, values).map { "\($0.name): \($1)" }.joined(separator: ", ")
    }
}
