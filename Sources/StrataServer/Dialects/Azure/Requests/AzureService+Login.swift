#if Server
    import Foundation
    import Strata

    // Log-ins by a token of a provider, or by name and password of an account here.
    extension AzureService {
        /// `POST login/<provider>`, in the second version `.auth/login/<provider>`. The provider of the server's own accounts is
        /// `custom`, or the name of their schema.
        func logIn(_ call: AzureCall, _ provider: String) async throws(ServerError) -> ServerResponse {
            let body = try call.members(options)
            let name = provider.lowercased()
            guard let accounts = options.accountSchemas.first else { throw .notFound("The server has no accounts.") }
            if let social = SocialProvider.allCases.first(where: { $0.rawValue.lowercased() == name }) {
                return try await logIn(by: social, body, call, accounts)
            }
            guard let own = name == "custom" ? accounts : options.accounts(name) else {
                throw ServerError(501, "This server does not speak to \(provider.prefix(80)).")
            }
            guard let user = (body["username"] ?? body[own.keyField])?.string,
                let password = (body["password"] ?? body[own.passwordField])?.string, !user.isEmpty
            else { throw .badRequest("A log-in takes username and password.") }
            // The dialect has no way to ask for another password. A temporary one, which came by mail, becomes the password.
            let admission = try await server.authenticate(user, password, new: password, own, call.caller)
            let sessions = server.sessions
            return try await server.admit(admission, own, call.caller) { (account, schema, scope) throws(ServerError) in
                try Self.session(account, schema, sessions, scope)
            }
        }

        private func logIn(
            by provider: SocialProvider, _ body: JSONObject, _ call: AzureCall, _ accounts: AccountSchema
        ) async throws(ServerError) -> ServerResponse {
            let names =
                switch provider {
                case .facebook: [("fb_at", "access_token")]
                case .twitter: [("tw_tk", "access_token"), ("tw_ts", "access_token_secret")]
                case .gigya: [("gigya_uid", "uid"), ("gigya_sig", "signature"), ("gigya_ts", "timestamp")]
                }
            var values: [String: String] = [:]
            for (name, member) in names {
                guard let text = body[member]?.string else { throw .badRequest("The token lacks \(member).") }
                values[name] = text
            }
            let proof = try await server.prove(SocialCredential(provider: provider, values: values))
            let server = server
            return try await call.caller.database.write { (scope) throws(ServerError) in
                let schema = try scope.schema(accounts.name)
                let link = try scope.link(provider.rawValue, proof.identity.identifier, schema)
                var account = try link?.text("user").flatMap { (user) throws(ServerError) in
                    try scope.object(schema, user)
                }
                if account == nil {
                    try server.precheck(.create, accounts.name, call.caller)
                    account = try scope.insertAccount(ObjectWriter.newKey(), schema)
                }
                guard let account else { throw Sessions.refusal("There is no account.") }
                try scope.keep(proof, for: account.text(schema.keyField) ?? "", schema)
                return try Self.session(account, schema, server.sessions, scope)
            }
        }

        private static func session(
            _ account: ManagedObject, _ schema: ServerSchema, _ sessions: Sessions, _ scope: DataScope
        ) throws(ServerError) -> ServerResponse {
            let token = try sessions.openBearer(account, schema, scope: scope)
            let id = "\(schema.name):\(account.text(schema.keyField) ?? "")"
            return ServerResponse(
                json: ["user": ["userId": .string(id)], "authenticationToken": .string(token)],
                headers: [("Cache-Control", "no-store")])
        }

        private func account(_ call: AzureCall) throws(ServerError) -> Principal.Account {
            guard let account = call.caller.principal.account else { throw .unauthorized("Nobody is logged in.") }
            return account
        }

        /// `GET .auth/refresh`: another token in place of the one that is shown.
        func refresh(_ call: AzureCall) async throws(ServerError) -> ServerResponse {
            let (account, sessions) = (try account(call), server.sessions)
            return try await call.caller.database.write { (scope) throws(ServerError) in
                let schema = try scope.schema(account.schema)
                guard let object = try scope.object(schema, account.id) else {
                    throw ServerError(401, .session, "The account is gone.")
                }
                try scope.endSession(account.token)
                return try Self.session(object, schema, sessions, scope)
            }
        }

        /// `GET .auth/logout`.
        func logOut(_ call: AzureCall) async throws(ServerError) -> ServerResponse {
            let account = try account(call)
            return try await call.caller.database.write { (scope) throws(ServerError) in
                try scope.endSession(account.token)
                return ServerResponse(json: [:])
            }
        }
    }
#endif
