#if Server
    import NIOCore
    import NIOHTTP1
    import NIOHTTPCompression

    /// Which answers are compressed. The service decides by a header, because only it knows the request. The header does not
    /// leave the server.
    enum ResponseCompression {
        /// What the service says of an answer that may be compressed.
        static let mark = "strata-compressible"
        /// Smaller answers fit one packet as they are.
        static let minimumSize = 1024

        static func intent(
            _ head: inout HTTPResponseHead, _ isSupported: Bool
        ) -> HTTPResponseCompressor.CompressionIntent {
            let isMarked = head.headers.contains(name: mark)
            if isMarked {
                head.headers.remove(name: mark)
                head.headers.add(name: "Vary", value: "Accept-Encoding")
                if isSupported { head.headers.remove(name: "Content-Length") }
            }
            return isMarked ? .compressIfPossible : .doNotCompress
        }
    }

    /// Keeps heads away from the compressor that answer no request, because it traps at the second head for one request: the
    /// invitation to send a body, and the refusal of bytes that are not a request.
    final class CompressorBypass: ChannelDuplexHandler, RemovableChannelHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias InboundOut = HTTPServerRequestPart
        typealias OutboundIn = HTTPServerResponsePart
        typealias OutboundOut = HTTPServerResponsePart

        private var compressor: ChannelHandlerContext?
        /// How many requests have no answer yet.
        private var waiting = 0

        init(_ compressor: ChannelHandlerContext) { self.compressor = compressor }

        func handlerRemoved(context: ChannelHandlerContext) { compressor = nil }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if case .head = unwrapInboundIn(data) { waiting += 1 }
            context.fireChannelRead(data)
        }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            guard case .head(let head) = unwrapOutboundIn(data) else {
                context.write(data, promise: promise)
                return
            }
            let isFinal = !(100..<200).contains(head.status.code)
            if isFinal, waiting > 0 {
                waiting -= 1
                context.write(data, promise: promise)
            } else {
                // From there it goes on after the compressor.
                (compressor ?? context).write(data, promise: promise)
            }
        }
    }
#endif
