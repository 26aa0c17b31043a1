#if Server
    import Foundation

    /// Custom code: what a server answers at `/<method>`, written by those who embed it.
    ///
    ///     let server = try StackMobServer(folder: "data", methods: [
    ///         "hello": { call throws(ServerError) in
    ///             ServerResponse(json: ["hello": .string(call.account ?? "stranger")])
    ///         }
    ///     ])
    ///
    /// A failure is a ``ServerError`` with the status of the answer; one of 503 with `retryAfter` lets clients try again.
    public typealias CustomMethod = @Sendable (CustomCall) async throws(ServerError) -> ServerResponse

    /// A call of custom code.
    public struct CustomCall: Sendable {
        /// The request as it came: method, headers and body.
        public let request: ServerRequest
        /// The parameters in the order of the call, without escapes; a name may come several times.
        public let parameters: [(name: String, value: String)]
        /// The key of the account that is logged in; nil for none.
        public let account: String?
        let server: StackMobServer
        let principal: Principal
        let environment: Environment
        let version: Int

        /// The account in the form of `sm_owner`.
        var owner: String? { principal.account?.owner }

        /// The first value of a parameter.
        public subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

        /// Answers another request in the name of the same account, as if its client had sent it: how custom code reads
        /// and writes objects.
        /// - Throws: ``ServerError`` as the client would be told.
        public func respond(to request: ServerRequest) async throws(ServerError) -> ServerResponse {
            try await server.answer(
                Call(
                    request: request, segments: ServerRequest.segments(request.path), principal: principal,
                    version: version, environment: environment))
        }
    }

    extension StackMobServer {
        /// Runs custom code, if the caller may.
        func run(_ method: @escaping CustomMethod, _ call: Call) async throws(ServerError) -> ServerResponse {
            let name = call.segments[0]
            _ = try call.principal.grant(options.access.level(method: name), "call \(name)")
            guard let parameters = QueryParameters.read(call.request.query) else {
                throw .badRequest("The query is not UTF-8.")
            }
            return try await method(
                CustomCall(
                    request: call.request, parameters: parameters, account: call.principal.account?.id, server: self,
                    principal: call.principal, environment: call.environment, version: call.version))
        }
    }
#endif
