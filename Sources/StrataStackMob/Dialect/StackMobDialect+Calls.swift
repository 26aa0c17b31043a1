import Foundation

extension StackMobDialect: FileDialect {
    /// With its object: StackMob stores what a field with such a text brings along, and answers with the address.
    public func delivery(of file: RemoteFile) -> FileDelivery {
        .text(StackMobFile(name: file.name, contentType: file.contentType, data: file.data).fieldValue)
    }

    /// Refused: StackMob deletes no single files.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported``: the service does not delete files.
    public func deletionRequest(
        ofFile reference: String, options: RequestOptions
    ) throws(RemoteError) -> WireRequest {
        throw RemoteError(.unsupported, domain: "Strata", message: "\(name) does not delete single files")
    }
}

extension StackMobDialect {
    /// The types of answers to custom code that are taken without being asked for.
    public static let acceptedContentTypes: Set<String> = [
        "application/vnd.stackmob+json", "application/json", "text/plain", "application/octet-stream",
    ]

    /// The request that calls custom code. Parameters stay in their order; the content type is told if the call names
    /// one.
    /// - Throws: ``RemoteError`` if the name is empty or the method is not one of GET, POST, PUT and DELETE.
    public func callRequest(
        _ call: RemoteCall, options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        guard !call.name.isEmpty else { throw StackMobError.invalid("the name of the method is missing") }
        guard ["GET", "POST", "PUT", "DELETE"].contains(call.method.uppercased()),
            let method = HTTPRequest.Method(call.method.uppercased())
        else { throw StackMobError.invalid("custom code is called with GET, POST, PUT or DELETE, not \(call.method)") }
        let query = QueryParameters.stackMobText(call.parameters.map { ($0.name, $0.value) })
        var request = plainRequest(method, "/" + Self.path(call.name), query: query, secure: false, options)
        if let type = call.contentType { request.head.headerFields[.contentType] = type }
        request.body = call.body
        return request.adding(options.headers)
    }

    /// Reads the answer of custom code.
    /// - Parameter accepted: Types that are taken besides ``acceptedContentTypes``; nil to take any.
    /// - Throws: ``RemoteError`` for a status that is not a success, and for a type that is not taken.
    public func callReply(_ response: WireResponse, accepting accepted: Set<String>? = []) throws(RemoteError)
        -> RemoteReply
    {
        if let failure = failure(response) { throw failure }
        let type = response[header: "Content-Type"].map {
            String($0.prefix { $0 != ";" }).trimmingCharacters(in: .whitespaces).lowercased()
        }
        if let type, let accepted, !response.body.isEmpty, !Self.acceptedContentTypes.union(accepted).contains(type) {
            throw RemoteError(
                .invalidAnswer, domain: StackMobError.httpDomain, code: response.status,
                message: "the answer is of the type \(type); add it to acceptedContentTypes of the request to take it",
                status: response.status, body: response.body)
        }
        return RemoteReply(status: response.status, contentType: type, body: response.body)
    }
}
