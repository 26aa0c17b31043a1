import Foundation

extension AzureDialect {
    /// The error that an answer reports; nil if its status is one of success, below 400.
    ///
    /// The server's state of an item comes with status 412, and with 409 from newer servers: ``conflictItem(_:)``.
    public func failure(_ response: WireResponse) -> RemoteError? {
        let status = response.status
        guard status >= 400 else { return nil }
        let type = response[header: "Content-Type"] ?? ""
        var kind = Self.kind(ofStatus: status)
        // A page of a portal, a proxy or a firewall says nothing of rows.
        if (400..<500).contains(status), kind != .throttled, kind != .timeout, Self.isPage(response) {
            kind = .invalidAnswer
        }
        var error: RemoteError
        if status == 412, conflictItem(response) != nil {
            error = self.error(.preconditionFailed, kind: kind)
        } else {
            switch message(response.body, type: type) {
            case .success(let message?): error = self.error(.errorMessage, message, kind: kind)
            case .success(nil): error = self.error(.errorNoMessage, kind: kind)
            case .failure(let fault):
                error = RemoteError(
                    kind, domain: AzureError.jsonDomain, code: status,
                    message: "the server reports an error with status \(status), and the text is \(fault)")
            }
        }
        error.status = status
        error.body = response.body
        error.retryAfter = response[header: "Retry-After"].flatMap(Double.init)
        return error
    }

    /// The server's state of an item, if an answer reports a conflict and has it.
    public func conflictItem(_ response: WireResponse) -> JSONObject? {
        guard response.status == 412 || response.status == 409,
            let members = (try? JSONValue(parsing: response.body))?.members
        else { return nil }
        // With 409 older servers send the words of an error in place of the item.
        guard response.status == 412 || members["id"] != nil else { return nil }
        var item = members
        if let tag = Self.version(ofTag: response[header: "ETag"]) {
            let column = AzureSystemProperty.version.column(in: version)
            if item[column] == nil { item[column] = .string(tag) }
        }
        return item
    }

    /// What an answer says in words: text in JSON, a member of a JSON object, or the body as it is.
    private func message(_ body: Data, type: String) -> Result<String?, JSONError> {
        guard !body.isEmpty else { return .success(nil) }
        let plain = String(validating: body, as: UTF8.self)
        guard type.lowercased().contains("json") else { return .success(plain) }
        do throws(JSONError) {
            let json = try JSONValue(parsing: body)
            if let text = json.string ?? json["error"]?.string ?? json["description"]?.string { return .success(text) }
            // Newer services name the parts as RFC 9457 does.
            let told = version == .datasync ? json["detail"]?.string ?? json["title"]?.string : nil
            return .success(told ?? plain)
        } catch {
            return .failure(error)
        }
    }

    /// Whether the body is a page for people. Older services answer in XML, too, which does not count.
    private static func isPage(_ response: WireResponse) -> Bool {
        let type = response[header: "Content-Type"]?.lowercased() ?? ""
        return response.isMarkup && (type.contains("html") || !type.contains("xml"))
    }

    private static func kind(ofStatus status: Int) -> RemoteError.Kind {
        switch status {
        case 428: .conflict
        // These services never ask a client to wait by 420.
        case 420: .rejected
        default: RemoteError.Kind(status: status)
        }
    }
}
