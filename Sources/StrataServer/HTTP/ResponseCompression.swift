#if Server
    import NIOCore
    import NIOHTTP1
    import NIOHTTPCompression
    import NIOHTTPTypes
    import NIOHTTPTypesHTTP1

    /// Puts the compressor of SwiftNIO in front of the part of the connection that knows only the bytes of HTTP/1.1.
    ///
    /// The service decides by a header which answers are compressed, because only it knows the request. The header does not
    /// leave the server.
    final class ResponseCompression: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = HTTPRequestPart
        typealias InboundOut = HTTPRequestPart

        /// What the service says of an answer that may be compressed.
        static let mark = "strata-compressible"
        /// Smaller answers fit one packet as they are.
        static let minimumSize = 1024

        func handlerAdded(context: ChannelHandlerContext) {
            do {
                let pipeline = context.pipeline.syncOperations
                let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
                let compressor = HTTPResponseCompressor(responseCompressionPredicate: Self.intent)
                try pipeline.addHandler(compressor, position: .before(codec))
                let bypass = CompressorBypass(try pipeline.context(handler: compressor))
                try pipeline.addHandler(bypass, position: .after(compressor))
            } catch {
                // Without the codec the connection is not one of HTTP/1.1; answers go as they are.
                context.fireErrorCaught(error)
            }
        }

        private static func intent(
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
    private final class CompressorBypass: ChannelDuplexHandler, RemovableChannelHandler {
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
