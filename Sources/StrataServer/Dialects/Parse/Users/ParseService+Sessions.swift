#if Server
    import Foundation
    import Strata

    // Sessions of users, and their passwords.
    extension ParseService {
        /// The schema of users.
        func accounts() throws(ServerError) -> AccountSchema {
            guard let accounts = options.accountSchemas.first else {
                throw ParseCode.invalidClassName.error("The server has no accounts.")
            }
            return accounts
        }

        /// The user who is logged in.
        func user(_ call: ParseCall) throws(ServerError) -> Principal.Account {
            guard let account = call.caller.principal.account else {
                var error = ServerError(400, variant.noSessionMessage)
                error.code = variant.codes.noSession
                throw error
            }
            return account
        }

        /// The user as the answer to a log-in has them, with what only they may see.
        func own(
            _ account: ManagedObject, _ schema: ServerSchema, _ call: ParseCall, _ scope: DataScope
        ) throws(ServerError) -> JSONObject {
            let encoder = ParseEncoder(service: self, scope: scope, caller: call.caller, shape: .everything)
            var members = try encoder.json([account], schema)[0]
            var data: JSONObject = [:]
            for (provider, link) in try scope.links(of: account.text(schema.keyField) ?? "", schema).sorted(by: {
                $0.key < $1.key
            }) {
                data[provider.lowercased()] = ["id": link.text("identifier").map(JSONValue.string) ?? .null]
            }
            if !data.isEmpty { members["authData"] = .object(data) }
            return members
        }

        /// An answer with a token in it, which nobody on the way keeps.
        func secret(_ members: JSONObject, status: Int = 200) -> ServerResponse {
            ServerResponse(status: status, json: .object(members), headers: [("Cache-Control", "no-store")])
        }

        /// `GET login?username=…&password=…`, or POST with the two in the body.
        func logIn(_ call: ParseCall) async throws(ServerError) -> ServerResponse {
            let accounts = try accounts()
            func text(_ name: String) -> String { (call.body[name] ?? call.parameters[name])?.string ?? "" }
            let (name, password) = (text("username"), text("password"))
            guard !name.isEmpty else { throw ParseCode.usernameMissing.error("username is required") }
            guard !password.isEmpty else { throw ParseCode.passwordMissing.error("password is required") }
            // The dialect has no way to ask for another password. A temporary one, which came by mail, becomes the password.
            let admission = try await server.authenticate(name, password, new: password, accounts, call.caller)
            return try await server.admit(admission, accounts, call.caller) {
                (account, schema, scope) throws(ServerError) in
                var members = try own(account, schema, call, scope)
                members["sessionToken"] = .string(try server.sessions.openBearer(account, schema, scope: scope))
                return secret(members)
            }
        }

        /// `GET logout`, or POST.
        func logOut(_ call: ParseCall) async throws(ServerError) -> ServerResponse {
            let account = try user(call)
            return try await call.caller.database.write { (scope) throws(ServerError) in
                try scope.endSession(account.token)
                return ServerResponse(json: .object(variant.accepted))
            }
        }

        /// `GET users/me`. The libraries of Parse, which become a user by a token, take the session from the answer.
        func currentUser(_ call: ParseCall) async throws(ServerError) -> ServerResponse {
            let account = try user(call)
            return try await call.caller.database.read { (scope) throws(ServerError) in
                let schema = try scope.schema(account.schema)
                guard let object = try scope.object(schema, account.id) else {
                    throw ServerError(401, .session, "The user is gone.")
                }
                var members = try own(object, schema, call, scope)
                if variant.repeatsSession { members["sessionToken"] = call.session.map(JSONValue.string) }
                return secret(members)
            }
        }

        /// `POST requestPasswordReset`: mails a temporary password. The answer is the same whether there is such a user or
        /// not.
        func requestPasswordReset(_ call: ParseCall) throws(ServerError) -> ServerResponse {
            guard let email = call.body["email"]?.string, !email.isEmpty else {
                throw ParseCode.emailMissing.error("you must provide an email")
            }
            try server.forgotPassword(email, byAddress: true, try accounts(), call.caller)
            return ServerResponse(json: .object(variant.accepted))
        }
    }
#endif
