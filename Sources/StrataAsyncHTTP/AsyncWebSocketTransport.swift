#if AsyncHTTP
    import Foundation
    import HTTPTypes
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import NIOSSL
    import NIOWebSocket
    import StrataRemote
    import StrataStore

    /// Web sockets by SwiftNIO.
    public struct AsyncWebSocketTransport: WebSocketTransport {
        private let eventLoops: any EventLoopGroup
        private let tls: TLSConfiguration
        private let maximumMessage: Int

        /// Makes a transport.
        /// - Parameters:
        ///   - eventLoops: What the connections run on.
        ///   - tls: Which servers are trusted.
        ///   - maximumMessage: The most bytes of a text; a longer one ends the connection.
        public init(
            eventLoops: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
            tls: TLSConfiguration = .makeClientConfiguration(), maximumMessage: Int = 16 << 20
        ) {
            self.eventLoops = eventLoops
            self.tls = tls
            self.maximumMessage = maximumMessage
        }

        typealias Frames = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

        /// A connection before the server has answered.
        private struct Opening {
            let channel: any Channel
            let upgrade: EventLoopFuture<Frames?>
        }

        /// Opens a connection.
        /// - Throws: ``RemoteError`` if the server cannot be reached, or does not open a web socket.
        public func open(
            _ request: WireRequest, timeout: Double
        ) async throws(RemoteError) -> any WebSocketConnection {
            let scheme = request.head.scheme?.lowercased() ?? "https"
            let isSecure = scheme == "wss" || scheme == "https"
            guard let authority = request.head.authority, let place = HostAndPort(authority), !place.host.isEmpty else {
                throw TransportFailure.noAddress(request.head.authority ?? "nil")
            }
            let host = place.host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
            let port = place.port.map(Int.init) ?? (isSecure ? 443 : 80)
            let seconds = TransportFailure.seconds(timeout)
            do {
                let context = isSecure ? try NIOSSLContext(configuration: tls) : nil
                let head = Self.head(request, authority)
                let size = maximumMessage
                let opening = try await ClientBootstrap(group: eventLoops)
                    .connectTimeout(.nanoseconds(Int64(seconds * 1e9)))
                    .connect(host: host, port: port) { channel in
                        channel.eventLoop.makeCompletedFuture {
                            if let context {
                                try channel.pipeline.syncOperations.addHandler(
                                    NIOSSLClientHandler(
                                        context: context, serverHostname: Self.isAddress(host) ? nil : host))
                            }
                            return Opening(channel: channel, upgrade: try Self.upgrade(channel, head, size))
                        }
                    }
                let frames = try await Self.result(of: opening, within: seconds)
                guard let frames else {
                    throw TransportFailure.failure(
                        .invalidAnswer, .badServerResponse, "the server speaks no web sockets there")
                }
                return AsyncWebSocketConnection(frames, maximumMessage: maximumMessage)
            } catch {
                throw AsyncHTTPFailure.error(for: error, maximumBody: maximumMessage)
            }
        }

        private static func head(_ request: WireRequest, _ authority: String) -> HTTPRequestHead {
            var headers = HTTPHeaders([("Host", authority), ("Content-Length", "0")])
            for field in request.head.headerFields { headers.add(name: field.name.rawName, value: field.value) }
            return HTTPRequestHead(version: .http1_1, method: .GET, uri: request.head.path ?? "/", headers: headers)
        }

        private static func upgrade(
            _ channel: any Channel, _ head: HTTPRequestHead, _ size: Int
        ) throws -> EventLoopFuture<Frames?> {
            let upgrader = NIOTypedWebSocketClientUpgrader<Frames?>(maxFrameSize: size) { channel, _ in
                channel.eventLoop.makeCompletedFuture { try Frames(wrappingChannelSynchronously: channel) }
            }
            let configuration = NIOTypedHTTPClientUpgradeConfiguration<Frames?>(
                upgradeRequestHead: head, upgraders: [upgrader]
            ) { channel in
                channel.close(promise: nil)
                return channel.eventLoop.makeSucceededFuture(nil)
            }
            return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
                configuration: .init(upgradeConfiguration: configuration))
        }

        /// What is left of a connection that comes too late, or after nothing waits for it, is closed.
        private static func result(of opening: Opening, within seconds: Double) async throws -> Frames? {
            let channel = opening.channel
            let isLate = Guarded(false)
            let timer = channel.eventLoop.scheduleTask(in: .nanoseconds(Int64(seconds * 1e9))) {
                isLate.withLock { $0 = true }
                channel.close(promise: nil)
            }
            defer { timer.cancel() }
            do {
                return try await withTaskCancellationHandler {
                    try await opening.upgrade.get()
                } onCancel: {
                    channel.close(promise: nil)
                }
            } catch {
                if isLate.withLock({ $0 }) { throw TransportFailure.timeout(after: seconds) }
                try Task.checkCancellation()
                throw error
            }
        }

        private static func isAddress(_ host: String) -> Bool { (try? SocketAddress(ipAddress: host, port: 0)) != nil }
    }

    /// A web socket over a channel: answers pings, joins the parts of a text, and hands texts on.
    final class AsyncWebSocketConnection: WebSocketConnection {
        let messages: AsyncStream<String>
        private let channel: any Channel
        private let outgoing: AsyncStream<WebSocketFrame>.Continuation
        private let work: Task<Void, Never>

        init(_ frames: AsyncWebSocketTransport.Frames, maximumMessage: Int) {
            let (messages, incoming) = AsyncStream.makeStream(of: String.self)
            let (frameStream, outgoing) = AsyncStream.makeStream(of: WebSocketFrame.self)
            self.messages = messages
            self.outgoing = outgoing
            channel = frames.channel
            work = Task {
                do {
                    try await frames.executeThenClose { inbound, outbound in
                        try await withThrowingTaskGroup(of: Void.self) { group in
                            group.addTask {
                                for await frame in frameStream { try await outbound.write(frame) }
                            }
                            group.addTask {
                                var assembly = TextAssembly(maximum: maximumMessage)
                                for try await frame in inbound {
                                    switch frame.opcode {
                                    case .ping:
                                        outgoing.yield(Self.frame(.pong, frame.unmaskedData))
                                    case .connectionClose: return
                                    case .text, .continuation:
                                        if let text = try assembly.take(frame) { incoming.yield(text) }
                                    default: break
                                    }
                                }
                            }
                            // The one that ends first ends the connection.
                            defer { group.cancelAll() }
                            try await group.next()
                            outgoing.finish()
                        }
                    }
                } catch {
                    // The reader of the texts sees the end.
                }
                outgoing.finish()
                incoming.finish()
            }
        }

        func send(_ text: String) async throws(RemoteError) {
            guard channel.isActive,
                case .enqueued = outgoing.yield(Self.frame(.text, ByteBuffer(string: text)))
            else {
                throw TransportFailure.failure(.unreachable, .networkConnectionLost, "the web socket is closed")
            }
        }

        func close() {
            outgoing.finish()
            channel.close(promise: nil)
        }

        deinit {
            outgoing.finish()
            channel.close(promise: nil)
        }

        private static func frame(_ opcode: WebSocketOpcode, _ data: ByteBuffer) -> WebSocketFrame {
            WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
        }
    }

    /// Joins the parts of a text.
    private struct TextAssembly {
        let maximum: Int
        private var parts = ByteBuffer()
        private var isOpen = false

        init(maximum: Int) { self.maximum = maximum }

        /// - Returns: The text, if the frame ends it.
        mutating func take(_ frame: WebSocketFrame) throws -> String? {
            if frame.opcode == .text {
                parts.clear()
                isOpen = true
            }
            guard isOpen else { return nil }
            var data = frame.unmaskedData
            guard parts.readableBytes + data.readableBytes <= maximum else {
                throw NIOTooManyBytesError(maxBytes: maximum)
            }
            parts.writeBuffer(&data)
            guard frame.fin else { return nil }
            isOpen = false
            return String(buffer: parts)
        }
    }
#endif
