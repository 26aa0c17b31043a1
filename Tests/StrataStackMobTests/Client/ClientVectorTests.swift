import Foundation
import StrataStackMob
import StrataRemoteTesting
import Testing

/// The cases of the protocol's vectors that are about what a client sends and reports, through the client's own methods.
@Suite struct ClientVectorTests {
    private func rig(_ vector: JSONValue) throws -> ClientRig {
        try ClientRig { configuration in
            if let schema = vector["userSchema"]?.string { configuration.dialect.userSchema = schema }
            if let field = vector["userPrimaryKeyField"]?.string { configuration.dialect.userPrimaryKeyField = field }
            if let field = vector["userPasswordField"]?.string { configuration.dialect.userPasswordField = field }
        }
    }

    /// Compares what was sent with what should have been.
    private func check(_ vector: JSONValue, _ rig: ClientRig, _ error: RemoteError?) throws {
        let name = Comment(rawValue: vector["id"]?.string ?? "")
        let expect = try #require(vector["expect"], name)
        if let code = expect["error"]?.integer {
            #expect(error?.code == Int(code), name)
            if let domain = expect["domain"]?.string { #expect(error?.domain == domain, name) }
            #expect(rig.transport.requests.count == Int(expect["requestsSent"]?.integer ?? 0), name)
            return
        }
        #expect(error == nil, name)
        let request = try #require(rig.transport.requests.first, name)
        #expect(rig.transport.requests.count == 1, name)
        if let method = expect["method"]?.string { #expect(request.head.method.rawValue == method, name) }
        if let path = expect["path"]?.string { #expect(request.head.path == path, name) }
        if let url = expect["url"]?.string { #expect(request.url == url, name) }
        if let scheme = expect["scheme"]?.string { #expect(request.head.scheme == scheme, name) }
        if let body = expect["body"] {
            #expect(body.isNull ? request.body == nil : request.json == body, name)
        }
        if let form = expect["form"]?.members {
            #expect(request.form == Dictionary(uniqueKeysWithValues: form.map { ($0, $1.string) }), name)
        }
        for (header, value) in expect["headers"]?.members ?? [:] {
            #expect(request.header(header) == value.string, name)
        }
        for (header, value) in expect["requestHeaders"]?.members ?? [:] {
            #expect(request.header(header) == value.string, name)
        }
        for header in expect["absentHeaders"]?.elements ?? [] {
            #expect(request.header(header.string ?? "") == nil, name)
        }
    }

    @Test("Requests about users are those that were recorded")
    func users() async throws {
        let vectors = try ClientVectors.area("auth")
        #expect(vectors.count >= 15)
        for vector in vectors {
            let rig = try rig(vector)
            rig.transport.handle { request in
                request.head.path?.contains("ccessToken") == true ? ClientRig.tokens("T") : .scripted(json: "{}")
            }
            func text(_ name: String) -> String { vector[name]?.string ?? "" }
            let client = rig.client
            let error = await remoteError {
                switch text("op") {
                case "login": try await client.logIn(username: text("username"), password: text("password"))
                case "loginTemporary":
                    try await client.logIn(
                        username: text("username"), temporaryPassword: text("password"),
                        newPassword: text("newPassword"))
                case "loggedInUser": _ = try await client.loggedInUser()
                case "logout": try await client.logOut()
                case "forgotPassword": try await client.forgotPassword(username: text("username"))
                case "changePassword": try await client.resetPassword(from: text("old"), to: text("new"))
                case "loginFacebook":
                    try await client.logIn(
                        facebookToken: text("token"), createsUser: vector["createIfNeeded"]?.boolean ?? false,
                        username: vector["username"]?.string)
                case "loginTwitter":
                    try await client.logIn(
                        twitterToken: text("token"), secret: text("secret"),
                        createsUser: vector["createIfNeeded"]?.boolean ?? false, username: vector["username"]?.string)
                case "loginGigya":
                    try await client.logIn(
                        gigyaUID: text("uid"), signature: text("signature"), timestamp: text("timestamp"))
                case "linkFacebook": try await client.linkFacebook(token: text("token"))
                case "unlinkFacebook": try await client.unlinkFacebook()
                default: Issue.record("no such case: \(text("op"))")
                }
            }
            try check(vector, rig, error)
        }
    }

    @Test func dataBySchema() async throws {
        let vectors = try ClientVectors.area("request")
        for vector in vectors where vector["op"]?.string != "raw" && vector["op"]?.string != "customCode" {
            let rig = try rig(vector)
            rig.transport.handle { request in
                .scripted(json: request.json?.elements == nil ? "{}" : #"{"succeeded":["1","2"],"failed":[]}"#)
            }
            func text(_ name: String) -> String { vector[name]?.string ?? "" }
            let store = rig.client.dataStore
            let object = vector["object"]?.members
            var options = RequestOptions()
            if let depth = vector["expandDepth"]?.integer, text("op") != "read" {
                options.headers["X-StackMob-Expand"] = String(depth)
            }
            let passed = options
            // A dictionary that is not there does not compile.
            if object == nil, text("op") == "create" { continue }
            let error = await remoteError {
                switch text("op") {
                case "create": try await store.create(object!, in: text("schema"), options: passed)
                case "read":
                    _ = try await store.read(
                        text("objectId"), in: text("schema"), expanding: Int(vector["expandDepth"]?.integer ?? 0))
                case "update":
                    try await store.update(text("objectId"), in: text("schema"), with: object!, options: passed)
                case "delete": try await store.delete(text("objectId"), in: text("schema"))
                case "increment":
                    try await store.increment(
                        text("field"), of: text("objectId"), in: text("schema"), by: vector["by"]!)
                case "createRelated":
                    try await store.create(
                        vector["objects"]!.elements!.compactMap(\.members), appendingTo: text("field"),
                        of: text("objectId"), in: text("schema"))
                case "removeRelated":
                    try await store.remove(
                        vector["ids"]!.elements!.compactMap(\.string), from: text("field"), of: text("objectId"),
                        in: text("schema"), deletesObjects: vector["cascade"]?.boolean ?? false)
                default: Issue.record("no such case: \(text("op"))")
                }
            }
            if let exception = vector["expect"]?["exception"]?.string {
                #expect(error?.domain == exception, Comment(rawValue: vector["id"]?.string ?? ""))
                #expect(rig.transport.requests.isEmpty)
            } else {
                try check(vector, rig, error)
            }
        }
    }

    @Test("Counts are read from the answers that were recorded")
    func counts() async throws {
        for vector in try ClientVectors.area("count") {
            let name = Comment(rawValue: vector["id"]?.string ?? "")
            let rig = try rig(vector)
            let range = vector["contentRange"]?.string
            let elements = vector["resultCount"]?.integer.map { Array(repeating: "{}", count: Int($0)) } ?? []
            rig.transport.answer(
                json: "[\(elements.joined(separator: ","))]", headers: range.map { ["Content-Range": $0] } ?? [:])
            var query = StackMobQuery("todo")
            for order in vector["query"]?["orderBy"]?.elements ?? [] {
                query = query.ordered(
                    by: order.elements?.first?.string ?? "", ascending: order.elements?.last?.string == "asc")
            }
            if let limit = vector["query"]?["limit"]?.integer { query = query.limited(to: Int(limit)) }
            let asked = query
            var count: Int?
            let error = await remoteError { count = try await rig.client.dataStore.count(asked) }
            if let code = vector["expect"]?["error"]?.integer {
                #expect(error?.code == Int(code), name)
            } else if let expected = vector["expect"]?["count"]?.integer {
                #expect(count == Int(expected), name)
            } else {
                try check(vector, rig, error)
            }
        }
    }

    @Test("Push messages are sent as they were recorded")
    func pushMessages() async throws {
        for vector in try ClientVectors.area("push") {
            let rig = try rig(vector)
            rig.transport.answer(json: "{}")
            func texts(_ name: String) -> [String] { vector[name]?.elements?.compactMap(\.string) ?? [] }
            let push = try rig.client.push
            let message = vector["message"]?.members ?? [:]
            let error = await remoteError {
                switch vector["op"]?.string {
                case "register":
                    try await push.register(
                        PushToken(vector["token"]?.string ?? ""), for: vector["user"]?.string ?? "")
                case "sendToUsers": try await push.send(message, toUsers: texts("users"))
                case "sendToTokens": try await push.send(message, toTokens: texts("tokens").map { PushToken($0) })
                default: Issue.record("no such case")
                }
            }
            try check(vector, rig, error)
            #expect(rig.transport.requests.first?.header("Authorization")?.hasPrefix("OAuth realm=") == true)
        }
    }

    @Test("Requests to a busy server are repeated as they were recorded")
    func busyServers() async throws {
        for vector in try ClientVectors.area("retry-503") {
            let name = Comment(rawValue: vector["id"]?.string ?? "")
            let rig = try rig(vector)
            rig.logIn()
            for status in vector["statuses"]?.elements ?? [] {
                rig.transport.answer(
                    status: Int(status.integer ?? 0),
                    headers: vector["retryAfter"]?.string.map { ["Retry-After": $0] } ?? [:], body: Data("{}".utf8))
            }
            var options = RequestOptions()
            options.retries = Int(vector["numberOfRetries"]?.integer ?? 0)
            let passed = options
            let error = await remoteError {
                _ = try await rig.client.perform(CustomCodeRequest("busy"), options: passed)
            }
            let expect = try #require(vector["expect"])
            #expect(rig.transport.requests.count == expect["attempts"]?.integer.map(Int.init), name)
            #expect(rig.clock.sleeps == (expect["delays"]?.elements?.compactMap(\.double) ?? []), name)
            #expect(error?.code == expect["result"]?["code"]?.integer.map(Int.init), name)
            #expect(error?.domain == expect["result"]?["domain"]?.string, name)
            // Each attempt is signed again.
            #expect(
                Set(rig.transport.requests.map { $0.header("Authorization") }).count == rig.transport.requests.count)
        }
    }

    @Test("Errors are read from the answers that were recorded")
    func errors() async throws {
        for vector in try ClientVectors.area("error") {
            let name = Comment(rawValue: vector["id"]?.string ?? "")
            let rig = try rig(vector)
            let release = Gate()
            let arrived = Gate()
            let isExpired = vector["tokenExpired"]?.boolean == true
            let holdsRefresh = vector["refreshTokenHeld"]?.boolean == true
            if isExpired || holdsRefresh || vector["refreshTokenHeld"] != nil {
                rig.logIn(refreshToken: holdsRefresh ? "R" : nil, expiresIn: isExpired ? -1 : 3600)
            }
            let status = Int(vector["status"]?.integer ?? 200)
            let body = try vector["body"]?.data() ?? Data()
            let refreshStatus = Int(vector["refresh"]?["status"]?.integer ?? 200)
            rig.transport.handle { request in
                guard request.head.path == "/user/refreshToken" else { return .scripted(status: status, body: body) }
                arrived.open()
                if isExpired { await release.wait() }
                return refreshStatus == 200 ? ClientRig.tokens("T") : .scripted(status: refreshStatus)
            }
            let client = rig.client
            var running: Task<Void, any Error>?
            if vector["refreshAlreadyRunning"]?.boolean == true {
                running = Task { try await client.session.refresh() }
                await arrived.wait()
            }
            let error = await remoteError {
                switch vector["op"]?.string {
                case "login": try await client.logIn(username: "bob", password: "x")
                case "create": try await client.dataStore.create(["username": "jack"], in: "user")
                case "read": _ = try await client.dataStore.read("1", in: "todo")
                case "query": _ = try await client.dataStore.query(StackMobQuery("todo"))
                case "refresh": try await client.session.refresh()
                default: Issue.record("no such case")
                }
            }
            #expect(error?.domain == vector["expect"]?["domain"]?.string, name)
            #expect(error?.code == vector["expect"]?["code"]?.integer.map(Int.init), name)
            if let info = vector["expect"]?["userInfo"] {
                #expect(try JSONValue(parsing: error?.body ?? Data()) == info, name)
            }
            release.open()
            _ = try? await running?.value
        }
    }
}
