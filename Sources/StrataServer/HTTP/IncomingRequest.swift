#if Server
    import NIOCore
    import NIOHTTP1

    /// A request while it comes in and is answered.
    struct IncomingRequest {
        private(set) var request: ServerRequest
        /// Its claim on memory, which returns when the work on it is over, whether or not somebody still waits for the answer.
        let lease: MemoryBudget.Lease
        /// What an answer says about the connection, besides `close`.
        let connection: String?
        /// Whether the client wants the connection to end with the answer.
        let endsConnection: Bool
        /// The work on it.
        var work: Task<Void, Never>?
        private let hasTwoHosts: Bool

        init(_ head: HTTPRequestHead, from client: String, _ environment: ConnectionEnvironment) {
            let options = environment.server.options
            var headers: [(name: String, value: String)] = []
            headers.reserveCapacity(head.headers.count + 1)
            var hosts = 0
            for (name, value) in head.headers {
                if HeaderName.areEqual(name, "Host") { hosts += 1 }
                headers.append((name, value))
            }
            let forwarded = ForwardedRequest(
                headers: headers, client: client, isSecure: environment.isSecure,
                trusted: options.network.trustedProxies)
            if let host = forwarded.host {
                headers.removeAll { HeaderName.areEqual($0.name, "Host") }
                headers.append(("Host", host))
            }
            request = ServerRequest(
                head.method.rawValue, head.uri, headers: headers, client: forwarded.client,
                isSecure: forwarded.isSecure)
            lease = MemoryBudget.Lease(environment.budget, client: forwarded.client)
            endsConnection = !head.isKeepAlive
            // Clients of HTTP/1.0 end the connection unless they are told not to.
            connection = head.isKeepAlive && head.version.minor == 0 ? "keep-alive" : nil
            hasTwoHosts = hosts > 1
        }

        /// Looks at the head.
        /// - Throws: ``ServerError`` 400 for two hosts, 413 for a body that is announced to be too large.
        func checkHead(_ limits: ServerLimits) throws(ServerError) {
            if hasTwoHosts { throw .badRequest("A request names one Host.") }
            let announced = request.header("Content-Length").flatMap { Int($0) } ?? 0
            guard announced <= limits.requests.bodySize else { throw Self.tooLarge(limits) }
        }

        /// Whether the client waits to be told that its body is welcome.
        var isInvited: Bool { request.header("Expect")?.lowercased() == "100-continue" }

        /// Adds a part of the body.
        /// - Throws: ``ServerError`` 413 if the body gets too large, 503 if there is no memory for it.
        mutating func add(_ part: ByteBuffer, _ limits: ServerLimits) throws(ServerError) {
            guard request.body.count + part.readableBytes <= limits.requests.bodySize else {
                throw Self.tooLarge(limits)
            }
            try lease.take(part.readableBytes)
            request.body.append(contentsOf: part.readableBytesView)
        }

        /// The request, when it is all there.
        /// - Throws: ``ServerError`` 503 if there is no memory for what the body is read into. While it comes in, it takes its
        ///   bytes.
        func whole() throws(ServerError) -> ServerRequest {
            try lease.take(request.body.count * (MemoryBudget.weightOfBodies - 1))
            return request
        }

        private static func tooLarge(_ limits: ServerLimits) -> ServerError {
            ServerError(413, "The body is larger than \(limits.requests.bodySize) bytes.")
        }
    }
#endif
