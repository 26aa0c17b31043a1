#if Server
    extension CustomCall {
        /// Answers another request in the name of the same account, as if its client had sent it: how custom code reads
        /// and writes objects. The request is in StackMob's dialect, whatever that of the client is, so that custom code works
        /// for all of them.
        /// - Throws: ``ServerError`` as the client would be told.
        public func respond(to request: ServerRequest) async throws(ServerError) -> ServerResponse {
            try await StackMobService(server, DialectMount(.stackMob)).answer(
                Call(
                    request: request, segments: ServerRequest.segments(request.path), caller: caller,
                    version: version))
        }
    }
#endif
