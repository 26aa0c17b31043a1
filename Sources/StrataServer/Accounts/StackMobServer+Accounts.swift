#if Server
    import Foundation
    import Strata

    extension StackMobServer {
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
            case .forgotPassword: return try await forgotPassword(call, accounts)
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

        static func schema(_ name: String, _ scope: DataScope) throws(ServerError) -> ServerSchema {
            guard let schema = scope.catalogue[name] else { throw Self.noSchema(name) }
            return schema
        }

        // MARK: Sessions

        private func logIn(_ call: Call, _ accounts: AccountSchema) async throws(ServerError) -> ServerResponse {
            let form = try form(call)
            guard let user = form[accounts.keyField], let password = form[accounts.passwordField] else {
                throw .badRequest("Logging in takes \(accounts.keyField) and \(accounts.passwordField).")
            }
            let client = call.request.client
            let attempt = try guesses.begin(
                schema: accounts.name, account: user, from: client, milliseconds: clock.milliseconds)
            let kept: KeptPasswords
            let isRight: Bool
            do throws(ServerError) {
                kept = try await call.database.read { (scope) throws(ServerError) in
                    KeptPasswords(try scope.object(Self.schema(accounts.name, scope), user), now: scope.now)
                }
                isRight = try await hasher.verify(password, kept.password, for: client)
            } catch {
                guesses.forgive(attempt, milliseconds: clock.milliseconds)
                throw error
            }
            if isRight {
                guesses.succeed(attempt, milliseconds: clock.milliseconds)
                // A hash of an older cost is made anew while the password is at hand.
                let isOutdated =
                    kept.password.map(hasher.isOutdated) == true && password.utf8.count >= hasher.policy.minimumLength
                let renewed = isOutdated ? try await hasher.hash(password, for: client) : nil
                return try await open(user, call, accounts) { (account, _, _) throws(ServerError) in
                    if let renewed { account["sm_password"] = renewed }
                }
            }
            // Temporary passwords are random, so that a plain digest of them cannot be searched through.
            guard let temporary = kept.temporary, ConstantTime.areEqual(Sessions.digest(password).utf8, temporary.utf8)
            else { throw Sessions.refusal("The \(accounts.keyField) or the \(accounts.passwordField) is wrong.") }
            guesses.succeed(attempt, milliseconds: clock.milliseconds)
            guard let new = form["new_password"] else {
                let text = "Temporary password reset required."
                throw ServerError(401, text, detail: text)
            }
            let hash = try await hasher.hash(new, for: client)
            return try await open(user, call, accounts) { (account, schema, scope) throws(ServerError) in
                account["sm_password"] = hash
                account["sm_temporary"] = nil
                account["sm_temporary_until"] = nil
                try Self.endSessions(of: user, schema, scope)
            }
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
            _ user: String, _ call: Call, _ accounts: AccountSchema,
            _ change: @escaping @Sendable (ManagedObject, ServerSchema, DataScope) throws(ServerError) -> Void
        ) async throws(ServerError) -> ServerResponse {
            let server = self
            return try await call.database.write { (scope) throws(ServerError) in
                let schema = try Self.schema(accounts.name, scope)
                guard let account = try scope.object(schema, user) else {
                    throw Sessions.refusal("The account is gone.")
                }
                try change(account, schema, scope)
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

        private func refresh(_ call: Call, _ accounts: AccountSchema) async throws(ServerError) -> ServerResponse {
            guard let token = try form(call)["refresh_token"] else {
                throw .badRequest("Refreshing takes refresh_token.")
            }
            let server = self
            let tokens = try await call.database.write { (scope) throws(ServerError) in
                try server.sessions.refresh(token, try Self.schema(accounts.name, scope), scope: scope)
            }
            guard let tokens else { throw Sessions.refusal("The refresh token is unknown, used up or expired.") }
            return ServerResponse(json: tokens)
        }

        private func logOut(_ call: Call) async throws(ServerError) -> ServerResponse {
            let account = try account(call)
            return try await call.database.write { (scope) throws(ServerError) in
                if let session = try scope.first("ServerSession", ("token", .string(account.token))) {
                    scope.context.delete(session)
                }
                return ServerResponse(json: ["status": "OK"])
            }
        }

        private func loggedInUser(_ call: Call) async throws(ServerError) -> ServerResponse {
            let (account, server) = (try account(call), self)
            let shape = try ObjectReader.Shape(call.request)
            return try await call.database.read { (scope) throws(ServerError) in
                let schema = try Self.schema(account.schema, scope)
                guard let object = try scope.object(schema, account.id) else {
                    throw Self.noObject(schema.name, account.id)
                }
                let reader = ObjectReader(
                    scope: scope, principal: call.principal, access: server.options.access,
                    limits: server.options.limits)
                return ServerResponse(json: try reader.json([object], schema, shape)[0])
            }
        }

        // MARK: Passwords

        /// In milliseconds.
        private static let pauseBetweenMails: Int64 = 60_000

        /// Mails a temporary password. The answer is the same whether there is such an account or not, and comes before
        /// anybody looks, so that nobody learns who has one.
        private func forgotPassword(
            _ call: Call, _ accounts: AccountSchema
        ) async throws(ServerError) -> ServerResponse {
            guard let user = try call.json(options)["username"]?.string else {
                throw .badRequest("The body must hold a username.")
            }
            let server = self
            try background.start {
                do throws(ServerError) {
                    try await call.database.write { (scope) throws(ServerError) in
                        try server.mailTemporaryPassword(to: user, accounts, scope)
                    }
                } catch {
                    server.logger.error("mail", metadata: ["error": "\(error.message)"])
                }
            }
            return ServerResponse(json: [:])
        }

        private func mailTemporaryPassword(
            to user: String, _ accounts: AccountSchema, _ scope: DataScope
        ) throws(ServerError) {
            let schema = try Self.schema(accounts.name, scope)
            let now = scope.now
            let lifetime = Int64(options.tokens.temporaryPasswordLifetime) * 1000
            // Who asks again within a minute has mail on the way; a stranger cannot fill somebody's box.
            guard let account = try scope.object(schema, user),
                (account.whole("sm_temporary_until") ?? 0) <= now + lifetime - Self.pauseBetweenMails
            else { return }
            let field = schema.field(accounts.emailField).flatMap { account.text($0.name) }
            guard let address = field ?? (MailFolder.isAddress(user) ? user : nil), MailFolder.isAddress(address) else {
                logger.notice("mail", metadata: ["error": "an account has no address for a temporary password"])
                return
            }
            let temporary = String(Sessions.secret().prefix(20))
            account["sm_temporary"] = Sessions.digest(temporary)
            account["sm_temporary_until"] = now + lifetime
            let (mail, logger, hours) = (mail, logger, options.tokens.temporaryPasswordLifetime / 3600)
            scope.afterCommit {
                do {
                    try mail.send(
                        to: address, subject: "Your temporary password",
                        text: """
                            Your temporary password is \(temporary)\r
                            It is good for \(hours) hours. Choose a new one when you log in with it.
                            """, milliseconds: now)
                } catch {
                    logger.error("mail", metadata: ["error": "\(error.localizedDescription)"])
                }
            }
        }

        private func resetPassword(_ call: Call) async throws(ServerError) -> ServerResponse {
            let (account, body) = (try account(call), try call.json(options))
            guard let old = body["old"]?["password"]?.string, let new = body["new"]?["password"]?.string else {
                throw .badRequest("The body must be {\"old\":{\"password\":…},\"new\":{\"password\":…}}.")
            }
            guard try await isPassword(old, of: account.id, account.schema, call) else {
                throw .unauthorized("The old password is wrong.")
            }
            let hash = try await hasher.hash(new, for: call.request.client)
            return try await call.database.write { (scope) throws(ServerError) in
                let schema = try Self.schema(account.schema, scope)
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

        /// Whether a password is an account's. A wrong one counts as a guess.
        private func isPassword(
            _ password: String, of user: String, _ schema: String, _ call: Call
        ) async throws(ServerError) -> Bool {
            let client = call.request.client
            let attempt = try guesses.begin(
                schema: schema, account: user, from: client, milliseconds: clock.milliseconds)
            do throws(ServerError) {
                let kept = try await call.database.read { (scope) throws(ServerError) in
                    try scope.object(Self.schema(schema, scope), user)?.text("sm_password")
                }
                guard try await hasher.verify(password, kept, for: client) else { return false }
            } catch {
                guesses.forgive(attempt, milliseconds: clock.milliseconds)
                throw error
            }
            guesses.succeed(attempt, milliseconds: clock.milliseconds)
            return true
        }

        /// A body that changes an account may hold its password, as clients that send whole objects do. It must be the
        /// one that the account has: changing it is what `resetPassword` is for.
        func checkPassword(in members: JSONObject, schema: String, id: String, _ call: Call)
            async throws(ServerError)
        {
            guard let accounts = options.accounts(schema), let value = members[accounts.passwordField] else { return }
            // Whether it is somebody else's password is nobody's business.
            let level = options.access.level(.update, schema: schema, isUser: true)
            let grant = try call.principal.grant(level, "update \(schema)")
            try await call.database.read { (scope) throws(ServerError) in
                let schema = try Self.schema(schema, scope)
                guard let object = try scope.object(schema, id), try grant.includes(object, schema, scope) else {
                    throw Self.noObject(schema.name, id)
                }
            }
            guard let password = value.string, try await isPassword(password, of: id, schema, call) else {
                throw .forbidden("Passwords are changed with resetPassword.")
            }
        }
    }
#endif
