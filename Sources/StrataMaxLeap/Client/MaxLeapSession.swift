import Foundation
import StrataStore

/// The session of the user who is logged in: keeps it, and puts its token into requests.
public final class MaxLeapSession: RequestAuthorizer {
    private struct State {
        var token: String?
        var user: MaxLeapObject?
        var storageFailure: SessionStorageError?
        var endHandler: (@Sendable (RemoteError) -> Void)?
    }

    private let configuration: MaxLeapConfiguration
    private let state: Guarded<State>

    /// Takes up the session that was kept.
    init(_ configuration: MaxLeapConfiguration) {
        self.configuration = configuration
        var stored = State()
        do {
            if let data = try configuration.sessionStorage.session(named: configuration.sessionName) {
                let json = try JSONValue(parsing: data)
                stored.token = json["token"]?.string
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

    /// Sets who is told when the server says that the session has ended; nil for nobody. The session stays as it is until
    /// it is replaced, so that what waits is not lost.
    public func onEnd(_ handler: (@Sendable (RemoteError) -> Void)?) { state.withLock { $0.endHandler = handler } }

    /// Puts a session in place of the one that is there; nil forgets it here without telling the server.
    public func replace(token: String?, user: MaxLeapObject?) {
        state.withLock { state in
            state.token = token
            state.user = token == nil ? nil : user
            keep(&state)
        }
    }

    /// Takes over what the server reported about the user who is logged in.
    func note(_ user: MaxLeapObject) {
        state.withLock { state in
            guard state.token != nil, user.className == "_User", state.user?.objectId == user.objectId else { return }
            state.user = user
            if let token = user.values["sessionToken"]?.string { state.token = token }
            keep(&state)
        }
    }

    /// Tells who wants to know that the session has ended, if an error says so.
    func note(_ error: RemoteError) {
        let codes = [MaxLeapError.invalidSessionToken, .invalidSessionTokenOfParse].map(\.rawValue)
        guard error.domain == MaxLeapError.domain, codes.contains(error.code) else { return }
        state.withLock { $0.endHandler }?(error)
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

    /// A session that has ended cannot be renewed.
    public func recover(
        from response: WireResponse, to request: WireRequest, options: RequestOptions
    ) async throws(RemoteError) -> Bool { false }
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
