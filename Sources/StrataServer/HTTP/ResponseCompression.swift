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
                try pipeline.addHandler(HTTPResponseCompressor(responseCompressionPredicate: Self.intent), position: .before(codec))
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
#endif
