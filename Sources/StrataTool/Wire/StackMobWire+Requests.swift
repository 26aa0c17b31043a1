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
        let schema = input.argument("schema", "entity")
        let id = input.argument("objectId")
        let field = input.argument("field", "relation", "relationship")
        let objects = input.elements("objects")
        let relations = relations(input)
        switch input.operation {
        case "read", "get", "readobject":
            return try dialect.readRequest(schema: schema, id: id, options: options)
        case "create", "createobject", "createmany", "createobjects", "deepcreate", "insert":
            let object = objects.map(JSONValue.array) ?? input["object"] ?? input["body"] ?? .null
            return try dialect.createRequest(schema: schema, object: object, relations: relations, options: options)
        case "update", "updateobject", "put":
            return try dialect.updateRequest(
                schema: schema, id: id, object: input["object"] ?? input["body"] ?? .null, relations: relations,
                options: options)
        case "increment", "decrement", "updateatomiccounter", "incrementcounter":
            let amount = input["by"] ?? input["amount"] ?? 1
            let isDown = input.operation == "decrement"
            return try dialect.incrementRequest(
                schema: schema, id: id, field: field, by: isDown ? .integer(-(amount.whole ?? 1)) : amount,
                options: options)
        case "delete", "deleteobject":
            return try dialect.deleteRequest(schema: schema, id: id, options: options)
        case "query", "readall", "list", "performquery":
            return try dialect.queryRequest(lowLevelQuery(input), options: options)
        case "count", "performcount", "countquery":
            return try dialect.countRequest(lowLevelQuery(input), options: options)
        case "append", "appendrelated", "appendvalues", "addrelated", "addvalues", "relate":
            let values = input.elements("values", "ids", "objectIds") ?? []
            return try dialect.appendRequest(
                schema: schema, id: id, field: field, values: objects ?? values, options: options)
        case "createrelated", "createandappend", "createappend", "appendobjects":
            return try dialect.createRelatedRequest(
                schema: schema, id: id, field: field, objects: objects ?? input["object"].map { [$0] } ?? [],
                relations: relations, options: options)
        case "removerelated", "remove", "removevalues", "deleterelated", "deletevalues", "deleteandcascade",
            "unrelate", "deleterelatedobjects":
            return try dialect.removeRequest(
                schema: schema, id: id, field: field, values: input.texts("ids", "values", "objectIds") ?? [],
                cascades: input.flag("cascade", "cascadeDelete") ?? (input.operation == "deleteandcascade"),
                options: options)
        case "customcode", "custom", "customcoderequest": return try customCode(input, dialect, options)
        case "raw": return try raw(input, dialect, options)
        case "ping", "head", "reachability": return try dialect.request(for: .ping, options: options)
        case "loggedinuser", "readloggedinuser": return try dialect.userRequest(.loggedInUser, options: options)
        case let other: throw WireFault("there is no operation \(other.prefix(40)) of data")
        }
    }

    private static func relations(_ input: WireCase) -> [String] {
        if let pairs = input["relations"]?.members {
            return pairs.sorted { $0.key < $1.key }.map { "\($0.key)=\(WireValues.text($0.value))" }
        }
        return input.texts("relations") ?? []
    }

    private static func raw(
        _ input: WireCase, _ dialect: StackMobDialect, _ options: RequestOptions
    ) throws -> WireRequest {
        guard let method = HTTPRequest.Method(input.text("method", "httpMethod") ?? "GET") else {
            throw WireFault("the method is none of HTTP")
        }
        let path = input.text("path") ?? ""
        let parameters =
            try (input.elements("params", "parameters") ?? []).map(pair)
            + (input["params"]?.members ?? [:]).map { ($0.key, WireValues.text($0.value)) }
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
            for (key, value) in (input[name]?.members ?? [:]).sorted(by: { $0.key < $1.key }) {
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
        let dialect = try input.dialect()
        let kind = input.text("type", "tokenType").flatMap(PushToken.Kind.init) ?? .ios
        func token(_ json: JSONValue) -> PushToken {
            if let text = json["token"]?.text {
                return PushToken(text, kind: json["type"]?.text.flatMap(PushToken.Kind.init) ?? kind)
            }
            return PushToken(json.isNull ? "" : WireValues.text(json), kind: kind)
        }
        let users = input.texts("users", "userIds", "user", "usernames") ?? []
        let message = input["message"]?.members ?? input["kvPairs"]?.members ?? [:]
        let device = token(input["token"] ?? .null)
        let action: PushAction
        switch input.operation {
        case "register", "registertoken", "registerdevicetoken":
            action = .register(
                device, user: input.argument("user", "userId", "username"),
                overwrites: input.flag("overwrite", "overwrites") ?? true)
        case "broadcast", "broadcastmessage": action = .broadcast(message)
        case "sendtousers", "sendmessagetousers", "pushusers": action = .sendToUsers(message, users: users)
        case "sendtotokens", "sendmessagetotokens", "pushtokens":
            action = .sendToTokens(message, tokens: (input.elements("tokens") ?? []).map(token))
        case "delete", "deletetoken", "remove", "removetoken", "unregister": action = .delete(device)
        case let other where other.contains("token"): action = .tokensOfUsers(users)
        case let other: throw WireFault("there is no operation \(other.prefix(40)) of push messages")
        }
        return WireActual.json(try dialect.pushRequest(action, options: input.options))
    }
}
