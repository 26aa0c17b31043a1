#if Server
    import Crypto
    import Foundation

    /// The beginning of a web socket: a request that asks to go on with another protocol (RFC 6455, section 4.2).
    enum SocketHandshake {
        private static let version = "13"
        private static let suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

        /// Whether a request asks for a web socket.
        static func isAsked(for request: ServerRequest) -> Bool {
            has("websocket", in: "Upgrade", request) && has("upgrade", in: "Connection", request)
        }

        private static func has(_ word: String, in name: String, _ request: ServerRequest) -> Bool {
            request.headers.contains { header in
                HeaderName.areEqual(header.name, name)
                    && header.value.split(separator: ",").contains {
                        $0.trimmingCharacters(in: .whitespaces).lowercased() == word
                    }
            }
        }

        /// The answer that begins the web socket, or the one that asks for another version of the protocol.
        static func answer(
            _ request: ServerRequest, _ dialogue: any SocketDialogue
        ) throws(ServerError) -> ServerResponse {
            guard request.method == "GET" else { throw .notAllowed("A web socket begins with GET.", "GET") }
            guard request.header("Sec-WebSocket-Version") == version else {
                return ServerResponse(status: 426, headers: [("Sec-WebSocket-Version", version)])
            }
            let keys = request.headers.filter { HeaderName.areEqual($0.name, "Sec-WebSocket-Key") }
            guard keys.count == 1, Data(base64Encoded: keys[0].value)?.count == 16 else {
                throw .badRequest("A web socket needs one Sec-WebSocket-Key of 16 bytes.")
            }
            let digest = Insecure.SHA1.hash(data: Data((keys[0].value + suffix).utf8))
            var response = ServerResponse(
                status: 101,
                headers: [
                    ("Upgrade", "websocket"), ("Connection", "Upgrade"),
                    ("Sec-WebSocket-Accept", Data(digest).base64EncodedString()),
                ])
            response.dialogue = dialogue
            return response
        }
    }

    extension DataServer {
        /// Begins a web socket where a dialect has one.
        func socket(
            _ request: ServerRequest, _ segments: [String], _ dialect: (any ServerDialect)?
        ) throws(ServerError) -> ServerResponse {
            guard request.isSecure || !options.network.requiresTLS else {
                throw .forbidden("Requests are only answered over TLS.")
            }
            guard CrossOrigin.admitsSocket(request, options.network.origins) else {
                throw .forbidden("Pages of \(request.header("Origin")?.prefix(200) ?? "") may not use the server.")
            }
            guard let dialogue = try dialect?.dialogue(request, segments) else {
                throw .notFound("No web sockets are spoken at \(request.path.prefix(200)).")
            }
            return try SocketHandshake.answer(request, dialogue)
        }
    }
#endif
