import Foundation

/// Requests in terms of tables and JSON objects, for those who work without managed objects. All throw ``RemoteError``,
/// of a code of ``AzureError``; nothing is to be sent then.
extension AzureDialect {
    /// Makes a row.
    /// - Throws: ``RemoteError`` with a code of ``AzureError`` if the table, the item or a parameter is invalid.
    public func insertRequest(
        table: String, item: JSONValue?, parameters: JSONObject = [:], features: [AzureFeature] = [],
        options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        let body = try serialize(item, allowsID: false, removesSystemColumns: features.contains(.offline))
        return try tableRequest(.post, [table], parameters, Message(features: features, body: body), options)
    }

    /// Changes a row. Its version, if the item has one, must be the server's; in ``AzureVersion/datasync`` the item takes
    /// the row's place as a whole.
    /// - Throws: ``RemoteError`` with a code of ``AzureError`` if the table, the item or a parameter is invalid.
    public func updateRequest(
        table: String, item: JSONValue?, parameters: JSONObject = [:], features: [AzureFeature] = [],
        options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        let members = try members(item)
        let message = Message(
            features: features, ifMatch: version(of: members),
            body: try body(.object(withoutSystemColumns(members))))
        return try tableRequest(
            version == .datasync ? .put : .patch, [table, try id(of: members)], parameters, message, options)
    }

    /// Deletes a row. Its version, if the item has one, must be the server's.
    /// - Throws: ``RemoteError`` with a code of ``AzureError`` if the table, the item or a parameter is invalid.
    public func deleteRequest(
        table: String, item: JSONValue?, parameters: JSONObject = [:], features: [AzureFeature] = [],
        options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        let members = try members(item)
        return try tableRequest(
            .delete, [table, try id(of: members)], parameters,
            Message(features: features, ifMatch: version(of: members)), options)
    }

    /// Deletes a row, whatever its version.
    /// - Throws: ``RemoteError`` with a code of ``AzureError`` if the table, the item or a parameter is invalid.
    public func deleteRequest(
        table: String, id: JSONValue?, parameters: JSONObject = [:], options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        try tableRequest(.delete, [table, try self.id(id)], parameters, Message(), options)
    }

    /// Takes the deletion of a row back, in a table that keeps deleted rows.
    /// - Throws: ``RemoteError`` with a code of ``AzureError`` if the table, the item or a parameter is invalid.
    public func undeleteRequest(
        table: String, item: JSONValue?, parameters: JSONObject = [:], options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        let members = try members(item)
        var message = Message(ifMatch: version(of: members))
        var pairs = parameters
        let path = [table, try id(of: members)]
        guard version == .datasync else { return try tableRequest(.post, path, pairs, message, options) }
        var whole = withoutSystemColumns(members)
        whole["deleted"] = false
        message.body = try body(.object(whole))
        pairs[version.includesDeletedName] = true
        return try tableRequest(.put, path, pairs, message, options, countsParameters: !parameters.isEmpty)
    }

    /// Reads a row.
    /// - Throws: ``RemoteError`` with a code of ``AzureError`` if the table, the item or a parameter is invalid.
    public func readRequest(
        table: String, id: JSONValue?, parameters: JSONObject = [:], options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        try tableRequest(.get, [table, try self.id(id)], parameters, Message(), options)
    }

    /// Reads rows.
    /// - Throws: ``RemoteError`` with a code of ``AzureError`` if the table, the item or a parameter is invalid.
    public func readRequest(
        table: String, query: AzureQuery, features: [AzureFeature] = [], options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        try readRequest(
            table: table, pairs: withSystemColumns(try parameters(of: query)),
            features: [.tableReadQuery] + features + (query.parameters.isEmpty ? [] : [.queryParameters]), options)
    }

    /// Reads rows by a query as it is sent, or goes on by the address of a next page.
    /// - Parameter query: A query, escaped; or a whole address.
    /// - Throws: ``RemoteError`` with a code of ``AzureError`` if the table, the item or a parameter is invalid.
    public func readRequest(
        table: String, queryText query: String?, options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        if let query, query.contains("://") {
            return try request(
                toWhole: query, Message(features: [.tableReadRaw, .linkHeader]), options: options)
        }
        let escaped = PercentEncoding.encode(query ?? "", keeping: .azureAddress)
        return try readRequest(
            table: table, pairs: withSystemColumns([String(escaped.drop { $0 == "?" })]), features: [.tableReadRaw],
            options)
    }

    /// - Parameter pairs: The query, with ``withSystemColumns(_:)`` where the rows have such.
    func readRequest(
        table: String, pairs: [String], features: [AzureFeature], _ options: RequestOptions
    ) throws(RemoteError) -> WireRequest {
        try check(table: table)
        return try request(
            .get, address.path(["tables", table], pairs), Message(features: features),
            options: options)
    }

    // MARK: Parts

    private func tableRequest(
        _ method: HTTPRequest.Method, _ path: [String], _ parameters: JSONObject, _ message: Message,
        _ options: RequestOptions, countsParameters: Bool = true
    ) throws(RemoteError) -> WireRequest {
        try check(table: path[0])
        var message = message
        if !parameters.isEmpty, countsParameters { message.features.append(.queryParameters) }
        if message.ifMatch != nil { message.features.append(.optimisticConcurrency) }
        let pairs = withSystemColumns(try self.parameters(parameters))
        return try request(method, address.path(["tables"] + path, pairs), message, options: options)
    }

    /// The address of a table or a row, for those who send requests themselves.
    /// - Parameters:
    ///   - parameters: Parameters of the application's own.
    ///   - query: A query as it is sent, after those.
    /// - Throws: ``RemoteError`` with a code of ``AzureError`` if the table, the item or a parameter is invalid.
    public func url(
        table: String, id: String? = nil, parameters: JSONObject = [:], query: String? = nil
    ) throws(RemoteError) -> String {
        try check(table: table)
        let escaped = PercentEncoding.encode(query ?? "", keeping: .azureAddress)
        let path = address.path(
            ["tables", table] + (id.map { [$0] } ?? []), try self.parameters(parameters) + [escaped])
        return "\(address.scheme)://\(address.authority)\(path)"
    }

    /// Pairs of a query with the one that asks a server of the first version for columns of its own, unless it is there.
    func withSystemColumns(_ pairs: [String]) -> [String] {
        let name = "__systemProperties"
        guard version == .mobileServices, let columns = systemColumns.parameter,
            !(pairs + [address.query]).contains(where: { text in
                text.split(separator: "&").contains { $0.lowercased().hasPrefix(name.lowercased() + "=") }
            })
        else { return pairs }
        return pairs + ["\(name)=" + PercentEncoding.encode(columns, keeping: .unreserved)]
    }

    func members(_ item: JSONValue?) throws(RemoteError) -> JSONObject {
        guard let item, !item.isNull else { throw error(.expectedItem) }
        guard let members = item.members else { throw error(.invalidItem) }
        return members
    }

    func check(table: String) throws(RemoteError) {
        guard !table.isEmpty else { throw error(.invalidParameter, "the name of a table is missing") }
    }
}
