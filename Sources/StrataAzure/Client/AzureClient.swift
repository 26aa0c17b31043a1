import Foundation

/// An application of Azure Mobile Services, Azure Mobile Apps or a Datasync service: its tables, its users, its custom APIs and
/// push messages.
///
///     let client = try AzureClient("https://notes.azurewebsites.net")
///     try await client.logIn(provider: "facebook", token: ["access_token": .string(token)])
///     let open = try await client.table("Note").read(AzureQuery(try FetchPredicate(format: "done == NO")))
///
/// Create one client for an application and share it: it keeps the user who is logged in. For managed objects, open a
/// `RemoteStore` with ``backend``; for JSON objects that work offline, an ``AzureSyncContext``.
///
/// A client may be used from any task. Its methods throw ``AzureFailure``, and end when their task is cancelled.
public final class AzureClient: Sendable {
    /// What the client was made with.
    public let configuration: AzureConfiguration
    /// The user who is logged in.
    public let session: AzureSession
    /// What carries requests.
    let transport: any HTTPTransport
    /// Sends the client's own requests.
    let sender: HTTPBackend

    /// Makes a client. Nothing is sent; a session that was kept is taken up.
    public convenience init(_ configuration: AzureConfiguration) {
        let kept = configuration.withKeptInstallation()
        self.init(kept, session: AzureSession(kept))
    }

    /// Makes a client for an application with everything else as usual.
    /// - Parameters:
    ///   - address: The address of the application.
    ///   - applicationKey: The key of an application of Mobile Services; nil for Mobile Apps.
    /// - Throws: ``RemoteError`` of code ``AzureError/invalidParameter`` if the address is invalid.
    public convenience init(_ address: String, applicationKey: String? = nil) throws(RemoteError) {
        self.init(try AzureConfiguration(address, applicationKey: applicationKey))
    }

    private init(_ configuration: AzureConfiguration, session: AzureSession) {
        self.configuration = configuration
        self.session = session
        transport = LoggingTransport(
            configuration.transport, dialect: configuration.dialect, logger: configuration.logger,
            policy: configuration.logPolicy)
        sender = HTTPBackend(
            dialect: configuration.dialect, transport: transport, authorizer: session,
            middleware: configuration.middleware, clock: configuration.clock)
    }

    /// A client of the same application and session whose requests pass a middleware, before those that are there.
    public func adding(_ middleware: any HTTPMiddleware) -> AzureClient {
        var configuration = configuration
        configuration.middleware.insert(middleware, at: 0)
        return AzureClient(configuration, session: session)
    }

    /// Users, in the words that all services share.
    public var users: AzureUsers { AzureUsers(client: self) }

    /// A table of the application.
    public func table(_ name: String) -> AzureTable { AzureTable(self, name) }

    /// Registrations for push messages.
    public var push: AzurePush { AzurePush(client: self) }

    /// The application as a back end of a store. Its requests are made for the user of ``session``.
    ///
    ///     let store = try RemoteStore.open(model: model, backend: client.backend, location: .file(path: "notes.sqlite"))
    public var backend: HTTPBackend {
        HTTPBackend(
            dialect: configuration.dialect, transport: transport, authorizer: session,
            middleware: configuration.middleware, clock: configuration.clock)
    }

    // MARK: Users

    /// Logs in by a token that the app has from a provider.
    /// - Parameters:
    ///   - provider: `facebook`, `google`, `microsoftaccount`, `twitter`, `aad`, or one of the server's own.
    ///   - token: What the provider gave, such as `["access_token": "…"]`.
    /// - Throws: ``AzureFailure``: of code ``AzureError/loginExpectedToken`` or ``AzureError/loginInvalidToken``,
    ///   ``AzureError/loginCanceled`` if the task is cancelled, or of what the server reports.
    @discardableResult
    public func logIn(
        provider: String, token: JSONValue?, options: RequestOptions? = nil
    ) async throws(AzureFailure) -> AzureUser {
        let dialect = configuration.dialect
        return try await finishLogIn(options) { options throws(RemoteError) in
            try dialect.loginRequest(provider: provider, token: token, options: options)
        }
    }

    /// Sends the request that a log-in ends with, and takes the user of the answer.
    private func finishLogIn(
        _ options: RequestOptions?, _ build: (RequestOptions) throws(RemoteError) -> WireRequest
    ) async throws(AzureFailure) -> AzureUser {
        let dialect = configuration.dialect
        let user: AzureUser
        do throws(AzureFailure) {
            user = try await exchange(withoutRenewal(options), build) { response throws(RemoteError) in
                try dialect.loginAnswer(response)
            }
        } catch {
            guard error.error.kind == .cancelled else { throw error }
            var failure = error
            failure.error = AzureError.loginCanceled.error(
                "the log-in was cancelled: \(error.message)", version: dialect.version, status: error.status,
                underlying: [error.error])
            throw failure
        }
        session.replace(with: user)
        return user
    }

    /// A page on which a user logs in; see ``AzureLoginPage``. Several pages may be open; the log-in that ends last counts.
    /// - Throws: ``RemoteError`` of code ``AzureError/loginInvalidURL`` for a scheme that addresses cannot have, or
    ///   ``AzureError/invalidBackendVersion`` for one with Mobile Services, which know only web views.
    public func logInPage(
        _ provider: String, returningTo scheme: String? = nil, parameters: JSONObject = [:]
    ) throws(RemoteError) -> AzureLoginPage {
        try configuration.dialect.loginPage(provider: provider, returningTo: scheme, parameters: parameters)
    }

    /// Logs in by where a page led to.
    /// - Returns: The user; nil if the address is not the end of the log-in.
    /// - Throws: ``AzureFailure``: of code ``AzureError/loginFailed``, ``AzureError/loginInvalidURL`` or
    ///   ``AzureError/loginInvalidResponseSyntax``, ``AzureError/loginCanceled`` if the task is cancelled, or of what the
    ///   server reports.
    @discardableResult
    public func logIn(
        _ page: AzureLoginPage, endedAt url: String, options: RequestOptions? = nil
    ) async throws(AzureFailure) -> AzureUser? {
        let dialect = configuration.dialect
        let result: AzureLoginPage.Result?
        do throws(RemoteError) {
            result = try dialect.result(of: page, at: url)
        } catch {
            throw AzureFailure(error)
        }
        switch result {
        case nil: return nil
        case .user(let user)?:
            session.replace(with: user)
            return user
        case .code(let code)?:
            return try await finishLogIn(options) { options throws(RemoteError) in
                try dialect.codeRequest(page, code: code, options: options)
            }
        }
    }

    /// Renews the token of the user who is logged in.
    /// - Throws: ``AzureFailure`` of code ``AzureError/refreshUnauthorized`` if the user has to log in again, and
    ///   ``AzureError/invalidBackendVersion`` with Mobile Services, which renew no tokens.
    @discardableResult
    public func refresh(options: RequestOptions? = nil) async throws(AzureFailure) -> AzureUser {
        let dialect = configuration.dialect
        let known = session.user
        let options = withoutRenewal(options)
        var request: WireRequest?
        var response: WireResponse?
        do throws(RemoteError) {
            let built = try dialect.refreshRequest(options: options)
            request = built
            let answer = try await sender.send(built, options: options)
            response = answer
            let user = try dialect.refreshAnswer(answer, known: known)
            session.replace(with: user)
            return user
        } catch {
            throw AzureFailure(error, request: request, response: response)
        }
    }

    /// Forgets the user here. The protocol has no way to tell the server.
    public func logOut() { session.replace(with: nil) }

    /// A refused log-in must not lead to a log-in.
    private func withoutRenewal(_ options: RequestOptions?) -> RequestOptions {
        var options = options ?? configuration.requestOptions
        options.renewsSession = false
        return options
    }

    // MARK: Custom APIs

    /// Calls a custom API with JSON.
    /// - Parameters:
    ///   - api: The name; slashes separate parts.
    ///   - method: The method of HTTP.
    ///   - json: The body; nil for none.
    /// - Returns: The JSON of the answer; ``JSONValue/null`` if it has no body.
    /// - Throws: ``AzureFailure`` for an answer with a status of 400 or more, or one that is not JSON.
    public func invoke(
        _ api: String, method: String = "POST", json: JSONValue? = nil, parameters: JSONObject = [:],
        options: RequestOptions? = nil
    ) async throws(AzureFailure) -> JSONValue {
        let dialect = configuration.dialect
        return try await exchange(options) { options throws(RemoteError) in
            try dialect.apiRequest(api, method: method, json: json, parameters: parameters, options: options)
        } _: { response throws(RemoteError) in
            response.body.isEmpty ? JSONValue.null : try dialect.json(response)
        }
    }

    /// Calls a custom API with bytes.
    /// - Parameters:
    ///   - api: The name; slashes separate parts.
    ///   - method: The method of HTTP.
    ///   - data: The body; nil for none.
    ///   - contentType: The MIME type of the body; nil for JSON.
    /// - Throws: ``AzureFailure`` for an answer with a status of 400 or more.
    public func invoke(
        _ api: String, method: String = "POST", data: Data?, contentType: String? = nil, parameters: JSONObject = [:],
        options: RequestOptions? = nil
    ) async throws(AzureFailure) -> WireResponse {
        let dialect = configuration.dialect
        return try await exchange(options) { options throws(RemoteError) in
            try dialect.apiRequest(
                api, method: method, data: data, contentType: contentType, parameters: parameters, options: options)
        } _: { response in
            response
        }
    }
}
