import Foundation
import StrataMaxLeap

extension MaxLeapAreas {
    /// A server that gives the answer of the case, and nothing else.
    private func server() -> WireServer {
        let trouble = input.text("networkError", "network", "failure").map(WireCase.plain)
        let kind: RemoteError.Kind? =
            switch trouble {
            case nil: nil
            case let word? where word.contains("time"): .timeout
            case let word? where word.contains("cancel"): .cancelled
            default: .unreachable
            }
        return WireServer { (_) throws(RemoteError) -> WireResponse in
            if let kind { throw RemoteError(kind, domain: "Wire", message: "there is no network in this case") }
            let status = input.whole("status") ?? 200
            let body = input["body"] == .null ? Optional<JSONValue>.none : input["body"]
            if let text = input.text("bodyText", "rawBody") {
                var response = WireServer.answer(status, nil)
                response.body = Data(text.utf8)
                return response
            }
            return WireServer.answer(status, body)
        }
    }

    /// What the caller gets of an answer.
    func response() async throws -> JSONValue {
        let server = server()
        let client = try client(server)
        do {
            return try await outcome(client)
        } catch let error as RemoteError {
            return WireActual.json(error).adding(["requestsSent": .integer(Int64(server.requests.count))])
        }
    }

    /// The error that the caller gets.
    func error() async throws -> JSONValue {
        if let policy = input.text("cachePolicy", "policy") {
            var members = input.members
            members["policy"] = .string(policy)
            return try await MaxLeapAreas(WireCase(.object(members)), flavor).cachePolicy()
        }
        return try await response()
    }

    private func outcome(_ client: MaxLeapClient) async throws -> JSONValue {
        let className = input.text("className", "class") ?? "Test"
        let pointer = MaxLeapPointer(className, input.text("objectId") ?? "1")
        if input.says("batch") { return try batchOutcome(client) }
        if input.says("deletefile") {
            try await client.delete(MaxLeapFile(name: "f", url: "h/f"))
            return ["deleted": true]
        }
        if input.says("file") {
            let file = try await client.upload(MaxLeapFile(name: "f", data: Data()))
            return ["file": MaxLeapWireValues.json(file)["$file"] ?? .null]
        }
        if input.says("function", "cloud", "job") {
            let result = MaxLeapWireValues.json(
                try await input.says("job") ? client.runJob("f") : client.call("f"))
            return ["result": result, "value": result]
        }
        if input.says("signup", "login", "anonymous", "provider", "current", "me"), !input.says("delete") {
            return try await userOutcome(client)
        }
        if input.says("logout") {
            client.session.replace(token: "S", user: MaxLeapObject("_User", objectId: "1"))
            try await client.logOut()
            return ["success": true, "loggedIn": .boolean(client.session.isLoggedIn)]
        }
        if input.says("count") {
            return ["count": .integer(Int64(try await client.count(MaxLeapQuery(className)))), "results": .array([])]
        }
        if input.says("first") {
            return MaxLeapWireValues.json(try await client.first(MaxLeapQuery(className)))
        }
        if input.says("create", "save") {
            var object = MaxLeapObject(className)
            if input.text("objectId") != nil { object = MaxLeapObject(className, objectId: pointer.objectId) }
            object["f"] = 1
            return plain(try await client.save(object))
        }
        if input.says("update", "put") {
            var object = MaxLeapObject(className, objectId: pointer.objectId)
            object["f"] = 1
            let saved = plain(try await client.save(object))
            let number = input["body"]?["number"].map { ["number": $0] as JSONObject }
            return saved.adding(number ?? [:])
        }
        if input.says("delete") {
            try await client.delete(pointer)
            return JSONValue.object(["deleted": true]).adding(input["body"]?.members ?? [:])
        }
        if input.says("fetch", "read"), !input.says("all") {
            return MaxLeapWireValues.json(try await client.fetch(pointer))
        }
        let found = try await client.find(MaxLeapQuery(className))
        var actual: JSONObject = ["results": .array(found.map { MaxLeapWireValues.json($0) })]
        if let count = input["body"]?["count"] { actual["count"] = count }
        return .object(actual)
    }

    /// A saved object without the field that was made up to save it.
    private func plain(_ object: MaxLeapObject) -> JSONValue {
        var members = MaxLeapWireValues.json(object).members ?? [:]
        if input["body"]?["f"] == nil { members["f"] = nil }
        return .object(members)
    }

    private func userOutcome(_ client: MaxLeapClient) async throws -> JSONValue {
        let user: MaxLeapObject
        if input.says("signup") {
            user = try await client.signUp(username: "u", password: "p")
        } else if input.says("anonymous") {
            user = try await client.logInAnonymously()
        } else if input.says("provider", "facebook") {
            user = try await client.logIn(MaxLeapAuthData("facebook", ["id": "1"]))
        } else if input.says("login") {
            user = try await client.logIn(username: "u", password: "p")
        } else {
            client.session.replace(token: "S", user: MaxLeapObject("_User", objectId: "1"))
            user = try await client.refreshUser()
        }
        return MaxLeapWireValues.json(user).adding([
            "user": MaxLeapWireValues.json(user), "isNew": .boolean(user.isNew),
            "sessionToken": client.session.token.map(JSONValue.string) ?? .null,
        ])
    }

    /// What became of each member of a batch.
    private func batchOutcome(_ client: MaxLeapClient) throws -> JSONValue {
        let body = input["body"] ?? .array([])
        let response = WireServer.answer(input.whole("status") ?? 200, body)
        let outcomes = try dialect().batchAnswer(response, count: body.elements?.count ?? 0)
        let list = try outcomes.map { outcome -> JSONValue in
            switch outcome {
            case .done(let members): return MaxLeapWireValues.json(try MaxLeapObject("Test", members))
            case .failed(let error): return ["error": .integer(Int64(error.code)), "message": .string(error.message)]
            }
        }
        return ["results": .array(list), "outcomes": .array(list)]
    }

    // MARK: The cache

    /// What a query finds, and what the cache has then.
    func cachePolicy() async throws -> JSONValue {
        @Sendable func page(_ ids: [String]) -> JSONValue { ["results": .array(ids.map { ["objectId": .string($0)] })] }
        let fails = input.has("networkError") || input["network"]?.isNull == true || !input.has("network")
        let word = WireCase.plain(input.text("network") ?? "")
        let failures = ["error", "fail", "unreach", "connect", "timeout", "offline", "none", "down"]
        let isBroken = fails || failures.contains(where: word.contains) || input["network"]?["error"] != nil
        let network = input.texts("network") ?? []
        let server = WireServer { (_) throws(RemoteError) -> WireResponse in
            if isBroken { throw WireServer.unreachable }
            return WireServer.answer(200, page(network))
        }
        let clock = WireClock()
        let client = try client(server, clock: clock)
        let query = MaxLeapQuery("Test")
        let name = client.name(of: try client.configuration.dialect.queryRequest(query))
        var maximumAge: Double?
        let cached = input.texts("cache") ?? []
        if cached == ["corrupt"] {
            client.configuration.cache.keep(Data("{\"results\":[".utf8), named: name, now: clock.now)
        } else if cached == ["expired"] {
            client.configuration.cache.keep(try page(["c"]).data(), named: name, now: clock.now - 100)
            maximumAge = 10
        } else if !cached.isEmpty {
            client.configuration.cache.keep(try page(cached).data(), named: name, now: clock.now)
        }
        var actual = try await found(client, query, maximumAge)
        let kept = client.configuration.cache.body(named: name, now: clock.now, maximumAge: nil)
        let isStored = try !network.isEmpty && !isBroken && kept == page(network).data()
        actual["stored"] = .boolean(isStored)
        actual["networkCalls"] = .integer(Int64(server.requests.count))
        return .object(actual)
    }

    private func found(
        _ client: MaxLeapClient, _ query: MaxLeapQuery, _ maximumAge: Double?
    ) async throws -> JSONObject {
        let policy = try policy()
        let isOne =
            input.flag("synchronous", "sync", "controller") == true || input.says("sync", "controller", "count")
        if policy == .cacheThenNetwork, !isOne {
            var callbacks: [JSONValue] = []
            for await result in client.results(of: query, maximumAge: maximumAge) {
                switch result {
                case .success(let objects): callbacks.append(ids(objects))
                case .failure(let error): callbacks.append(["error": .integer(Int64(error.code))])
                }
            }
            return ["callbacks": .array(callbacks)]
        }
        do throws(RemoteError) {
            return ["results": ids(try await client.find(query, policy: policy, maximumAge: maximumAge))]
        } catch {
            return WireActual.json(error).members ?? [:]
        }
    }

    private func ids(_ objects: [MaxLeapObject]) -> JSONValue {
        .array(objects.map { $0.objectId.map(JSONValue.string) ?? .null })
    }

    private func policy() throws -> MaxLeapCachePolicy {
        if let number = input.whole("policy") {
            guard let policy = MaxLeapCachePolicy(rawValue: number) else {
                throw WireFault("there is no policy \(number)")
            }
            return policy
        }
        switch WireCase.plain(input.text("policy", "cachePolicy") ?? "IgnoreCache").replacing(
            "kpfcachepolicy", with: "")
        {
        case "ignorecache": return .ignoreCache
        case "cacheonly": return .cacheOnly
        case "networkonly": return .networkOnly
        case "cacheelsenetwork": return .cacheElseNetwork
        case "networkelsecache": return .networkElseCache
        case "cachethennetwork": return .cacheThenNetwork
        case let name: throw WireFault("there is no policy \(name.prefix(40))")
        }
    }
}
