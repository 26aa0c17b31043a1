#if Server
    import NIOCore
    import NIOHTTPTypes

    /// Closes a connection whose request takes too long to come in, however steadily its bytes drip: a byte a minute
    /// is enough to keep an idle timeout away.
    ///
    /// The clock runs from the opening of the connection to the end of the first request's head, and for each request
    /// from the end of its head to the end of its body. Between two requests the idle timeout counts, which sees only
    /// whole heads.
    final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
        typealias InboundIn = HTTPRequestPart
        typealias OutboundIn = HTTPResponsePart
        typealias OutboundOut = HTTPResponsePart

        private let limit: TimeAmount
        /// When the connection is closed; nil while nothing is expected.
        private var deadline: NIODeadline?
        /// Looks at the deadline. The timer is set again when it fires, and not for each request.
        private var timer: Scheduled<Void>?

        init(seconds: Double) { limit = .nanoseconds(Int64(seconds * 1e9)) }

        func channelActive(context: ChannelHandlerContext) {
            start(context)
            context.fireChannelActive()
        }

        func handlerAdded(context: ChannelHandlerContext) {
            // Behind TLS or in a child channel the connection may be active already.
            if context.channel.isActive { start(context) }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head: start(context)
            case .end: deadline = nil
            case .body: break
            }
            context.fireChannelRead(data)
        }

        func channelInactive(context: ChannelHandlerContext) {
            end()
            context.fireChannelInactive()
        }

        func handlerRemoved(context: ChannelHandlerContext) { end() }

        private func start(_ context: ChannelHandlerContext) {
            deadline = .now() + limit
            if timer == nil { setTimer(at: .now() + limit, context.channel) }
        }

        private func setTimer(at time: NIODeadline, _ channel: any Channel) {
            timer = channel.eventLoop.assumeIsolated().scheduleTask(deadline: time) { [self] in
                timer = nil
                guard let deadline else { return }
                if deadline <= .now() { channel.close(promise: nil) } else { setTimer(at: deadline, channel) }
            }
        }

        private func end() {
            deadline = nil
            timer?.cancel()
            timer = nil
        }
    }
#endif
