#if Server
    import Strata

    /// Why a request is not answered as its sender hoped: the status and the text of the answer's `error`.
    public struct ServerError: Error, Sendable, Hashable {
        /// The status of the answer.
        public var status: Int
        /// The text.
        public var message: String
        /// A second text, where the dialect has one.
        public var detail: String?
        /// After how many seconds the client may try again.
        public var retryAfter: Int?
        /// The methods that would be answered, for 405.
        public var allowed: String?
        /// What replaces the error's body, for 412: the object as the server has it.
        public var body: JSONValue?

        /// Collects what an answer says.
        public init(
            _ status: Int, _ message: String, detail: String? = nil, retryAfter: Int? = nil, body: JSONValue? = nil
        ) {
            self.status = status
            self.message = message
            self.detail = detail
            self.retryAfter = retryAfter
            self.body = body
        }

        static func badRequest(_ message: String) -> ServerError { ServerError(400, message) }
        /// The text is the dialect's, which clients compare; the detail is for people.
        static func unauthorized(_ detail: String) -> ServerError {
            ServerError(401, "Insufficient authorization", detail: detail)
        }
        static func forbidden(_ message: String) -> ServerError { ServerError(403, message) }
        static func notFound(_ message: String) -> ServerError { ServerError(404, message) }
        /// What no rule lets anybody do.
        static func nobodyMay(_ detail: String) -> ServerError {
            ServerError(405, "Invalid HTTP method", detail: detail)
        }
        static func notAllowed(_ message: String, _ allowed: String) -> ServerError {
            var error = ServerError(405, message)
            error.allowed = allowed
            return error
        }
        static func conflict(_ message: String) -> ServerError { ServerError(409, message) }

        /// The answer.
        var response: ServerResponse {
            var members: JSONObject = ["error": .string(message)]
            if let detail { members["error_description"] = .string(detail) }
            var headers: [(name: String, value: String)] = []
            if let retryAfter { headers.append(("Retry-After", String(retryAfter))) }
            if let allowed { headers.append(("Allow", allowed)) }
            return ServerResponse(status: status, json: body ?? .object(members), headers: headers)
        }

        /// What a failure of the store means to a client: its own mistake where it is one, 503 where trying again may
        /// help, else 500 without telling more than that.
        init(_ error: PersistenceError) {
            switch error {
            case .validation(let failures): self.init(400, failures.description)
            case .conflicts: self.init(409, "The object was changed at the same moment; read it and try again.")
            case .store(.invalidPredicate(let reason)): self.init(400, "\(reason)")
            case .store(.locked): self.init(503, "The store is busy.", retryAfter: 1)
            case .cancelled, .store(.cancelled): self.init(503, "The request was given up.", retryAfter: 1)
            case .store(.diskFull): self.init(503, "The server has no room left.")
            default: self.init(500, "The store failed.")
            }
        }
    }
#endif
