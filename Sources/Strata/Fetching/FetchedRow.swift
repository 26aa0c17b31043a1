/// One row of the result of a ``ValueRequest``. It is an immutable copy of values that you can send anywhere.
public struct FetchedRow: Sendable, Hashable {
    /// The values in the order of the columns. An object is there by its ID.
    public let values: [FetchedValue]
    /// The columns.
    public let columns: [FetchColumn]

    /// The value of a column by its position. A position outside of the row is a programmer error.
    public subscript(position: Int) -> FetchedValue { values[position] }

    /// The value of a column by its name; null for an unknown name.
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
