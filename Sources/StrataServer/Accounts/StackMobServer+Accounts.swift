#if Server
    import Foundation
    import Strata

    extension StackMobServer {
        /// Answers a request about accounts and sessions.
        func answer(_ endpoint: AccountEndpoint, _ call: Call) async throws(ServerError) -> ServerResponse {
            guard endpoint.methods.contains(call.request.method) else {
                throw .notAllowed(
                    "\(call.request.method) is not answered at \(call.request.path.prefix(200)).",
                    endpoint.methods.sorted().joined(separator: ", "))
            }
            guard call.request.isSecure || !options.requiresTLSForTokens || !endpoint.carriesSecrets else {
                throw .forbidden("Passwords and tokens are only taken over TLS.")
            }
            if let provider = endpoint.provider { return try await answer(endpoint, provider, call) }
            switch endpoint {
            case .accessToken: return try await logIn(try form(call))
            case .refreshToken: return try await refresh(try form(call))
            case .logout: return try await logOut(call)
            case .loggedInUser: return try await loggedInUser(call)
            case .forgotPassword: return try await forgotPassword(call)
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

        func userSchema(_ scope: DataScope) throws(ServerError) -> ServerSchema {
            guard let schema = scope.catalogue[options.userSchema] else { throw Self.noSchema(options.userSchema) }
            return schema
        }

        // MARK: Sessions

        private func logIn(_ form: [String: String]) async throws(ServerError) -> ServerResponse {
            guard let user = form[options.userKeyField], let password = form[options.passwordField] else {
                throw .badRequest("Logging in takes \(options.userKeyField) and \(options.passwordField).")
            }
            let server = self
            let kept = try await database.read { (scope) throws(ServerError) -> KeptPasswords in
                KeptPasswords(try scope.object(server.userSchema(scope), user), now: scope.now)
            }
            if try await hasher.verify(password, kept.password) {
                return try await open(user, form: form, replacing: nil)
            }
            guard let temporary = kept.temporary, try await hasher.verify(password, temporary) else {
                throw Sessions.refusal("The \(options.userKeyField) or the \(options.passwordField) is wrong.")
            }
            guard let new = form["new_password"] else {
                throw ServerError(401, "invalid_client", detail: "Temporary password reset required.")
            }
            return try await open(user, form: form, replacing: try await hasher.hash(new))
        }

        private struct KeptPasswords: Sendable {
            var password: String?
            var temporary: String?

            init(_ account: ManagedObject?, now: Int64) {
                password = account?.text("sm_password")
                if (account?.whole("sm_temporary_until") ?? 0) > now { temporary = account?.text("sm_temporary") }
            }
        }

        private func open(
            _ user: String, form: [String: String], replacing new: String?
        ) async throws(ServerError) -> ServerResponse {
            let server = self
            return try await database.write { (scope) throws(ServerError) in
                let schema = try server.userSchema(scope)
                guard let account = try scope.object(schema, user) else {
                    throw Sessions.refusal("The account is gone.")
                }
                if let new {
                    account["sm_password"] = new
                    account["sm_temporary"] = nil
                    account["sm_temporary_until"] = nil
                    try Self.endSessions(of: user, schema, scope)
                }
                return ServerResponse(json: try server.sessions.open(account, schema, scope: scope))
            }
        }

        /// Who changes a password may have lost the old one to somebody: all sessions end, but perhaps one.
        private static func endSessions(
            of user: String, _ schema: ServerSchema, _ scope: DataScope, except token: String? = nil
        ) throws(ServerError) {
            for row in try scope.all("ServerSession", ("schema", .string(schema.name)), ("user", .string(user)))
            where row.text("token") != token {
                scope.context.delete(row)
            }
        }

        private func refresh(_ form: [String: String]) async throws(ServerError) -> ServerResponse {
            guard let token = form["refresh_token"] else { throw .badRequest("Refreshing takes refresh_token.") }
            let server = self
            let tokens = try await database.write { (scope) throws(ServerError) in
                try server.sessions.refresh(token, try server.userSchema(scope), scope: scope)
            }
            guard let tokens else { throw Sessions.refusal("The refresh token is unknown or used up.") }
            return ServerResponse(json: tokens)
        }

        private func logOut(_ call: Call) async throws(ServerError) -> ServerResponse {
            let account = try account(call)
            return try await database.write { (scope) throws(ServerError) in
                if let session = try scope.first("ServerSession", ("token", .string(account.token))) {
                    scope.context.delete(session)
                }
                return ServerResponse(json: ["status": "OK"])
            }
        }

        private func loggedInUser(_ call: Call) async throws(ServerError) -> ServerResponse {
            let (account, server) = (try account(call), self)
            return try await database.read { (scope) throws(ServerError) in
                let schema = try server.userSchema(scope)
                guard let object = try scope.object(schema, account.id) else {
                    throw Self.noObject(schema.name, account.id)
                }
                let reader = ObjectReader(
                    scope: scope, principal: call.principal, access: server.options.access,
                    limits: server.options.limits)
                return ServerResponse(json: try reader.json([object], schema, try .init(call.request))[0])
            }
        }

        // MARK: Passwords

        /// In milliseconds.
        private static let pauseBetweenMails: Int64 = 60_000

        /// Mails a temporary password. The answer is the same whether there is such an account or not, so that nobody
        /// learns who has one.
        private func forgotPassword(_ call: Call) async throws(ServerError) -> ServerResponse {
            guard let user = try call.json(options)["username"]?.string else {
                throw .badRequest("The body must hold a username.")
            }
            let temporary = String(Sessions.secret().prefix(16))
            let hash = try await hasher.hash(temporary)
            let (server, mail, options) = (self, mail, options)
            return try await database.write { (scope) throws(ServerError) in
                let schema = try server.userSchema(scope)
                let now = scope.now
                let lifetime = Int64(options.temporaryPasswordLifetime) * 1000
                // Who asks again within a minute has mail on the way; a stranger cannot fill somebody's box.
                if let account = try scope.object(schema, user),
                    (account.whole("sm_temporary_until") ?? 0) <= now + lifetime - Self.pauseBetweenMails
                {
                    account["sm_temporary"] = hash
                    account["sm_temporary_until"] = now + lifetime
                    let address = schema.field(options.emailField).flatMap { account.text($0.name) } ?? user
                    scope.afterCommit {
                        do {
                            try mail.send(
                                to: address, subject: "Your temporary password",
                                text: """
                                    Your temporary password is \(temporary)\r
                                    It is good for \(options.temporaryPasswordLifetime / 3600) hours. Choose a new one when you log in with it.
                                    """, milliseconds: now)
                        } catch {
                            server.logger.error("mail", metadata: ["error": "\(error.localizedDescription)"])
                        }
                    }
                }
                return ServerResponse(json: [:])
            }
        }

        private func resetPassword(_ call: Call) async throws(ServerError) -> ServerResponse {
            let (account, body) = (try account(call), try call.json(options))
            guard let old = body["old"]?["password"]?.string, let new = body["new"]?["password"]?.string else {
                throw .badRequest("The body must be {\"old\":{\"password\":…},\"new\":{\"password\":…}}.")
            }
            guard try await isPassword(old, of: account.id) else { throw .badRequest("The old password is wrong.") }
            let hash = try await hasher.hash(new)
            let server = self
            return try await database.write { (scope) throws(ServerError) in
                let schema = try server.userSchema(scope)
                guard let object = try scope.object(schema, account.id) else {
                    throw Self.noObject(schema.name, account.id)
                }
                object["sm_password"] = hash
                object["sm_temporary"] = nil
                object["sm_temporary_until"] = nil
                try Self.endSessions(of: account.id, schema, scope, except: account.token)
                return ServerResponse(json: [:])
            }
        }

        private func isPassword(_ password: String, of user: String) async throws(ServerError) -> Bool {
            let server = self
            let kept = try await database.read { (scope) throws(ServerError) in
                try scope.object(server.userSchema(scope), user)?.text("sm_password")
            }
            return try await hasher.verify(password, kept)
        }

        /// A body that changes an account may hold its password, as clients send that send whole objects. It must be
        /// the one that the account has: changing it is what `resetPassword` is for.
        func checkPassword(in members: JSONObject, schema: String, id: String, _ call: Call)
            async throws(ServerError)
        {
            guard schema == options.userSchema, let value = members[options.passwordField] else { return }
            // Whether it is somebody else's password is nobody's business.
            let level = options.access.level(.update, schema: schema, isUser: true)
            if let owner = try call.principal.check(level, "update \(schema)") {
                try await database.read { (scope) throws(ServerError) in
                    guard let schema = scope.catalogue[schema], let object = try scope.object(schema, id) else {
                        return
                    }
                    try Principal.check(owner, owns: object)
                }
            }
            guard let password = value.string, try await isPassword(password, of: id) else {
                throw .forbidden("Passwords are changed with resetPassword.")
            }
        }

        /// The hashes of all passwords that bodies hold, by password.
        func hashes(
            of bodies: [JSONObject], schema: String, relations: RelationTree
        ) async throws(ServerError) -> [String: String] {
            var found: Set<String> = []
            for body in bodies { collect(body, schema, relations, into: &found) }
            guard found.count <= 100 else { throw .badRequest("A request may create 100 accounts; send several.") }
            var hashes: [String: String] = [:]
            for password in found { hashes[password] = try await hasher.hash(password) }
            return hashes
        }

        private func collect(
            _ body: JSONObject, _ schema: String, _ relations: RelationTree, into found: inout Set<String>
        ) {
            if schema == options.userSchema, let password = body[options.passwordField]?.string {
                found.insert(password)
            }
            for (name, next) in relations.fields {
                for value in body[name].map({ $0.elements ?? [$0] }) ?? [] {
                    if let members = value.members { collect(members, next.schema, next.next, into: &found) }
                }
            }
        }
    }
#endif
