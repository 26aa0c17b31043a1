#if Server
    import Foundation
    import HummingbirdCore
    import HummingbirdTLS
    import Logging
    import NIOCore
    import NIOPosix
    import ServiceLifecycle
    import StrataStore

    /// Puts a ``DataServer`` on a socket: HTTP/1.1, and web sockets for live queries, with TLS if there are certificates.
    ///
    /// Requests are answered on the event loops of their connections and on threads of the service, so that the service also
    /// answers while other code of the program blocks Swift's cooperative threads.
    ///
    ///     try await HTTPService(server, host: "127.0.0.1", port: 8080).run()
    public struct HTTPService: Sendable {
        /// The files of a certificate.
        public struct TLSFiles: Sendable, Hashable {
            /// The chain in PEM form, the server's own certificate first.
            public var certificateChain: String
            /// The private key in PEM form.
            public var privateKey: String

            /// Names the files.
            public init(certificateChain: String, privateKey: String) {
                self.certificateChain = certificateChain
                self.privateKey = privateKey
            }
        }

        private let server: DataServer
        private let host: String
        private let port: Int
        private let tls: TLSFiles?
        /// Where connections are accepted and large bodies are read. Others may block the cooperative threads.
        private let threads = ThreadExecutor(label: "strata.server.tasks")

        /// Prepares a service; nothing is bound before ``run(endsOnSignals:onReady:)``.
        /// - Parameters:
        ///   - server: Who answers.
        ///   - host: The address to listen at.
        ///   - port: The port; 0 takes a free one.
        ///   - tls: The certificate, or nil for plain HTTP.
        public init(
            _ server: DataServer, host: String = "127.0.0.1", port: Int = 0, tls: TLSFiles? = nil
        ) {
            self.server = server
            self.host = host
            self.port = port
            self.tls = tls
        }

        /// Refuses rules that are open to strangers at an address that others reach.
        /// - Throws: ``ServerSetupError`` with what is open, unless ``NetworkOptions/isDeliberatelyOpen`` is set.
        public static func checkExposure(_ options: ServerOptions, host: String) throws(ServerSetupError) {
            try ServerExposure.check(options, host: host)
        }

        /// Serves until the task is cancelled or the process is told to end by SIGTERM or SIGINT: then no new requests
        /// are taken, those under way are answered, and the file is closed.
        /// - Parameters:
        ///   - endsOnSignals: Whether the signals end it; false where a larger program takes care of them.
        ///   - onReady: Called with the port once requests are taken.
        /// - Throws: ``ServerSetupError`` for a certificate that cannot be read, a port that is taken, and rules that are open
        ///   to strangers at an address that others reach.
        public func run(
            endsOnSignals: Bool = true, onReady: @escaping @Sendable (Int) async -> Void = { _ in }
        ) async throws {
            try Self.checkExposure(server.options, host: host)
            for finding in ServerExposure(server.options).findings {
                server.logger.warning("open", metadata: ["finding": "\(finding)"])
            }
            defer { server.close() }
            var logger = server.logger
            // Errors on a connection concern only its client; the core logs requests.
            logger.logLevel = max(logger.logLevel, .error)
            let configuration = HummingbirdCore.ServerConfiguration(
                address: .hostname(host, port: port), backlog: 1024,
                availableConnectionsDelegate: MaximumAvailableConnections(server.options.limits.connections.count))
            let service = try channel().server(
                configuration: configuration,
                onServerRunning: { channel in await onReady(channel.localAddress?.port ?? 0) },
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger)
            let group = ServiceGroup(
                configuration: .init(
                    services: [service], gracefulShutdownSignals: endsOnSignals ? [.sigterm, .sigint] : [],
                    logger: logger))
            do {
                try await withTaskExecutorPreference(threads) { try await group.run() }
            } catch let error as IOError {
                throw ServerSetupError(
                    "The server cannot listen at \(host):\(port): \(String(cString: strerror(error.errnoCode)))")
            }
        }

        /// What connections are set up with.
        private func channel() throws -> any ServerChildChannel {
            let connection = ServerConnection(
                environment: ConnectionEnvironment(server, isSecure: tls != nil, threads: threads))
            guard let tls else { return connection }
            let certificates = try Certificates(tls, logger: server.logger)
            return try TLSChannel(connection, tlsConfiguration: certificates.configuration())
        }
    }
#endif
