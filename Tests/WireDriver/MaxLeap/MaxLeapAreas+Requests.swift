import Foundation
import StrataMaxLeap

extension MaxLeapAreas {
    /// The dialect with the settings that the case has.
    func dialect() throws -> MaxLeapDialect {
        let config = try WireCase(input["config"] ?? .object(input.members))
        let base =
            config.text("base", "url", "host")
            ?? (flavor == .maxLeap ? "https://api.maxleap.cn/2.0/" : "https://api.parse.com/1/")
        var dialect = try MaxLeapDialect(
            flavor, address: MaxLeapAddress(base), applicationID: config.text("appId", "applicationId") ?? "app",
            apiKey: config.text("apiKey", "clientKey", "restKey") ?? "key", masterKey: config.text("masterKey"))
        dialect.installationID = config.text("installationId")
        return dialect
    }

    /// The session that the case has.
    private var token: String? { input.text("sessionToken") ?? input["config"]?["sessionToken"]?.string }

    /// A client with the settings and the session of the case.
    func client(_ server: WireServer, clock: WireClock = WireClock()) throws -> MaxLeapClient {
        var configuration = MaxLeapConfiguration(try dialect())
        configuration.sessionStorage = MemorySessionStorage()
        configuration.transport = server
        configuration.clock = clock
        configuration.jitter = { 0 }
        let client = MaxLeapClient(configuration)
        if let token {
            var user: JSONObject = ["objectId": .string(input.text("objectId", "userId") ?? "1"), "username": "u"]
            if input.flag("anonymous", "isAnonymous", "wasAnonymous") == true {
                user["authData"] = ["anonymous": ["id": "0"]]
            }
            client.session.replace(token: token, user: try MaxLeapObject("_User", user))
        }
        return client
    }

    /// A request as it goes out.
    ///
    /// Its path has the query where a parameter had to be escaped. Of all others `params` tells as much.
    func shown(_ request: WireRequest) -> JSONValue {
        let whole = request.head.path ?? ""
        let path = whole.contains("%") ? whole : String(whole.prefix { $0 != "?" })
        var members: JSONObject = ["path": .string(path)]
        if let body = request.body { members["bodyBase64"] = .string(body.base64EncodedString()) }
        return WireActual.json(request).adding(members)
    }

    /// The first request of a client that does something, or the error that it met before.
    private func sent(_ body: (MaxLeapClient) async throws -> Void) async throws -> JSONValue {
        let answer: JSONValue = [
            "objectId": "1", "createdAt": "2016-04-21T09:12:59.585Z", "updatedAt": "2016-04-21T09:12:59.585Z",
            "sessionToken": "S", "number": 1, "success": true, "name": "f", "url": "https://h/f",
            "results": [["objectId": "1"]],
            "count": 0,
        ]
        let isBatch = input.says("batch", "all")
        let server = WireServer { (request) throws(RemoteError) -> WireResponse in
            let requests = request.body.flatMap { try? JSONValue(parsing: $0) }?["requests"]?.elements ?? []
            return WireServer.answer(200, isBatch && !requests.isEmpty ? .array(requests.map { _ in answer }) : answer)
        }
        do {
            try await body(try client(server))
        } catch {
            guard let first = server.requests.first else { throw error }
            guard let error = error as? RemoteError else { throw error }
            return shown(first).adding(WireActual.json(error).members ?? [:])
        }
        guard let first = server.requests.first else { throw WireFault("nothing was sent") }
        return shown(first).adding(["requestsSent": .integer(Int64(server.requests.count))])
    }

    // MARK: Objects

    func request() async throws -> JSONValue {
        let className = input.text("className", "class") ?? ""
        let pointer = MaxLeapPointer(className, input.text("objectId", "id") ?? "")
        if input.operation.hasSuffix("batch") { return try batch() }
        if input.says("function", "cloud", "job") {
            let name = input.argument("name", "function", "job")
            let parameters = try MaxLeapWireValues.dictionary((input["params"] ?? input["body"] ?? [:]).members ?? [:])
            return try await sent { client in
                _ =
                    input.says("job")
                    ? try await client.runJob(name, parameters) : try await client.call(name, parameters)
            }
        }
        if input.says("file") {
            let name = input.argument("name", "fileName")
            guard !input.says("delete") else {
                return try await sent { try await $0.delete(MaxLeapFile(name: name, url: "h/f")) }
            }
            let file = MaxLeapFile(
                name: name, contentType: input.text("contentType") ?? "application/octet-stream",
                data: Data(base64Encoded: input.argument("dataBase64", "data")) ?? Data())
            return try await sent { _ = try await $0.upload(file) }
        }
        if input.says("deletefield", "removefield", "unset") {
            var object = MaxLeapObject(className, objectId: pointer.objectId)
            object[input.argument("key", "field")] = nil
            return try await sent { _ = try await $0.save(object) }
        }
        if input.says("delete") {
            if let condition = try condition() {
                return shown(try dialect().deleteRequest(className, pointer.objectId, if: condition))
            }
            return try await sent { try await $0.delete(pointer) }
        }
        if input.says("update", "put") || input.says("save") && input.has("objectId") || input.says("increment") {
            return try await update(pointer)
        }
        if input.says("create", "save", "post", "insert") {
            let object = try changed(MaxLeapObject(className))
            guard input.flag("new", "returnAll") != true else {
                return shown(try dialect().createRequest(className, object.changes(), returnsAll: true))
            }
            return try await sent { _ = try await $0.save(object) }
        }
        return try await read(pointer)
    }

    private func update(_ pointer: MaxLeapPointer) async throws -> JSONValue {
        var object = try changed(MaxLeapObject(pointer.className, objectId: pointer.objectId))
        if input.says("increment"), let key = input.text("key", "field") {
            try object.increment(key, by: MaxLeapWireValues.value(input["amount"] ?? input["by"] ?? 1))
        }
        if let condition = try condition() {
            return shown(
                try dialect().updateRequest(pointer.className, pointer.objectId, object.changes(), if: condition))
        }
        let ready = object
        return try await sent { _ = try await $0.save(ready) }
    }

    private func read(_ pointer: MaxLeapPointer) async throws -> JSONValue {
        var query = try MaxLeapWireQuery.query(WireCase(input["query"] ?? .object(input.members)))
        query.className = pointer.className.isEmpty ? query.className : pointer.className
        let wanted = query
        if input.says("count") { return try await sent { _ = try await $0.count(wanted) } }
        if input.says("first") { return try await sent { _ = try await $0.first(wanted) } }
        if input.says("getbyid") { return try await sent { _ = try await $0.get(pointer) } }
        if input.says("query", "find", "list") { return try await sent { _ = try await $0.find(wanted) } }
        if input.says("fetch", "read", "get") {
            return try await sent { _ = try await $0.fetch(pointer, keys: wanted.keys, include: wanted.include) }
        }
        throw WireFault("there is no operation \(input.operation.prefix(40)) of objects")
    }

    /// What a write is conditional on.
    private func condition() throws -> MaxLeapWhere? {
        guard let condition = input["where"] ?? input["if"] ?? input["constraints"] else { return nil }
        let inner: JSONValue = condition.elements == nil ? condition : ["constraints": condition]
        return .and(try MaxLeapWireQuery.query(WireCase(inner)).conditions)
    }

    /// The object with the changes of the case.
    private func changed(_ object: MaxLeapObject) throws -> MaxLeapObject {
        let changes = input["changes"] ?? input["fields"] ?? input["values"] ?? input["object"] ?? input["body"] ?? [:]
        return try Self.changed(object, changes)
    }

    private static func changed(_ object: MaxLeapObject, _ changes: JSONValue) throws -> MaxLeapObject {
        var object = object
        for (key, json) in changes.members ?? [:] {
            if let operation = json["$op"] {
                try object.perform(MaxLeapWireValues.operation(operation), on: key)
            } else if json == ["$nil": true] {
                object[key] = nil
            } else {
                object[key] = try MaxLeapWireValues.value(json)
            }
        }
        return object
    }

    private func batch() throws -> JSONValue {
        let dialect = try dialect()
        var requests: [WireRequest] = []
        for element in input.elements("requests") ?? [] {
            guard let (name, content) = element.members?.first, let parts = content.elements,
                let className = parts.first?.string
            else { throw WireFault("\(element.description.prefix(80)) is no member of a batch") }
            let id = parts.dropFirst().first?.string ?? ""
            switch WireCase.plain(name) {
            case "create":
                let object = try Self.changed(MaxLeapObject(className), parts.last ?? [:])
                requests.append(try dialect.createRequest(className, object.changes()))
            case "update":
                let object = try Self.changed(MaxLeapObject(className, objectId: id), parts.last ?? [:])
                requests.append(try dialect.updateRequest(className, id, object.changes()))
            case "delete": requests.append(try dialect.deleteRequest(className, id))
            default: throw WireFault("there is no operation \(name.prefix(40)) of a batch")
            }
        }
        return shown(try dialect.batchRequest(requests))
    }

    // MARK: Users

    func user() async throws -> JSONValue {
        let id = input.text("objectId", "userId", "id") ?? ""
        let username = input.argument("username", "user")
        let password = input.argument("password")
        if input.says("anonymous"), username.isEmpty {
            let data = input.text("uuid", "anonymousId", "id").map { MaxLeapAuthData("anonymous", ["id": .string($0)]) }
            return try await sent { _ = try await $0.logIn(data ?? .anonymous()) }
        }
        if input.says("unlink") { return try await linked { try await $0.unlink(input.argument("provider")) } }
        if input.says("link") {
            return try await linked { try await $0.link(Self.authData(input)) }
        }
        if input.says("provider", "facebook", "twitter", "thirdparty", "authdata") {
            return try await sent { _ = try await $0.logIn(Self.authData(input)) }
        }
        if input.says("signup", "convert") {
            let fields = try MaxLeapWireValues.dictionary(
                (input["fields"] ?? input["values"] ?? input["object"] ?? [:]).members ?? [:])
            return try await sent { client in
                _ = try await client.signUp(
                    username: username, password: password, email: input.text("email"), fields: fields)
            }
        }
        if input.says("checkpassword", "ispassword", "passwordmatch") {
            return try await sent { client in
                let user = try MaxLeapObject("_User", ["objectId": "1", "username": .string(username)])
                client.session.replace(token: client.session.token ?? "S", user: user)
                _ = try await client.isPassword(password)
            }
        }
        if let action = action(id) { return try await sent { _ = try await $0.request(action) } }
        if input.says("login") {
            if input.has("phone") || input.has("mobilePhone") {
                let phone = input.argument("phone", "mobilePhone")
                return try await sent { _ = try await $0.logIn(phone: phone, code: input.argument("smsCode", "code")) }
            }
            return try await sent { _ = try await $0.logIn(username: username, password: password) }
        }
        if input.says("logout") { return try await linked { try await $0.logOut() } }
        if input.says("changepassword", "updatepassword") {
            let old = input.argument("old", "oldPassword", "password")
            return try await linked { try await $0.changePassword(from: old, to: input.argument("new", "newPassword")) }
        }
        if input.says("current", "me", "becom") {
            guard input.says("becom") else { return try await linked { _ = try await $0.refreshUser() } }
            return try await sent { _ = try await $0.become(token: input.argument("sessionToken", "token")) }
        }
        if input.says("update", "save") {
            let object = try changed(MaxLeapObject("_User", objectId: id))
            return try await sent { _ = try await $0.save(object) }
        }
        if input.says("query", "find") { return try await sent { _ = try await $0.find(MaxLeapQuery("_User")) } }
        if input.says("fetch", "get", "read") {
            return try await sent { _ = try await $0.fetch(MaxLeapPointer("_User", id)) }
        }
        throw WireFault("there is no operation \(input.operation.prefix(40)) of users")
    }

    /// Codes, mails and the ends of users.
    private func action(_ id: String) -> MaxLeapUserAction? {
        let phone = input.argument("phone", "mobilePhone")
        let code = input.argument("code", "smsCode")
        let new = input.argument("new", "newPassword", "password")
        if input.says("verifyemail") { return .verifyEmail(token: input.argument("token", "sessionToken")) }
        if input.says("emailverif") { return .requestEmailVerify(email: input.argument("email")) }
        if input.says("loginsmscode", "logincode") { return .requestLoginCode(phone: phone) }
        if input.says("resetpasswordbysms", "resetpasswordbycode") {
            return .resetPasswordByCode(code: code, new: new)
        }
        if input.says("passwordresetbysms", "passwordresetcode") { return .requestPasswordResetCode(phone: phone) }
        if input.says("requestpasswordreset", "requestreset", "forgot") {
            return .requestPasswordReset(email: input.argument("email", "username"))
        }
        if input.says("resetpassword") { return .resetPassword(new: new) }
        if input.says("phoneverify", "requestverifyphone") { return .requestPhoneVerify(phone: phone) }
        if input.says("verifymobilephone", "verifyphone") { return .verifyPhone(code: code) }
        if input.says("delete") { return .delete(id: id) }
        return nil
    }

    /// Actions that only a logged-in user can take: a user is logged in even in a case without a session.
    private func linked(_ body: (MaxLeapClient) async throws -> Void) async throws -> JSONValue {
        if token != nil || input.flag("loggedIn") == false { return try await sent(body) }
        let id = input.text("objectId", "userId") ?? "1"
        return try await sent { client in
            client.session.replace(token: "S", user: MaxLeapObject("_User", objectId: id))
            try await body(client)
        }
    }

    private static func authData(_ input: WireCase) -> MaxLeapAuthData {
        let provider = input.text("provider") ?? (input.says("twitter") ? "twitter" : "facebook")
        return MaxLeapAuthData(provider, (input["authData"] ?? input["data"] ?? [:]).members ?? [:])
    }
}
