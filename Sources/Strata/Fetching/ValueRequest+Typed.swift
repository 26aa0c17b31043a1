// Rows as tuples: each column is a typed key, and the compiler knows what it gives.

extension FetchRequest {
    /// Requests tuples of values instead of objects:
    ///
    ///     let request = City.where { $0.population > 100_000 }.select { ($0.name, $0.population) }
    ///     for (name, population) in try context.fetchValues(request) { print(name, population) }  // String, Int64
    ///
    /// A column is a key of an attribute, what is calculated from keys, an aggregate, or `objectID` of the object or of a
    /// to-one relationship. Where a value may be missing though its attribute is not optional, after a relationship
    /// that leads nowhere for instance, ask for its ``PredicateOperand/optional``: without, such a row is an error.
    public func select<each Column: ValueColumn & PredicateOperand & Sendable>(
        _ columns: (ObjectKeys<Object>) -> (repeat each Column)
    ) -> ValueRequest<Object, (repeat (each Column).Operand)> where repeat (each Column).Operand: FetchableValue {
        let keys = columns(ObjectKeys())
        var list: [FetchColumn] = []
        repeat list.append((each keys).column)
        return ValueRequest(self, columns: list) { (row) throws(UnfitColumn) in
            var position = 0
            return (repeat try row.next((each Column).Operand.self, &position))
        }
    }
}

extension FetchedRow {
    /// The value at a position, which moves on.
    fileprivate func next<T: FetchableValue>(_: T.Type, _ position: inout Int) throws(UnfitColumn) -> T {
        defer { position += 1 }
        guard let value = T(fetched: values[position]) else {
            throw UnfitColumn(name: columns[position].name, value: values[position], type: "\(T.self)")
        }
        return value
    }
}

/// A value that the type of its column does not have.
struct UnfitColumn: Error {
    let name: String
    let value: FetchedValue
    let type: String

    var reason: String {
        value.isNull
            ? "the column \(name) has no value in a row; ask for its 'optional'"
            : "the column \(name) has the value \(value) in a row, which does not fit \(type)"
    }
}

extension PredicateOperand where Operand: FetchableValue & AttributeValue {
    /// The same value, which may be missing.
    public var optional: ValueExpression<Operand?> { ValueExpression(expression) }
}

extension ObjectKeys {
    /// The object as a column: its ID.
    public var objectID: ValueExpression<ObjectID> { ValueExpression(path.expression) }
}

extension ToOneKey {
    /// The object that the relationship leads to as a column: its ID, without reading it.
    public var objectID: ValueExpression<ObjectID?> { ValueExpression(path.expression) }
}
