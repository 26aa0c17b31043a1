import Foundation

extension StackMobDialect {
    /// A query of the model in StackMob's terms.
    /// - Throws: ``RemoteError`` that names the part which StackMob cannot do.
    public func query(for query: RemoteQuery) throws(RemoteError) -> StackMobQuery {
        let schema = try StackMobSchema(query.entity)
        var result = try StackMobQuery(schema, predicate: query.predicate, sorts: query.sorts)
        if let properties = query.properties {
            var fields = [schema.primaryKeyField]
            for property in properties where property != schema.primaryKey {
                fields.append(try schema.field(ofKey: property))
            }
            result.fields = fields
        }
        guard query.subqueries.isEmpty else {
            throw StackMobError.unsupported("StackMob has no conditions on what another query finds")
        }
        guard query.memberOf == nil else {
            throw StackMobError.unsupported("StackMob has no queries for members: its objects list them")
        }
        // StackMob knows only levels: all relationships of a level are included.
        result.expansion = query.includes.map(\.count).max() ?? 0
        try result.setRange(offset: query.offset, limit: query.limit, cursor: query.cursor)
        return result
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

    /// The number of objects that an answer tells: in `Content-Range` after the slash, or without that header the
    /// number of objects in the body.
    /// - Throws: ``RemoteError`` of code ``StackMobError/noCountAvailable``.
    public func count(contentRange: String?, elements: Int?) throws(RemoteError) -> Int {
        guard let contentRange else {
            if let elements { return elements }
            throw StackMobError.noCountAvailable.error("the answer to a count is not a list and has no Content-Range")
        }
        let parts = contentRange.split(separator: "/", omittingEmptySubsequences: false)
        let total = parts.last?.trimmingCharacters(in: CharacterSet(charactersIn: ", ")) ?? ""
        guard parts.count == 2, let count = Int(total), count >= 0 else {
            throw StackMobError.noCountAvailable.error("the answer tells no number of objects: \(contentRange)")
        }
        return count
    }
}
