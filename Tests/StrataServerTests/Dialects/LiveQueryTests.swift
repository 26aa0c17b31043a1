#if Server && AsyncHTTP
    import Foundation
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import NIOWebSocket
    import StrataAsyncHTTP
    import StrataMaxLeap
    import StrataServer
    import StrataStore
    import Testing

    /// Live queries of Parse over real web sockets, from a server that speaks their protocol.
    @Suite struct LiveQueryTests {
        private static func model() throws -> ManagedObjectModel {
            try ManagedObjectModel(name: "Chat") {
                Entity("Message") {
                    Attribute("messageId", .string)
                    Attribute("text", .string, default: .value(""))
                }
            }
        }

        private func eventually(_ what: String, _ condition: () throws -> Bool) async throws {
            for _ in 0..<2000 {
                if try condition() { return }
                try await Task.sleep(for: .milliseconds(10))
            }
            Issue.record("\(what) did not come")
        }

        @Test("What others change comes by itself, also after the connection was lost")
        func changes() async throws {
            let live = try await LiveServer()
            try await withServer(model: Self.model(), { $0.dialects = Places.all }) { server in
                let client = try server.maxLeapClient(.parse)
                try await client.users.signUp("ann", password: "p")
                var options = RemoteStore.Options()
                options.fetchPolicy = .cacheOnly
                options.sync.changeDelay = 0.05
                options.sync.request.timeout = 300
                let store = try RemoteStore.open(
                    model: try Self.model(), backend: client.backend(for: try Self.model()),
                    location: .memory(name: nil), options: options)
                let container = try PersistentContainer(store: store)
                func messages() throws -> [String] {
                    try container.newContext().fetch(FetchRequest<ManagedObject>(entity: "Message"))
                        .compactMap { $0["messageId"] as? String }.sorted()
                }
                func others(_ id: String) async throws {
                    let entity = try #require(try Self.model().entity(named: "Message"))
                    _ = try await client.backend(for: try Self.model()).perform(
                        .create(entity: entity, [RemoteWrite(id: id, values: ["text": .value(.string("hi"))])]),
                        options: RequestOptions())
                }
                let query = try ParseLiveQuery(
                    client, classes: ["Message"], sockets: AsyncWebSocketTransport(),
                    address: "ws://127.0.0.1:\(live.port)/live")
                var watch: ServerChangeWatch? = store.synchronizes(with: query)
                try await eventually("the subscription") { live.received.contains { $0["op"] == "subscribe" } }
                let greeting = try #require(live.received.first)
                #expect(greeting["op"] == "connect" && greeting["applicationId"] == "app")
                #expect(greeting["sessionToken"]?.string == client.session.token)
                #expect(live.paths == ["/live"])
                #expect(live.received.last?["query"]?["className"] == "Message")
                try await others("a")
                live.say(#"{"op":"create","requestId":1,"object":{"className":"Message","objectId":"a"}}"#)
                try await eventually("the message") { try messages() == ["a"] }
                // A long text in parts, and a ping, are read.
                live.ping()
                try await others("b")
                live.sayInParts(
                    #"{"op":"update","requestId":1,"object":{"text":"\#(String(repeating: "x", count: 200_000))"}}"#)
                try await eventually("the second message") { try messages() == ["a", "b"] }
                try await eventually("the answer to the ping") { live.pongs == 1 }
                // What happened while nobody listened is there when the connection is.
                live.drop()
                try await others("c")
                try await eventually("the third message") { try messages() == ["a", "b", "c"] }
                // The message may have come with the one before it.
                try await eventually("the second connection") { live.paths.count == 2 }
                _ = watch
                watch = nil
                try await eventually("the end") { live.count == 0 }
                store.close()
            }
            await live.stop()
        }

        @Test("A server that refuses for good is not asked again")
        func refusal() async throws {
            let live = try await LiveServer(answer: #"{"op":"error","code":4,"error":"no","reconnect":false}"#)
            let client = try MaxLeapClient(
                MaxLeapConfiguration(
                    MaxLeapDialect(
                        .parse, address: MaxLeapAddress("http://127.0.0.1:\(live.port)/parse"), applicationID: "app")))
            let query = try ParseLiveQuery(client, classes: ["A"], sockets: AsyncWebSocketTransport())
            var count = 0
            for await _ in query.changes() { count += 1 }
            #expect(count == 0)
            #expect(live.paths == ["/parse"])
            await live.stop()
        }

        @Test("A connection that a server never answers is closed when it is too late, or nobody wants it any more")
        func late() async throws {
            let live = try await LiveServer(isMute: true)
            let request = WireRequest(
                HTTPRequest(method: .get, scheme: "ws", authority: "127.0.0.1:\(live.port)", path: "/"))
            await #expect {
                _ = try await AsyncWebSocketTransport().open(request, timeout: 3)
            } throws: {
                ($0 as? RemoteError)?.kind == .timeout
            }
            try await eventually("the end") { live.pending == 0 }
            let count = live.paths.count
            let listener = Task { try await AsyncWebSocketTransport().open(request, timeout: 300) }
            try await eventually("the request") { live.paths.count > count }
            listener.cancel()
            await #expect(throws: RemoteError.self) { _ = try await listener.value }
            try await eventually("the second end") { live.pending == 0 }
            await live.stop()
        }

        @Test("MaxLeap has none, keys go by TLS, and what speaks no web sockets is an error")
        func errors() async throws {
            let maxLeap = MaxLeapClient(
                MaxLeapConfiguration(try MaxLeapDialect(applicationID: "app", apiKey: "key")))
            #expect { try ParseLiveQuery(maxLeap, classes: [], sockets: AsyncWebSocketTransport()) } throws: {
                ($0 as? RemoteError)?.code == 108
            }
            let parse = MaxLeapClient(
                MaxLeapConfiguration(
                    try MaxLeapDialect(.parse, address: MaxLeapAddress("https://example.com"), applicationID: "app")))
            #expect {
                try ParseLiveQuery(
                    parse, classes: [], sockets: AsyncWebSocketTransport(), address: "ws://example.com")
            } throws: { ($0 as? RemoteError)?.code == 109 }
            func kind(_ authority: String) async -> RemoteError.Kind? {
                let request = WireRequest(
                    HTTPRequest(method: .get, scheme: "ws", authority: authority, path: "/"))
                do throws(RemoteError) {
                    _ = try await AsyncWebSocketTransport().open(request, timeout: 20)
                    return nil
                } catch {
                    return error.kind
                }
            }
            #expect(await kind("127.0.0.1:1") == .unreachable)
            try await withServer { server in
                let refused = await kind("127.0.0.1:\(server.port)")
                #expect(refused == .invalidAnswer || refused == .unreachable)
            }
        }
    }

    /// A server of live queries: takes connections and subscriptions, and says what it is told to.
    private final class LiveServer: Sendable {
        struct State {
            var channels: [ObjectIdentifier: any Channel] = [:]
            var received: [JSONValue] = []
            var paths: [String] = []
            var pongs = 0
            /// The requests that have no answer.
            var pending = 0
        }

        let state = Guarded(State())
        let port: Int
        private let listener: any Channel

        init(answer: String? = nil, isMute: Bool = false) async throws {
            let state = state
            listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelInitializer { channel in
                    let upgrader = NIOWebSocketServerUpgrader(
                        shouldUpgrade: { channel, head in
                            let promise = channel.eventLoop.makePromise(of: HTTPHeaders?.self)
                            state.withLock {
                                $0.paths.append(head.uri)
                                if isMute { $0.pending += 1 }
                            }
                            if isMute {
                                channel.closeFuture.whenComplete { _ in
                                    state.withLock { $0.pending -= 1 }
                                    promise.fail(ChannelError.eof)
                                }
                            } else {
                                promise.succeed([:])
                            }
                            return promise.futureResult
                        },
                        upgradePipelineHandler: { channel, _ in
                            channel.eventLoop.makeCompletedFuture {
                                try channel.pipeline.syncOperations.addHandler(Handler(state, answer))
                            }
                        })
                    return channel.pipeline.configureHTTPServerPipeline(
                        withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }))
                }
                .bind(host: "127.0.0.1", port: 0).get()
            port = listener.localAddress?.port ?? 0
        }

        var received: [JSONValue] { state.withLock(\.received) }
        var paths: [String] { state.withLock(\.paths) }
        var pongs: Int { state.withLock(\.pongs) }
        var count: Int { state.withLock(\.channels.count) }
        var pending: Int { state.withLock(\.pending) }

        private var channels: [any Channel] { state.withLock { Array($0.channels.values) } }

        func say(_ text: String) {
            for channel in channels {
                write(WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(string: text)), channel)
            }
        }

        func sayInParts(_ text: String) {
            let bytes = Array(text.utf8)
            let middle = bytes.count / 2
            for channel in channels {
                write(WebSocketFrame(fin: false, opcode: .text, data: ByteBuffer(bytes: bytes[..<middle])), channel)
                write(
                    WebSocketFrame(fin: true, opcode: .continuation, data: ByteBuffer(bytes: bytes[middle...])), channel
                )
            }
        }

        func ping() {
            for channel in channels {
                write(WebSocketFrame(fin: true, opcode: .ping, data: ByteBuffer(string: "?")), channel)
            }
        }

        func drop() { for channel in channels { channel.close(promise: nil) } }

        func stop() async {
            drop()
            try? await listener.close()
        }

        private func write(_ frame: WebSocketFrame, _ channel: any Channel) {
            channel.writeAndFlush(frame, promise: nil)
        }

        private final class Handler: ChannelInboundHandler {
            typealias InboundIn = WebSocketFrame
            typealias OutboundOut = WebSocketFrame

            private let state: Guarded<State>
            private let answer: String?

            init(_ state: Guarded<State>, _ answer: String?) {
                self.state = state
                self.answer = answer
            }

            func handlerAdded(context: ChannelHandlerContext) {
                let channel = context.channel
                state.withLock { $0.channels[ObjectIdentifier(channel)] = channel }
            }

            func channelInactive(context: ChannelHandlerContext) {
                let id = ObjectIdentifier(context.channel)
                state.withLock { $0.channels[id] = nil }
                context.fireChannelInactive()
            }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                let frame = unwrapInboundIn(data)
                switch frame.opcode {
                case .pong: state.withLock { $0.pongs += 1 }
                case .connectionClose: context.close(promise: nil)
                case .text:
                    guard let json = try? JSONValue(parsing: Data(String(buffer: frame.unmaskedData).utf8)) else {
                        return
                    }
                    state.withLock { $0.received.append(json) }
                    let reply =
                        answer
                        ?? (json["op"] == "connect" ? #"{"op":"connected"}"# : #"{"op":"subscribed","requestId":1}"#)
                    let text = WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(string: reply))
                    context.writeAndFlush(wrapOutboundOut(text), promise: nil)
                default: break
                }
            }
        }
    }
#endif
