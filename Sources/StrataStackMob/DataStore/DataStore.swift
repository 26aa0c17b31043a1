import Foundation

/// Data by schema and field, as the server has it: no model, no objects, no mirror.
///
/// Fields have their names on the server. Names of schemas are lower-cased, as they are there.
public struct DataStore: Sendable {
    let client: StackMobClient

    init(_ client: StackMobClient) {
        self.client = client
    }

    // MARK: One object

    /// Makes an object.
    /// - Returns: The object with what the server added.
    /// - Throws: ``RemoteError``, with code -100 if the schema is empty, 409 if there is an object with the same key.
    @discardableResult
    public func create(
        _ object: [String: JSONValue], in schema: String, options: RequestOptions? = nil
    ) async throws(RemoteError) -> [String: JSONValue] {
        // A path below a schema is an address of the server's own, which is not lower-cased.
        let path = schema.contains("/") ? "/" + schema : try self.path(schema)
        return try await call(.post, path, body: .object(object), options: options).object()
    }

    /// Makes several objects in one request.
    /// - Returns: Which of them the server has made, and which not.
    @discardableResult
    public func create(
        _ objects: [[String: JSONValue]], in schema: String, options: RequestOptions? = nil
    ) async throws(RemoteError) -> CreatedObjects {
        let body = JSONValue.array(objects.map(JSONValue.object))
        return try CreatedObjects(await call(.post, path(schema), body: body, options: options))
    }

    /// Reads an object.
    /// - Parameters:
    ///   - expanding: How many levels of related objects come along whole, 0 to 3.
    ///   - fields: The fields that are wanted; nil for all. The primary key always comes.
    /// - Throws: ``RemoteError``, with code -100 if the schema or id is empty, 404 if there is no such object.
    public func read(
        _ id: String, in schema: String, expanding: Int = 0, fields: [String]? = nil, options: RequestOptions? = nil
    ) async throws(RemoteError) -> [String: JSONValue] {
        var headers: [String: String] = [:]
        try SchemaQuery.check(expansion: expanding)
        if expanding > 0 { headers["X-StackMob-Expand"] = String(expanding) }
        if let fields, !fields.isEmpty { headers["X-StackMob-Select"] = fields.joined(separator: ",") }
        return try await call(.get, path(schema, id), headers: headers, options: options).object()
    }

    /// Changes fields of an object; `null` empties one.
    /// - Returns: The object as it is now.
    @discardableResult
    public func update(
        _ id: String, in schema: String, with changes: [String: JSONValue], options: RequestOptions? = nil
    ) async throws(RemoteError) -> [String: JSONValue] {
        try await call(.put, path(schema, id), body: .object(changes), options: options).object()
    }

    /// Deletes an object.
    public func delete(
        _ id: String, in schema: String, options: RequestOptions? = nil
    ) async throws(RemoteError) {
        _ = try await call(.delete, path(schema, id), options: options)
    }

    /// Adds to a number, so that no concurrent change of it is lost.
    /// - Parameter amount: May be negative.
    /// - Returns: The object as it is now.
    @discardableResult
    public func increment(
        _ field: String, of id: String, in schema: String, by amount: Int64 = 1, options: RequestOptions? = nil
    ) async throws(RemoteError) -> [String: JSONValue] {
        try require(field, "the field")
        return try await update(id, in: schema, with: ["\(field)[inc]": .integer(amount)], options: options)
    }

    // MARK: Members

    /// Adds values to an array, or existing objects by primary key to a relationship, which takes each once.
    /// - Returns: The object as it is now.
    @discardableResult
    public func append(
        _ values: [JSONValue], to field: String, of id: String, in schema: String, options: RequestOptions? = nil
    ) async throws(RemoteError) -> [String: JSONValue] {
        try await call(.put, path(schema, id, field), body: .array(values), options: options).object()
    }

    /// Makes objects and adds them to a relationship.
    /// - Returns: Which of them the server has made, and which not.
    @discardableResult
    public func create(
        _ objects: [[String: JSONValue]], appendingTo field: String, of id: String, in schema: String,
        options: RequestOptions? = nil
    ) async throws(RemoteError) -> CreatedObjects {
        let body = JSONValue.array(objects.map(JSONValue.object))
        return try CreatedObjects(await call(.post, path(schema, id, field), body: body, options: options))
    }

    /// Takes values from an array or objects by primary key from a relationship.
    /// - Parameters:
    ///   - values: Texts; numbers as they are written in JSON.
    ///   - deletesObjects: Whether the objects that are taken from a relationship are deleted, too.
    public func remove(
        _ values: [String], from field: String, of id: String, in schema: String, deletesObjects: Bool = false,
        options: RequestOptions? = nil
    ) async throws(RemoteError) {
        guard !values.isEmpty else { throw StackMobError.invalid("there are no values to remove") }
        let list = values.map { PercentEncoding.encode($0, .pathComponent) }.joined(separator: ",")
        _ = try await call(
            .delete, path(schema, id, field) + "/" + list,
            headers: deletesObjects ? ["X-StackMob-CascadeDelete": "true"] : [:], options: options)
    }

    // MARK: Queries

    /// The objects that meet a query. A limit of none asks nobody.
    public func query(
        _ query: SchemaQuery, options: RequestOptions? = nil
    ) async throws(RemoteError) -> [[String: JSONValue]] {
        if query.range?.isEmpty == true { return [] }
        return try await call(
            .get, path(query.schema), parameters: query.parameters(), headers: query.headers(), options: options
        ).objects()
    }

    /// How many objects meet a query. The range of the query, and what it says of fields, do not count.
    /// - Throws: ``RemoteError``, with code -102 if the server does not tell.
    public func count(_ query: SchemaQuery, options: RequestOptions? = nil) async throws(RemoteError) -> Int {
        let query = query.counting
        return try await call(
            .get, path(query.schema), parameters: query.parameters(), headers: query.headers(), options: options
        ).count()
    }

    /// Calls code on the server.
    public func perform(
        _ request: CustomCodeRequest, options: RequestOptions? = nil
    ) async throws(RemoteError) -> CustomCodeReply {
        try await client.perform(request, options: options)
    }

    // MARK: Requests

    private func path(_ schema: String) throws(RemoteError) -> String {
        try require(schema, "the schema")
        return "/" + PercentEncoding.encode(schema.lowercased(), .pathComponent)
    }

    private func path(_ schema: String, _ id: String) throws(RemoteError) -> String {
        try require(id, "the object's id")
        return try path(schema) + "/" + PercentEncoding.encode(id, .pathComponent)
    }

    private func path(_ schema: String, _ id: String, _ field: String) throws(RemoteError) -> String {
        try require(field, "the field")
        return try path(schema, id) + "/" + PercentEncoding.encode(field, .pathComponent)
    }

    private func require(_ text: String, _ what: String) throws(RemoteError) {
        guard text.isEmpty else { return }
        throw StackMobError.invalid("\(what) is empty; nothing was sent")
    }

    private func call(
        _ method: HTTPRequest.Method, _ path: String, parameters: [(name: String, value: String)] = [],
        body: JSONValue? = nil, headers: [String: String] = [:], options: RequestOptions?
    ) async throws(RemoteError) -> WireResponse {
        var options = options ?? client.configuration.requestOptions
        options.headers.merge(headers) { given, _ in given }
        let dialect = client.configuration.dialect
        let carriesPassword = body?[dialect.userPasswordField] != nil
        return try await client.send(
            try dialect.dataRequest(
                method, path, parameters: parameters, json: body, secure: carriesPassword, options: options), options)
    }
}

/// What became of objects that were made together.
public struct CreatedObjects: Sendable, Hashable {
    /// The primary keys of those that the server has made, in the order of the request.
    public var succeeded: [String]
    /// What the server says of those that it has not made.
    public var failed: [JSONValue]

    init(_ response: WireResponse) throws(RemoteError) {
        let members = try response.object()
        guard let succeeded = members["succeeded"]?.elements else {
            throw response.invalid("the answer does not list which objects were made")
        }
        self.succeeded = succeeded.compactMap(\.text)
        failed = members["failed"]?.elements ?? []
    }
}
