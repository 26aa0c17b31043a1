#if Server
    import Crypto
    import Foundation
    import Strata

    /// Tokens of accounts.
    struct Sessions: Sendable {
        let options: ServerOptions
        let replays: ReplayGuard

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
            let window = Int64(options.signatureWindow)
            let (distance, isFar) = now.subtractingReportingOverflow(time)
            guard !isFar, (-window...window).contains(distance) else {
                throw .unauthorized("The time of the signature is not the server's, \(now).")
            }
            // Of the code only what it says counts: base64 can spell the same bytes in several ways.
            let code = Data(base64Encoded: signature.mac)?.base64EncodedString() ?? ""
            try replays.admit(
                [token, signature.timestamp, signature.nonce, code], time: time, now: now, window: window)
            return Principal(account: Principal.Account(schema: schema, id: user, token: token))
        }

        /// Makes tokens for an account that has shown who it is.
        ///
        /// Older refresh tokens of the account end here; older access tokens live out their time.
        /// - Returns: The body of the answer.
        ///
        /// - Parameter spent: The digest of the refresh token that the new ones are given for.
        func open(
            _ account: ManagedObject, _ schema: ServerSchema, spent: String? = nil, scope: DataScope
        ) throws(ServerError) -> JSONValue {
            let id = account.text(schema.keyField) ?? ""
            for row in try scope.all("ServerSession", ("schema", .string(schema.name)), ("user", .string(id))) {
                if (row.whole("expires") ?? 0) <= scope.now { scope.context.delete(row) } else { row["refresh"] = nil }
            }
            let (token, refresh, key) = (Self.secret(), Self.secret(), Self.secret())
            let session = try scope.insert("ServerSession")
            session["token"] = Self.digest(token)
            session["refresh"] = Self.digest(refresh)
            session["spent"] = spent
            session["mackey"] = key
            session["schema"] = schema.name
            session["user"] = id
            session["expires"] = scope.now + Int64(options.tokenLifetime) * 1000
            return [
                "access_token": .string(token), "mac_key": .string(key), "mac_algorithm": "hmac-sha-1",
                "token_type": "mac", "expires_in": .integer(Int64(options.tokenLifetime)),
                "refresh_token": .string(refresh),
                "stackmob": .object(["user": .object(ObjectReader.members(account, schema))]),
            ]
        }

        /// Gives new tokens for a refresh token, which ends with that, together with its access token.
        ///
        /// A token that comes again was stolen, or its thief was faster than its owner: the session that was made for it
        /// ends, so that nobody keeps what is not theirs.
        /// - Returns: The body of the answer; nil if the token is good no more, which is to be kept, too.
        func refresh(_ token: String, _ schema: ServerSchema, scope: DataScope) throws(ServerError) -> JSONValue? {
            let digest = Self.digest(token)
            guard
                let session = try scope.first(
                    "ServerSession", ("refresh", .string(digest)), ("schema", .string(schema.name))),
                let account = try scope.object(schema, session.text("user") ?? "")
            else {
                for heir in try scope.all("ServerSession", ("spent", .string(digest)), ("schema", .string(schema.name)))
                { scope.context.delete(heir) }
                return nil
            }
            scope.context.delete(session)
            return try open(account, schema, spent: digest, scope: scope)
        }

        /// The answer to credentials that are wrong.
        static func refusal(_ detail: String) -> ServerError {
            ServerError(401, "invalid_client", detail: detail)
        }
    }
#endif
