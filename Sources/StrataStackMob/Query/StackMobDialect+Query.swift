import Foundation

extension StackMobDialect {
    /// A query of the model in StackMob's terms.
    /// - Throws: ``RemoteError`` that names the part which StackMob cannot do.
    public func query(for query: RemoteQuery) throws(RemoteError) -> StackMobQuery {
        if query.includesSubentities, query.entity.hasSubentities {
            throw StackMobError.unsupported(
                "\(query.entity.name): StackMob reads one schema at a time, and no entities that inherit from it")
        }
        return try self.query(for: query, schema: StackMobSchema(query.entity))
    }

    func query(for query: RemoteQuery, schema: StackMobSchema) throws(RemoteError) -> StackMobQuery {
        var result = StackMobQuery(schema.name)
        if let predicate = query.predicate {
            result.condition = try StackMobPredicate(schema: schema).condition(predicate)
        }
        for sort in query.sorts { result.orders.append(try Self.order(sort, schema)) }
        if let properties = query.properties {
            var fields = [schema.primaryKeyField]
            for property in properties where property != schema.primaryKey {
                fields.append(try schema.field(ofKey: property))
            }
            result.fields = fields
        }
        result.expansion = query.expansion
        var start = query.offset
        if let cursor = query.cursor {
            guard let position = Int(cursor), position >= start else {
                throw StackMobError.invalid("\"\(cursor)\" is no place in the answer to a query")
            }
            start = position
        }
        if start > 0 { result.first = start }
        if let limit = query.limit { result.limit(query.offset + limit - start) }
        return result
    }

    static func order(_ sort: FetchSort, _ schema: StackMobSchema) throws(RemoteError) -> StackMobQuery.Order {
        guard sort.keyPath.count == 1, let key = sort.keyPath.first else {
            throw StackMobError.unsupported(
                "StackMob does not order by a path: \(sort.keyPath.joined(separator: "."))")
        }
        guard sort.options.isEmpty else {
            throw StackMobError.unsupported("StackMob does not order with options: \(key)\(sort.options.suffix)")
        }
        return StackMobQuery.Order(try schema.field(ofKey: key), ascending: sort.ascending)
    }

    /// The request of a query.
    /// - Throws: ``RemoteError`` if StackMob has no words for it.
    public func queryRequest(
        _ query: StackMobQuery, options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        let parameters = try query.parameters().map { (name: $0.name, value: $0.value) }
        var request = try dataRequest(
            .get, "/" + schemaPath(query.schema), parameters: parameters, options: options)
        for field in try query.headers() where request.head.headerFields[field.name] == nil {
            request.head.headerFields[field.name] = field.value
        }
        return request
    }

    /// The request that counts what a query finds: the shortest range, whose answer tells the number of all.
    /// - Throws: ``RemoteError`` if StackMob has no words for it.
    public func countRequest(
        _ query: StackMobQuery, options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        var query = query
        query.first = 0
        query.last = 0
        return try queryRequest(query, options: options)
    }

    /// The number of objects that an answer tells: in `Content-Range` behind the slash, or without that header the
    /// number of objects in the body.
    /// - Throws: ``RemoteError`` of code ``StackMobError/noCountAvailable``.
    public func count(contentRange: String?, elements: Int?) throws(RemoteError) -> Int {
        guard let contentRange else {
            if let elements { return elements }
            throw StackMobError.noCountAvailable.error("the answer to a count is no list and has no Content-Range")
        }
        let parts = contentRange.split(separator: "/", omittingEmptySubsequences: false)
        let total = parts.last?.trimmingCharacters(in: CharacterSet(charactersIn: ", ")) ?? ""
        guard parts.count == 2, let count = Int(total), count >= 0 else {
            throw StackMobError.noCountAvailable.error("the answer tells no number of objects: \(contentRange)")
        }
        return count
    }
}
