import Foundation

extension MaxLeapDialect {
    /// Makes an object. Users sign up so.
    /// - Parameter returnsAll: Whether the answer is the whole object, which MaxLeap does with `new=true`.
    /// - Throws: ``RemoteError`` if the name of the class or the identifier is invalid.
    public func createRequest(
        _ className: String, _ fields: JSONObject, returnsAll: Bool = false, options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        let parameters = returnsAll && flavor == .maxLeap ? [MaxLeapParameter("new", "true")] : []
        var request = try request(
            .post, path(ofClass: className), parameters: parameters, json: fields, options: options)
        // Otherwise old servers give sessions that cannot be ended.
        if className == "_User", let field = field(.revocableSession) { request.head.headerFields[field] = "1" }
        return request
    }

    /// Reads an object.
    /// - Parameters:
    ///   - keys: The fields that are requested; nil for all.
    ///   - include: The fields whose objects come along, as paths with dots.
    /// - Throws: ``RemoteError`` if the name of the class or the identifier is invalid.
    public func fetchRequest(
        _ className: String, _ id: String, keys: [String]? = nil, include: [String] = [],
        options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        var query = MaxLeapQuery(className)
        query.keys = keys
        query.include = include
        return try request(.get, path(className, id), parameters: query.parameters(for: flavor), options: options)
    }

    /// Changes fields of an object.
    /// - Parameter condition: What it must meet for that, in MaxLeap; the answer tells `number` 0 if it does not.
    /// - Throws: ``RemoteError`` if the class or the identifier is invalid, or the flavor has no writes with a condition.
    public func updateRequest(
        _ className: String, _ id: String, _ changes: JSONObject, if condition: MaxLeapWhere? = nil,
        options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        try request(
            .put, path(className, id), parameters: parameters(condition), json: changes, options: options)
    }

    /// Deletes an object.
    /// - Parameter condition: What it must meet for that; see ``updateRequest(_:_:_:if:options:)``.
    /// - Throws: ``RemoteError`` if the class or the identifier is invalid, or the flavor has no writes with a condition.
    public func deleteRequest(
        _ className: String, _ id: String, if condition: MaxLeapWhere? = nil,
        options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        try request(.delete, path(className, id), parameters: parameters(condition), options: options)
    }

    private func parameters(_ condition: MaxLeapWhere?) throws(RemoteError) -> [MaxLeapParameter] {
        guard let condition else { return [] }
        guard flavor == .maxLeap || usesExtensions else {
            throw MaxLeapError.unsupported(
                "Parse has no writes with a condition; only strata-server takes them, which needs usesExtensions")
        }
        return [MaxLeapParameter("where", try MaxLeapQuery.text(condition.json()))]
    }

    /// Asks for objects.
    /// - Throws: ``RemoteError`` if the flavor cannot express the query.
    public func queryRequest(
        _ query: MaxLeapQuery, options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        try request(.get, path(ofClass: query.className), parameters: query.parameters(for: flavor), options: options)
    }

    /// Asks for the number of objects.
    /// - Throws: ``RemoteError`` if the flavor cannot express the query.
    public func countRequest(
        _ query: MaxLeapQuery, options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        try queryRequest(query.counting, options: options)
    }

    /// Several writes in one request. They are carried out in order; one that fails keeps the others from nothing.
    /// - Throws: ``RemoteError`` if one of them is not a write of an object by JSON.
    public func batchRequest(
        _ requests: [WireRequest], options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        var list: [JSONValue] = []
        for request in requests {
            var member: JSONObject = [
                "method": .string(request.head.method.rawValue), "path": .string(request.head.path ?? "/"),
            ]
            if let body = request.body {
                guard let json = try? JSONValue(parsing: body), json.members != nil else {
                    throw MaxLeapError.invalidJSON.error("a batch has writes of objects in it, and nothing else")
                }
                member["body"] = json
            }
            if let token = HTTPField.Name(IdempotencyKey.header).flatMap({ request.head.headerFields[$0] }) {
                member["headers"] = .object([IdempotencyKey.header: .string(token)])
            }
            list.append(.object(member))
        }
        return try request(.post, ["batch"], json: ["requests": .array(list)], options: options)
    }

    /// Sends the bytes of a file.
    /// - Throws: ``RemoteError`` with code 122 for a name that is empty or has a slash, or if the file has no bytes here.
    public func uploadRequest(
        _ file: MaxLeapFile, options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        guard let data = file.data else {
            throw MaxLeapError.unsavedFile.error("\(file.name) has no bytes here to upload")
        }
        var request = try request(
            flavor == .maxLeap ? .put : .post, ["files", Self.checkedFile(file.name)], options: options)
        request.body = data
        request.head.headerFields[.contentType] = file.contentType
        return request
    }

    /// Deletes a file, which takes the master key.
    /// - Throws: ``RemoteError`` with code 122 for a name that is empty or has a slash.
    public func deleteFileRequest(
        _ name: String, options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        let name = try Self.checkedFile(name)
        guard let field = field(.fileID) else { return try request(.delete, ["files", name], options: options) }
        var request = try request(.delete, ["files"], options: options)
        request.head.headerFields[field] = name
        return request
    }

    private static func checkedFile(_ name: String) throws(RemoteError) -> String {
        guard !name.isEmpty, name.utf8.count <= 500, name != ".", name != "..",
            !name.unicodeScalars.contains(where: { $0 == "/" || $0.value < 0x20 })
        else {
            throw MaxLeapError.invalidFileName.error("\"\(name.prefix(80))\" is not a valid file name")
        }
        return name
    }

    /// Calls a function, or starts a job, which MaxLeap answers when it has ended.
    /// - Throws: ``RemoteError`` with code 102 for a name that is empty.
    public func functionRequest(
        _ name: String, _ parameters: JSONObject = [:], isJob: Bool = false, options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        guard !name.isEmpty else {
            throw MaxLeapError.invalidQuery.error("the name of the function is missing")
        }
        return try request(.post, [isJob ? "jobs" : "functions", name], json: parameters, options: options)
    }
}
