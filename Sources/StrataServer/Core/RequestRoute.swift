#if Server
    /// Where a request leads.
    struct RequestRoute: Sendable {
        /// The parts of its path without escapes, or the reason why it has none.
        let segments: Result<[String], ServerError>
        /// The dialect that is spoken there; nil if there is none at its path and host.
        let dialect: (any ServerDialect)?
        /// How many parts of the path lead to the dialect.
        let depth: Int

        init(of request: ServerRequest, in server: DataServer) {
            segments = Result { () throws(ServerError) in try ServerRequest.segments(request.path) }
            let place = server.options.dialects.mount(for: request, (try? segments.get()) ?? [])
            dialect = place.map { DialectRegistry.type($0.mount.kind).init(server, $0.mount) }
            depth = place?.depth ?? 0
        }
    }
#endif
