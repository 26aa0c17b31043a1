import Foundation

extension MaxLeapDialect {
    /// A query of the model in terms of classes and fields.
    /// - Throws: ``RemoteError`` that names the part which the server has no words for.
    public func query(for query: RemoteQuery) throws(RemoteError) -> MaxLeapQuery {
        if query.includesSubentities, query.entity.hasSubentities {
            throw MaxLeapError.unsupported(
                "\(query.entity.name): a class is read at a time, and no entities that inherit from it")
        }
        let schema = try schema(query.entity)
        var result = MaxLeapQuery(schema.className)
        if let predicate = query.predicate {
            result.conditions = [try MaxLeapPredicate(dialect: self, schema: schema).condition(predicate)]
        }
        for sort in query.sorts { result.orders.append(try order(sort, schema)) }
        if let properties = query.properties {
            var keys: [String] = []
            for property in properties where property != schema.primaryKey {
                keys.append(try schema.field(of: property))
            }
            // Without any the server would give all.
            result.keys = keys.isEmpty ? ["objectId"] : keys
        }
        result.include = try included(schema, levels: query.expansion)
        guard query.offset >= 0, query.limit.map({ $0 >= 0 }) != false else {
            throw MaxLeapError.invalidQuery.error("an offset and a limit are at least 0")
        }
        var skip = query.offset
        if let cursor = query.cursor {
            guard let place = Int(cursor), place >= query.offset else {
                throw MaxLeapError.invalidQuery.error("\"\(cursor)\" is no place in the answer to a query")
            }
            skip = place
        }
        result.skip = skip
        // After a cursor the limit is what is left of it.
        result.limit = min(query.limit ?? Self.maximumPage, Self.maximumPage)
        // Pages fit together only in an order that tells all objects apart. An order would come before nearness.
        let hasPages = skip > 0 || query.limit ?? .max > Self.maximumPage
        if hasPages, query.predicate?.nearestFirst == nil, !result.orders.contains(where: { $0.key == "objectId" }) {
            result.orders.append(MaxLeapQuery.Order("objectId"))
        }
        return result
    }

    /// The most objects of an answer.
    static let maximumPage = 1000

    private func order(_ sort: FetchSort, _ schema: MaxLeapSchema) throws(RemoteError) -> MaxLeapQuery.Order {
        guard let path = sort.keyPath, path.count == 1, let key = path.first else {
            throw MaxLeapError.unsupported("\(name) does not order by a path: \(sort.expression)")
        }
        guard sort.options.isEmpty else {
            throw MaxLeapError.unsupported("\(name) does not order with options: \(key)\(sort.options.suffix)")
        }
        return MaxLeapQuery.Order(try schema.field(of: key), ascending: sort.ascending)
    }

    /// The fields of pointers that lead to whole objects, so many levels deep.
    private func included(_ schema: MaxLeapSchema, levels: Int) throws(RemoteError) -> [String] {
        guard levels > 0 else { return [] }
        guard levels <= 3 else {
            throw MaxLeapError.unsupported("related objects come along up to 3 levels deep, not \(levels)")
        }
        var result: [String] = []
        for (name, property) in schema.properties.sorted(by: { $0.key < $1.key }) {
            let destination: String
            switch property {
            case .toOne(let entity), .toMany(let entity): destination = entity
            case .attribute, .relation: continue
            }
            guard let other = try self.schema(named: destination) else {
                throw MaxLeapError.unsupported("the dialect needs the model to read related objects along")
            }
            let field = try schema.field(of: name)
            result.append(field)
            result += try included(other, levels: levels - 1).map { "\(field).\($0)" }
        }
        return result
    }
}
