import Foundation
import Logging
import StrataStore

/// The session of the user who is logged in: keeps it, signs requests with it, and renews it.
///
///     if client.session.isLoggedOut {
///         try await client.logIn(username: "bob", password: password)
///     }
///     client.session.onStorageFailure { error in print(error) }
///
/// Each attempt of a request is signed on its own. Before a request whose access token has ended, and once after an answer with
/// status 401, the session is renewed with its refresh token, if it has one and the request's options allow it. One renewal at
/// a time is on its way; it goes on when the task that began it is cancelled, since the server has given out the next refresh
/// token by then. A request that needs a renewal meanwhile fails with code -103, or waits: see ``waiting``.
public final class UserSession: RequestAuthorizer {
    struct State {
        var credentials: SessionCredentials?
        /// Counts logins and logouts, so that a renewal which ends after one of them changes nothing.
        var generation = 0
        var renewal: Task<Result<Void, RemoteError>, Never>?
        var failureHandler: RefreshFailureHandler?
        var storageFailure: SessionStorageError?
        var storageHandler: (@Sendable (SessionStorageError) -> Void)?
    }

    let configuration: StackMobConfiguration
    let state: Guarded<State>
    /// Sends token requests, which are not signed.
    private let tokens: HTTPBackend

    init(_ configuration: StackMobConfiguration, transport: any HTTPTransport) {
        self.configuration = configuration
        tokens = HTTPBackend(dialect: configuration.dialect, transport: transport, clock: configuration.clock)
        var stored = State()
        do {
            if let data = try configuration.sessionStorage.session(named: configuration.sessionName) {
                stored.credentials = try JSONDecoder().decode(SessionCredentials.self, from: data)
            }
        } catch {
            stored.storageFailure = Self.storageError(error, configuration)
            configuration.logger.warning(
                "the kept session cannot be read; nobody is logged in", metadata: ["strata.error": "\(error)"])
        }
        state = Guarded(stored)
    }

    /// What requests are signed with; nil if nobody is logged in.
    public var credentials: SessionCredentials? { state.withLock { $0.credentials } }
    /// The primary key of the user who is logged in, if the server told it.
    public var userID: String? { credentials?.userID }
    /// Whether requests can be made for a user: with an access token that has not ended, or one that can be renewed.
    /// What the server thinks of it shows with the next request.
    public var isLoggedIn: Bool {
        guard let credentials else { return false }
        return credentials.refreshToken != nil || credentials.expiration > configuration.clock.now
    }
    /// The opposite of ``isLoggedIn``.
    public var isLoggedOut: Bool { !isLoggedIn }
    /// Whether the access token has ended by this machine's clock, or there is none.
    public var isExpired: Bool {
        guard let credentials else { return true }
        return credentials.expiration <= configuration.clock.now
    }

    /// Sets who is told when the session cannot be renewed, in place of the request's caller; nil for nobody.
    public func onRefreshFailure(_ handler: RefreshFailureHandler?) {
        state.withLock { $0.failureHandler = handler }
    }

    /// Why what is kept is not the session as it is now: it could not be read at launch, or not be written since. The
    /// session is good for this process all the same; the next launch finds an older one, or none, and the user has to log
    /// in again. nil if all is well.
    public var storageFailure: SessionStorageError? { state.withLock { $0.storageFailure } }

    /// Sets who is told when the session cannot be kept or read; nil for nobody. A ``storageFailure`` that already
    /// exists is told immediately.
    public func onStorageFailure(_ handler: (@Sendable (SessionStorageError) -> Void)?) {
        state.withLock { $0.storageHandler = handler }
        tellStorageFailure()
    }

    /// Puts a session in place of the one that is there, for instance one that came from elsewhere; nil forgets it here
    /// without telling the server.
    public func replace(with credentials: SessionCredentials?) {
        state.withLock { state in
            state.generation += 1
            keep(credentials, in: &state)
        }
        tellStorageFailure()
    }

    /// Called with the lock held, so that the storage has what came last; ``tellStorageFailure()`` follows without it.
    func keep(_ credentials: SessionCredentials?, in state: inout State) {
        state.credentials = credentials
        let storage = configuration.sessionStorage
        do {
            if let credentials {
                try storage.keep(JSONEncoder().encode(credentials), named: configuration.sessionName)
            } else {
                try storage.forget(named: configuration.sessionName)
            }
            state.storageFailure = nil
        } catch {
            state.storageFailure = Self.storageError(error, configuration)
            configuration.logger.error(
                "the session is not kept as it is now; the next launch finds another one",
                metadata: ["strata.error": "\(error)"])
        }
    }

    func tellStorageFailure() {
        let (failure, handler) = state.withLock { ($0.storageFailure, $0.storageHandler) }
        if let failure { handler?(failure) }
    }

    private static func storageError(_ error: any Error, _ configuration: StackMobConfiguration) -> SessionStorageError
    {
        error as? SessionStorageError
            ?? SessionStorageError(place: configuration.sessionName, reason: "the saved session is not valid: \(error)")
    }

    /// Asks for a session and takes it.
    /// - Returns: The user, as far as the server tells.
    func begin(_ grant: TokenGrant, _ options: RequestOptions) async throws(RemoteError) -> JSONObject {
        let answer = try await ask(grant, options)
        replace(with: SessionCredentials(answer, primaryKeyField: configuration.dialect.userPrimaryKeyField))
        return answer.user
    }

    func ask(_ grant: TokenGrant, _ options: RequestOptions) async throws(RemoteError) -> TokenAnswer {
        let request = try configuration.dialect.tokenRequest(grant, options: options)
        // The life of a token counts from the question at the latest, so that it never ends unnoticed.
        let asked = configuration.clock.now
        let response = try await tokens.send(request, options: options)
        return try configuration.dialect.tokenAnswer(response, now: asked)
    }

    /// Adds the signature of the session. Without a session the request goes as it is.
    /// - Throws: ``RemoteError`` if the session has ended and cannot be renewed.
    public func authorize(_ request: WireRequest, options: RequestOptions) async throws(RemoteError) -> WireRequest {
        try await authorize(request, options, waits: false)
    }

    /// Renews the session after an answer with status 401.
    /// - Throws: ``RemoteError`` if the session has ended and cannot be renewed.
    public func recover(
        from response: WireResponse, to request: WireRequest, options: RequestOptions
    ) async throws(RemoteError) -> Bool {
        try await recover(from: response, to: request, options, waits: false)
    }

    /// Signs as this session does; a request that needs a renewal while one is on its way waits for that. This is how
    /// stores sign: of many requests at once all go on when the session has been renewed.
    public var waiting: any RequestAuthorizer { WaitingAuthorizer(session: self) }

    fileprivate func authorize(
        _ request: WireRequest, _ options: RequestOptions, waits: Bool
    ) async throws(RemoteError) -> WireRequest {
        if options.renewsSession, isExpired, credentials?.refreshToken != nil {
            try await renew(after: nil, waits: waits)
        }
        guard let signer = credentials?.signer else { return request }
        // The server's clock, as far as the answer to the last question for a session told it.
        let seconds = Int64((configuration.clock.now.timeIntervalSince1970 + tokens.clockOffset).rounded(.down))
        return signer.signing(request, seconds: seconds, nonce: configuration.nonce())
    }

    fileprivate func recover(
        from response: WireResponse, to request: WireRequest, _ options: RequestOptions, waits: Bool
    ) async throws(RemoteError) -> Bool {
        guard options.renewsSession, let credentials, credentials.refreshToken != nil else { return false }
        // Another request has renewed the session since this one was signed.
        let signature = request.head.headerFields[.authorization] ?? ""
        guard signature.hasPrefix("MAC id=\"\(credentials.signer.accessToken)\"") else { return true }
        try await renew(after: configuration.dialect.failure(response), waits: waits)
        return true
    }
}

private struct WaitingAuthorizer: RequestAuthorizer {
    let session: UserSession

    func authorize(_ request: WireRequest, options: RequestOptions) async throws(RemoteError) -> WireRequest {
        try await session.authorize(request, options, waits: true)
    }

    func recover(
        from response: WireResponse, to request: WireRequest, options: RequestOptions
    ) async throws(RemoteError) -> Bool {
        try await session.recover(from: response, to: request, options, waits: true)
    }
}
