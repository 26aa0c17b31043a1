#if Server
    import Strata

    /// Why a request is not answered as its sender hoped: the status, and a text for people. Each dialect has its own words for
    /// the causes that the server finds itself.
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
        /// What dialects tell apart.
        var cause = Cause.other
        /// The code of a failure that a dialect with numbers of its own has found.
        var code: Int?

        /// What is wrong, as far as a dialect has words of its own for it.
        enum Cause: Sendable, Hashable {
            /// What the status says.
            case other
            /// A log-in, role or key is missing.
            case authorization
            /// What no rule lets anybody do.
            case nobodyMay
            /// There is no such schema.
            case noSchema
            /// There is no such object that somebody may do this with.
            case noObject(AccessRules.Operation)
            /// The schema has no such field.
            case noField
            /// A value does not fit the field of a schema.
            case wrongType(path: String, isNew: Bool)
            /// A primary key cannot change.
            case fixedKey
            /// An object has the key already.
            case duplicateKey
            /// Another object has a value that may be there once.
            case duplicateValue
            /// A name and password, or a token in their place, are wrong.
            case credentials
            /// The password was right and is good only to set another one.
            case temporaryPassword
            /// A session has ended, or never was.
            case session
            /// The object is not in the version that the sender expects.
            case changed
            /// The body is not what it should be.
            case malformed
        }

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

        init(_ status: Int, _ cause: Cause, _ message: String) {
            self.init(status, message)
            self.cause = cause
        }

        static func badRequest(_ message: String) -> ServerError { ServerError(400, message) }
        static func unauthorized(_ message: String) -> ServerError { ServerError(401, .authorization, message) }
        static func forbidden(_ message: String) -> ServerError { ServerError(403, message) }
        static func notFound(_ message: String) -> ServerError { ServerError(404, message) }
        static func nobodyMay(_ message: String) -> ServerError { ServerError(405, .nobodyMay, message) }
        static func notAllowed(_ message: String, _ allowed: String) -> ServerError {
            var error = ServerError(405, message)
            error.allowed = allowed
            return error
        }
        static func conflict(_ message: String) -> ServerError { ServerError(409, message) }
        static func noSchema(_ name: String) -> ServerError {
            ServerError(404, .noSchema, "There is no schema \(name.prefix(80)).")
        }
        static func noField(_ schema: ServerSchema, _ name: some StringProtocol) -> ServerError {
            ServerError(400, .noField, "The schema \(schema.name) has no field \(name.prefix(80)).")
        }
        static func noObject(
            _ schema: String, _ id: String, _ operation: AccessRules.Operation = .read
        ) -> ServerError {
            ServerError(
                404, .noObject(operation),
                "There is no object \"\(id.prefix(200))\" in schema \(schema) that you may \(operation.rawValue).")
        }

        /// The answer where no dialect has other words for it.
        var response: ServerResponse { response(message: message, detail: detail) }

        /// The answer with an `error` and a description of it.
        func response(message: String, detail: String?) -> ServerResponse {
            var members: JSONObject = ["error": .string(message)]
            if let detail { members["error_description"] = .string(detail) }
            return ServerResponse(status: status, json: body ?? .object(members), headers: headers)
        }

        /// The headers of any answer to the failure.
        var headers: [(name: String, value: String)] {
            var headers: [(name: String, value: String)] = []
            if let retryAfter { headers.append(("Retry-After", String(retryAfter))) }
            if let allowed { headers.append(("Allow", allowed)) }
            return headers
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
