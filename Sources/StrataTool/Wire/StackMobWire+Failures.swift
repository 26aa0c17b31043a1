import Foundation
import StrataStackMob

extension StackMobWire {
    /// The error that the caller of an operation gets in a situation.
    static func error(_ input: WireCase) async throws -> JSONValue {
        let operation = input.operation
        if input.has("contentRange") { return try count(input) }
        if operation.hasPrefix("push") || input.text("host") == "push" { return try pushError(input) }
        let entity = input.text("schema", "entity").map(StackMobNames.schema) ?? ""
        let savesUser = ["createuser", "saveuser", "insertuser"].contains(operation) || entity == "user"
        if savesUser, input.has("password"), input.text("password") == nil {
            let dialect = try input.dialect()
            let schema = StackMobSchema(entity: "User", primaryKey: dialect.userPrimaryKeyField, properties: [:])
            _ = try dialect.body(
                of: RemoteWrite(id: "1"), schema, .insert, StackMobEncoder(dialect: dialect))
        }
        let gate = WireGate()
        let asked = WireGate()
        let runs = input.flag("refreshAlreadyRunning", "refreshInProgress", "refreshing") == true
        let server = WireServer { (request) async throws(RemoteError) -> WireResponse in
            let path = request.head.path ?? ""
            if path.hasSuffix("/refreshToken") {
                await asked.open()
                if runs { await gate.wait() }
                if operation == "refresh", input.has("status") { return Self.answer(input) }
                return try Self.refreshAnswer(input)
            }
            if Self.isUnreachable(input) { throw WireServer.unreachable }
            return Self.answer(input)
        }
        let client = try client(input, server, WireClock())
        var first: Task<Void, Never>?
        if runs {
            first = Task {
                try? await client.session.refresh()
                // A refresh that is refused at once asks no server.
                await asked.open()
            }
            await asked.wait()
        }
        var actual: JSONValue = ["success": true, "result": "success"]
        do throws(RemoteError) {
            try await perform(operation, input, client)
        } catch {
            actual = WireActual.json(error)
        }
        await gate.open()
        await first?.value
        return actual.adding(["requestsSent": .integer(Int64(server.requests.count))])
    }

    private static func perform(
        _ operation: String, _ input: WireCase, _ client: StackMobClient
    ) async throws(RemoteError) {
        let schema = input.text("schema") ?? "thing"
        switch operation {
        case "login": _ = try await client.logIn(username: "u", password: "p")
        case "logintemporary":
            _ = try await client.logIn(username: "u", temporaryPassword: "p", newPassword: "n")
        case "loginfacebook": _ = try await client.logIn(facebookToken: "t")
        case "logintwitter": _ = try await client.logIn(twitterToken: "t", secret: "s")
        case "logingigya": _ = try await client.logIn(gigyaUID: "u", signature: "s", timestamp: "1")
        case "refresh", "refreshtoken": try await client.session.refresh()
        case "logout": try await client.logOut()
        case "loggedinuser": _ = try await client.loggedInUser()
        case "forgotpassword": try await client.forgotPassword(username: "u")
        case "changepassword", "resetpassword": try await client.resetPassword(from: "o", to: "n")
        case "create", "createuser", "insert", "save":
            _ = try await client.dataStore.create(["name": "x"], in: schema)
        case "update": _ = try await client.dataStore.update("1", in: schema, with: ["name": "x"])
        case "delete": try await client.dataStore.delete("1", in: schema)
        case "read", "fault": _ = try await client.dataStore.read("1", in: schema)
        case "count": _ = try await client.dataStore.count(StackMobQuery(schema))
        case "customcode": _ = try await client.perform(CustomCodeRequest("method"))
        default: _ = try await client.dataStore.query(StackMobQuery(schema))
        }
    }

    private static func answer(_ input: WireCase) -> WireResponse {
        let headers = input.text("retryAfter").map { ["Retry-After": $0] } ?? [:]
        return WireServer.answer(input.whole("status") ?? 200, input["body"] ?? .array([]), headers: headers)
    }

    private static func refreshAnswer(_ input: WireCase) throws(RemoteError) -> WireResponse {
        let told = input["refresh"] ?? input["refreshAnswer"]
        if told?.text == "unreachable" { throw WireServer.unreachable }
        let status = told?["status"]?.whole ?? told?.whole ?? 200
        let session: JSONValue = ["access_token": "A2", "mac_key": "K2", "expires_in": 3600, "refresh_token": "R2"]
        return WireServer.answer(
            Int(clamping: status), told?["body"] ?? (status == 200 ? session : ["error": "invalid_grant"]))
    }

    private static func isUnreachable(_ input: WireCase) -> Bool {
        if input.flag("reachable", "networkReachable", "response") == false { return true }
        if input.has("status"), input["status"]?.isNull == true { return true }
        let words = [input.text("network"), input.text("situation"), input.text("failure"), input.text("case")]
        return words.contains { word in
            let plain = WireCase.plain(word ?? "")
            return ["unreachable", "notreachable", "noresponse", "none", "offline", "nonetwork", "networknotreachable"]
                .contains(plain)
        }
    }

    private static func pushError(_ input: WireCase) throws -> JSONValue {
        do throws(RemoteError) {
            try input.dialect().checkPush(answer(input))
            return ["success": true]
        } catch {
            return WireActual.json(error)
        }
    }

    /// How often a request is sent to a server that asks to wait, and what becomes of it.
    static func retry(_ input: WireCase) async throws -> JSONValue {
        let statuses = (input.elements("statuses") ?? []).compactMap(\.whole).map { Int(clamping: $0) }
        guard let final = statuses.last else { throw WireFault("the case has no \"statuses\"") }
        let clock = WireClock()
        let place = WireCounter()
        let afters = input.elements("retryAfter")?.map(WireValues.text)
        let server = WireServer { (_) async throws(RemoteError) -> WireResponse in
            let index = place.next()
            let status = index < statuses.count ? statuses[index] : final
            let after = afters.map { index < $0.count ? $0[index] : "" } ?? input.text("retryAfter")
            let headers = after.map { ["Retry-After": $0] } ?? [:]
            return WireServer.answer(
                status, status == 503 ? ["error": "wait"] : [:], headers: status == 503 ? headers : [:])
        }
        let dialect = try input.dialect()
        let backend = HTTPBackend(dialect: dialect, transport: server, clock: clock)
        let blocks = WireCounter()
        let block: RetryBlock = { _ in
            _ = blocks.next()
            return .giveUp
        }
        let call = RemoteCall(name: input.text("name") ?? "method")
        let response = try await backend.send(
            dialect.callRequest(call), options: input.options,
            retrying: input.flag("retryBlock", "customRetryBlock") == true ? block : nil)
        var actual: [String: JSONValue] = [
            "attempts": .integer(Int64(server.requests.count)),
            "delays": .array(clock.sleeps.map { Int64(exactly: $0).map(JSONValue.integer) ?? .double($0) }),
            "retryBlockCalls": .integer(Int64(blocks.count)), "result": "success",
        ]
        if let error = dialect.failure(response) {
            actual["result"] = ["domain": .string(error.domain), "code": .integer(Int64(error.code))]
        }
        return .object(actual)
    }
}
