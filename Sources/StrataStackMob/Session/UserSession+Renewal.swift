import Foundation

extension UserSession {
    /// Renews the session now, whether or not its access token has ended.
    /// - Throws: ``RemoteError`` with code -100 if there is no refresh token, -103 if a renewal is on its way, or what
    ///   the server or the network said.
    public func refresh() async throws(RemoteError) {
        try await startRenewal(joining: false).value.get()
    }

    /// Renews the session for a request; afterwards the request can be signed.
    /// - Parameter original: The answer that led to it, if any did.
    /// - Throws: ``RemoteError`` with code -103 or -109, or what the handler of failures decided.
    func renew(after original: RemoteError?, waits: Bool) async throws(RemoteError) {
        let renewal = try startRenewal(joining: waits)
        guard case .failure(let failure) = await renewal.value else { return }
        let error = Self.error(failure, original)
        guard let handler = state.withLock({ $0.failureHandler }) else { throw error }
        let suspension = Suspension()
        // Only the handler holds the request, so that dropping it is noticed.
        Task { await handler(error, SuspendedRequest(error, suspension)) }
        let decision = await withTaskCancellationHandler {
            await suspension.decision()
        } onCancel: {
            suspension.decide(
                .failure(
                    RemoteError(
                        .cancelled, domain: "Strata", message: "the task was cancelled while its session was renewed")))
        }
        try decision.get()
    }

    /// The task of the renewal, which no request's task owns: were it cancelled between the server's answer and its
    /// arrival, the session would be lost.
    private func startRenewal(joining: Bool) throws(RemoteError) -> Task<Result<Void, RemoteError>, Never> {
        let started = state.withLock { state -> Result<Task<Result<Void, RemoteError>, Never>, RemoteError> in
            if let running = state.renewal {
                return joining
                    ? .success(running)
                    : .failure(
                        StackMobError.refreshTokenInProgress.error(
                            "another request renews the session right now; try again when it is done"))
            }
            guard let token = state.credentials?.refreshToken else {
                return .failure(StackMobError.invalid("there is no refresh token; log in first"))
            }
            let generation = state.generation
            let task = Task { await self.performRenewal(token, generation) }
            state.renewal = task
            return .success(task)
        }
        return try started.get()
    }

    private func performRenewal(_ token: String, _ generation: Int) async -> Result<Void, RemoteError> {
        let result: Result<TokenAnswer, RemoteError>
        do throws(RemoteError) {
            result = .success(try await ask(.refresh(token: token), RequestOptions()))
        } catch {
            result = .failure(error)
        }
        let outcome = state.withLock { state -> Result<Void, RemoteError> in
            state.renewal = nil
            guard case .success(let answer) = result else { return result.map { _ in } }
            // A log-in or log-out in the meantime takes precedence.
            guard state.generation == generation else { return .success(()) }
            var credentials = SessionCredentials(
                answer, primaryKeyField: configuration.dialect.userPrimaryKeyField)
            credentials.refreshToken = credentials.refreshToken ?? token
            credentials.userID = credentials.userID ?? state.credentials?.userID
            keep(credentials, in: &state)
            return .success(())
        }
        if case .success = outcome { tellStorageFailure() }
        return outcome
    }

    /// A refresh that met no server leaves the session as it was, and a store may go on with its mirror: the error says
    /// so by its kind.
    private static func error(_ failure: RemoteError, _ original: RemoteError?) -> RemoteError {
        StackMobError.refreshTokenFailed.error(
            "the session could not be renewed; log in again: \(failure.message)",
            kind: failure.isTransient ? failure.kind : nil, status: failure.status,
            underlying: [failure] + (original.map { [$0] } ?? []))
    }
}
