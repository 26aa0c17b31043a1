import Foundation
import StrataStackMob

extension StackMobWire {
    /// The error that the caller of an operation gets in a situation.
    static func error(_ input: WireCase) async throws -> JSONValue {
        let situation = input.has("status") ? "" : WireCase.plain(input.text("situation", "case") ?? "")
        if input.has("contentRange") { return try count(input) }
        if situation.contains("count") { _ = try input.dialect().count(contentRange: "0-0/*", elements: nil) }
        if input.says("push") || input.text("host") == "push" { return try pushError(input) }
        if input.says("location") || situation.contains("location") {
            _ = try await GeoPoint.current(from: NoLocation())
        }
        if input.says("fault") || situation.contains("fault"), isUnreachable(input) { return try await faultError() }
        if lacksPassword(input, situation) {
            let dialect = try input.dialect()
            let schema = StackMobSchema(entity: "User", primaryKey: dialect.userPrimaryKeyField, properties: [:])
            _ = try dialect.body(
                of: RemoteWrite(id: "1"), schema, .insert, StackMobEncoder(dialect: dialect))
        }
        return try await exchange(input)
    }

    /// Whether a new user is saved for whom no password was set.
    private static func lacksPassword(_ input: WireCase, _ situation: String) -> Bool {
        if situation.contains("password"), !situation.contains("temporary") { return true }
        let saves = input.says("create", "save", "insert")
        let isUser =
            input.says("user") || StackMobNames.schema(ofEntity: input.text("schema", "entity") ?? "") == "user"
        guard saves, isUser, input.text("password") == nil else { return false }
        return input.has("password") || !input.has("status") && !isUnreachable(input)
    }

    /// What a client meets with a server of the case's words.
    private static func exchange(_ input: WireCase) async throws -> JSONValue {
        let gate = WireGate()
        let asked = WireGate()
        let place = WireCounter()
        let answers = answers(input)
        let runs = input.flag("refreshAlreadyRunning", "refreshInProgress", "refreshing") == true
        let server = WireServer { (request) async throws(RemoteError) -> WireResponse in
            let path = request.head.path ?? ""
            if path.hasSuffix("/refreshToken") {
                await asked.open()
                if runs { await gate.wait() }
                if input.says("refresh"), input.has("status") { return answers[0] }
                return try Self.refreshAnswer(input)
            }
            if Self.isUnreachable(input) { throw WireServer.unreachable }
            return answers[min(place.next(), answers.count - 1)]
        }
        let client = try client(input, server, WireClock())
        var first: Task<Void, Never>?
        if runs {
            first = Task {
                try? await client.session.refresh()
                // A refresh that is refused immediately asks no server.
                await asked.open()
            }
            await asked.wait()
        }
        var actual: JSONValue = ["success": true, "result": "success"]
        do throws(RemoteError) {
            try await perform(input, client)
        } catch {
            actual = Self.json(error)
        }
        await gate.open()
        await first?.value
        return actual.adding(["requestsSent": .integer(Int64(server.requests.count))])
    }

    private static func perform(_ input: WireCase, _ client: StackMobClient) async throws(RemoteError) {
        let schema = input.text("schema", "entity") ?? (input.has("schema") ? "" : "thing")
        let id = input.text("objectId") ?? (input.has("objectId") ? "" : "1")
        let store = client.dataStore
        if input.says("loggedin") {
            _ = try await client.loggedInUser()
        } else if input.says("temp") {
            _ = try await client.logIn(username: "u", temporaryPassword: "p", newPassword: "n")
        } else if input.says("facebook") {
            _ = try await client.logIn(facebookToken: "t")
        } else if input.says("twitter") {
            _ = try await client.logIn(twitterToken: "t", secret: "s")
        } else if input.says("gigya") {
            _ = try await client.logIn(gigyaUID: "u", signature: "s", timestamp: "1")
        } else if input.says("login") {
            _ = try await client.logIn(username: "u", password: "p")
        } else if input.says("refresh") {
            try await client.session.refresh()
        } else if input.says("logout") {
            try await client.logOut()
        } else if input.says("forgot") {
            try await client.forgotPassword(username: "u")
        } else if input.says("change", "reset") {
            try await client.resetPassword(from: "o", to: "n")
        } else if input.says("create", "insert", "save") {
            _ = try await store.create(["name": "x"], in: schema)
        } else if input.says("update") {
            _ = try await store.update(id, in: schema, with: ["name": "x"])
        } else if input.says("delete") {
            try await store.delete(id, in: schema)
        } else if input.says("read", "fault") {
            _ = try await store.read(id, in: schema)
        } else if input.says("count") {
            _ = try await store.count(StackMobQuery(schema))
        } else if input.says("custom") {
            _ = try await client.perform(CustomCodeRequest("method"))
        } else {
            _ = try await store.query(StackMobQuery(schema))
        }
    }

    /// The answers in order; the last one is given from then on.
    private static func answers(_ input: WireCase) -> [WireResponse] {
        let headers = input.text("retryAfter").map { ["Retry-After": $0] } ?? [:]
        var statuses = (input.elements("statuses") ?? []).compactMap(\.integer)
        if statuses.isEmpty { statuses = [input["status"]?.integer ?? 200] }
        let again = input["retry"] ?? input["secondAnswer"]
        if let status = again?["status"]?.integer ?? again?.integer { statuses.append(status) }
        return statuses.map { status in
            Self.response(Int(clamping: status), input["body"] ?? .array([]), headers: headers)
        }
    }

    /// What becomes of an object that another one refers to, and that is not here, without a network.
    private static func faultError() async throws -> JSONValue {
        let store = try WireStore(policy: .networkElseCache)
        let key = try store.learnReference()
        store.backend.answer(.failure(StackMobError.networkNotReachable.error("there is no network in this case")))
        do {
            try await store.store.prepareRows(entityIndex: store.entity.index, keys: [key], options: nil)
            return ["success": true, "result": "success"]
        } catch StoreError.remote(let failure) {
            return [
                "domain": .string(failure.domain), "code": .integer(Int64(failure.code)),
                "error": .integer(Int64(failure.code)), "message": .string(failure.message),
                "exception": .string(StackMobError.Exception.cannotFillRelationshipFault.rawValue),
            ]
        }
    }

    private static func refreshAnswer(_ input: WireCase) throws(RemoteError) -> WireResponse {
        let told = input["refresh"] ?? input["refreshAnswer"]
        if told?.string == "unreachable" { throw WireServer.unreachable }
        let status = told?["status"]?.integer ?? told?.integer ?? 200
        let session: JSONValue = ["access_token": "A2", "mac_key": "K2", "expires_in": 3600, "refresh_token": "R2"]
        return Self.response(
            Int(clamping: status), told?["body"] ?? (status == 200 ? session : ["error": "invalid_grant"]))
    }

    private static func isUnreachable(_ input: WireCase) -> Bool {
        if input.flag("reachable", "networkReachable", "response") == false { return true }
        if input.flag("unreachable", "offline", "noResponse") == true { return true }
        if ["status", "response"].contains(where: { input[$0]?.isNull == true }) || input.whole("status") == 0 {
            return true
        }
        let texts = [input.text("network"), input.text("situation"), input.text("failure"), input.text("case")]
        return texts.contains { text in
            let plain = WireCase.plain(text ?? "")
            let words = ["unreachable", "notreachable", "noresponse", "offline", "nonetwork", "noconnection"]
            return plain == "none" || words.contains(where: plain.contains)
        }
    }

    /// The error that an answer of the push service is.
    static func pushError(_ input: WireCase) throws -> JSONValue {
        do throws(RemoteError) {
            try input.dialect().checkPush(answers(input)[0])
            return ["success": true]
        } catch {
            return Self.json(error)
        }
    }

    /// How often a request is sent to a server that asks to wait, and what becomes of it.
    static func retry(_ input: WireCase) async throws -> JSONValue {
        let statuses = (input.elements("statuses") ?? []).compactMap(\.integer).map { Int(clamping: $0) }
        guard let final = statuses.last else { throw WireFault("the case has no \"statuses\"") }
        let clock = WireClock()
        let place = WireCounter()
        let afters = input.elements("retryAfter")?.map(WireValues.text)
        let server = WireServer { (_) async throws(RemoteError) -> WireResponse in
            let index = place.next()
            let status = index < statuses.count ? statuses[index] : final
            let after = afters.map { index < $0.count ? $0[index] : "" } ?? input.text("retryAfter")
            let headers = after.map { ["Retry-After": $0] } ?? [:]
            return Self.response(
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
        var actual: JSONObject = [
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

/// A provider that knows no place.
private struct NoLocation: LocationProvider {
    struct Failure: Error {}

    func currentLocation() async throws -> GeoPoint { throw Failure() }
}
