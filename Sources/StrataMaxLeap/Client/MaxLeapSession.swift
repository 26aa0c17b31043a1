import Foundation
import StrataStore

/// The session of the user who is logged in: keeps it, and puts its token into requests.
///
///     client.session.onEnd { error in print("log in again:", error.message) }
///     if client.session.isLoggedIn {
///         print(client.session.user?["username"] ?? "-")
///     }
///
/// Get it from ``MaxLeapClient/session``. It is kept in the configuration's storage, so that the user is logged in at the next
/// launch. A session of MaxLeap or Parse cannot be renewed: when the server says that it has ended, the handler of
/// ``onEnd(_:)`` is called, and the user has to log in again. The session stays until then, so that a store keeps what waits.
/// ``replace(token:user:)`` takes a session from elsewhere.
public final class MaxLeapSession: RequestAuthorizer {
    private struct State {
        var token: String?
        var user: MaxLeapObject?
        var storageFailure: SessionStorageError?
        var endHandler: (@Sendable (RemoteError) -> Void)?
        /// The token whose end the handler knows.
        var endedToken: String?
        /// Makes an anonymous user.
        var guest: Task<Result<MaxLeapObject, RemoteError>, Never>?
    }

    private let configuration: MaxLeapConfiguration
    private let state: Guarded<State>

    /// Takes up the session that was kept.
    init(_ configuration: MaxLeapConfiguration) {
        self.configuration = configuration
        var stored = State()
        var hasPassword = false
        do {
            if let data = try configuration.sessionStorage.session(named: configuration.sessionName) {
                let json = try JSONValue(parsing: data)
                stored.token = json["token"]?.string
                hasPassword = json["user"]?["password"] != nil
                stored.user = try json["user"]?.members.map { (members) throws(RemoteError) in
                    try MaxLeapObject("_User", members)
                }
            }
        } catch {
            stored = State(storageFailure: Self.failure(error, configuration))
            configuration.logger.warning(
                "the kept session cannot be read; nobody is logged in", metadata: ["strata.error": "\(error)"])
        }
        state = Guarded(stored)
        // Older versions kept a password that was saved with the user.
        if hasPassword, stored.token != nil { state.withLock { keep(&$0) } }
    }

    /// The token that requests carry; nil if nobody is logged in.
    public var token: String? { state.withLock { $0.token } }
    /// The user, as the server last told; nil if nobody is logged in.
    public var user: MaxLeapObject? { state.withLock { $0.user } }
    /// Whether somebody is logged in. What the server thinks of it shows with the next request.
    public var isLoggedIn: Bool { token != nil }
    /// Why what is kept is not the session as it is now. The session is good for this process all the same; the next launch
    /// finds an older one, or none. nil if all is well.
    public var storageFailure: SessionStorageError? { state.withLock { $0.storageFailure } }

    /// Sets what is called when the server says that the session has ended: once for each session, whether a request of the
    /// client finds out, or one of a store or a synchronization. nil for nothing. The session stays as it is until it is
    /// replaced, so that what waits is not lost. It is also called if middleware such as ``LogInAgain`` then begins another
    /// session.
    public func onEnd(_ handler: (@Sendable (RemoteError) -> Void)?) { state.withLock { $0.endHandler = handler } }

    /// Puts a session in place of the one that is there; nil forgets it here without telling the server.
    public func replace(token: String?, user: MaxLeapObject?) {
        state.withLock { state in
            state.token = token
            state.user = token == nil ? nil : user
            state.endedToken = nil
            keep(&state)
        }
    }

    /// Takes over what the server reported about the user who is logged in.
    func note(_ user: MaxLeapObject) {
        state.withLock { state in
            guard state.token != nil, user.className == "_User", state.user?.objectId == user.objectId else { return }
            state.user = user.isComplete ? user : state.user?.merged(with: user) ?? user
            if let token = user.values["sessionToken"]?.string { state.token = token }
            keep(&state)
        }
    }

    /// Calls the handler of the session's end, if an error says that it has ended and the handler does not know.
    /// - Parameter token: What the request carried. The end of another session does not matter.
    func note(_ error: RemoteError, token: String?) {
        let codes = [MaxLeapError.invalidSessionToken, .invalidSessionTokenOfParse].map(\.rawValue)
        guard error.domain == MaxLeapError.domain, codes.contains(error.code), let token else { return }
        let handler = state.withLock { state -> (@Sendable (RemoteError) -> Void)? in
            guard state.token == token, state.endedToken != token, let handler = state.endHandler else { return nil }
            state.endedToken = token
            return handler
        }
        handler?(error)
    }

    /// The task that makes an anonymous user, one for all callers of the same time; nil if a user is logged in.
    func guest(
        _ logIn: @escaping @Sendable () async throws(RemoteError) -> MaxLeapObject
    ) -> Task<Result<MaxLeapObject, RemoteError>, Never>? {
        state.withLock { state in
            if state.user != nil { return nil }
            if let running = state.guest { return running }
            // No caller's task owns it: were one cancelled in between, the account would be lost.
            let task = Task { await self.makeGuest(logIn) }
            state.guest = task
            return task
        }
    }

    private func makeGuest(
        _ logIn: @Sendable () async throws(RemoteError) -> MaxLeapObject
    ) async -> Result<MaxLeapObject, RemoteError> {
        let result: Result<MaxLeapObject, RemoteError>
        do throws(RemoteError) {
            result = .success(try await logIn())
        } catch {
            result = .failure(error)
        }
        state.withLock { $0.guest = nil }
        return result
    }

    /// Called with the lock held, so that the storage has what came last.
    private func keep(_ state: inout State) {
        let storage = configuration.sessionStorage
        do {
            if let token = state.token {
                var json: JSONObject = ["token": .string(token)]
                if let user = state.user { json["user"] = .object(try user.kept()) }
                try storage.keep(try JSONValue.object(json).data(), named: configuration.sessionName)
            } else {
                try storage.forget(named: configuration.sessionName)
            }
            state.storageFailure = nil
        } catch {
            state.storageFailure = Self.failure(error, configuration)
            configuration.logger.error(
                "the session is not kept as it is now; the next launch finds another one",
                metadata: ["strata.error": "\(error)"])
        }
    }

    private static func failure(_ error: any Error, _ configuration: MaxLeapConfiguration) -> SessionStorageError {
        error as? SessionStorageError
            ?? SessionStorageError(place: configuration.sessionName, reason: "\(error); log in again")
    }

    /// Puts the token into a request that has none.
    public func authorize(_ request: WireRequest, options: RequestOptions) async throws(RemoteError) -> WireRequest {
        guard let token, let field = configuration.dialect.field(.sessionToken),
            request.head.headerFields[field] == nil
        else { return request }
        var copy = request
        copy.head.headerFields[field] = token
        return copy
    }

    /// A session that has ended cannot be renewed; the handler of ``onEnd(_:)`` is called.
    public func recover(
        from response: WireResponse, to request: WireRequest, options: RequestOptions
    ) async throws(RemoteError) -> Bool {
        let dialect = configuration.dialect
        if let failure = dialect.failure(response), let field = dialect.field(.sessionToken) {
            note(failure, token: request.head.headerFields[field])
        }
        return false
    }
}

extension MaxLeapObject {
    /// What the server reported about the object, as it would tell it again.
    func kept() throws(RemoteError) -> JSONObject {
        var members: JSONObject = [:]
        for (name, value) in values.sorted(by: { $0.key < $1.key }) { members[name] = try value.json() }
        if let objectId { members["objectId"] = .string(objectId) }
        if let date = createdAt.flatMap(MaxLeapDate.text) { members["createdAt"] = .string(date) }
        if let date = updatedAt.flatMap(MaxLeapDate.text) { members["updatedAt"] = .string(date) }
        return members
    }
}
