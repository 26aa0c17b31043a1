import StrataStore

/// A middleware that logs in again when the session has ended, and sends the request once more.
///
///     let again = LogInAgain { () async throws(RemoteError) in
///         let password = await askForPassword(of: "bob")
///         try await users.logIn("bob", password: password)
///     }
///     let backend = HTTPBackend(
///         dialect: dialect, transport: URLSessionTransport(), authorizer: credentials, middleware: [again])
///
/// The dialect decides whether the session has ended; see ``RemoteDialect/reaction(to:)``. Requests that find out at the same
/// time wait for one log-in. If it throws, they fail with its error. Requests with ``RequestOptions/renewsSession`` set to
/// false are left alone, among them those of log-ins.
public final class LogInAgain: HTTPMiddleware {
    private struct State {
        /// How many log-ins there have been.
        var count = 0
        var running: Task<Result<Void, RemoteError>, Never>?
    }

    private let logIn: @Sendable () async throws(RemoteError) -> Void
    private let state = Guarded(State())

    /// Makes a middleware.
    /// - Parameter logIn: Gets a session again. The error that it throws becomes that of the requests which wait for it.
    public init(_ logIn: @escaping @Sendable () async throws(RemoteError) -> Void) { self.logIn = logIn }

    /// Sends a request, and once more after a log-in.
    /// - Throws: ``RemoteError`` of the request, or of the log-in.
    public func send(_ request: WireRequest, next: HTTPNext) async throws(RemoteError) -> WireResponse {
        guard next.options.renewsSession else { return try await next(request) }
        let count = state.withLock(\.count)
        do throws(RemoteError) {
            let response = try await next(request)
            guard next.reaction(to: response) == .sessionEnded else { return response }
        } catch {
            // A session that could not be renewed ends a request before there is an answer.
            guard error.kind == .unauthorized else { throw error }
        }
        try await again(after: count)
        return try await next(request)
    }

    /// Waits for the log-in that follows the given number of others, and starts it if necessary.
    private func again(after count: Int) async throws(RemoteError) {
        let running = state.withLock { state -> Task<Result<Void, RemoteError>, Never>? in
            if state.count > count { return nil }
            if let running = state.running { return running }
            // No request's task owns it: were one cancelled in between, the others would have no session.
            let task = Task { await self.perform() }
            state.running = task
            return task
        }
        try await running?.value.get()
    }

    private func perform() async -> Result<Void, RemoteError> {
        let result: Result<Void, RemoteError>
        do throws(RemoteError) {
            result = .success(try await logIn())
        } catch {
            result = .failure(error)
        }
        state.withLock { state in
            state.running = nil
            if case .success = result { state.count += 1 }
        }
        return result
    }
}
