import Foundation
import StrataStore

/// The transport of a client: logs, tells what it met to the client's ``NetworkReachability``, and gives the lack of an
/// answer the code that it has in this protocol.
final class StackMobTransport: HTTPTransport {
    private let transport: any HTTPTransport
    /// Set once, when the client is made. What watches the server asks it through this transport, so that the transport
    /// may not keep it.
    private let report = Guarded<@Sendable (NetworkReachability.Status) -> Void>({ _ in })

    init(_ configuration: StackMobConfiguration) {
        var policy = configuration.logPolicy
        policy.hide([configuration.dialect.userPasswordField])
        transport = LoggingTransport(configuration.transport, logger: configuration.logger, policy: policy)
    }

    func report(to reachability: NetworkReachability) {
        report.withLock { $0 = { [weak reachability] status in reachability?.note(status) } }
    }

    func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
        let report = report.withLock { $0 }
        do throws(RemoteError) {
            let response = try await transport.send(request, timeout: timeout)
            report(.reachable)
            return response
        } catch {
            guard error.kind == .unreachable || error.kind == .timeout else { throw error }
            if error.kind == .unreachable { report(.notReachable) }
            throw StackMobError.networkNotReachable.error(error.message, kind: error.kind, underlying: [error])
        }
    }

    /// Whether anything comes back.
    func answers(_ request: WireRequest) async -> Bool {
        do {
            _ = try await transport.send(request, timeout: 10)
            return true
        } catch {
            return false
        }
    }
}
