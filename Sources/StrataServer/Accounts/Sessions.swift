#if Server
    import Crypto
    import Foundation
    import Strata

    /// Tokens of accounts.
    struct Sessions: Sendable {
        let options: ServerOptions
        let replays: ReplayGuard
        private let refreshed = RefreshMemory()
        /// How many sessions an account may have; the oldest end when there are more.
        private static let maximumCount = 100
        /// How many ended sessions of others go with a new one.
        private static let sweepSize = 8

        init(options: ServerOptions, replays: ReplayGuard) {
            self.options = options
            self.replays = replays
        }

        static func digest(_ token: String) -> String {
            Hexadecimal.text(SHA256.hash(data: Data(token.utf8)))
        }

        /// 32 random bytes as text.
        static func secret() -> String {
            var generator = SystemRandomNumberGenerator()
            return Hexadecimal.text((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        }

        /// Who a request speaks for.
        /// - Throws: ``ServerError`` 401 for a signature that is wrong in any way.
        func principal(of request: ServerRequest, scope: DataScope) throws(ServerError) -> Principal {
            guard let header = request.header("Authorization") else { return .nobody }
            guard let signature = MACAuthorization(header: header), let time = Int64(signature.timestamp) else {
                throw .unauthorized("The Authorization header is not a MAC signature.")
            }
            let token = Self.digest(signature.id)
            guard let session = try scope.first("ServerSession", ("token", .string(token))),
                let key = session.text("mackey"), let schema = session.text("schema"),
                let user = session.text("user")
            else { throw .unauthorized("The access token is unknown; log in.") }
            guard signature.isValid(for: request, key: key) else { throw .unauthorized("The signature is wrong.") }
            guard (session.whole("expires") ?? 0) > scope.now else {
                throw .unauthorized("The access token has expired; refresh it.")
            }
            let now = scope.now / 1000
            let window = Int64(options.tokens.signatureWindow)
            let (distance, isFar) = now.subtractingReportingOverflow(time)
            guard !isFar, (-window...window).contains(distance) else {
                throw .unauthorized("The time of the signature is not the server's, \(now).")
            }
            // Of the code only what it says counts: base64 can spell the same bytes in several ways.
            let code = Data(base64Encoded: signature.mac)?.base64EncodedString() ?? ""
            try replays.admit(
                [token, signature.timestamp, signature.nonce, code], of: token, time: time, now: now, window: window)
            var account = Principal.Account(schema: schema, id: user, token: token)
            if options.access.needRoles, let accounts = scope.catalogue[schema],
                let object = try scope.object(accounts, user)
            {
                account.roles = Set(JSONValue.ofStored(object.text("sm_roles"))?.elements?.compactMap(\.string) ?? [])
            }
            return Principal(account: account)
        }

        /// Makes tokens for an account that has shown who it is.
        ///
        /// Older refresh tokens of the account end here; older access tokens live out their time.
        /// - Parameter spent: The digest of the refresh token that the new ones are given for.
        /// - Returns: The body of the answer.
        func open(
            _ account: ManagedObject, _ schema: ServerSchema, spent: String? = nil, scope: DataScope
        ) throws(ServerError) -> JSONValue {
            let id = account.text(schema.keyField) ?? ""
            var others = try scope.all("ServerSession", ("schema", .string(schema.name)), ("user", .string(id)))
                .filter { !$0.isDeleted }
            others.sort { ($0.whole("expires") ?? 0) > ($1.whole("expires") ?? 0) }
            for (place, row) in others.enumerated() {
                if (row.whole("expires") ?? 0) <= scope.now || place >= Self.maximumCount - 1 {
                    scope.context.delete(row)
                } else {
                    row["refresh"] = nil
                    row["ends"] = row.whole("expires")
                }
            }
            let (token, refresh, key) = (Self.secret(), Self.secret(), Self.secret())
            let expires = scope.now + Int64(options.tokens.lifetime) * 1000
            let session = try scope.insert("ServerSession")
            session["token"] = Self.digest(token)
            session["refresh"] = Self.digest(refresh)
            session["spent"] = spent
            session["mackey"] = key
            session["schema"] = schema.name
            session["user"] = id
            session["expires"] = expires
            session["ends"] = max(expires, scope.now + Int64(options.tokens.refreshLifetime) * 1000)
            scope.endsSessions(before: scope.now, count: Self.sweepSize)
            return [
                "access_token": .string(token), "mac_key": .string(key), "mac_algorithm": "hmac-sha-1",
                "token_type": "mac", "expires_in": .integer(Int64(options.tokens.lifetime)),
                "refresh_token": .string(refresh),
                "stackmob": .object(["user": .object(ObjectReader.members(account, schema))]),
            ]
        }

        /// Gives new tokens for a refresh token, which ends with that, together with its access token.
        ///
        /// A token that comes again soon has the same answer. One that comes later was stolen, or its thief was faster
        /// than its owner: the session that was made for it ends, so that nobody keeps what is not theirs.
        /// - Returns: The body of the answer; nil if the token is not valid any more, which must be saved as well.
        func refresh(_ token: String, _ schema: ServerSchema, scope: DataScope) throws(ServerError) -> JSONValue? {
            let digest = Self.digest(token)
            let session = try scope.first(
                "ServerSession", ("refresh", .string(digest)), ("schema", .string(schema.name)))
            guard let session else {
                let heirs = try scope.all(
                    "ServerSession", ("spent", .string(digest)), ("schema", .string(schema.name)))
                if !heirs.isEmpty, let answer = refreshed.answer(to: digest, milliseconds: scope.now) { return answer }
                for heir in heirs { scope.context.delete(heir) }
                return nil
            }
            scope.context.delete(session)
            guard (session.whole("ends") ?? session.whole("expires") ?? 0) > scope.now,
                let account = try scope.object(schema, session.text("user") ?? "")
            else { return nil }
            let answer = try open(account, schema, spent: digest, scope: scope)
            refreshed.keep(
                answer, to: digest, until: scope.now + Int64(options.tokens.refreshGrace) * 1000,
                milliseconds: scope.now)
            return answer
        }

        /// The answer to credentials that are wrong.
        static func refusal(_ detail: String) -> ServerError {
            ServerError(401, "invalid_client", detail: detail)
        }
    }
#endif
