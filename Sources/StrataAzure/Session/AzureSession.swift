import Foundation
import StrataStore

/// The user who is logged in: keeps the token, adds it to requests, and can have it renewed when the server refuses it.
///
///     client.session.onUnauthorized { _ async throws(RemoteError) in
///         do throws(AzureFailure) { return try await client.refresh() } catch { throw error.error }
///     }
///     print(client.session.isLoggedIn, client.session.user?.id ?? "-")
///
/// Get it from ``AzureClient/session``. Without a handler for ``onUnauthorized(_:)``, a request with an expired token fails
/// with status 401. The token goes to the application's own host and nowhere else. What it was last is kept in the
/// configuration's storage, so that the next launch finds it.
public final class AzureSession: RequestAuthorizer {
    /// Gets a user again after the server refused the token: by a renewal, or by a new log-in.
    public typealias Renewal = @Sendable (RemoteError) async throws(RemoteError) -> AzureUser?

    private struct State {
        var user: AzureUser?
        /// Counts log-ins and log-outs, so that a renewal which ends after one of them changes nothing.
        var generation = 0
        var renewal: Renewal?
        var running: Task<Result<Bool, RemoteError>, Never>?
        var storageFailure: SessionStorageError?
    }

    private let configuration: AzureConfiguration
    private let state: Guarded<State>

    init(_ configuration: AzureConfiguration) {
        self.configuration = configuration
        var stored = State()
        do {
            if let data = try configuration.sessionStorage.session(named: configuration.sessionName) {
                stored.user = try JSONDecoder().decode(AzureUser.self, from: data)
            }
        } catch {
            stored.storageFailure = Self.storageError(error, configuration)
        }
        state = Guarded(stored)
    }

    /// The user who is logged in; nil if nobody is.
    public var user: AzureUser? { state.withLock { $0.user } }
    /// Whether somebody is logged in, and the token has not ended by what it says itself.
    public var isLoggedIn: Bool {
        guard let user else { return false }
        return user.expiration.map { $0 > configuration.clock.now } ?? true
    }
    /// Why what is kept is not the session as it is now: it could not be read at launch, or not be written since. The
    /// session is good for this process all the same. nil if all is well.
    public var storageFailure: SessionStorageError? { state.withLock { $0.storageFailure } }

    /// Takes a user in place of the one there is; nil forgets that one here. The server is told nothing.
    public func replace(with user: AzureUser?) {
        state.withLock { state in
            state.generation += 1
            keep(user, in: &state)
        }
    }

    /// Sets what is asked for a user when the server refuses the token with status 401; afterwards the request is sent once
    /// more. One renewal at a time is on its way; requests that need one wait for it. nil lets such requests fail.
    ///
    ///     client.session.onUnauthorized { _ async throws(RemoteError) in
    ///         do throws(AzureFailure) { return try await client.refresh() } catch { throw error.error }
    ///     }
    public func onUnauthorized(_ renewal: Renewal?) { state.withLock { $0.renewal = renewal } }

    /// Called with the lock held, so that the storage has what came last.
    private func keep(_ user: AzureUser?, in state: inout State) {
        state.user = user
        do {
            if let user {
                try configuration.sessionStorage.keep(
                    JSONEncoder().encode(user), named: configuration.sessionName)
            } else {
                try configuration.sessionStorage.forget(named: configuration.sessionName)
            }
            state.storageFailure = nil
        } catch {
            state.storageFailure = Self.storageError(error, configuration)
        }
    }

    private static func storageError(_ error: any Error, _ configuration: AzureConfiguration) -> SessionStorageError {
        error as? SessionStorageError
            ?? SessionStorageError(
                place: configuration.sessionName, reason: "the saved session is not a user: \(error)")
    }

    /// Adds the user's token, if somebody is logged in and the request goes to the application.
    public func authorize(_ request: WireRequest, options: RequestOptions) async throws(RemoteError) -> WireRequest {
        guard let user, configuration.dialect.isOwn(scheme: request.head.scheme, authority: request.head.authority)
        else { return request }
        return configuration.dialect.tokenHeader.adding(user.token, to: request)
    }

    /// Renews the session after an answer with status 401, if ``onUnauthorized(_:)`` told how.
    /// - Throws: ``RemoteError`` if the session cannot be renewed.
    public func recover(
        from response: WireResponse, to request: WireRequest, options: RequestOptions
    ) async throws(RemoteError) -> Bool {
        guard let refused = configuration.dialect.tokenHeader.token(of: request),
            let failure = configuration.dialect.failure(response)
        else { return false }
        let running = state.withLock { state -> Task<Result<Bool, RemoteError>, Never>? in
            // Another request has renewed the session since this one was sent.
            if let user = state.user, user.token != refused { return Task { .success(true) } }
            if let running = state.running { return running }
            guard let renewal = state.renewal else { return nil }
            let generation = state.generation
            // No request's task owns it: were one cancelled in between, the new token would be lost.
            let task = Task { await self.perform(renewal, failure, generation) }
            state.running = task
            return task
        }
        guard let running else { return false }
        return try await running.value.get()
    }

    private func perform(
        _ renewal: Renewal, _ failure: RemoteError, _ generation: Int
    ) async -> Result<Bool, RemoteError> {
        let result: Result<AzureUser?, RemoteError>
        do throws(RemoteError) {
            result = .success(try await renewal(failure))
        } catch {
            result = .failure(error)
        }
        return state.withLock { state in
            state.running = nil
            return result.map { user in
                // A log-in or log-out in the meantime takes precedence.
                guard state.generation == generation else { return state.user != nil }
                guard let user else { return false }
                keep(user, in: &state)
                return true
            }
        }
    }
}
