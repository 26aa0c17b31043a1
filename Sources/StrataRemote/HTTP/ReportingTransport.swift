import StrataStore

/// The transport of a client: tells what it met to the client's ``NetworkReachability``, and gives the lack of an answer the
/// error that it has in the client's protocol.
package final class ReportingTransport: HTTPTransport {
    private let transport: any HTTPTransport
    private let errorWithoutAnswer: @Sendable (RemoteError) -> RemoteError
    /// Set once, when the client is made. What watches the server asks it through this transport, so that the transport may
    /// not keep it.
    private let report = Guarded<@Sendable (NetworkReachability.Status) -> Void>({ _ in })

    /// - Parameters:
    ///   - transport: What carries the requests.
    ///   - errorWithoutAnswer: The error that takes the place of one of kind ``RemoteError/Kind/unreachable`` or
    ///     ``RemoteError/Kind/timeout``.
    package init(
        _ transport: any HTTPTransport, errorWithoutAnswer: @escaping @Sendable (RemoteError) -> RemoteError
    ) {
        self.transport = transport
        self.errorWithoutAnswer = errorWithoutAnswer
    }

    /// Names what is told from now on whether the server answers.
    package func report(to reachability: NetworkReachability) {
        report.withLock { $0 = { [weak reachability] status in reachability?.note(status) } }
    }

    package func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
        let report = report.withLock { $0 }
        do throws(RemoteError) {
            let response = try await transport.send(request, timeout: timeout)
            report(.reachable)
            return response
        } catch {
            guard error.kind == .unreachable || error.kind == .timeout else { throw error }
            if error.kind == .unreachable { report(.notReachable) }
            throw errorWithoutAnswer(error)
        }
    }

    /// Whether anything comes back within ten seconds.
    package func answers(_ request: WireRequest) async -> Bool {
        do {
            _ = try await transport.send(request, timeout: 10)
            return true
        } catch {
            return false
        }
    }
}
