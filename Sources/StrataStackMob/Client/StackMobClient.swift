import Foundation
import Logging

/// An application on a StackMob server: its users, its data by schema, its code, and push messages.
///
///     let client = try StackMobClient(publicKey: key, apiVersion: "0")
///     try await client.logIn(username: "bob", password: password)
///     let capitals = try await client.dataStore.query(StackMobQuery("city").where("capital", .equal, true))
///
/// Create one client for an application and share it: it keeps the session of one user, and reports in ``reachability`` whether
/// the server answers. For managed objects, open a ``StackMobStore`` with it.
///
/// A client may be used from any task, and a request ends when its task is cancelled. Methods throw ``RemoteError``: answers
/// that report a failure have the domain `HTTP` and the status as code, what the client itself finds has the domain `SMError`
/// and a code of ``StackMobError``.
public final class StackMobClient: Sendable {
    /// What the client was made with.
    public let configuration: StackMobConfiguration
    /// The session of the user who is logged in.
    public let session: UserSession
    /// Whether the server can be reached. Every request of the client adds to what is known.
    public let reachability: NetworkReachability
    let transport: ReportingTransport
    /// Sends the client's own requests.
    let sender: HTTPBackend

    /// Makes a client. Nothing is sent; a session that was kept is taken up.
    public convenience init(_ configuration: StackMobConfiguration) {
        let transport = ReportingTransport(configuration)
        // No path at all: the question is for the server, not for a schema.
        let ping = configuration.dialect.plainRequest(.head, "", query: "", secure: false, RequestOptions())
        let reachability = NetworkReachability(clock: configuration.clock) { await transport.answers(ping) }
        transport.report(to: reachability)
        self.init(
            configuration, transport: transport, reachability: reachability,
            session: UserSession(configuration, transport: transport))
    }

    private init(
        _ configuration: StackMobConfiguration, transport: ReportingTransport, reachability: NetworkReachability,
        session: UserSession
    ) {
        self.configuration = configuration
        self.transport = transport
        self.reachability = reachability
        self.session = session
        sender = HTTPBackend(
            dialect: configuration.dialect, transport: transport, authorizer: session,
            middleware: configuration.middleware, clock: configuration.clock)
    }

    /// A client of the same application and session whose requests pass a middleware, before those that are there.
    public func adding(_ middleware: any HTTPMiddleware) -> StackMobClient {
        var configuration = configuration
        configuration.middleware.insert(middleware, at: 0)
        return StackMobClient(configuration, transport: transport, reachability: reachability, session: session)
    }

    /// Makes a client for an application with everything else as usual.
    /// - Throws: ``RemoteError`` of domain ``StackMobError/Exception/clientInitialization`` if the public key has not 36
    ///   characters or the version is not a whole number.
    public convenience init(publicKey: String, apiVersion: String = "0") throws(RemoteError) {
        self.init(try StackMobConfiguration(publicKey: publicKey, apiVersion: apiVersion))
    }

    /// The application as a back end of a store. Its requests are signed by ``session``.
    /// - Parameter model: What the objects of the store are.
    public func backend(for model: ManagedObjectModel) -> HTTPBackend {
        var dialect = configuration.dialect
        dialect.model = model
        return HTTPBackend(
            dialect: dialect, transport: transport, authorizer: session.waiting, middleware: configuration.middleware,
            clock: configuration.clock)
    }

    /// Users, in the words that all services share.
    public var users: StackMobUsers { StackMobUsers(client: self) }

    /// Data by schema, without objects.
    public var dataStore: DataStore { DataStore(self) }

    /// Push messages.
    /// - Throws: ``RemoteError`` with code -100 if the configuration has no private key to sign them with.
    public var push: PushClient {
        get throws(RemoteError) { try PushClient(self) }
    }
}
