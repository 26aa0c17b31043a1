import Foundation

/// Requests in terms of schemas and JSON objects, for those who work without managed objects; the dialect makes its own
/// requests of them, too. All throw ``RemoteError`` of code ``StackMobError/invalidArguments`` if a schema, an identifier
/// or a field is empty; nothing is to be sent then.
extension StackMobDialect {
    /// Makes an object. A schema with a slash in it is a method, and sent as it is.
    /// - Parameter relations: The fields that hold nested objects, with their schemas: `author=user`, `author.friends=user`.
    /// - Throws: ``RemoteError`` of code ``StackMobError/invalidArguments`` if the schema is empty, or the object is not a JSON object.
    public func createRequest(
        schema: String, object: JSONValue, relations: [String] = [], secure: Bool = false,
        options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        try Self.check(schema: schema)
        guard object.members != nil || object.elements?.isEmpty == false else {
            throw StackMobError.invalid("\(schema): what is made is a JSON object, or an array of them")
        }
        let path = schema.contains("/") ? Self.path(schema) : schemaPath(schema)
        return try dataRequest(.post, "/" + path, json: object, secure: secure, options: options)
            .relating(relations)
    }

    /// Reads an object.
    /// - Parameters:
    ///   - expansion: How many levels of related objects come along whole: 0 to 3.
    ///   - fields: The fields that are requested; nil for all.
    /// - Throws: ``RemoteError`` of code ``StackMobError/invalidArguments`` if the schema or the identifier is empty.
    public func readRequest(
        schema: String, id: String, expansion: Int = 0, fields: [String]? = nil,
        options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        var query = StackMobQuery(schema)
        query.expansion = expansion
        query.fields = fields
        var request = try dataRequest(.get, try path(schema, id), options: options)
        for field in try query.headers() { request.head.headerFields[field.name] = field.value }
        return request
    }

    /// Changes fields of an object. A name with `[inc]` after it adds to a number.
    /// - Parameter relations: The fields that hold nested objects, with their schemas: `author=user`, `author.friends=user`.
    /// - Throws: ``RemoteError`` of code ``StackMobError/invalidArguments`` if the schema or the identifier is empty.
    public func updateRequest(
        schema: String, id: String, object: JSONValue, relations: [String] = [], secure: Bool = false,
        options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        let path = try path(schema, id)
        guard object.members != nil else {
            throw StackMobError.invalid("\(schema)/\(id): what changes is a JSON object")
        }
        return try dataRequest(.put, path, json: object, secure: secure, options: options).relating(relations)
    }

    /// Adds to a number field, on the server, so that no other change of it is lost.
    /// - Throws: ``RemoteError`` of code ``StackMobError/invalidArguments`` if the schema, the identifier or the field is empty.
    public func incrementRequest(
        schema: String, id: String, field: String, by amount: JSONValue, options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        guard amount.double != nil, !field.isEmpty else {
            throw StackMobError.invalid("\(schema)/\(id): a field is incremented by a number")
        }
        return try updateRequest(schema: schema, id: id, object: .object([field + "[inc]": amount]), options: options)
    }

    /// Deletes an object.
    /// - Throws: ``RemoteError`` of code ``StackMobError/invalidArguments`` if the schema or the identifier is empty.
    public func deleteRequest(
        schema: String, id: String, options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        try dataRequest(.delete, try path(schema, id), options: options)
    }

    /// Puts values at the end of an array field, or identifiers into a relationship.
    /// - Throws: ``RemoteError`` of code ``StackMobError/invalidArguments`` if the schema, the identifier or the field is empty.
    public func appendRequest(
        schema: String, id: String, field: String, values: [JSONValue], options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        try dataRequest(.put, try path(schema, id, field), json: .array(values), options: options)
    }

    /// Makes objects and puts them into a relationship.
    /// - Throws: ``RemoteError`` of code ``StackMobError/invalidArguments`` if the schema, the identifier or the field is empty.
    public func createRelatedRequest(
        schema: String, id: String, field: String, objects: [JSONValue], relations: [String] = [],
        options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        try dataRequest(.post, try path(schema, id, field), json: .array(objects), options: options)
            .relating(relations)
    }

    /// Takes values out of an array field, or identifiers out of a relationship.
    /// - Parameter cascades: Whether the objects of the identifiers are deleted, too.
    /// - Throws: ``RemoteError`` of code ``StackMobError/invalidArguments`` if a name is empty, or there are no values.
    public func removeRequest(
        schema: String, id: String, field: String, values: [String], cascades: Bool = false,
        options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        guard !values.isEmpty, !values.contains("") else {
            throw StackMobError.invalid("\(schema)/\(id)/\(field): there is nothing to take out, or an empty value")
        }
        // A comma within a value must not look like the end of it.
        let list = values.map {
            PercentEncoding.encode($0, keeping: .stackMobIdentifier).replacing(",", with: "%2C")
        }
        var request = try dataRequest(
            .delete, try path(schema, id, field) + "/" + list.joined(separator: ","), options: options)
        if cascades { request.head.headerFields[.cascadeDelete] = "true" }
        return request
    }

    private func path(_ schema: String, _ id: String, _ field: String? = nil) throws(RemoteError) -> String {
        try Self.check(schema: schema)
        guard !id.isEmpty else { throw StackMobError.invalid("\(schema): the identifier of an object is missing") }
        guard field?.isEmpty != true else { throw StackMobError.invalid("\(schema)/\(id): the field is missing") }
        let parts = [id] + (field.map { [$0] } ?? [])
        return "/"
            + ([schemaPath(schema)] + parts.map { PercentEncoding.encode($0, keeping: .stackMobIdentifier) })
            .joined(separator: "/")
    }

    private static func check(schema: String) throws(RemoteError) {
        guard !schema.isEmpty else { throw StackMobError.invalid("the schema is missing") }
    }
}

extension WireRequest {
    fileprivate func relating(_ relations: [String]) -> WireRequest {
        guard !relations.isEmpty else { return self }
        var copy = self
        copy.head.headerFields[.relations] = relations.joined(separator: "&")
        return copy
    }
}
