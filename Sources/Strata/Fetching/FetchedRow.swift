/// One row of the answer to a ``ValueRequest``. It is a copy of values: safe to send anywhere, and it does not change.
public struct FetchedRow: Sendable, Hashable {
    /// The values in the order of the columns. An object stands there by its key.
    public let values: [Value]
    /// The columns.
    public let columns: [FetchColumn]

    init(values: [Value], columns: [FetchColumn]) {
        self.values = values
        self.columns = columns
    }

    /// The value of a column by its position. A position outside of the row is a programmer's error.
    public subscript(position: Int) -> Value { values[position] }

    /// The value of a column by its name; null for a name that there is not.
    public subscript(name: String) -> Value {
        columns.firstIndex { $0.name == name }.map { values[$0] } ?? .null
    }

    /// The value of a typed column. Nil if it is nil, or the request did not ask for it.
    public subscript<Column: PredicateOperand>(column: Column) -> Column.Operand.Wrapped?
    where Column.Operand: ComparableAttribute {
        let expression = column.expression
        guard let position = columns.firstIndex(where: { $0.expression == expression }) else { return nil }
        return Column.Operand.Wrapped(values[position])
    }
}

extension FetchedRow: CustomStringConvertible {
    /// Names and values.
    public var description: String {
        zip(columns, values).map { "\($0.name): \($1)" }.joined(separator: ", ")
    }
}
