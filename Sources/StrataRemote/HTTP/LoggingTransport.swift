import Foundation
import HTTPTypes
import Logging

/// A transport that logs what another one sends and receives.
///
///     import Logging
///
///     let transport = LoggingTransport(URLSessionTransport(), dialect: dialect, logger: Logger(label: "network"))
///     let backend = HTTPBackend(dialect: dialect, transport: transport)
///
/// Requests and answers are logged at level `debug`, with headers and bodies at `trace`; a request without an answer at `info`.
/// Passwords, tokens and keys are never logged, and long values are cut: see ``LogPolicy``. It sees each attempt as it is sent,
/// after middleware and signature. Clients with a session of their own wrap their transport themselves if you set `logger` in
/// their configurations.
public struct LoggingTransport: HTTPTransport {
    private let transport: any HTTPTransport
    private let logger: Logger
    private let policy: LogPolicy

    /// Writes down what a transport does.
    /// - Parameters:
    ///   - dialect: The dialect of the requests, whose secrets are hidden, too.
    ///   - policy: What is written.
    public init(
        _ transport: any HTTPTransport, dialect: any RemoteDialect, logger: Logger, policy: LogPolicy = LogPolicy()
    ) {
        self.transport = transport
        self.logger = logger
        var policy = policy
        policy.hide(dialect.secretNames)
        self.policy = policy
    }

    /// Sends with the other transport.
    /// - Throws: ``RemoteError`` of the other transport.
    public func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
        guard logger.logLevel <= .info else { return try await transport.send(request, timeout: timeout) }
        let head: Logger.Metadata = [
            "strata.method": "\(request.head.method.rawValue)",
            "strata.address": "\(policy.address(of: request))",
        ]
        logger.debug("request", metadata: head.merging(details(request.head.headerFields, request.body)) { $1 })
        do throws(RemoteError) {
            let response = try await transport.send(request, timeout: timeout)
            let status: Logger.Metadata = ["strata.status": "\(response.status)"]
            logger.debug(
                "answer",
                metadata: head.merging(status) { $1 }
                    .merging(details(response.head.headerFields, response.body)) { $1 })
            return response
        } catch {
            let failure: Logger.Metadata = [
                "strata.error": "\(error.kind.rawValue)", "strata.code": "\(error.domain) \(error.code)",
            ]
            logger.info("request without an answer", metadata: head.merging(failure) { $1 })
            throw error
        }
    }

    private func details(_ fields: HTTPFields, _ body: Data?) -> Logger.Metadata {
        guard logger.logLevel <= .trace else { return [:] }
        var details: Logger.Metadata = ["strata.headers": .dictionary(policy.headers(fields).mapValues { .string($0) })]
        if let body, !body.isEmpty {
            details["strata.body"] = .string(policy.body(body, type: fields[.contentType]))
        }
        return details
    }
}
