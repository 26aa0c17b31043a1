import Foundation

/// Data by schema and field, as the server has it: no model, no objects, no mirror.
///
///     let store = client.dataStore
///     let city = try await store.create(["name": "Lima", "capital": false], in: "city")
///     let id = city["city_id"]?.string ?? ""
///     try await store.update(id, in: "city", with: ["capital": true])
///     try await store.delete(id, in: "city")
///
/// Get it from ``StackMobClient/dataStore``. Use it for single requests, for tools, and for schemas that your model does not
/// have. Nothing is cached or queued, and a ``StackMobStore`` does not see the changes until its next pull.
///
/// Fields have their names on the server. Names of schemas are sent in lower case. Methods throw `RemoteError`; an empty schema
/// or id is an error with code -100, and nothing is sent.
public struct DataStore: Sendable {
    private let client: StackMobClient
    private var dialect: StackMobDialect { client.configuration.dialect }

    init(_ client: StackMobClient) {
        self.client = client
    }

    // MARK: One object

    /// Makes an object.
    /// - Parameter relations: The fields that hold nested objects, with their schemas: `author=user`, deeper ones as
    ///   `author.friends=user`.
    /// - Returns: The object with what the server added.
    /// - Throws: ``RemoteError``, with code -100 if the schema is empty, 409 if there is an object with the same key.
    @discardableResult
    public func create(
        _ object: JSONObject, in schema: String, relations: [String] = [], options: RequestOptions? = nil
    ) async throws(RemoteError) -> JSONObject {
        let options = self.options(options)
        let request = try dialect.createRequest(
            schema: schema, object: .object(object), relations: relations, secure: carriesPassword(object),
            options: options)
        return try await client.send(request, options).object()
    }

    /// Makes several objects in one request.
    /// - Returns: Which of them the server has made, and which not.
    /// - Throws: ``RemoteError``, with code -100 if the schema is empty. A refused object does not throw.
    @discardableResult
    public func create(
        _ objects: [JSONObject], in schema: String, options: RequestOptions? = nil
    ) async throws(RemoteError) -> CreatedObjects {
        let options = self.options(options)
        let request = try dialect.createRequest(
            schema: schema, object: .array(objects.map(JSONValue.object)),
            secure: objects.contains(where: carriesPassword), options: options)
        return try await CreatedObjects(client.send(request, options))
    }

    /// Reads an object.
    /// - Parameters:
    ///   - expanding: How many levels of related objects come along whole, 0 to 3.
    ///   - fields: The fields that are requested; nil for all. The primary key always comes.
    /// - Throws: ``RemoteError``, with code -100 if the schema or id is empty, 404 if there is no such object.
    public func read(
        _ id: String, in schema: String, expanding: Int = 0, fields: [String]? = nil, options: RequestOptions? = nil
    ) async throws(RemoteError) -> JSONObject {
        let options = self.options(options)
        let request = try dialect.readRequest(
            schema: schema, id: id, expansion: expanding, fields: fields, options: options)
        return try await client.send(request, options).object()
    }

    /// Changes fields of an object; `null` empties one.
    /// - Parameter relations: The fields that hold nested objects; see ``create(_:in:relations:options:)``.
    /// - Returns: The object as it is now.
    /// - Throws: ``RemoteError``, with code -100 if the schema or id is empty, 404 if there is no such object.
    @discardableResult
    public func update(
        _ id: String, in schema: String, with changes: JSONObject, relations: [String] = [],
        options: RequestOptions? = nil
    ) async throws(RemoteError) -> JSONObject {
        let options = self.options(options)
        let request = try dialect.updateRequest(
            schema: schema, id: id, object: .object(changes), relations: relations, secure: carriesPassword(changes),
            options: options)
        return try await client.send(request, options).object()
    }

    /// Deletes an object.
    /// - Throws: ``RemoteError``, with code -100 if the schema or id is empty, otherwise the status with which the server
    ///   refused it.
    public func delete(_ id: String, in schema: String, options: RequestOptions? = nil) async throws(RemoteError) {
        let options = self.options(options)
        _ = try await client.send(dialect.deleteRequest(schema: schema, id: id, options: options), options)
    }

    /// Adds to a number, so that no concurrent change of it is lost.
    /// - Parameter amount: A number; a negative one subtracts.
    /// - Returns: The object as it is now.
    /// - Throws: ``RemoteError``, with code -100 if the field is empty or the amount is not a number.
    @discardableResult
    public func increment(
        _ field: String, of id: String, in schema: String, by amount: JSONValue = 1, options: RequestOptions? = nil
    ) async throws(RemoteError) -> JSONObject {
        let options = self.options(options)
        let request = try dialect.incrementRequest(
            schema: schema, id: id, field: field, by: amount, options: options)
        return try await client.send(request, options).object()
    }

    // MARK: Members

    /// Adds values to an array, or existing objects by primary key to a relationship, which takes each once.
    /// - Returns: The object as it is now.
    /// - Throws: ``RemoteError``, with code -100 if the schema or id is empty, otherwise the status with which the server
    ///   refused it.
    @discardableResult
    public func append(
        _ values: [JSONValue], to field: String, of id: String, in schema: String, options: RequestOptions? = nil
    ) async throws(RemoteError) -> JSONObject {
        let options = self.options(options)
        let request = try dialect.appendRequest(
            schema: schema, id: id, field: field, values: values, options: options)
        return try await client.send(request, options).object()
    }

    /// Makes objects and adds them to a relationship.
    /// - Returns: Which of them the server has made, and which not.
    /// - Throws: ``RemoteError``, with code -100 if the schema or id is empty. A refused object does not throw.
    @discardableResult
    public func create(
        _ objects: [JSONObject], appendingTo field: String, of id: String, in schema: String,
        options: RequestOptions? = nil
    ) async throws(RemoteError) -> CreatedObjects {
        let options = self.options(options)
        let request = try dialect.createRelatedRequest(
            schema: schema, id: id, field: field, objects: objects.map(JSONValue.object), options: options)
        return try await CreatedObjects(client.send(request, options))
    }

    /// Takes values from an array, or objects by primary key from a relationship.
    /// - Parameters:
    ///   - values: Texts; numbers as they are written in JSON.
    ///   - deletesObjects: Whether the objects that are taken from a relationship are deleted, too.
    /// - Throws: ``RemoteError``, with code -100 if the schema or id is empty, otherwise the status with which the server
    ///   refused it.
    public func remove(
        _ values: [String], from field: String, of id: String, in schema: String, deletesObjects: Bool = false,
        options: RequestOptions? = nil
    ) async throws(RemoteError) {
        let options = self.options(options)
        let request = try dialect.removeRequest(
            schema: schema, id: id, field: field, values: values, cascades: deletesObjects, options: options)
        _ = try await client.send(request, options)
    }

    // MARK: Queries

    /// Reads the objects that meet a query.
    ///
    ///     let mine = try await client.dataStore.query(StackMobQuery("city").where("sm_owner", .equal, "user/bob"))
    ///
    /// - Throws: ``RemoteError``, with code -100 if the protocol cannot express the query; nothing was sent then.
    public func query(
        _ query: StackMobQuery, options: RequestOptions? = nil
    ) async throws(RemoteError) -> [JSONObject] {
        let options = self.options(options)
        return try await client.send(dialect.queryRequest(query, options: options), options).objects()
    }

    /// How many objects meet a query. The range of the query does not count.
    /// - Throws: ``RemoteError``, with code -102 if the server does not tell.
    public func count(_ query: StackMobQuery, options: RequestOptions? = nil) async throws(RemoteError) -> Int {
        let options = self.options(options)
        let response = try await client.send(dialect.countRequest(query, options: options), options)
        let range = response.head.headerFields[.contentRange]
        return try dialect.count(contentRange: range, elements: range == nil ? response.json().elements?.count : nil)
    }

    /// Calls code on the server; see ``StackMobClient/perform(_:options:)``.
    /// - Throws: As that.
    public func perform(
        _ request: CustomCodeRequest, options: RequestOptions? = nil
    ) async throws(RemoteError) -> CustomCodeReply {
        try await client.perform(request, options: options)
    }

    private func options(_ options: RequestOptions?) -> RequestOptions {
        options ?? client.configuration.requestOptions
    }

    private func carriesPassword(_ object: JSONObject) -> Bool {
        object[dialect.userPasswordField] != nil
    }
}

/// The outcome of a request that creates several objects.
///
///     let created = try await client.dataStore.create([["name": "Lima"], ["name": "Cusco"]], in: "city")
///     print(created.succeeded.count, "made,", created.failed.count, "refused")
///
/// One refused object does not undo the others, so check ``failed`` even if the call does not throw. ``succeeded`` has primary
/// keys, including those that the server has chosen, in the order of the request; if some failed, positions differ from those
/// that you sent.
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
        self.succeeded = succeeded.compactMap(\.string)
        failed = members["failed"]?.elements ?? []
    }
}
