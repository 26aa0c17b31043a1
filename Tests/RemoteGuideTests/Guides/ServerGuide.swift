#if Server
    import Strata
    import StrataServer

    /// The examples of Documentation/Server.md.
    enum ServerGuide {
        // As in the guide, where lines are less indented. swift-format-ignore
        static func serve(_ model: ManagedObjectModel) async throws {
            var options = ServerOptions()
            options.dialects = [DialectMount(.stackMob), DialectMount(.parse, path: "/parse", applicationID: "my-app")]
            let server = try DataServer(
                folder: "data", model: model, options: options,
                methods: [
                    "hello": { call throws(ServerError) in
                        ServerResponse(json: ["hello": .string(call.account ?? "stranger")])
                    }
                ])
            try await HTTPService(server, port: 8080).run()
        }
    }
#endif
