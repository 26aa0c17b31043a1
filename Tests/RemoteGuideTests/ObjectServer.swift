import Foundation
import StrataRemote
import StrataStore
import StrataRemoteTesting

/// A server of objects by schema in memory, in the words of StackMob, as far as the examples need it.
final class ObjectServer: Sendable {
    private struct State {
        var schemas: [String: [String: JSONObject]] = [:]
        var clock: Int64 = 1_600_000_000_000
    }

    private let state = Guarded(State())
    let transport = ScriptedTransport(clock: VirtualClock())

    init() {
        transport.handle { [self] request in respond(request) }
    }

    /// The methods and paths of the requests, without queries.
    var paths: [String] { transport.requests.map(\.line) }

    func objects(_ schema: String) -> [JSONObject] { state.withLock { Array(($0.schemas[schema] ?? [:]).values) } }

    /// Keeps an object as somebody else would.
    func put(_ object: JSONObject, _ key: String, in schema: String) {
        state.withLock { _ = Self.write(object, object[key]?.string ?? "", schema, &$0) }
    }

    private static func write(_ changes: JSONObject, _ id: String, _ schema: String, _ state: inout State) -> JSONObject
    {
        state.clock += 1
        var object = state.schemas[schema]?[id] ?? ["createddate": .integer(state.clock)]
        for (name, value) in changes where name != "password" { object[name] = value }
        object["lastmoddate"] = .integer(state.clock)
        state.schemas[schema, default: [:]][id] = object
        return object
    }

    private func respond(_ request: WireRequest) -> WireResponse {
        let path = (request.head.path ?? "").split(separator: "?")[0].split(separator: "/").map(String.init)
        let body = request.body.flatMap { try? JSONValue(parsing: $0) }
        return state.withLock { state in
            let schema = path[0]
            switch (request.head.method, path.count) {
            case (.head, _): return .scripted()
            case (.post, 2) where path[1] == "accessToken": return Self.tokens
            case (.get, 2) where path[1] == "loggedInUser": return .scripted(json: #"{"username":"bob"}"#)
            case (_, 2) where ["logout", "forgotPassword", "resetPassword"].contains(path[1]):
                return .scripted(json: "{}")
            case (.get, 1):
                let objects = (state.schemas[schema] ?? [:]).values.sorted { "\($0)" < "\($1)" }
                let range = ["Content-Range": "objects 0-\(max(0, objects.count - 1))/\(objects.count)"]
                return .scripted(json: JSONValue.array(objects.map(JSONValue.object)).description, headers: range)
            case (.get, 2):
                guard let object = state.schemas[schema]?[path[1]] else { return .scripted(json: "{}", status: 404) }
                return .scripted(json: JSONValue.object(object).description)
            case (.post, 1):
                var object = body?.members ?? [:]
                let key = object["username"] == nil ? "\(schema)_id" : "username"
                let id = object[key]?.string ?? "new"
                object[key] = .string(id)
                return .scripted(
                    json: JSONValue.object(Self.write(object, id, schema, &state)).description, status: 201)
            case (.put, _):
                let changes = body?.members ?? [:]
                return .scripted(json: JSONValue.object(Self.write(changes, path[1], schema, &state)).description)
            case (.post, 3): return .scripted(json: #"{"succeeded":["i1"],"failed":[]}"#, status: 201)
            case (.delete, _):
                if path.count == 2 { state.schemas[schema]?[path[1]] = nil }
                return .scripted(json: "{}")
            default: return .scripted(json: #"{"error":"no such place"}"#, status: 404)
            }
        }
    }

    /// The answer to a log-in.
    static let tokens = WireResponse.scripted(
        json: #"{"access_token":"A","mac_key":"K","mac_algorithm":"hmac-sha-1","token_type":"mac","expires_in":3600,"#
            + #""refresh_token":"R","stackmob":{"user":{"username":"bob","age":7}}}"#)
}
