import Foundation
import StrataStackMob

extension StackMobWire {
    static func request(_ input: WireCase) throws -> JSONValue {
        var request = try builtRequest(input)
        if let token = input.text("accessToken"), let key = input.text("macKey") {
            request = MACCredentials(accessToken: token, key: key)
                .signing(request, seconds: Int64(input.whole("ts") ?? 0), nonce: input.text("nonce") ?? "n0")
        }
        return WireActual.json(request)
    }

    private static func builtRequest(_ input: WireCase) throws -> WireRequest {
        let dialect = try input.dialect()
        let options = input.options
        if input.operation == "raw" { return try raw(input, dialect, options) }
        if input.says("custom") { return try customCode(input, dialect, options) }
        if input.says("ping", "reachab") || input.operation == "head" {
            return try dialect.request(for: .ping, options: options)
        }
        if input.says("loggedin") { return try dialect.userRequest(.loggedInUser, options: options) }
        // A client by itself sends nothing; what it would send to the base address shows its settings.
        if input.says("init", "construct", "client") { return try raw(input, dialect, options) }
        if ["field", "relation", "relationship"].contains(where: input.has)
            || input.says("append", "related", "values", "crement", "counter")
        {
            return try memberRequest(input, dialect, options)
        }
        return try objectRequest(input, dialect, options)
    }

    /// A request for objects, found by the words of the operation.
    private static func objectRequest(
        _ input: WireCase, _ dialect: StackMobDialect, _ options: RequestOptions
    ) throws -> WireRequest {
        let schema = input.argument("schema", "entity")
        let id = input.argument("objectId")
        let object = input.elements("objects").map(JSONValue.array) ?? input["object"] ?? input["body"] ?? .null
        if input.says("count") { return try dialect.countRequest(lowLevelQuery(input), options: options) }
        if input.says("delete", "remove") {
            return try dialect.deleteRequest(schema: schema, id: id, options: options)
        }
        if input.says("update", "put", "modify") {
            return try dialect.updateRequest(
                schema: schema, id: id, object: object, relations: relations(input), options: options)
        }
        if input.says("create", "insert", "post", "save") {
            return try dialect.createRequest(
                schema: schema, object: object, relations: relations(input), options: options)
        }
        if input.says("query", "list", "all", "find") || input.says("read", "get", "fetch") && !input.has("objectId") {
            return try dialect.queryRequest(lowLevelQuery(input), options: options)
        }
        if input.says("read", "get", "fetch", "load") {
            return try dialect.readRequest(schema: schema, id: id, options: options)
        }
        throw WireFault("there is no operation \(input.operation.prefix(40)) of data")
    }

    /// A request for a field: a number that is counted up, an array or a relationship.
    private static func memberRequest(
        _ input: WireCase, _ dialect: StackMobDialect, _ options: RequestOptions
    ) throws -> WireRequest {
        let schema = input.argument("schema", "entity")
        let id = input.argument("objectId")
        let field = input.argument("field", "relation", "relationship")
        if input.says("increment", "decrement", "counter") {
            let amount = input["by"] ?? input["amount"] ?? 1
            return try dialect.incrementRequest(
                schema: schema, id: id, field: field,
                by: input.says("decrement") ? Self.negative(amount) : amount, options: options)
        }
        if input.says("remove", "delete", "break", "unrelate", "detach") {
            return try dialect.removeRequest(
                schema: schema, id: id, field: field, values: input.texts("ids", "values", "objectIds") ?? [],
                cascades: input.flag("cascade", "cascadeDelete") ?? input.says("cascade"), options: options)
        }
        let objects = input.elements("objects") ?? input["object"].map { [$0] }
        if let objects, input.says("create", "new") || objects.contains(where: { $0.members != nil }) {
            return try dialect.createRelatedRequest(
                schema: schema, id: id, field: field, objects: objects, relations: relations(input), options: options)
        }
        let values = objects ?? input.elements("values", "ids", "objectIds") ?? []
        return try dialect.appendRequest(schema: schema, id: id, field: field, values: values, options: options)
    }

    private static func negative(_ amount: JSONValue) -> JSONValue {
        guard let number = amount.integer, number != .min else { return .double(-(amount.double ?? 1)) }
        return .integer(-number)
    }

    private static func relations(_ input: WireCase) -> [String] {
        if let pairs = input["relations"]?.members {
            return pairs.sorted { $0.name < $1.name }.map { "\($0.name)=\(WireValues.text($0.value))" }
        }
        return input.texts("relations") ?? []
    }

    private static func raw(
        _ input: WireCase, _ dialect: StackMobDialect, _ options: RequestOptions
    ) throws -> WireRequest {
        guard let method = HTTPRequest.Method(input.text("method", "httpMethod") ?? "GET") else {
            throw WireFault("the method is not one of HTTP")
        }
        let path = input.text("path") ?? ""
        let parameters =
            try (input.elements("params", "parameters") ?? []).map(pair)
            + (input["params"]?.members ?? [:]).map { ($0.name, WireValues.text($0.value)) }
        return try dialect.dataRequest(
            method, path.hasPrefix("/") ? path : "/" + path, parameters: parameters,
            json: input["body"] ?? input["object"],
            options: options)
    }

    private static func customCode(
        _ input: WireCase, _ dialect: StackMobDialect, _ options: RequestOptions
    ) throws -> WireRequest {
        var parameters = try (input.elements("query", "params", "parameters", "pairs", "queryParameters") ?? []).map(
            pair)
        for name in ["params", "parameters", "query"] {
            for (key, value) in (input[name]?.members ?? [:]).sorted(by: { $0.name < $1.name }) {
                parameters.append((key, WireValues.text(value)))
            }
        }
        let body = input["body"].flatMap { $0.isNull ? nil : Data(WireValues.text($0).utf8) }
        let call = RemoteCall(
            method: input.text("httpMethod", "verb", "method") ?? "GET", name: input.argument("name", "methodName"),
            parameters: parameters.map { RemoteParameter($0.name, $0.value) }, body: body,
            contentType: input.text("contentType"))
        return try dialect.callRequest(call, options: options)
    }

    static func push(_ input: WireCase) throws -> JSONValue {
        if input.has("status") { return try pushError(input) }
        let dialect = try input.dialect()
        let kind = input.text("type", "tokenType").flatMap(PushToken.Kind.init) ?? .ios
        func token(_ json: JSONValue) -> PushToken {
            if let text = json["token"]?.string {
                return PushToken(text, kind: json["type"]?.string.flatMap(PushToken.Kind.init) ?? kind)
            }
            return PushToken(json.isNull ? "" : WireValues.text(json), kind: kind)
        }
        let users = input.texts("users", "userIds", "user", "usernames") ?? []
        let message = input["message"]?.members ?? input["kvPairs"]?.members ?? [:]
        let device = token(input["token"] ?? .null)
        let action: PushAction
        if input.says("delete", "remove", "unregister") {
            action = .delete(device)
        } else if input.says("register") {
            action = .register(
                device, user: input.argument("user", "userId", "username"),
                overwrites: input.flag("overwrite", "overwrites") ?? true)
        } else if input.says("broadcast") {
            action = .broadcast(message)
        } else if input.says("send", "push", "message") {
            action =
                input.has("tokens") || input.says("token")
                ? .sendToTokens(message, tokens: (input.elements("tokens") ?? []).map(token))
                : .sendToUsers(message, users: users)
        } else if input.says("token") {
            action = .tokensOfUsers(users)
        } else {
            throw WireFault("there is no operation \(input.operation.prefix(40)) of push messages")
        }
        return WireActual.json(try dialect.pushRequest(action, options: input.options))
    }
}
