import StrataRemote

/// Logs in to a service whose tokens expire.
actor ShelfLogin: RequestAuthorizer {
    private let logIn: @Sendable () async throws(RemoteError) -> String
    private var token: String?

    init(logIn: @escaping @Sendable () async throws(RemoteError) -> String) { self.logIn = logIn }

    func authorize(_ request: WireRequest, options: RequestOptions) async throws(RemoteError) -> WireRequest {
        let token = if let token { token } else { try await logIn() }
        self.token = token
        var request = request
        request.head.headerFields[.authorization] = "Bearer \(token)"
        return request
    }

    func recover(
        from response: WireResponse, to request: WireRequest, options: RequestOptions
    ) async throws(RemoteError) -> Bool {
        // Another request may have logged in meanwhile.
        let sent = request.head.headerFields[.authorization]
        if let token, sent == "Bearer \(token)" { self.token = nil }
        return true
    }
}
