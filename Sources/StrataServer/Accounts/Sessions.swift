#if Server
    import Crypto
    import Foundation
    import Strata

    /// Tokens of accounts. Some dialects sign requests with a key that belongs to the token; others show the token
    /// itself, a bearer token. Neither is taken for the other.
    struct Sessions: Sendable {
        let options: ServerOptions
        let replays: ReplayGuard
        let refreshed: RefreshMemory
        /// How many sessions an account may have; the oldest end when there are more.
        private static let maximumCount = 100
        /// How many ended sessions of others go with a new one.
        private static let sweepSize = 8

        init(options: ServerOptions, replays: ReplayGuard, memory: (any SharedMemory)?) {
            self.options = options
            self.replays = replays
            refreshed = RefreshMemory(shared: memory)
        }

        static func digest(_ token: String) -> String {
            Hexadecimal.text(SHA256.hash(data: Data(token.utf8)))
        }

        /// 32 random bytes as text.
        static func secret() -> String {
            var generator = SystemRandomNumberGenerator()
            return Hexadecimal.text((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        }

        /// What a client that signs its requests keeps of a session.
        struct Tokens: Sendable {
            let token: String
            let refresh: String
            let key: String
        }

        /// Makes tokens for an account that has shown who it is, for a client that signs its requests.
        ///
        /// Older refresh tokens of the account end here; older access tokens live out their time.
        /// - Parameter spent: The digest of the refresh token that the new ones are given for.
        func open(
            _ account: ManagedObject, _ schema: ServerSchema, spent: String? = nil, scope: DataScope
        ) throws(ServerError) -> Tokens {
            for row in try makeRoom(account, schema, scope) {
                row["refresh"] = nil
                row["ends"] = row.whole("expires")
            }
            let tokens = Tokens(token: Self.secret(), refresh: Self.secret(), key: Self.secret())
            let expires = scope.now + Int64(options.tokens.lifetime) * 1000
            let session = try insert(tokens.token, account, schema, expires: expires, scope)
            session["refresh"] = Self.digest(tokens.refresh)
            session["spent"] = spent
            session["mackey"] = tokens.key
            session["ends"] = max(expires, scope.now + Int64(options.tokens.refreshLifetime) * 1000)
            return tokens
        }

        /// Makes a bearer token for an account that has shown who it is.
        func openBearer(
            _ account: ManagedObject, _ schema: ServerSchema, scope: DataScope
        ) throws(ServerError) -> String {
            _ = try makeRoom(account, schema, scope)
            let token = "r:" + Self.secret()
            let expires = scope.now + Int64(options.tokens.bearerLifetime) * 1000
            let session = try insert(token, account, schema, expires: expires, scope)
            // No signature is good with an empty key; see ``principal(of:scope:)``.
            session["mackey"] = ""
            session["ends"] = expires
            return token
        }

        private func insert(
            _ token: String, _ account: ManagedObject, _ schema: ServerSchema, expires: Int64, _ scope: DataScope
        ) throws(ServerError) -> ManagedObject {
            let session = try scope.insert("ServerSession")
            session["token"] = Self.digest(token)
            session["schema"] = schema.name
            session["user"] = account.text(schema.keyField) ?? ""
            session["expires"] = expires
            scope.endsSessions(before: scope.now, count: Self.sweepSize)
            return session
        }

        /// Ends the sessions of an account that are over or too many.
        /// - Returns: The others.
        private func makeRoom(
            _ account: ManagedObject, _ schema: ServerSchema, _ scope: DataScope
        ) throws(ServerError) -> [ManagedObject] {
            let id = account.text(schema.keyField) ?? ""
            var others = try scope.all("ServerSession", ("schema", .string(schema.name)), ("user", .string(id)))
                .filter { !$0.isDeleted }
            others.sort { ($0.whole("expires") ?? 0) > ($1.whole("expires") ?? 0) }
            var kept: [ManagedObject] = []
            for (place, row) in others.enumerated() {
                if (row.whole("expires") ?? 0) <= scope.now || place >= Self.maximumCount - 1 {
                    scope.context.delete(row)
                } else {
                    kept.append(row)
                }
            }
            return kept
        }

        // MARK: Asking

        /// Who shows a bearer token.
        /// - Throws: ``ServerError`` of cause ``ServerError/Cause/session`` for a token that is invalid or has expired.
        func principal(bearer token: String, scope: DataScope) throws(ServerError) -> Principal {
            let digest = Self.digest(token)
            guard token.utf8.count <= 1024, let session = try scope.first("ServerSession", ("token", .string(digest))),
                session.text("mackey") == "", (session.whole("expires") ?? 0) > scope.now
            else { throw ServerError(401, .session, "The session is unknown or over; log in.") }
            return Principal(account: try account(session, digest, scope))
        }

        /// The account of a session, with the roles that count.
        func account(
            _ session: ManagedObject, _ token: String, _ scope: DataScope
        ) throws(ServerError) -> Principal.Account {
            var account = Principal.Account(
                schema: session.text("schema") ?? "", id: session.text("user") ?? "", token: token)
            if options.access.needRoles, let accounts = scope.catalogue[account.schema],
                let object = try scope.object(accounts, account.id)
            {
                account.roles = Set(JSONValue.ofStored(object.text("sm_roles"))?.elements?.compactMap(\.string) ?? [])
            }
            return account
        }

        /// The answer to credentials that are wrong.
        static func refusal(_ message: String) -> ServerError { ServerError(401, .credentials, message) }
    }
#endif
