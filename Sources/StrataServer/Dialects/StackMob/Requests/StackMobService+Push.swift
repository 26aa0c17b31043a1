#if Server
    import Foundation
    import Strata

    // Push: tokens are kept and messages recorded, for a program that has a channel to devices to send.
    extension StackMobService {
        private static let pushPaths: Set<String> = [
            "register_device_token_universal", "push_broadcast_universal", "push_users_universal",
            "push_tokens_universal", "get_tokens_for_users_universal", "remove_token_universal", "_push",
        ]
        private static let tokenTypes: Set<String> = ["ios", "android", "androidgcm"]

        /// Whether a request is about push. Some of the names may be those of schemas, too: for these, it takes the
        /// signature with the private key.
        static func isPush(_ method: String, _ segments: [String], hasPrivateKey: Bool) -> Bool {
            switch (method, segments.first ?? "", segments.count) {
            case ("POST", "tokens", 3), ("DELETE", "tokens", 3), ("POST", "notifications", 1),
                ("GET", "expired_tokens", 1):
                hasPrivateKey
            case (_, let name, _): pushPaths.contains(name)
            }
        }

        /// Answers a request about push whose signature is good.
        func push(_ call: Call) async throws(ServerError) -> ServerResponse {
            let (request, segments) = (call.request, call.segments)
            let body = request.body.isEmpty ? .object([:]) : try call.json(options)
            switch (request.method, segments.first ?? "", segments.count) {
            case ("POST", "register_device_token_universal", 1):
                guard let user = body["userId"]?.string, let token = try Self.token(body["token"]) else {
                    throw .badRequest("A registration takes userId and token.")
                }
                return try await register(token, user: user, overwrites: body["overwrite"]?.boolean ?? true, call)
            case ("POST", "tokens", 3):
                guard let user = body["user"]?.string,
                    let token = try Self.token(["type": .string(segments[1]), "token": .string(segments[2])])
                else { throw .badRequest("A registration takes a user.") }
                return try await register(token, user: user, overwrites: body["overwrite"]?.boolean ?? true, call)
            case ("POST", "push_broadcast_universal", 1):
                return try await record(["broadcast": true], body["kvPairs"], call)
            case ("POST", "push_users_universal", 1):
                guard let users = body["userIds"]?.elements else { throw .badRequest("The body lacks userIds.") }
                return try await record(["users": .array(users)], body["kvPairs"], call)
            case ("POST", "push_tokens_universal", 1):
                guard let tokens = body["tokens"]?.elements else { throw .badRequest("The body lacks tokens.") }
                return try await record(["tokens": .array(tokens)], body["payload"]?["kvPairs"], call)
            case ("POST", "notifications", 1):
                let audience: JSONValue =
                    body["tokens"].map { ["tokens": $0] } ?? body["users"].map { ["users": $0] } ?? ["broadcast": true]
                return try await record(audience, body["payload"]?["kvPairs"] ?? body["payload"], call)
            case ("GET", "get_tokens_for_users_universal", 1):
                let users = (request.parameters ?? []).filter { $0.name == "userIds" }
                    .flatMap { $0.value.split(separator: ",").map(String.init) }
                return try await tokens(of: users, call)
            case ("POST", "remove_token_universal", 1):
                guard let token = try Self.token(body) else { throw .badRequest("The body lacks token and type.") }
                return try await remove(token, call)
            case ("DELETE", "tokens", 3):
                return try await remove((segments[2], segments[1].lowercased()), call)
            case ("GET", "expired_tokens", 1): return ServerResponse(json: ["tokens": []])
            case ("GET", "_push", 2) where segments[1] == "messages":
                var since: Int64 = 0
                for (name, value) in request.parameters ?? [] {
                    guard name == "since", let number = Int64(value), number >= 0 else {
                        throw .badRequest("Messages take since=<milliseconds>.")
                    }
                    since = number
                }
                return ServerResponse(
                    json: .array(try await server.pushMessages(since: since, in: call.caller.environment)))
            default: throw .notFound("There is no push request \(request.method) \(request.path.prefix(200)).")
            }
        }

        private static let largestPayload = 4096

        // MARK: Tokens

        private typealias Token = (token: String, type: String)

        private static func token(_ value: JSONValue?) throws(ServerError) -> Token? {
            guard let token = value?["token"]?.string, let type = value?["type"]?.string?.lowercased() else {
                return nil
            }
            guard tokenTypes.contains(type) else { throw .badRequest("Tokens are of type ios, android or androidgcm.") }
            let isHex = Hexadecimal.isLowercase(token.lowercased())
            guard (1...4096).contains(token.utf8.count), type != "ios" || isHex else {
                throw .badRequest("A token has 1 to 4,096 bytes; one of type ios has only hexadecimal digits.")
            }
            return (token, type)
        }

        private func register(
            _ token: Token, user: String, overwrites: Bool, _ call: Call
        ) async throws(ServerError) -> ServerResponse {
            let (text, type) = token
            return try await call.database.write { (scope) throws(ServerError) in
                let known = try scope.first("ServerPushToken", ("type", .string(type)), ("token", .string(text)))
                if let known, known.text("user") != user, !overwrites {
                    throw .conflict("The token belongs to another user.")
                }
                let row = if let known { known } else { try scope.insert("ServerPushToken") }
                row["token"] = text
                row["type"] = type
                row["user"] = user
                row["registered"] = scope.now
                return ServerResponse(json: [:])
            }
        }

        private func remove(_ token: Token, _ call: Call) async throws(ServerError) -> ServerResponse {
            let (text, type) = token
            return try await call.database.write { (scope) throws(ServerError) in
                // Clients remove a token before they register it, whether it is there or not.
                if let row = try scope.first("ServerPushToken", ("type", .string(type)), ("token", .string(text))) {
                    scope.context.delete(row)
                }
                return ServerResponse(json: [:])
            }
        }

        private func tokens(of users: [String], _ call: Call) async throws(ServerError) -> ServerResponse {
            guard users.count <= options.limits.requests.conditions else {
                throw .badRequest("Ask for \(options.limits.requests.conditions) users at most.")
            }
            return try await call.database.read { (scope) throws(ServerError) in
                var result: JSONObject = [:]
                for user in users {
                    let rows = try scope.all("ServerPushToken", ("user", .string(user)))
                    result[user] = .array(
                        rows.map { row in
                            [
                                "token": .string(row.text("token") ?? ""), "type": .string(row.text("type") ?? ""),
                                "registered_milliseconds": .integer(row.whole("registered") ?? 0),
                            ]
                        })
                }
                return ServerResponse(json: ["tokens": .object(result)])
            }
        }

        // MARK: Messages

        private func record(
            _ audience: JSONValue, _ payload: JSONValue?, _ call: Call
        ) async throws(ServerError) -> ServerResponse {
            guard let payload, payload.members != nil else { throw .badRequest("The body lacks kvPairs.") }
            guard
                (audience["users"] ?? audience["tokens"] ?? []).elements?.count ?? 0
                    <= options.limits.requests.conditions
            else {
                throw .badRequest(
                    "A message goes to \(options.limits.requests.conditions) at most; send several, or broadcast.")
            }
            let text = try payload.stored()
            guard text.utf8.count <= Self.largestPayload else {
                throw .badRequest("A payload has at most \(Self.largestPayload) bytes.")
            }
            let addressees = try audience.stored()
            return try await call.database.write { (scope) throws(ServerError) in
                if text.utf8.count > 256, try Self.reachesApple(audience, scope) {
                    throw .badRequest("A payload for iOS has at most 256 bytes.")
                }
                let row = try scope.insert("ServerPushMessage")
                row["audience"] = addressees
                row["payload"] = text
                row["created"] = scope.now
                return ServerResponse(json: [:])
            }
        }

        private static func reachesApple(_ audience: JSONValue, _ scope: DataScope) throws(ServerError) -> Bool {
            if let tokens = audience["tokens"]?.elements { return tokens.contains { $0["type"] == "ios" } }
            guard let users = audience["users"]?.elements else {
                return try scope.first("ServerPushToken", ("type", "ios")) != nil
            }
            for user in users {
                if try scope.first("ServerPushToken", ("type", "ios"), ("user", .string(user.string ?? ""))) != nil {
                    return true
                }
            }
            return false
        }
    }
#endif
