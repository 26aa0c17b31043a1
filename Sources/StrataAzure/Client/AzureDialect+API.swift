import Foundation

extension AzureDialect {
    /// The path and query of a custom API, as they are sent.
    /// - Parameter name: The name; slashes separate parts, and a query may follow after a question mark.
    func apiTarget(_ name: String, _ pairs: [String]) throws(RemoteError) -> String {
        let path = name.prefix { $0 != "?" }
        let trimmed = AzureAddress.trimmingSlashes(path, end: false)
        guard !trimmed.isEmpty, !trimmed.split(separator: "/").contains("..") else {
            throw error(.invalidParameter, "\"\(name.prefix(80))\" is not the name of a custom API")
        }
        let escaped = trimmed.split(separator: "/", omittingEmptySubsequences: false)
            .map { PercentEncoding.encode($0, keeping: .azurePath) }.joined(separator: "/")
        let query = PercentEncoding.encode(name.dropFirst(path.count + 1), keeping: .azureAddress)
        return address.target("/api/" + escaped, [query] + pairs)
    }

    /// The address of a custom API.
    /// - Throws: ``RemoteError`` with a code of ``AzureError`` if the name, the method or a parameter is invalid.
    public func url(api: String, parameters: JSONObject = [:]) throws(RemoteError) -> String {
        "\(address.scheme)://\(address.authority)" + (try apiTarget(api, try self.parameters(parameters)))
    }

    /// Calls a custom API with JSON, or without a body.
    /// - Parameters:
    ///   - method: The method of HTTP, in capitals or not; nil for POST.
    ///   - json: The body; nil for none.
    /// - Throws: ``RemoteError`` with a code of ``AzureError`` if the name, the method or a parameter is invalid.
    public func apiRequest(
        _ api: String, method: String? = nil, json: JSONValue?, parameters: JSONObject = [:],
        options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        var message = Message(features: [.apiJSON])
        if let json { message.body = try body(json) }
        if !parameters.isEmpty { message.features.append(.queryParameters) }
        return try request(
            try self.method(method), try apiTarget(api, try self.parameters(parameters)), message, options: options)
    }

    /// Calls a custom API with bytes.
    /// - Parameters:
    ///   - method: The method of HTTP, in capitals or not; nil for POST.
    ///   - data: The body; nil for none.
    ///   - contentType: The MIME type of the body.
    /// - Throws: ``RemoteError`` with a code of ``AzureError`` if the name, the method or a parameter is invalid.
    public func apiRequest(
        _ api: String, method: String? = nil, data: Data?, contentType: String? = nil, parameters: JSONObject = [:],
        options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        var message = Message(features: [.apiRaw], body: data)
        if let contentType { message.contentType = contentType }
        if !parameters.isEmpty { message.features.append(.queryParameters) }
        return try request(
            try self.method(method), try apiTarget(api, try self.parameters(parameters)), message, options: options)
    }

    private func method(_ name: String?) throws(RemoteError) -> HTTPRequest.Method {
        guard let name, !name.isEmpty else { return .post }
        guard let method = HTTPRequest.Method(name.uppercased()) else {
            throw error(.invalidParameter, "\(name.debugDescription) is not a method of HTTP")
        }
        return method
    }
}
