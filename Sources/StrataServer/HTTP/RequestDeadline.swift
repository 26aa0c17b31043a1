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
            case .end: stop()
            case .body: break
            }
            context.fireChannelRead(data)
        }

        func channelInactive(context: ChannelHandlerContext) {
            stop()
            context.fireChannelInactive()
        }

        func handlerRemoved(context: ChannelHandlerContext) { stop() }

        private func start(_ context: ChannelHandlerContext) {
            stop()
            let channel = context.channel
            timer = context.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
        }

        private func stop() {
            timer?.cancel()
            timer = nil
        }
    }
#endif
