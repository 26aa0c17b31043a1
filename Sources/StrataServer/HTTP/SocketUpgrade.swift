#if Server
    import HTTPTypes
    import NIOCore
    import NIOHTTP1
    import NIOWebSocket

    /// Takes a connection over from HTTP, and lets a dialogue have it.
    ///
    /// The handlers of frames come in front of those of HTTP, which see nothing more, and stay: they count the connection as
    /// long as it is there, and to them the request is still being answered.
    struct SocketUpgrade: Sendable {
        /// What a web socket takes of the memory of its client while nothing is said, in bytes.
        static let size = 64 * 1024

        let channel: any Channel
        let limits: ServerLimits.Sockets
        /// How long a client may take to read half of what may be unsent, in seconds.
        let patience: Double
        let share: @Sendable () -> any MemoryShare

        /// Answers with a response, and goes on until the connection is closed.
        func hold(_ dialogue: any SocketDialogue, answering response: ServerResponse) async {
            let carrier = Carrier(channel: channel)
            let line = SocketLine(carrier, share: share)
            let head = Self.head(response)
            // The handler has the line, and the line has the carrier.
            defer { carrier.detach() }
            do {
                try await channel.eventLoop.submit { try install(line, carrier, after: head) }.get()
            } catch {
                channel.close(promise: nil)
                return
            }
            await withTaskCancellationHandler {
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { await dialogue.hold(line) }
                    group.addTask { try? await channel.closeFuture.get() }
                    await group.next()
                    carrier.close(.normal)
                    // A read that is under way is of no use.
                    group.cancelAll()
                }
            } onCancel: {
                channel.close(promise: nil)
            }
        }

        /// All of it happens between two reads, so that no frame reaches the handlers of HTTP.
        private func install(_ line: SocketLine, _ carrier: Carrier, after head: String) throws {
            let pipeline = channel.pipeline.syncOperations
            let encoder = try pipeline.handler(type: HTTPResponseEncoder.self)
            try pipeline.context(handler: encoder).writeAndFlush(NIOAny(ByteBuffer(string: head)), promise: nil)
            let handler = SocketHandler(line, limits, patience: patience)
            carrier.attach(handler)
            let decoder = ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: limits.messageSize))
            for handler in [WebSocketFrameEncoder(), decoder, handler] as [any ChannelHandler] {
                try pipeline.addHandler(handler, position: .before(encoder))
            }
        }

        private static func head(_ response: ServerResponse) -> String {
            var lines = ["HTTP/1.1 101 Switching Protocols"]
            for (name, value) in response.headers where HTTPField.isValidValue(value) {
                lines.append("\(name): \(value)")
            }
            return (lines + ["", ""]).joined(separator: "\r\n")
        }

        /// The way from a dialogue to the handler of frames, which belongs to an event loop.
        private final class Carrier: SocketCarrier {
            private let channel: any Channel
            private let handler: NIOLoopBoundBox<SocketHandler?>

            init(channel: any Channel) {
                self.channel = channel
                handler = .makeEmptyBox(valueType: SocketHandler.self, eventLoop: channel.eventLoop)
            }

            func attach(_ handler: SocketHandler) { self.handler.value = handler }

            func detach() { channel.eventLoop.execute { self.handler.value = nil } }

            func send(_ text: String) async -> Bool {
                await withCheckedContinuation { continuation in
                    channel.eventLoop.execute {
                        guard let handler = self.handler.value else { return continuation.resume(returning: false) }
                        handler.send(text, continuation)
                    }
                }
            }

            func close(_ reason: SocketClosing) {
                channel.eventLoop.execute { self.handler.value?.close(reason) }
            }

            func readOn() {
                channel.eventLoop.execute { self.handler.value?.readOn() }
            }
        }
    }
#endif
