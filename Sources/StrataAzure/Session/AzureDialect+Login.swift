import Foundation

extension AzureDialect {
    /// A provider as it appears in addresses: `windowsazureactivedirectory` in any capitals is `aad`, all others are as
    /// they are given.
    public static func provider(_ name: String) -> String {
        name.lowercased() == "windowsazureactivedirectory" ? "aad" : name
    }

    /// Where users log in: by HTTPS at the application's host, unless another host is given. Servers of
    /// ``AzureVersion/mobileServices`` have it under the application's own address.
    var loginAddress: AzureAddress {
        if let loginHost { return loginHost }
        if version == .mobileServices { return address }
        return (try? AzureAddress("https://\(address.authority)")) ?? address
    }

    private func loginTarget(_ parts: [String], _ pairs: [String] = []) throws(RemoteError) -> String {
        if let host = loginHost, host.scheme != "https" || !host.path.isEmpty || !host.query.isEmpty {
            throw error(.loginInvalidURL, "the host to log in at is HTTPS without a path, not \(host)")
        }
        let prefix = AzureAddress.trimmingSlashes(loginPath ?? version.loginPath, end: false)
        return loginAddress.path(prefix.split(separator: "/").map(String.init) + parts, pairs)
    }

    private func checked(_ provider: String) throws(RemoteError) -> String {
        guard !provider.isEmpty, !provider.contains("/"), provider != ".", provider != ".." else {
            throw error(
                .invalidParameter, "\"\(provider.prefix(80))\" is not a provider; facebook or aad are, for instance")
        }
        return Self.provider(provider)
    }

    /// Logs in by a token that the app has from a provider.
    /// - Parameter token: What the provider gave, such as `{"access_token": "…"}`; any JSON object.
    /// - Throws: ``RemoteError`` of code ``AzureError/loginExpectedToken`` or ``AzureError/loginInvalidToken``.
    public func loginRequest(
        provider: String, token: JSONValue?, options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        guard let token, !token.isNull else { throw error(.loginExpectedToken) }
        guard token.members != nil, let body = try? token.data() else { throw error(.loginInvalidToken) }
        return try request(
            .post, try loginTarget([try checked(provider)]), Message(body: body, tellsVersion: false),
            options: options, at: loginAddress)
    }

    /// Renews the token of the user who is logged in. The token itself is added by the session.
    /// - Throws: ``RemoteError`` of code ``AzureError/invalidBackendVersion`` in ``AzureVersion/mobileServices``.
    public func refreshRequest(options: RequestOptions = RequestOptions()) throws(RemoteError) -> WireRequest {
        let prefix = AzureAddress.trimmingSlashes(loginPath ?? version.loginPath, end: false)
        guard version != .mobileServices else {
            throw error(.invalidBackendVersion, "Mobile Services renew no tokens; log in again")
        }
        // It is next to the providers: under `.auth`, where they are under `.auth/login`.
        let path = prefix.split(separator: "/").dropLast().map(String.init) + ["refresh"]
        return try request(
            .get, loginAddress.path(path, []), Message(features: [.refreshToken], tellsVersion: false),
            options: options, at: loginAddress)
    }

    /// The user in an answer to a log-in.
    /// - Throws: ``RemoteError``: what the server reports, or of code ``AzureError/loginInvalidResponseSyntax``.
    public func loginAnswer(_ response: WireResponse) throws(RemoteError) -> AzureUser {
        if let failure = failure(response) { throw failure }
        return try user(in: try json(response), response)
    }

    /// The user in an answer to a renewal; `known` is who was logged in.
    /// - Throws: ``RemoteError`` of code ``AzureError/refreshBadRequest``, ``AzureError/refreshUnauthorized``,
    ///   ``AzureError/refreshForbidden`` or ``AzureError/refreshUnexpectedError``.
    public func refreshAnswer(_ response: WireResponse, known: AzureUser? = nil) throws(RemoteError) -> AzureUser {
        if let failure = failure(response) {
            let code: AzureError =
                switch response.status {
                case 400: .refreshBadRequest
                case 401: .refreshUnauthorized
                case 403: .refreshForbidden
                default: .refreshUnexpectedError
                }
            throw code.error(
                "the token could not be renewed: \(failure.message)", version: version,
                kind: failure.isTransient ? failure.kind : nil, status: response.status, body: response.body,
                underlying: [failure])
        }
        let json = try json(response)
        if let known, json["user"] == nil, let token = json["authenticationToken"]?.string {
            return AzureUser(id: known.id, token: token)
        }
        return try user(in: json, response)
    }

    private func user(in json: JSONValue, _ response: WireResponse?) throws(RemoteError) -> AzureUser {
        guard let id = json["user"]?["userId"]?.string, let token = json["authenticationToken"]?.string,
            !token.isEmpty, token.unicodeScalars.allSatisfy({ (0x21..<0x7F).contains($0.value) })
        else {
            throw AzureError.loginInvalidResponseSyntax.error(
                version: version, status: response?.status, body: response?.body)
        }
        return AzureUser(id: id, token: token)
    }
}

// MARK: Log-in by a page

extension AzureDialect {
    /// A page on which a user logs in with a provider.
    /// - Parameters:
    ///   - scheme: The scheme of the app's own addresses, by which the system's browser comes back to the app; nil for a
    ///     web view that watches where the page leads.
    ///   - verifier: What proves that the code is used by the one who asked for it: 43 to 128 characters (RFC 7636).
    ///   - parameters: Parameters of the application's own for the page.
    /// - Throws: ``RemoteError`` of code ``AzureError/loginInvalidURL`` for a scheme that addresses cannot have, and
    ///   ``AzureError/invalidBackendVersion`` for one in ``AzureVersion/mobileServices``.
    public func loginPage(
        provider: String, returningTo scheme: String? = nil, verifier: String = AzureLoginPage.newVerifier(),
        parameters: JSONObject = [:]
    ) throws(RemoteError) -> AzureLoginPage {
        let provider = try checked(provider)
        var pairs = try self.parameters(parameters)
        guard let scheme else {
            pairs.append("session_mode=token")
            let start = try loginTarget([provider], pairs)
            let end = try loginTarget(["done"])
            return AzureLoginPage(
                url: Self.whole(loginAddress, start), provider: provider,
                kind: .webView(end: String(Self.whole(loginAddress, end).prefix { $0 != "?" })))
        }
        guard version != .mobileServices else {
            throw error(.invalidBackendVersion, "Mobile Services know only web views; leave the scheme out")
        }
        let isScheme =
            scheme.utf8.first.map { PercentEncoding.Characters.alphanumerics.contains($0) && $0 > 0x39 } ?? false
            && scheme.utf8.allSatisfy { PercentEncoding.Characters.alphanumerics.union("+-.").contains($0) }
        guard isScheme else { throw error(.loginInvalidURL, "\"\(scheme.prefix(80))\" is not a scheme of addresses") }
        let end = "\(scheme)://easyauth.callback"
        pairs += [
            Self.pair("post_login_redirect_url", end),
            Self.pair("code_challenge", AzureLoginPage.challenge(of: verifier)), "code_challenge_method=S256",
        ]
        return AzureLoginPage(
            url: Self.whole(loginAddress, try loginTarget([provider], pairs)), provider: provider,
            kind: .browser(end: end, verifier: verifier))
    }

    /// The request that gets the token for the code of a page in a browser.
    /// - Throws: ``RemoteError`` with the code ``AzureError/loginInvalidURL`` for a page that is not for a browser.
    public func codeRequest(
        _ page: AzureLoginPage, code: String, options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        guard case .browser(_, let verifier) = page.kind else {
            throw error(.loginInvalidURL, "a page in a web view has no code; it has the token itself")
        }
        let target = try loginTarget(
            [page.provider, "token"], [Self.pair("authorization_code", code), Self.pair("code_verifier", verifier)])
        return try request(.get, target, Message(tellsVersion: false), options: options, at: loginAddress)
    }

    /// What the address tells that a page led to.
    /// - Returns: nil if it is not the end of the log-in yet.
    /// - Throws: ``RemoteError`` of code ``AzureError/loginFailed``, ``AzureError/loginInvalidURL`` or
    ///   ``AzureError/loginInvalidResponseSyntax``.
    public func result(of page: AzureLoginPage, at url: String) throws(RemoteError) -> AzureLoginPage.Result? {
        switch page.kind {
        case .browser(let end, _):
            guard Self.hasPrefix(url, end) else { return nil }
            let mark = "#authorization_code="
            guard let range = url.range(of: mark), let code = PercentEncoding.decode(url[range.upperBound...]),
                !code.isEmpty
            else { throw error(.loginInvalidURL, "the address that the log-in came back by has no authorization code") }
            return .code(code)
        case .webView(let end):
            guard Self.hasPrefix(url, end) else { return nil }
            if let range = url.range(of: "#token=") {
                guard let text = PercentEncoding.decode(url[range.upperBound...]),
                    let json = try? JSONValue(parsing: text)
                else { throw error(.loginInvalidResponseSyntax) }
                return .user(try user(in: json, nil))
            }
            guard let range = url.range(of: "#error=") else { return nil }
            let text = PercentEncoding.decode(url[range.upperBound...]) ?? String(url[range.upperBound...])
            throw error(.loginFailed, text)
        }
    }

    /// Whether an address begins with another: schemes and hosts have no capitals of their own.
    private static func hasPrefix(_ url: String, _ start: String) -> Bool {
        url.lowercased().hasPrefix(start.lowercased())
            && url.dropFirst(start.count).first.map { "/?#".contains($0) } != false
    }

    private static func whole(_ address: AzureAddress, _ target: String) -> String {
        "\(address.scheme)://\(address.authority)\(target)"
    }
}
