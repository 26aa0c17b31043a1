import Foundation
import StrataStackMob

extension StackMobWire {
    /// What a client sends for users and sessions, and the session that it has then.
    static func auth(_ input: WireCase) async throws -> JSONValue {
        let answer = input["response"] ?? input["answer"]
        let status = input.whole("status") ?? answer?["status"]?.whole.flatMap { Int(exactly: $0) } ?? 200
        let body = answer?["body"] ?? input["responseBody"] ?? answer ?? input["body"]
        let server = WireServer { (request) async throws(RemoteError) -> WireResponse in
            if input.text("network") == "unreachable" { throw WireServer.unreachable }
            let isToken = request.head.headerFields[.contentType] == "application/x-www-form-urlencoded"
            return WireServer.answer(status, body ?? (isToken ? Self.session : [:]))
        }
        let clock = WireClock(input["now"]?.number.map { Date(timeIntervalSince1970: $0) } ?? WireClock().now)
        let client = try client(input, server, clock)
        var error: RemoteError?
        do throws(RemoteError) {
            try await perform(input, client)
        } catch let thrown {
            error = thrown
        }
        let requests = server.requests
        var actual: JSONValue = requests.first.map(WireActual.json) ?? [:]
        if let error {
            // A request that was made is shown together with what became of it.
            actual = actual.adding(WireActual.json(error).members ?? [:])
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
        configuration.dialect = try input.dialect()
        configuration.sessionStorage = MemorySessionStorage()
        configuration.transport = server
        configuration.clock = clock
        configuration.requestOptions = input.options
        configuration.nonce = { input.text("nonce") ?? "n1" }
        let client = StackMobClient(configuration)
        let isHeld = input.flag("refreshTokenHeld")
        let refreshToken = input.text("refreshToken") ?? (isHeld == true ? "R" : nil)
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

    private static func session(_ client: StackMobClient, _ clock: WireClock) -> [String: JSONValue] {
        guard let credentials = client.session.credentials else {
            return ["session": .null, "loggedIn": false, "isLoggedIn": false]
        }
        let seconds = credentials.expiration.timeIntervalSince1970
        let session: [String: JSONValue] = [
            "accessToken": .string(credentials.signer.accessToken), "macKey": .string(credentials.signer.key),
            "refreshToken": credentials.refreshToken.map(JSONValue.string) ?? .null,
            "expiration": .double(seconds), "expires": .double(seconds),
            "user": credentials.userID.map(JSONValue.string) ?? .null,
        ]
        return [
            "session": .object(session), "loggedIn": .boolean(client.session.isLoggedIn),
            "isLoggedIn": .boolean(client.session.isLoggedIn),
        ]
    }

    private static func perform(_ input: WireCase, _ client: StackMobClient) async throws(RemoteError) {
        let operation = input.operation
        if let grant = grant(operation, input) {
            _ = try await client.logIn(grant)
            return
        }
        let token = input.argument("token", "fbToken", "facebookToken", "twitterToken")
        let secret = input.argument("secret", "twitterSecret")
        switch operation {
        case "refresh", "refreshtoken", "refreshsession": try await client.session.refresh()
        case "logout": try await client.logOut()
        case "loggedinuser", "getloggedinuser": _ = try await client.loggedInUser()
        case "forgotpassword", "sendforgotpassword", "sendforgotpasswordemail":
            try await client.forgotPassword(username: input.argument("username", "user"))
        case "changepassword", "resetpassword":
            try await client.resetPassword(
                from: input.argument("old", "oldPassword"), to: input.argument("new", "newPassword"))
        case "createfacebook", "createuserwithfacebook", "createwithfacebook", "createuserfacebook":
            _ = try await client.createUser(facebookToken: token, username: input.text("username"))
        case "linkfacebook", "linkuserwithfacebook": try await client.linkFacebook(token: token)
        case "unlinkfacebook", "unlinkuserfromfacebook": try await client.unlinkFacebook()
        case "postfacebook", "postfacebookmessage", "facebookmessage", "posttofacebook", "updatefacebookstatus":
            try await client.postToFacebook(input.argument("message", "status"))
        case "facebookinfo", "facebookuserinfo", "getfacebookuserinfo", "getfacebookinfo":
            _ = try await client.facebookUserInfo()
        case "createtwitter", "createuserwithtwitter", "createwithtwitter", "createusertwitter":
            _ = try await client.createUser(
                twitterToken: token, secret: secret, username: input.text("username"))
        case "linktwitter", "linkuserwithtwitter": try await client.linkTwitter(token: token, secret: secret)
        case "unlinktwitter", "unlinkuserfromtwitter": try await client.unlinkTwitter()
        case "tweet", "twitterstatus", "twitterstatusupdate", "posttwitter", "posttotwitter", "updatetwitterstatus":
            try await client.postToTwitter(input.argument("message", "status", "text"))
        case "twitterinfo", "twitteruserinfo", "gettwitteruserinfo", "gettwitterinfo":
            _ = try await client.twitterUserInfo()
        case "linkgigya", "linkuserwithgigya":
            try await client.linkGigya(
                uid: input.argument("uid", "UID"), signature: input.argument("signature", "UIDSignature", "sig"),
                timestamp: input.argument("timestamp", "signatureTimestamp", "ts"))
        case "unlinkgigya", "unlinkuserfromgigya": try await client.unlinkGigya()
        default:
            throw StackMobError.invalidArguments.error("there is no operation \(operation.prefix(40)) of users")
        }
    }

    private static func grant(_ operation: String, _ input: WireCase) -> TokenGrant? {
        let creates = input.flag("createIfNeeded", "create", "createUserIfNeeded") ?? operation.hasSuffix("withcreate")
        let token = input.argument("token", "fbToken", "facebookToken", "twitterToken")
        switch operation {
        case "login":
            return .password(
                username: input.argument("username", "user"), password: input.argument("password"))
        case "logintemporary", "logintemp", "logintemporarypassword", "loginwithtemporarypassword":
            return .temporaryPassword(
                username: input.argument("username", "user"),
                password: input.argument("password", "temporaryPassword", "tempPassword"),
                newPassword: input.argument("newPassword", "new", "settingNewPassword"))
        case "loginfacebook", "loginwithfacebook", "loginfacebookwithcreate":
            return .facebook(token: token, creates: creates, username: input.text("username"))
        case "logintwitter", "loginwithtwitter", "logintwitterwithcreate":
            return .twitter(
                token: token, secret: input.argument("secret", "twitterSecret"), creates: creates,
                username: input.text("username"))
        case "logingigya", "loginwithgigya":
            return .gigya(
                uid: input.argument("uid", "UID"), signature: input.argument("signature", "UIDSignature", "sig"),
                timestamp: input.argument("timestamp", "signatureTimestamp", "ts"))
        default: return nil
        }
    }
}
