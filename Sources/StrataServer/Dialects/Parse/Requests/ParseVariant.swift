#if Server
    /// A service with Parse's requests: the form of its answers, its error codes, and the requests that only it has.
    protocol ParseVariant: Sendable {
        // MARK: Requests

        /// The beginnings of the names of its headers, such as `X-Parse`.
        var headerFamilies: [String] { get }

        /// The header that names the file to be deleted, for a service whose path does not name it.
        func file(named request: ServerRequest) -> String?

        /// The maximum number of objects in an answer to a query.
        /// - Parameters:
        ///   - asked: The number in the request.
        ///   - usual: The number for a request without one.
        ///   - maximum: The server's limit.
        func limit(_ asked: Int?, usual: Int, maximum: Int) -> Int

        /// Answers a request that only this service has; nil for all others.
        func answer(_ call: ParseCall, _ service: ParseService) async throws(ServerError) -> ServerResponse?

        // MARK: Answers

        /// The answer to a request that has no result.
        var accepted: JSONObject { get }
        /// The members that begin the answer to an update or a deletion.
        var written: JSONObject { get }
        /// The status of the answer to the deletion of a file.
        var statusOfDeletedFile: Int { get }
        /// Whether the answer to `users/me` has the token of the session.
        var repeatsSession: Bool { get }

        /// The answer to a creation.
        /// - Parameter path: The place of the new object.
        func created(_ members: JSONObject, at path: String) -> ServerResponse

        /// A result as a member of an answer.
        /// - Parameter name: The name for a service that gives the result one.
        func wrapped(_ result: JSONValue, as name: String) -> JSONValue

        // MARK: Failures

        /// The codes of failures for which services have different ones.
        var codes: ParseVariantCodes { get }
        /// The message for a request without a session.
        var noSessionMessage: String { get }
        /// The message for a wrong name or password; nil for the server's own.
        var credentialsMessage: String? { get }

        /// The answer to a write whose condition is not met; nil for an error.
        var unmet: JSONObject? { get }
    }

    /// The codes of failures for which services with Parse's requests have different ones.
    struct ParseVariantCodes: Sendable {
        /// The request has no session.
        let noSession: Int
        /// The session of the request has ended.
        let session: Int
        /// The name or the password is wrong, and the status of that answer.
        let credentials: (code: Int, status: Int)
        /// There are too many requests.
        let rateLimited: Int
    }
#endif
