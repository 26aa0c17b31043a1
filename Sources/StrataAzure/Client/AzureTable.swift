import Foundation

/// A table of an application, in terms of JSON objects.
///
///     let notes = client.table("Note")
///     var note = try await notes.insert(["text": "Buy milk"])
///     note["text"] = "Buy oat milk"
///     note = try await notes.update(note)
///
/// Items are as the server sends them, including its own columns. JSON has no dates: ``AzureDate`` reads those of an item, and
/// creates an item of values with dates. ``update(_:parameters:options:)`` and
/// ``delete(_:parameters:options:)`` of an item with a version are refused with ``AzureError/preconditionFailed`` if the
/// server has another one; ``AzureFailure/serverItem`` is what it has.
public struct AzureTable: Sendable {
    /// The name of the table.
    public let name: String
    let client: AzureClient

    init(_ client: AzureClient, _ name: String) {
        self.client = client
        self.name = name
    }

    private var dialect: AzureDialect { client.configuration.dialect }

    /// Makes a row.
    /// - Parameter item: Its columns; an `id` is the server's choice unless it is given as text.
    /// - Returns: The row as the server has it.
    /// - Throws: ``AzureFailure``, with code ``AzureError/existingItemID`` for an id that only the server can give.
    @discardableResult
    public func insert(
        _ item: JSONObject, parameters: JSONObject = [:], options: RequestOptions? = nil
    ) async throws(AzureFailure) -> JSONObject {
        try await write(options) { options throws(RemoteError) in
            try dialect.insertRequest(table: name, item: .object(item), parameters: parameters, options: options)
        }
    }

    /// Changes columns of a row. A ``AzureVersion/datasync`` service takes the item as the whole row.
    ///
    ///     note["text"] = "Buy oat milk"
    ///     note = try await client.table("Note").update(note)  // with the new version
    ///
    /// If the item has a version, the update succeeds only if the server has that version. Take the version out of the item to
    /// overwrite whatever the server has.
    /// - Parameters:
    ///   - item: The id, the columns that change, and the version that they were changed in.
    ///   - parameters: Parameters of the application's own.
    ///   - options: How the request is made; nil for the configuration's.
    /// - Returns: The row as the server has it.
    /// - Throws: ``AzureFailure``, with code ``AzureError/preconditionFailed`` and the server's item if others have changed the
    ///   row.
    @discardableResult
    public func update(
        _ item: JSONObject, parameters: JSONObject = [:], options: RequestOptions? = nil
    ) async throws(AzureFailure) -> JSONObject {
        try await write(options) { options throws(RemoteError) in
            try dialect.updateRequest(table: name, item: .object(item), parameters: parameters, options: options)
        }
    }

    /// Deletes a row, if its version is the item's.
    /// - Returns: The id of the row.
    /// - Throws: ``AzureFailure``, with code ``AzureError/preconditionFailed`` if others have changed the row,
    ///   ``AzureError/missingItemID`` for an item without an id.
    @discardableResult
    public func delete(
        _ item: JSONObject, parameters: JSONObject = [:], options: RequestOptions? = nil
    ) async throws(AzureFailure) -> JSONValue {
        try await client.exchange(options) { options throws(RemoteError) in
            try dialect.deleteRequest(table: name, item: .object(item), parameters: parameters, options: options)
        } _: { _ in
            item["id"] ?? .null
        }
    }

    /// Deletes a row, whatever its version.
    /// - Parameter id: Text, or a whole number in a table of the first version.
    /// - Throws: ``AzureFailure``, with status 404 if there is no such row.
    public func delete(
        id: JSONValue, parameters: JSONObject = [:], options: RequestOptions? = nil
    ) async throws(AzureFailure) {
        try await client.exchange(options) { options throws(RemoteError) in
            try dialect.deleteRequest(table: name, id: id, parameters: parameters, options: options)
        } _: { _ in
        }
    }

    /// Takes the deletion of a row back, in a table that keeps deleted rows. The deletion gave the row another version: send
    /// that of the deleted row, which a query with ``AzureQuery/includesDeleted`` reads, or an item without a version.
    /// - Parameter item: The id, and the version if it matters. An ``AzureVersion/datasync`` service takes the item as the
    ///   whole row; the others restore what the row had.
    /// - Returns: The row as the server has it.
    /// - Throws: ``AzureFailure`` of code ``AzureError/preconditionFailed`` if the deleted row has another version, and with
    ///   status 404 if there is none.
    @discardableResult
    public func undelete(
        _ item: JSONObject, parameters: JSONObject = [:], options: RequestOptions? = nil
    ) async throws(AzureFailure) -> JSONObject {
        try await write(options) { options throws(RemoteError) in
            try dialect.undeleteRequest(table: name, item: .object(item), parameters: parameters, options: options)
        }
    }

    /// Reads a row.
    /// - Parameter id: Text, or a whole number in a table of the first version.
    /// - Throws: ``AzureFailure`` with status 404 if there is none.
    public func read(
        id: JSONValue, parameters: JSONObject = [:], options: RequestOptions? = nil
    ) async throws(AzureFailure) -> JSONObject {
        try await client.exchange(options) { options throws(RemoteError) in
            try dialect.readRequest(table: name, id: id, parameters: parameters, options: options)
        } _: { response throws(RemoteError) in
            try dialect.item(response)
        }
    }

    /// Reads rows: as many as the query asks for, or as the server gives in one answer.
    ///
    ///     var query = AzureQuery(try FetchPredicate(format: "done == NO"))
    ///     query.order("createdAt", ascending: false)
    ///     let rows = try await client.table("Note").read(query)
    ///     let more = try await client.table("Note").read(after: rows)  // nil at the end
    ///
    /// - Throws: ``AzureFailure``, with code ``AzureError/predicateNotSupported`` if the protocol cannot express the filter;
    ///   nothing was sent then.
    public func read(
        _ query: AzureQuery = AzureQuery(), options: RequestOptions? = nil
    ) async throws(AzureFailure) -> AzureRows {
        try await client.exchange(options) { options throws(RemoteError) in
            try dialect.readRequest(table: name, query: query, options: options)
        } _: { response throws(RemoteError) in
            try rows(response)
        }
    }

    /// Reads rows by the text of a query, as it is sent: `$filter=done%20eq%20false`.
    /// - Throws: ``AzureFailure`` with what the server reports.
    public func read(query text: String, options: RequestOptions? = nil) async throws(AzureFailure) -> AzureRows {
        try await client.exchange(options) { options throws(RemoteError) in
            try dialect.readRequest(table: name, queryText: text, options: options)
        } _: { response throws(RemoteError) in
            try rows(response)
        }
    }

    /// Reads the rows after others.
    /// - Returns: nil if the server said that there are none.
    /// - Throws: ``AzureFailure`` with what the server reports.
    public func read(after rows: AzureRows, options: RequestOptions? = nil) async throws(AzureFailure) -> AzureRows? {
        guard let link = rows.nextLink else { return nil }
        return try await read(query: link, options: options)
    }

    /// Sends a write whose answer is the row.
    private func write(
        _ options: RequestOptions?, _ build: (RequestOptions) throws(RemoteError) -> WireRequest
    ) async throws(AzureFailure) -> JSONObject {
        try await client.exchange(options, build) { response throws(RemoteError) in
            dialect.withoutUnasked(try dialect.item(response), response)
        }
    }

    private func rows(_ response: WireResponse) throws(RemoteError) -> AzureRows {
        let list = try dialect.list(response)
        var items: [JSONObject] = []
        for item in list.items {
            guard let members = item.members else { throw dialect.invalidAnswer(.expectedItemsInResponse, response) }
            items.append(members)
        }
        return AzureRows(items: items, totalCount: list.totalCount, nextLink: list.nextLink)
    }
}

/// The rows of one answer to a query.
///
///     var page: AzureRows? = try await client.table("Note").read(query)
///     while let rows = page {
///         for item in rows.items { print(item["text"]?.string ?? "") }
///         page = try await client.table("Note").read(after: rows)
///     }
///
/// A server limits the number of rows in an answer. ``AzureTable/read(after:options:)`` follows ``nextLink``, and returns nil
/// at the end. ``totalCount`` is known only if the query has ``AzureQuery/includesTotalCount``. The rows of two answers may
/// overlap or leave gaps if others change the table in between.
public struct AzureRows: Sendable, Hashable {
    /// The rows.
    public var items: [JSONObject]
    /// How many rows meet the filter in all; nil unless the query asked for that.
    public var totalCount: Int?
    /// What asks for the rows after these; nil if the server told none.
    public var nextLink: String?
}
