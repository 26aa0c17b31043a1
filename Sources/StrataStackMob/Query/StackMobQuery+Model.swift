import Foundation

extension StackMobQuery {
    /// A query in terms of properties.
    /// - Throws: ``RemoteError`` that names the part which StackMob has no words for.
    public init(
        _ schema: StackMobSchema, predicate: FetchPredicate? = nil, sorts: [FetchSort] = []
    ) throws(RemoteError) {
        self.init(schema.name)
        if let predicate { condition = try StackMobPredicate(schema: schema).condition(predicate) }
        for sort in sorts { orders.append(try Self.order(sort, schema)) }
    }

    /// Asks for this many objects from a place on.
    /// - Parameters:
    ///   - limit: The maximum number of objects; nil for all. The server always gives one at least.
    ///   - cursor: The place at which an answer before this one ended, in place of the offset.
    /// - Throws: ``RemoteError`` if the cursor is none of a query.
    public mutating func setRange(offset: Int, limit: Int?, cursor: String? = nil) throws(RemoteError) {
        var start = offset
        if let cursor {
            guard let place = Int(cursor), place >= offset else {
                throw StackMobError.invalid("\"\(cursor)\" is not a cursor of a query")
            }
            start = place
        }
        guard start >= 0, limit.map({ $0 >= 0 }) != false else {
            throw StackMobError.invalid("an offset and a limit are at least 0")
        }
        first = start > 0 ? start : nil
        last = nil
        if let limit { self.limit(limit) }
    }

    private static func order(_ sort: FetchSort, _ schema: StackMobSchema) throws(RemoteError) -> Order {
        guard let path = sort.keyPath, path.count == 1, let key = path.first else {
            throw StackMobError.unsupported("StackMob does not order by a path: \(sort.expression)")
        }
        guard sort.options.isEmpty else {
            throw StackMobError.unsupported("StackMob does not order with options: \(key)\(sort.options.suffix)")
        }
        guard key != schema.primaryKey || !schema.hasNumberedKeys else {
            throw StackMobError.unsupported("StackMob orders keys as text: \(sort.expression)")
        }
        return Order(try schema.field(ofKey: key), ascending: sort.ascending)
    }
}
