import Foundation
import StrataStore

/// Is told that a session could not be renewed, in place of the caller whose request needed it.
///
/// The caller waits until the handler has decided: typically it asks for the password, logs in, and lets the request go
/// on with the new session.
/// - Parameters:
///   - error: Code -109; ``RemoteError/underlying`` has the error of the refresh and, if an answer with status 401 led
///     to it, that as well.
///   - request: The request that waits.
public typealias RefreshFailureHandler = @Sendable (_ error: RemoteError, _ request: SuspendedRequest) async -> Void

/// A request that waits for a ``RefreshFailureHandler``, because its session could not be renewed.
///
///     client.session.onRefreshFailure { error, request in
///         guard error.underlying.contains(where: { $0.kind == .unauthorized }) else { return request.fail() }
///         await logInAgain()
///         request.resume()
///     }
///
/// Call ``resume()`` after a new log-in, or ``fail(with:)``. The first decision counts. You may keep it and decide later, from
/// a log-in screen for example; if it is released without a decision, the request fails with the error that the handler was
/// given.
public final class SuspendedRequest: Sendable {
    private let error: RemoteError
    private let suspension: Suspension

    init(_ error: RemoteError, _ suspension: Suspension) {
        self.error = error
        self.suspension = suspension
    }

    deinit {
        suspension.decide(.failure(error))
    }

    /// Signs the request with the session as it is now, and sends it.
    public func resume() {
        suspension.decide(.success(()))
    }

    /// Fails the request.
    /// - Parameter other: What its caller gets; nil for the error of the refresh.
    public func fail(with other: RemoteError? = nil) {
        suspension.decide(.failure(other ?? error))
    }
}

/// A decision that is waited for once; the first one counts.
final class Suspension: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Result<Void, RemoteError>, Never>)
        case decided(Result<Void, RemoteError>)
    }

    private let state = Guarded(State.open)

    func decide(_ decision: Result<Void, RemoteError>) {
        let continuation = state.withLock { state -> CheckedContinuation<Result<Void, RemoteError>, Never>? in
            switch state {
            case .decided: return nil
            case .open:
                state = .decided(decision)
                return nil
            case .awaited(let continuation):
                state = .decided(decision)
                return continuation
            }
        }
        continuation?.resume(returning: decision)
    }

    func decision() async -> Result<Void, RemoteError> {
        await withCheckedContinuation { continuation in
            let early = state.withLock { state -> Result<Void, RemoteError>? in
                if case .decided(let decision) = state { return decision }
                state = .awaited(continuation)
                return nil
            }
            if let early { continuation.resume(returning: early) }
        }
    }
}
