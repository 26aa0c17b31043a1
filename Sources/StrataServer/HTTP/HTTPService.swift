#if Server
    import Foundation
    import HTTPTypes
    import Hummingbird
    import HummingbirdCore
    import HummingbirdTLS
    import Logging
    import Metrics
    import NIOCore
    import NIOHTTPTypes
    import NIOSSL
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

        /// Requests with more bytes than this are not read on the event loop of their connection.
        private static let largeBody = 64 * 1024

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
            let (limits, network) = (server.options.limits, server.options.network)
            try Self.checkExposure(server.options, host: host)
            for finding in ServerExposure(server.options).findings {
                server.logger.warning("open", metadata: ["finding": "\(finding)"])
            }
            let isSecure = tls != nil
            let budget = MemoryBudget(limit: limits.memory, percent: limits.memoryShare)
            // Behind a proxy each client has an address of its own, too.
            let sockets = ConnectionCounts(maximum: limits.sockets.perAddress, exempt: [])
            let responder = CallbackResponder<BasicContext> { request, context in
                await answer(request, on: context.channel, isSecure: isSecure, budget: budget, sockets)
            }
            let counts = ConnectionCounts(maximum: limits.connections.perAddress, exempt: network.trustedProxies)
            let http1 = HTTP1Channel.Configuration(
                additionalChannelHandlers: [
                    UnsentLimit(), ConnectionLimit(counts), ResponseCompression(),
                    RequestDeadline(seconds: limits.requests.timeout),
                ],
                idleTimeout: .nanoseconds(Int64(limits.connections.idleTimeout * 1e9)),
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 32 * 1024, maxHeaderListSize: 64 * 1024, maxHeaderFieldCount: 200))
            var configuration = ApplicationConfiguration(
                address: .hostname(host, port: port), serverName: "strata-server", backlog: 1024)
            configuration.availableConnectionsDelegate = MaximumAvailableConnections(limits.connections.count)
            var logger = server.logger
            // Errors on a connection concern only its client; the core logs requests.
            logger.logLevel = max(logger.logLevel, .error)
            let application = Application(
                responder: responder, server: HTTPServerBuilder { try channel($0, http1) },
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

        /// What a connection is read and written with.
        private func channel(
            _ responder: @escaping HTTPChannelHandler.Responder, _ configuration: HTTP1Channel.Configuration
        ) throws -> any ServerChildChannel {
            let channel = EventLoopChannel(base: HTTP1Channel(responder: responder, configuration: configuration))
            guard let tls else { return channel }
            let certificates = try Certificates(tls, logger: server.logger)
            return try TLSChannel(channel, tlsConfiguration: certificates.configuration())
        }

        private func answer(
            _ request: Request, on channel: any Channel, isSecure: Bool, budget: MemoryBudget,
            _ sockets: ConnectionCounts
        ) async -> Response {
            let limits = server.options.limits
            var headers = request.headers.map { (name: $0.name.rawName, value: $0.value) }
            if let authority = request.head.authority { headers.append(("Host", authority)) }
            let forwarded = ForwardedRequest(
                headers: headers, client: channel.remoteAddress?.ipAddress ?? "unknown", isSecure: isSecure,
                trusted: server.options.network.trustedProxies)
            if let host = forwarded.host {
                headers.removeAll { $0.name.lowercased() == "host" }
                headers.append(("Host", host))
            }
            let lease = MemoryBudget.Lease(budget, client: forwarded.client)
            var head = ServerRequest(
                request.method.rawValue, request.head.path ?? "/", headers: headers, client: forwarded.client,
                isSecure: forwarded.isSecure)
            do throws(ServerError) {
                head.body = try await Self.collect(request, from: channel, upTo: limits.requests.bodySize, lease)
                // While it comes in, a body takes its bytes; what it is read into is taken when it is all there.
                try lease.take(head.body.count * (MemoryBudget.weightOfBodies - 1))
            } catch {
                // The rest of the body is of no use, so the connection ends with the answer.
                return response(server.failure(error, to: head), to: request, on: channel, lease, closes: true)
            }
            let answer = await withDeadline(limits.requests.timeout, head, on: channel.eventLoop) { [server, head] in
                // Work that goes on after a deadline keeps its claim on memory.
                defer { withExtendedLifetime(lease) {} }
                return await server.respond(to: head)
            }
            if SocketHandshake.isAsked(for: head) {
                return await hold(answer, to: request, head, on: channel, budget, sockets)
            }
            let share = MemoryBudget.Lease(budget, client: forwarded.client)
            guard request.method == .get else {
                share.takeAnyway(answer.body.count)
                return response(answer, to: request, on: channel, share, closes: false)
            }
            do throws(ServerError) {
                try share.take(answer.body.count)
            } catch {
                return response(server.failure(error, to: head), to: request, on: channel, share, closes: false)
            }
            return response(answer, to: request, on: channel, share, closes: false)
        }

        /// Goes on with a web socket, if the answer begins one.
        private func hold(
            _ answer: ServerResponse, to request: Request, _ head: ServerRequest, on channel: any Channel,
            _ budget: MemoryBudget, _ sockets: ConnectionCounts
        ) async -> Response {
            let (limits, client) = (server.options.limits, head.client)
            func refusal(_ answer: ServerResponse) -> Response {
                response(
                    answer, to: request, on: channel, MemoryBudget.Lease(budget, client: client), closes: true)
            }
            guard let dialogue = answer.dialogue else { return refusal(answer) }
            defer { sockets.close(client) }
            guard sockets.open(client) else {
                let message = "An address may have \(limits.sockets.perAddress) web sockets."
                return refusal(server.failure(ServerError(429, message, retryAfter: 1), to: head))
            }
            let share = MemoryBudget.Lease(budget, client: client)
            defer { withExtendedLifetime(share) {} }
            do throws(ServerError) {
                try share.take(SocketUpgrade.size)
            } catch {
                return refusal(server.failure(error, to: head))
            }
            let upgrade = SocketUpgrade(channel: channel, limits: limits.sockets, patience: limits.answers.timeout) {
                MemoryBudget.Lease(budget, client: client)
            }
            let open = Meter(label: "websockets_open")
            open.increment()
            defer { open.decrement() }
            await upgrade.hold(dialogue, answering: answer)
            // The connection is closed: nobody sees this.
            return Response(status: .ok)
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
                        try lease.take(part.readableBytes)
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
            _ seconds: Double, _ request: ServerRequest, on loop: any EventLoop,
            _ body: @escaping @Sendable () async -> ServerResponse
        ) async -> ServerResponse {
            let first = FirstAnswer()
            // Reading a large body would keep the other connections of the loop waiting.
            let executor: any TaskExecutor = request.body.count > Self.largeBody ? threads : EventLoopExecutor(loop)
            // The work has a task of its own, because the caller goes on when the time is over. With a task, the loop also does
            // one step for all requests that have come in before it does the next step, which is faster: on two cores, 18,000
            // requests a second instead of 11,000 with `Task.immediate`.
            let work = Task(executorPreference: executor) { first.give(await body()) }
            let timer = loop.scheduleTask(in: .nanoseconds(Int64(seconds * 1e9))) {
                first.give(
                    server.failure(ServerError(408, "The request took longer than \(seconds) seconds."), to: request))
            }
            defer {
                timer.cancel()
                work.cancel()
            }
            return await withTaskCancellationHandler {
                await first.value
            } onCancel: {
                first.give(server.failure(ServerError(500, "There was no answer."), to: request))
            }
        }

        private func response(
            _ answer: ServerResponse, to request: Request, on channel: any Channel, _ lease: MemoryBudget.Lease,
            closes: Bool
        ) -> Response {
            var headers = HTTPFields()
            for (name, value) in answer.headers {
                if let name = HTTPField.Name(name), HTTPField.isValidValue(value) {
                    headers.append(HTTPField(name: name, value: value))
                }
            }
            if closes { headers[.connection] = "close" }
            // Tokens are not compressed: the length of what is compressed with a guess would tell whether it is right.
            let isSecret =
                answer.header("Cache-Control") == "no-store"
                || ["/accessToken", "/refreshToken"].contains { request.head.path?.hasSuffix($0) == true }
            if answer.body.count >= ResponseCompression.minimumSize, request.method != .head, !isSecret,
                answer.header("Content-Type").map(Self.isText) == true,
                let mark = HTTPField.Name(ResponseCompression.mark)
            {
                headers[mark] = "1"
            }
            let limits = server.options.limits.answers
            let body = AnswerBody(
                data: answer.body, lease: lease, channel: channel, patience: limits.timeout, rate: limits.rate)
            return Response(status: HTTPResponse.Status(code: answer.status), headers: headers, body: body.body)
        }

        private static func isText(_ type: String) -> Bool { type.hasPrefix("text/") || type.contains("json") }
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
