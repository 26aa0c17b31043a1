#if Server
    import Foundation
    import Strata

    extension StackMobService {
        /// Answers a request about accounts and sessions.
        func answer(
            _ endpoint: AccountEndpoint, _ call: Call, _ accounts: AccountSchema
        ) async throws(ServerError) -> ServerResponse {
            guard endpoint.methods.contains(call.request.method) else {
                throw .notAllowed(
                    "\(call.request.method) is not answered at \(call.request.path.prefix(200)).",
                    endpoint.methods.sorted().joined(separator: ", "))
            }
            if let provider = endpoint.provider { return try await answer(endpoint, provider, call, accounts) }
            switch endpoint {
            case .accessToken: return try await logIn(call, accounts)
            case .refreshToken: return try await refresh(call, accounts)
            case .logout: return try await logOut(call)
            case .loggedInUser: return try await loggedInUser(call)
            case .forgotPassword: return try forgotPassword(call, accounts)
            case .resetPassword: return try await resetPassword(call)
            default: throw .notFound("There is no \(call.request.path).")
            }
        }

        /// The pairs of a form body; of a name that comes twice, the last.
        func form(_ call: Call) throws(ServerError) -> [String: String] {
            guard let text = String(validating: call.request.body, as: UTF8.self),
                let pairs = QueryParameters.read(text, isForm: true)
            else { throw .badRequest("The body is not a form.") }
            return Dictionary(pairs.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        }

        /// The account that is logged in.
        func account(_ call: Call) throws(ServerError) -> Principal.Account {
            guard let account = call.principal.account else { throw .unauthorized("Nobody is logged in.") }
            return account
        }

        // MARK: Sessions

        private func logIn(_ call: Call, _ accounts: AccountSchema) async throws(ServerError) -> ServerResponse {
            let form = try form(call)
            guard let user = form[accounts.keyField], let password = form[accounts.passwordField] else {
                throw .badRequest("Logging in takes \(accounts.keyField) and \(accounts.passwordField).")
            }
            let admission = try await server.authenticate(
                user, password, new: form["new_password"], accounts, call.caller)
            let sessions = server.sessions
            return try await server.admit(admission, accounts, call.caller) {
                (account, schema, scope) throws(ServerError) in
                ServerResponse(json: try sessions.answer(account, schema, scope: scope))
            }
        }

        private func refresh(_ call: Call, _ accounts: AccountSchema) async throws(ServerError) -> ServerResponse {
            guard let token = try form(call)["refresh_token"] else {
                throw .badRequest("Refreshing takes refresh_token.")
            }
            let sessions = server.sessions
            let tokens = try await call.database.write { (scope) throws(ServerError) in
                try sessions.refresh(token, try scope.schema(accounts.name), scope: scope)
            }
            guard let tokens else { throw Sessions.refusal("The refresh token is unknown, used up or expired.") }
            return ServerResponse(json: tokens)
        }

        private func logOut(_ call: Call) async throws(ServerError) -> ServerResponse {
            let account = try account(call)
            return try await call.database.write { (scope) throws(ServerError) in
                try scope.endSession(account.token)
                return ServerResponse(json: ["status": "OK"])
            }
        }

        private func loggedInUser(_ call: Call) async throws(ServerError) -> ServerResponse {
            let (account, options) = (try account(call), options)
            let shape = try ObjectReader.Shape(call.request)
            return try await call.database.read { (scope) throws(ServerError) in
                let schema = try scope.schema(account.schema)
                guard let object = try scope.object(schema, account.id) else {
                    throw .noObject(schema.name, account.id)
                }
                let reader = ObjectReader(
                    scope: scope, principal: call.principal, access: options.access, limits: options.limits)
                return ServerResponse(json: try reader.json([object], schema, shape)[0])
            }
        }

        // MARK: Passwords

        /// The answer is the same whether there is such an account or not.
        private func forgotPassword(_ call: Call, _ accounts: AccountSchema) throws(ServerError) -> ServerResponse {
            guard let user = try call.json(options)["username"]?.string else {
                throw .badRequest("The body must hold a username.")
            }
            try server.forgotPassword(user, accounts, call.caller)
            return ServerResponse(json: [:])
        }

        private func resetPassword(_ call: Call) async throws(ServerError) -> ServerResponse {
            let (account, body) = (try account(call), try call.json(options))
            guard let old = body["old"]?["password"]?.string, let new = body["new"]?["password"]?.string else {
                throw .badRequest("The body must be {\"old\":{\"password\":…},\"new\":{\"password\":…}}.")
            }
            guard try await server.isPassword(old, of: account.id, account.schema, call.caller) else {
                throw .unauthorized("The old password is wrong.")
            }
            try await server.changePassword(of: account, to: new, call.caller)
            return ServerResponse(json: [:])
        }

        /// A body that changes an account may hold its password, as clients that send whole objects do. It must be the
        /// one that the account has: changing it is what `resetPassword` is for.
        func checkPassword(in members: JSONObject, schema: String, id: String, _ call: Call)
            async throws(ServerError)
        {
            guard let accounts = options.accounts(schema), let value = members[accounts.passwordField] else { return }
            // Whether it is somebody else's password is nobody's business.
            let grant = try server.precheck(.update, schema, call.caller)
            try await call.database.read { (scope) throws(ServerError) in
                let schema = try scope.schema(schema)
                guard let object = try scope.object(schema, id), try grant.includes(object, schema, scope) else {
                    throw .noObject(schema.name, id)
                }
            }
            guard let password = value.string, try await server.isPassword(password, of: id, schema, call.caller)
            else { throw .forbidden("Passwords are changed with resetPassword.") }
        }
    }
#endif
