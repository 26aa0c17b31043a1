#if Server
    import Foundation
    import NIOCore
    import NIOHTTP1
    import NIOWebSocket

    /// The frames of a web socket, in front of the part of the connection that knew HTTP, which is heard no more.
    ///
    /// It joins the parts of texts, answers pings, sends its own to see whether the client still answers, and closes the
    /// connection where the client breaks the rules of RFC 6455, does not read what it is sent, or is gone. Its stored properties
    /// are what each of these has to know of the others.
    final class SocketHandler: ChannelDuplexHandler, RemovableChannelHandler {
        typealias InboundIn = WebSocketFrame
        typealias InboundOut = Never
        typealias OutboundIn = NIOAny
        typealias OutboundOut = WebSocketFrame

        /// How long a client may take to answer that the connection is closed.
        private static let farewell = TimeAmount.seconds(2)

        private let line: SocketLine
        private let limits: ServerLimits.Sockets
        /// How long a client may take to read half of what may be unsent.
        private let patience: TimeAmount
        private var context: ChannelHandlerContext?
        private var text = SocketText()
        private var unsent = 0
        private var senders: [CheckedContinuation<Bool, Never>] = []
        private var stall: Scheduled<Void>?
        private var pings: RepeatedTask?
        private var isSilent = false
        private var (isClosing, holdsRead) = (false, false)

        init(_ line: SocketLine, _ limits: ServerLimits.Sockets, patience: Double) {
            self.line = line
            self.limits = limits
            self.patience = TimeAmount(seconds: patience)
        }

        // MARK: The connection

        func handlerAdded(context: ChannelHandlerContext) {
            self.context = context
            let interval = TimeAmount(seconds: limits.pingInterval)
            let own = NIOLoopBound(self, eventLoop: context.eventLoop)
            pings = context.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
                own.value.ping()
            }
            // While a request is answered, nothing is read.
            if context.channel.isActive { context.read() } else { end() }
        }

        func handlerRemoved(context: ChannelHandlerContext) {
            end()
            self.context = nil
        }

        func channelInactive(context: ChannelHandlerContext) {
            end()
            context.fireChannelInactive()
        }

        private func end() {
            isClosing = true
            pings?.cancel()
            stall?.cancel()
            line.end()
            release(false)
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            switch event {
            case is ChannelShouldQuiesceEvent: close(.goingAway)
            case ChannelEvent.inputClosed: context.close(promise: nil)
            default: context.fireUserInboundEventTriggered(event)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            switch error as? NIOWebSocketError {
            case .invalidFrameLength: close(.tooLarge)
            case .some: close(.protocolError)
            case nil: context.close(promise: nil)
            }
        }

        // MARK: Reading

        func read(context: ChannelHandlerContext) {
            // What has come is not read yet: the client has to wait.
            holdsRead = !line.hasRoom && !isClosing
            if !holdsRead { context.read() }
        }

        func readOn() {
            guard holdsRead, let context else { return }
            holdsRead = false
            context.read()
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let frame = unwrapInboundIn(data)
            isSilent = false
            if isClosing {
                if frame.opcode == .connectionClose { context.close(promise: nil) }
                return
            }
            guard frame.maskKey != nil, frame.reservedBits.isEmpty else { return close(.protocolError) }
            switch frame.opcode {
            case .ping: write(.pong, frame.unmaskedData)
            case .pong: break
            case .connectionClose:
                close(.normal)
                context.close(promise: nil)
            case .text, .binary, .continuation:
                switch text.take(frame, upTo: limits.messageSize) {
                case .part: break
                case .whole(let message): line.receive(message)
                case .fault(let reason): close(reason)
                }
            default: close(.protocolError)
            }
        }

        private func ping() {
            line.tick()
            guard !isSilent, !isClosing else {
                context?.close(promise: nil)
                return
            }
            isSilent = true
            write(.ping, ByteBuffer())
        }

        // MARK: Writing

        /// Sends a text, and goes on when there is room for more.
        func send(_ text: String, _ sender: CheckedContinuation<Bool, Never>) {
            guard !isClosing else { return sender.resume(returning: false) }
            write(.text, ByteBuffer(string: text))
            guard unsent > limits.unsentSize else { return sender.resume(returning: true) }
            senders.append(sender)
            guard stall == nil, let context else { return }
            let channel = context.channel
            stall = context.eventLoop.scheduleTask(in: patience) { channel.close(promise: nil) }
        }

        private func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer) {
            guard let context, !isClosing else { return }
            // Who sends pings and reads no answers is not waited for.
            guard opcode == .text || unsent <= limits.unsentSize * 2 else { return context.close(promise: nil) }
            let count = data.readableBytes + 10
            unsent += count
            let own = NIOLoopBound(self, eventLoop: context.eventLoop)
            context.writeAndFlush(wrapOutboundOut(WebSocketFrame(fin: true, opcode: opcode, data: data)))
                .whenComplete { _ in own.value.sent(count) }
        }

        private func sent(_ count: Int) {
            unsent -= count
            guard unsent <= limits.unsentSize / 2, !senders.isEmpty else { return }
            stall?.cancel()
            stall = nil
            release(true)
        }

        private func release(_ isOpen: Bool) {
            let waiting = senders
            senders = []
            for sender in waiting { sender.resume(returning: isOpen) }
        }

        /// Says why the connection is closed, and closes it when the client has answered.
        func close(_ reason: SocketClosing) {
            guard let context, !isClosing else { return }
            var data = ByteBuffer()
            data.write(webSocketErrorCode: WebSocketErrorCode(codeNumber: reason.rawValue))
            context.writeAndFlush(
                wrapOutboundOut(WebSocketFrame(fin: true, opcode: .connectionClose, data: data)), promise: nil)
            isClosing = true
            release(false)
            let channel = context.channel
            stall?.cancel()
            stall = context.eventLoop.scheduleTask(in: Self.farewell) { channel.close(promise: nil) }
            line.end()
            readOn()
        }

        // MARK: What HTTP still says

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            promise?.fail(ChannelError.ioOnClosedChannel)
        }

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            if mode == .output {
                promise?.succeed()
            } else {
                context.close(mode: mode, promise: promise)
            }
        }
    }

    /// Joins the parts of a message.
    struct SocketText {
        enum Result {
            /// More has to come.
            case part
            case whole(SocketLine.Arrival)
            case fault(SocketClosing)
        }

        private var parts = ByteBuffer()
        /// What the message is that has begun; nil between two.
        private var kind: WebSocketOpcode?

        mutating func take(_ frame: WebSocketFrame, upTo limit: Int) -> Result {
            guard (frame.opcode == .continuation) == (kind != nil) else { return .fault(.protocolError) }
            let kind = kind ?? frame.opcode
            var data = frame.unmaskedData
            guard parts.readableBytes + data.readableBytes <= limit else { return .fault(.tooLarge) }
            parts.writeBuffer(&data)
            self.kind = frame.fin ? nil : kind
            guard frame.fin else { return .part }
            defer { parts = ByteBuffer() }
            guard kind == .text else { return .whole(.binary) }
            guard let text = String(validating: parts.readableBytesView, as: UTF8.self) else {
                return .fault(.notUTF8)
            }
            return .whole(.text(text))
        }
    }
#endif
