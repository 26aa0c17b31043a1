#if Server
    /// A language that clients speak to the server: it reads requests, has the core do what they ask for, and spells what came
    /// of it. The core knows none of them; ``DialectMount`` says which are there, and where.
    protocol ServerDialect: Sendable {
        /// Prepares to answer requests of a mount. Requests make one each, so that it keeps nothing.
        init(_ server: DataServer, _ mount: DialectMount)

        /// Answers a request.
        /// - Parameter segments: The parts of its path after that of the mount, without escapes.
        func answer(_ request: ServerRequest, _ segments: [String]) async throws(ServerError) -> ServerResponse
        /// What the dialect does with a web socket that a request asks for; nil where it has none.
        func dialogue(_ request: ServerRequest, _ segments: [String]) throws(ServerError) -> (any SocketDialogue)?
        /// The answer to a request that failed, wherever it did.
        func failure(_ error: ServerError) -> ServerResponse
        /// Adds to any answer what the dialect adds to all of them.
        func finish(_ response: inout ServerResponse, to request: ServerRequest)

        /// The methods that scripts of other origins may use.
        static var methods: [String] { get }
        /// The headers of answers that scripts of other origins may read.
        static var exposedHeaders: [String] { get }
        /// Whether a part of a path is a word of the dialect, which may be logged, and not the name of an object or account.
        static func isWord(_ part: String) -> Bool
        /// Whether an account cannot have a name, because the dialect has a request at the path of that account.
        static func reservesAccountName(_ name: String) -> Bool
    }

    extension ServerDialect {
        func dialogue(_ request: ServerRequest, _ segments: [String]) throws(ServerError) -> (any SocketDialogue)? {
            nil
        }

        func finish(_ response: inout ServerResponse, to request: ServerRequest) {}

        static func reservesAccountName(_ name: String) -> Bool { false }
    }
#endif
