#if Server
    import Foundation
    import Strata

    // Sessions whose requests are signed (MAC), with refresh tokens.
    extension Sessions {
        /// Who a request speaks for.
        /// - Throws: ``ServerError`` 401 for a signature that is wrong in any way.
        func principal(of request: ServerRequest, scope: DataScope) throws(ServerError) -> Principal {
            guard let header = request.header("Authorization") else { return .nobody }
            guard let signature = MACAuthorization(header: header), let time = Int64(signature.timestamp) else {
                throw .unauthorized("The Authorization header is not a MAC signature.")
            }
            let token = Self.digest(signature.id)
            // Bearer tokens have no key.
            guard let session = try scope.first("ServerSession", ("token", .string(token))),
                let key = session.text("mackey"), !key.isEmpty
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
            return Principal(account: try account(session, token, scope))
        }

        /// Opens a session, as a log-in answers it.
        func answer(
            _ account: ManagedObject, _ schema: ServerSchema, spent: String? = nil, scope: DataScope
        ) throws(ServerError) -> JSONValue {
            let tokens = try open(account, schema, spent: spent, scope: scope)
            return [
                "access_token": .string(tokens.token), "mac_key": .string(tokens.key), "mac_algorithm": "hmac-sha-1",
                "token_type": "mac", "expires_in": .integer(Int64(options.tokens.lifetime)),
                "refresh_token": .string(tokens.refresh),
                "stackmob": .object(["user": .object(ObjectReader.members(account, schema))]),
            ]
        }

        /// Gives new tokens for a refresh token, which ends with that, together with its access token.
        ///
        /// A token that comes again soon has the same answer. One that comes later was stolen, or had been used by a
        /// thief first: the session that was created for it ends, so that a thief does not keep it.
        /// - Returns: The body of the answer; nil if the token is no longer valid, which must be saved as well.
        func refresh(_ token: String, _ schema: ServerSchema, scope: DataScope) throws(ServerError) -> JSONValue? {
            let digest = Self.digest(token)
            let session = try scope.first(
                "ServerSession", ("refresh", .string(digest)), ("schema", .string(schema.name)))
            guard let session else {
                let heirs = try scope.all(
                    "ServerSession", ("spent", .string(digest)), ("schema", .string(schema.name)))
                if !heirs.isEmpty, let answer = try refreshed.answer(to: token, milliseconds: scope.now) {
                    return answer
                }
                for heir in heirs { scope.context.delete(heir) }
                return nil
            }
            scope.context.delete(session)
            guard (session.whole("ends") ?? session.whole("expires") ?? 0) > scope.now,
                let account = try scope.object(schema, session.text("user") ?? "")
            else { return nil }
            let answer = try answer(account, schema, spent: digest, scope: scope)
            try refreshed.keep(
                answer, to: token, until: scope.now + Int64(options.tokens.refreshGrace) * 1000,
                milliseconds: scope.now)
            return answer
        }
    }
#endif
