import Foundation
import StrataStore

/// The transport of a client: logs, tells what it met to the client's ``NetworkReachability``, and gives the lack of an
/// answer the code that it has in this protocol.
final class MaxLeapTransport: HTTPTransport {
    private let transport: any HTTPTransport
    /// Set once, when the client is made. What watches the server asks it through this transport, so that the transport may
    /// not keep it.
    private let report = Guarded<@Sendable (NetworkReachability.Status) -> Void>({ _ in })

    private static let secrets = [
        "sessionToken", "newPassword", "authData", "smsCode", "_SessionToken", "_ApplicationKey", "_MasterKey",
        "verifyCode",
    ]

    init(_ configuration: MaxLeapConfiguration) {
        var policy = configuration.logPolicy
        policy.hide(Self.secrets)
        for flavor in MaxLeapFlavor.allCases {
            policy.hide([MaxLeapHeader.apiKey, .masterKey, .sessionToken].compactMap { $0.name(in: flavor) })
        }
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
            let code: MaxLeapError
            switch error.kind {
            case .unreachable:
                report(.notReachable)
                code = .connectionFailed
            case .timeout: code = .timeout
            default: throw error
            }
            throw code.error(error.message, kind: error.kind, underlying: [error])
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
