import Foundation

/// An application on a MaxLeap or Parse server: its objects, users, files and code.
///
///     let client = MaxLeapClient(MaxLeapConfiguration(try MaxLeapDialect(applicationID: id, apiKey: key)))
///     try await client.logIn(username: "bob", password: password)
///     let posts = try await client.find(MaxLeapQuery("Post").where("likes", .greater(10)))
///
/// Create one client for an application and share it: it keeps the session of one user, the cache of answers, and what is known
/// of the server's reachability. For managed objects, open a ``MaxLeapStore`` with it.
///
/// A read is sent up to ``MaxLeapConfiguration/maximumAttempts`` times if the server cannot be reached; a write is sent once. A
/// client may be used from any task. Methods throw ``RemoteError`` with the domain `MaxLeap` and a code of ``MaxLeapError``, or
/// another one that the server gave.
public final class MaxLeapClient: Sendable {
    /// What the client was made with.
    public let configuration: MaxLeapConfiguration
    /// The session of the user who is logged in.
    public let session: MaxLeapSession
    /// Whether the server can be reached. Every request of the client adds to what is known.
    public let reachability: NetworkReachability
    let transport: ReportingTransport
    /// Sends the client's own requests.
    let sender: HTTPBackend
    /// Sends what gets a session: an old one, which may have ended, does not go along.
    private let opener: HTTPBackend

    /// Makes a client. Nothing is sent; a session that was kept is taken up.
    public convenience init(_ configuration: MaxLeapConfiguration) {
        let transport = ReportingTransport(configuration)
        let address = configuration.dialect.address
        let ping = WireRequest(
            HTTPRequest(method: .head, scheme: address.scheme, authority: address.authority, path: address.path + "/"))
        let reachability = NetworkReachability(clock: configuration.clock) { await transport.answers(ping) }
        transport.report(to: reachability)
        self.init(
            configuration, transport: transport, reachability: reachability, session: MaxLeapSession(configuration))
    }

    private init(
        _ configuration: MaxLeapConfiguration, transport: ReportingTransport, reachability: NetworkReachability,
        session: MaxLeapSession
    ) {
        self.configuration = configuration
        self.transport = transport
        self.reachability = reachability
        self.session = session
        opener = HTTPBackend(
            dialect: configuration.dialect, transport: transport, middleware: configuration.middleware,
            clock: configuration.clock)
        sender = HTTPBackend(
            dialect: configuration.dialect, transport: transport, authorizer: session,
            middleware: configuration.middleware, clock: configuration.clock)
    }

    /// A client of the same application and session whose requests pass a middleware, before those that are there.
    public func adding(_ middleware: any HTTPMiddleware) -> MaxLeapClient {
        var configuration = configuration
        configuration.middleware.insert(middleware, at: 0)
        return MaxLeapClient(configuration, transport: transport, reachability: reachability, session: session)
    }

    /// Users, in the words that all services share.
    public var users: MaxLeapUsers { MaxLeapUsers(client: self) }

    /// The application as a back end of a store. Its requests carry the token of ``session``, which is told if it has ended.
    /// - Parameter model: What the objects of the store are.
    public func backend(for model: ManagedObjectModel) -> HTTPBackend {
        var dialect = configuration.dialect
        dialect.model = model
        return HTTPBackend(
            dialect: dialect, transport: transport, authorizer: session, middleware: configuration.middleware,
            clock: configuration.clock)
    }

    var dialect: MaxLeapDialect { configuration.dialect }

    /// Sends a request. One that reads is sent again if the server cannot be reached or is not well.
    /// - Parameters:
    ///   - repeats: Whether it may be.
    ///   - opensSession: Whether it gets a session, so that none goes along.
    /// - Throws: ``RemoteError``, including for answers that report a failure.
    func send(
        _ request: WireRequest, _ options: RequestOptions, repeats: Bool = true, opensSession: Bool = false
    ) async throws(RemoteError) -> WireResponse {
        // Another session may have begun when the answer comes.
        let token = token(options, opensSession)
        var attempts = repeats && request.head.method == .get ? max(1, configuration.maximumAttempts) : 1
        var wait = 1 + configuration.jitter()
        while true {
            attempts -= 1
            do throws(RemoteError) {
                let response = try await (opensSession ? opener : sender).send(request, options: options)
                if let failure = dialect.failure(response) { throw failure }
                return response
            } catch {
                session.note(error, token: token)
                guard attempts > 0, error.isTransient, error.kind != .throttled else { throw error }
            }
            try await configuration.clock.sleep(seconds: wait)
            wait *= 2
        }
    }

    /// The token that a request carries.
    private func token(_ options: RequestOptions, _ opensSession: Bool) -> String? {
        let own = dialect.field(.sessionToken).flatMap { options.headers[$0.rawName] }
        return own ?? (opensSession ? nil : session.token)
    }

    func options(_ options: RequestOptions?) -> RequestOptions { options ?? configuration.requestOptions }
}
