import Foundation
import StrataMaxLeap
import StrataRemoteTesting

func testDialect(_ flavor: MaxLeapFlavor = .maxLeap, model: ManagedObjectModel? = nil) throws -> MaxLeapDialect {
    try MaxLeapDialect(
        flavor, address: flavor == .maxLeap ? .china : MaxLeapAddress("https://example.com/parse/"),
        applicationID: "app", apiKey: "key", model: model)
}

/// A client over a script and a clock of its own.
struct ClientRig {
    let transport: ScriptedTransport
    let clock = VirtualClock()
    let client: MaxLeapClient

    init(
        _ flavor: MaxLeapFlavor = .maxLeap, storage: MemorySessionStorage = MemorySessionStorage(),
        _ configure: (inout MaxLeapConfiguration) -> Void = { _ in }
    ) throws {
        transport = ScriptedTransport(clock: clock)
        var configuration = MaxLeapConfiguration(try testDialect(flavor))
        configuration.applicationName = "tests"
        configuration.sessionStorage = storage
        configuration.transport = transport
        configuration.clock = clock
        configuration.jitter = { 0.5 }
        configure(&configuration)
        client = MaxLeapClient(configuration)
    }

    /// Puts a session in place without asking the server.
    func logIn(_ fields: [String: MaxLeapValue] = [:]) throws {
        var members: JSONObject = ["objectId": "u1", "username": "bob"]
        for (name, value) in fields { members[name] = try value.json() }
        client.session.replace(token: "S", user: try MaxLeapObject("_User", members))
    }

    var paths: [String] { transport.requests.map { "\($0.head.method.rawValue) \($0.head.path ?? "")" } }
}

extension WireRequest {
    var json: JSONValue? { body.flatMap { try? JSONValue(parsing: $0) } }
    func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { head.headerFields[$0] } }
    /// The query parameters, decoded.
    var parameters: [String: String] {
        let query = (head.path ?? "").split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        return Dictionary(
            (QueryParameters.read(query) ?? []).map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
}

let testTime = "2016-04-21T09:12:59.585Z"
