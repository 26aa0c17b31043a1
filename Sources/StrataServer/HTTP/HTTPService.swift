#if Server
    import Foundation
    import HTTPTypes
    import Hummingbird
    import HummingbirdCore
    import HummingbirdTLS
    import Logging
    import NIOCore
    import NIOHTTPTypes
    import NIOSSL

    /// Puts a ``StackMobServer`` on a socket: HTTP/1.1, with TLS if there are certificates.
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

        private let server: StackMobServer
        private let host: String
        private let port: Int
        private let tls: TLSFiles?
        private let threads: ServiceThreads?

        /// Prepares a service; nothing is bound before ``run(onReady:)``.
        /// - Parameters:
        ///   - server: Who answers.
        ///   - host: The address to listen at.
        ///   - port: The port; 0 takes a free one.
        ///   - tls: The certificate, or nil for plain HTTP.
        ///   - usesOwnThreads: Whether requests are answered outside of Swift's cooperative threads. Pass true if other
        ///     code of the program may block those, such as a test that calls this service synchronously.
        public init(
            _ server: StackMobServer, host: String = "127.0.0.1", port: Int = 0, tls: TLSFiles? = nil,
            usesOwnThreads: Bool = false
        ) {
            self.server = server
            self.host = host
            self.port = port
            self.tls = tls
            threads = usesOwnThreads ? ServiceThreads() : nil
        }

        /// Serves until the task is cancelled or the process is told to end by SIGTERM or SIGINT: then no new requests
        /// are taken, those under way are answered, and the file is closed.
        /// - Parameters:
        ///   - endsOnSignals: Whether the signals end it; false where a larger program takes care of them.
        ///   - onReady: Called with the port once requests are taken.
        /// - Throws: ``ServerSetupError`` for a certificate that cannot be read; the system's error if the port is taken.
        public func run(
            endsOnSignals: Bool = true, onReady: @escaping @Sendable (Int) async -> Void = { _ in }
        ) async throws {
            let limits = server.options.limits
            let isSecure = tls != nil
            let budget = MemoryBudget(limit: limits.memory)
            let responder = CallbackResponder<BasicContext> { request, context in
                await answer(request, on: context.channel, isSecure: isSecure, budget: budget)
            }
            let http1 = HTTP1Channel.Configuration(
                additionalChannelHandlers: [RequestDeadline(seconds: limits.requestTimeout)],
                idleTimeout: .nanoseconds(Int64(limits.idleTimeout * 1e9)),
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 32 * 1024, maxHeaderListSize: 64 * 1024, maxHeaderFieldCount: 200))
            var configuration = ApplicationConfiguration(
                address: .hostname(host, port: port), serverName: "strata-server", backlog: 1024)
            configuration.availableConnectionsDelegate = MaximumAvailableConnections(limits.connections)
            var logger = server.logger
            // What goes wrong on a connection is its client's affair; requests are logged by the core.
            logger.logLevel = max(logger.logLevel, .error)
            let application = Application(
                responder: responder,
                server: try tls.map {
                    try .tls(.http1(configuration: http1), tlsConfiguration: Self.configuration(of: $0))
                }
                    ?? .http1(configuration: http1),
                configuration: configuration,
                onServerRunning: { channel in await onReady(channel.localAddress?.port ?? 0) }, logger: logger)
            defer { server.close() }
            do {
                try await withTaskExecutorPreference(threads) {
                    try await application.runService(gracefulShutdownSignals: endsOnSignals ? [.sigterm, .sigint] : [])
                }
            } catch let error as IOError {
                throw ServerSetupError(
                    "The server cannot listen at \(host):\(port): \(String(cString: strerror(error.errnoCode)))")
            }
        }

        private static func configuration(of files: TLSFiles) throws -> TLSConfiguration {
            do {
                let chain = try NIOSSLCertificate.fromPEMFile(files.certificateChain).map {
                    NIOSSLCertificateSource.certificate($0)
                }
                let key = try NIOSSLPrivateKey(file: files.privateKey, format: .pem)
                var configuration = TLSConfiguration.makeServerConfiguration(
                    certificateChain: chain, privateKey: .privateKey(key))
                // Older versions have been given up (RFC 8996).
                configuration.minimumTLSVersion = .tlsv12
                return configuration
            } catch {
                throw ServerSetupError(
                    "The certificate \(files.certificateChain) or the key \(files.privateKey) cannot be read: \(error)")
            }
        }

        private func answer(
            _ request: Request, on channel: any Channel, isSecure: Bool, budget: MemoryBudget
        ) async -> Response {
            let limits = server.options.limits
            let lease = MemoryBudget.Lease(budget)
            let body: Data
            do throws(ServerError) {
                body = try await Self.collect(request, from: channel, upTo: limits.bodySize, lease)
            } catch {
                // The rest of the body is of no use, so the connection ends with the answer.
                return Self.response(error.response, on: channel, lease, limits, closes: true)
            }
            var headers = request.headers.map { (name: $0.name.rawName, value: $0.value) }
            if let authority = request.head.authority { headers.append(("Host", authority)) }
            let head = ServerRequest(
                request.method.rawValue, request.head.path ?? "/", headers: headers, body: body,
                client: channel.remoteAddress?.ipAddress ?? "unknown", isSecure: isSecure)
            let answer = await withDeadline(limits.requestTimeout) { [server] in
                // Work that goes on behind a deadline keeps its claim on memory.
                defer { withExtendedLifetime(lease) {} }
                return await server.respond(to: head)
            }
            let share = MemoryBudget.Lease(budget)
            guard request.method == .get else {
                share.takeAnyway(answer.body.count)
                return Self.response(answer, on: channel, share, limits, closes: false)
            }
            do throws(ServerError) {
                try share.take(answer.body.count)
            } catch {
                return Self.response(error.response, on: channel, share, limits, closes: false)
            }
            return Self.response(answer, on: channel, share, limits, closes: false)
        }

        private static func collect(
            _ request: Request, from channel: any Channel, upTo limit: Int, _ lease: MemoryBudget.Lease
        ) async throws(ServerError) -> Data {
            let announced = request.headers[.contentLength].flatMap { Int($0) } ?? 0
            guard announced <= limit else { throw ServerError(413, "The body is larger than \(limit) bytes.") }
            if request.headers[.expect]?.lowercased() == "100-continue" {
                // The client waits to be told that its body is welcome.
                channel.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .continue)), promise: nil)
            }
            var data = Data()
            var refusal: ServerError?
            do {
                for try await part in request.body {
                    guard data.count + part.readableBytes <= limit else {
                        refusal = ServerError(413, "The body is larger than \(limit) bytes.")
                        break
                    }
                    do throws(ServerError) {
                        try lease.take(part.readableBytes * MemoryBudget.weightOfBodies)
                    } catch {
                        refusal = error
                        break
                    }
                    data.append(contentsOf: part.readableBytesView)
                }
            } catch {
                refusal = .badRequest("The body broke off.")
            }
            if let refusal { throw refusal }
            return data
        }

        /// An answer in time, or 408. Work on the store that has begun goes on to its end: a write is never half done.
        private func withDeadline(
            _ seconds: Double, _ body: @escaping @Sendable () async -> ServerResponse
        ) async -> ServerResponse {
            let (answers, continuation) = AsyncStream.makeStream(of: ServerResponse.self)
            let work = Task(executorPreference: threads) { continuation.yield(await body()) }
            let timer = Task(executorPreference: threads) {
                try await Task.sleep(for: .seconds(seconds))
                continuation.yield(ServerError(408, "The request took longer than \(seconds) seconds.").response)
            }
            defer {
                timer.cancel()
                work.cancel()
            }
            for await answer in answers { return answer }
            return ServerError(500, "There was no answer.").response
        }

        private static func response(
            _ answer: ServerResponse, on channel: any Channel, _ lease: MemoryBudget.Lease, _ limits: ServerLimits,
            closes: Bool
        ) -> Response {
            var headers = HTTPFields()
            for (name, value) in answer.headers {
                if let name = HTTPField.Name(name), HTTPField.isValidValue(value) {
                    headers.append(HTTPField(name: name, value: value))
                }
            }
            if closes { headers[.connection] = "close" }
            let body = AnswerBody(
                data: answer.body, lease: lease, channel: channel, patience: .seconds(limits.answerTimeout))
            return Response(status: HTTPResponse.Status(code: answer.status), headers: headers, body: body.body)
        }
    }

    /// What Hummingbird keeps of a request: the connection is all that is needed beyond it.
    private struct BasicContext: InitializableFromSource, RequestContext {
        var coreContext: CoreRequestContextStorage
        let channel: any Channel

        init(source: ApplicationRequestContextSource) {
            coreContext = CoreRequestContextStorage(source: source)
            channel = source.channel
        }
    }
#endif
