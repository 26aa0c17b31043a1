#if Server
    import Foundation
    import StrataStore

    /// Custom code: what a server answers at `/<method>`, written by those who embed it.
    ///
    ///     let server = try DataServer(folder: "data", methods: [
    ///         "hello": { call throws(ServerError) in
    ///             ServerResponse(json: ["hello": .string(call.account ?? "stranger")])
    ///         }
    ///     ])
    ///
    /// It runs on threads of its own, so that it may block them. A failure is a ``ServerError`` with the status of the answer;
    /// one of 503 with `retryAfter` lets clients try again.
    public typealias CustomMethod = @Sendable (CustomCall) async throws(ServerError) -> ServerResponse

    /// A call of custom code.
    public struct CustomCall: Sendable {
        /// The request as it came: method, headers and body.
        public let request: ServerRequest
        /// The parameters in the order of the call, without escapes; a name may come several times.
        public let parameters: [(name: String, value: String)]
        /// The key of the account that is logged in; nil for none.
        public let account: String?
        let server: DataServer
        let caller: Caller
        let version: Int

        /// The account in the form of `sm_owner`.
        var owner: String? { caller.principal.account?.owner }

        /// The first value of a parameter.
        public subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }
    }

    extension DataServer {
        /// Custom code may compute for long, or block its thread, and must not keep the connections of an event loop waiting.
        private static let methodThreads = ThreadExecutor(label: "strata.server.methods")

        /// Runs custom code, if the caller may.
        /// - Parameter version: The API version that the client names, for dialects that have some.
        func runMethod(
            _ name: String, _ request: ServerRequest, _ caller: Caller, version: Int = 0
        ) async throws(ServerError) -> ServerResponse {
            guard let method = methods[name] else { throw .notFound("There is no custom code \(name.prefix(80)).") }
            _ = try caller.principal.grant(options.access.level(method: name), "call \(name)")
            guard let parameters = request.parameters else {
                throw .badRequest("The query is not UTF-8.")
            }
            let call = CustomCall(
                request: request, parameters: parameters, account: caller.principal.account?.id, server: self,
                caller: caller, version: version)
            return try await withTaskExecutorPreference(Self.methodThreads) { () throws(ServerError) in
                try await method(call)
            }
        }
    }
#endif
