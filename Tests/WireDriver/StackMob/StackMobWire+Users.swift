import Foundation
import StrataStackMob

extension StackMobWire {
    /// What a client sends for users and sessions, and the session that it has then.
    static func auth(_ input: WireCase) async throws -> JSONValue {
        let answer = input["response"] ?? input["answer"]
        let status = input.whole("status") ?? answer?["status"]?.integer.flatMap { Int(exactly: $0) } ?? 200
        let body = answer?["body"] ?? input["responseBody"] ?? answer ?? input["body"]
        let server = WireServer { (request) async throws(RemoteError) -> WireResponse in
            if input.text("network") == "unreachable" { throw WireServer.unreachable }
            let isToken = request.head.headerFields[.contentType] == "application/x-www-form-urlencoded"
            return Self.response(status, body ?? (isToken ? Self.session : [:]))
        }
        let clock = WireClock(input["now"]?.double.map { Date(timeIntervalSince1970: $0) } ?? WireClock().now)
        let client = try client(input, server, clock)
        var error: RemoteError?
        var user: JSONObject?
        do {
            user = try await perform(input, client)
        } catch let thrown as RemoteError {
            error = thrown
        }
        let requests = server.requests
        var actual: JSONValue = requests.first.map(WireActual.json) ?? [:]
        if let user { actual = actual.adding(["user": .object(user)]) }
        if let error {
            // A request that was made is shown together with what became of it.
            actual = actual.adding(Self.json(error).members ?? [:])
        }
        return actual.adding(["requestsSent": .integer(Int64(requests.count))]).adding(session(client, clock))
    }

    private static let session: JSONValue = [
        "access_token": "A", "mac_key": "K", "mac_algorithm": "hmac-sha-1", "token_type": "mac", "expires_in": 3600,
        "refresh_token": "R", "stackmob": ["user": [:]],
    ]

    /// A client with the settings and the session of a case.
    static func client(_ input: WireCase, _ server: WireServer, _ clock: WireClock) throws -> StackMobClient {
        var configuration = try StackMobConfiguration(publicKey: String(repeating: "0", count: 36))
        configuration.dialect.securesRemoteHosts = false
        configuration.dialect = try input.dialect()
        configuration.applicationName = input.text("bundleName", "applicationName") ?? configuration.applicationName
        configuration.sessionStorage = MemorySessionStorage()
        configuration.transport = server
        configuration.clock = clock
        configuration.requestOptions = input.options
        configuration.nonce = { input.text("nonce") ?? "n1" }
        let client = StackMobClient(configuration)
        let isHeld = input.flag("refreshTokenHeld")
        let refreshToken =
            input.text("refreshToken") ?? (input.says("refresh") ? input.text("token") : nil)
            ?? (isHeld == true ? "R" : nil)
        let accessToken = input.text("accessToken") ?? (isHeld == nil && refreshToken == nil ? nil : "A")
        if let accessToken {
            let isExpired = input.flag("tokenExpired", "expired") ?? false
            client.session.replace(
                with: SessionCredentials(
                    signer: MACCredentials(accessToken: accessToken, key: input.text("macKey") ?? "K"),
                    refreshToken: isHeld == false ? nil : refreshToken,
                    expiration: clock.now.addingTimeInterval(isExpired ? -60 : 3600)))
        }
        return client
    }

    private static func session(_ client: StackMobClient, _ clock: WireClock) -> JSONObject {
        guard let credentials = client.session.credentials else {
            return [
                "session": .null, "loggedIn": false, "isLoggedIn": false,
                "storageKey": .string(client.configuration.sessionName),
            ]
        }
        let seconds = credentials.expiration.timeIntervalSince1970
        let session: JSONObject = [
            "accessToken": .string(credentials.signer.accessToken), "macKey": .string(credentials.signer.key),
            "refreshToken": credentials.refreshToken.map(JSONValue.string) ?? .null,
            "expiration": .double(seconds), "expires": .double(seconds),
            "user": credentials.userID.map(JSONValue.string) ?? .null,
        ]
        // The members of the session are next to it, too.
        return JSONObject(session.filter { $0.name != "user" }).merging([
            "session": .object(session), "loggedIn": .boolean(client.session.isLoggedIn),
            "isLoggedIn": .boolean(client.session.isLoggedIn), "expiresAt": .double(seconds),
            "storageKey": .string(client.configuration.sessionName),
        ])
    }

    /// Does what the words of the operation say.
    /// - Returns: What the client gives back: the user, or what another service reports about it.
    private static func perform(_ input: WireCase, _ client: StackMobClient) async throws -> JSONObject? {
        if let grant = grant(input) { return try await client.logIn(grant) }
        if input.says("loggedin") { return try await client.loggedInUser() }
        if input.says("facebook") { return try await performFacebook(input, client) }
        if input.says("twitter", "tweet") { return try await performTwitter(input, client) }
        if input.says("unlink") {
            try await client.unlinkGigya()
        } else if input.says("link") {
            try await client.linkGigya(
                uid: input.argument("uid", "UID"), signature: input.argument("signature", "UIDSignature", "sig"),
                timestamp: input.argument("timestamp", "signatureTimestamp", "ts"))
        } else if input.says("refresh") {
            try await client.session.refresh()
        } else if input.says("logout") {
            try await client.logOut()
        } else if input.says("forgot") {
            try await client.forgotPassword(username: input.argument("username", "user"))
        } else if input.says("change", "reset") {
            try await client.resetPassword(
                from: input.argument("old", "oldPassword"), to: input.argument("new", "newPassword"))
        } else if !input.says("storage") {
            throw WireFault("there is no operation \(input.operation.prefix(40)) of users")
        }
        return nil
    }

    private static func performFacebook(
        _ input: WireCase, _ client: StackMobClient
    ) async throws(RemoteError) -> JSONObject? {
        let token = input.argument("token", "fbToken", "facebookToken")
        if input.says("unlink") {
            try await client.unlinkFacebook()
        } else if input.says("link") {
            try await client.linkFacebook(token: token)
        } else if input.says("create") {
            return try await client.createUser(facebookToken: token, username: input.text("username"))
        } else if input.says("info") {
            return try await client.facebookUserInfo()
        } else {
            try await client.postToFacebook(input.argument("message", "status", "text"))
        }
        return nil
    }

    private static func performTwitter(
        _ input: WireCase, _ client: StackMobClient
    ) async throws(RemoteError) -> JSONObject? {
        let token = input.argument("token", "twitterToken")
        let secret = input.argument("secret", "twitterSecret")
        if input.says("unlink") {
            try await client.unlinkTwitter()
        } else if input.says("link") {
            try await client.linkTwitter(token: token, secret: secret)
        } else if input.says("create") {
            return try await client.createUser(twitterToken: token, secret: secret, username: input.text("username"))
        } else if input.says("info") {
            return try await client.twitterUserInfo()
        } else {
            try await client.postToTwitter(input.argument("message", "status", "text"))
        }
        return nil
    }

    /// What a login shows; nil for other operations. An answer by itself is that to a login, too.
    private static func grant(_ input: WireCase) -> TokenGrant? {
        if input.says("tokenresponse", "tokenanswer", "loginresponse") {
            return .password(username: input.text("username") ?? "u", password: input.text("password") ?? "p")
        }
        guard input.says("login", "accesstoken"), !input.says("loggedin") else { return nil }
        let creates = input.flag("createIfNeeded", "create", "createUserIfNeeded") ?? input.says("withcreate")
        let token = input.argument("token", "fbToken", "facebookToken", "twitterToken")
        if input.says("facebook") { return .facebook(token: token, creates: creates, username: input.text("username")) }
        if input.says("twitter") {
            return .twitter(
                token: token, secret: input.argument("secret", "twitterSecret"), creates: creates,
                username: input.text("username"))
        }
        if input.says("gigya") {
            return .gigya(
                uid: input.argument("uid", "UID"), signature: input.argument("signature", "UIDSignature", "sig"),
                timestamp: input.argument("timestamp", "signatureTimestamp", "ts"))
        }
        let username = input.argument("username", "user")
        guard input.says("temp") || input.has("newPassword") else {
            return .password(username: username, password: input.argument("password"))
        }
        return .temporaryPassword(
            username: username, password: input.argument("password", "temporaryPassword", "tempPassword"),
            newPassword: input.argument("newPassword", "new", "settingNewPassword"))
    }
}
