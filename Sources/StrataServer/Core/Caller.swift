#if Server
    /// Who asks, and of which database, whatever the dialect is.
    struct Caller: Sendable {
        /// Who the request speaks for.
        var principal: Principal
        var environment: Environment
        /// The address that the request came from.
        var client: String
        /// The folder of files, with URLs as the client reaches this server.
        var vault: FileVault

        init(_ request: ServerRequest, principal: Principal, environment: Environment, _ options: ServerOptions) {
            self.principal = principal
            self.environment = environment
            client = request.client
            vault = environment.files
            vault.baseURL = options.baseURL ?? request.header("Host").map { "\(request.scheme)://\($0)" } ?? ""
        }

        var database: Database { environment.database }
        /// Whether the request may make schemas and fields.
        var isDevelopment: Bool { environment.isDevelopment }
    }

    extension DataServer {
        /// What must hold before anything is looked at, so that strangers cannot even extend a schema.
        /// - Returns: The objects that the caller may do this with.
        @discardableResult
        func precheck(
            _ operation: AccessRules.Operation, _ schema: String, _ caller: Caller
        ) throws(ServerError) -> AccessGrant {
            let level = options.access.level(operation, schema: schema, isUser: options.accounts(schema) != nil)
            return try caller.principal.grant(level, "\(operation.rawValue) \(schema)")
        }

        /// What creates, changes and deletes objects for a caller.
        func writer(
            _ scope: DataScope, _ caller: Caller, passwords: [String: String] = [:],
            reading: @escaping @Sendable (JSONObject) -> ObjectBody = { ObjectBody($0) }
        ) -> ObjectWriter {
            ObjectWriter(
                scope: scope, principal: caller.principal, options: options, passwords: passwords, files: caller.vault,
                reading: reading)
        }
    }
#endif
