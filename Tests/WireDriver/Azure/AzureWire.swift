import Foundation
import StrataAzure

/// The driver of `strata-wire --dialect azure`.
enum AzureWire: WireDriver {
    static func actual(_ input: WireCase) async throws -> JSONValue {
        switch input.text("area") {
        case "predicate", "predicate-unsupported": try predicate(input)
        case "query", "query-error": try query(input)
        case "url": try url(input)
        case "serialize": try serialize(input)
        case "deserialize": try deserialize(input)
        case "error": try error(input)
        case "id": try id(input)
        case "request": try await request(input)
        case "response": try await response(input)
        case "collapse": try collapse(input)
        case "push": try await push(input)
        case "pull", "pull-incremental", "pull-error": try await pull(input)
        case "pull-apply": try pullApply(input)
        case "features": try features(input)
        case "user-agent": try userAgent(input)
        case "login": try await login(input)
        case "push-registration": try pushRegistration(input)
        case let area?: throw WireFault("there is no area \(area.prefix(40))")
        case nil: throw WireFault("the case has no \"area\"")
        }
    }

    static func actual(_ error: RemoteError) -> JSONValue { json(error).adding(["requestsSent": 0]) }

    /// An error: its code, or, for a fault of JSON, that it is one.
    static func json(_ error: RemoteError) -> JSONValue {
        guard error.domain == AzureError.jsonDomain else { return WireActual.json(error) }
        return [
            "errorKind": "json-parse", "domain": .string(error.domain), "message": .string(error.message),
            "totalCount": -1,
        ]
    }

    static func json(_ failure: AzureFailure) -> JSONValue {
        var members: JSONObject = [:]
        if let item = failure.serverItem { members["serverItem"] = .object(item) }
        if let status = failure.status { members["status"] = .integer(Int64(status)) }
        members["hasRequest"] = .boolean(failure.request != nil)
        members["hasResponse"] = .boolean(failure.response != nil)
        return json(failure.error).adding(members)
    }

    /// A request: its destination and its content. The parameters are as they are sent.
    static func json(_ request: WireRequest) -> JSONValue {
        let head = request.head
        var path = head.path ?? ""
        // The two are the same address (RFC 3986, 6.2.3), and cases write the shorter one.
        if path.hasPrefix("/?") { path.removeFirst() }
        return WireActual.json(request).adding([
            "url": .string("\(head.scheme ?? "http")://\(head.authority ?? "")\(path == "/" ? "" : path)"),
            "params": .array(parameters(request)),
        ])
    }

    /// The parameters of a request as they are sent.
    static func parameters(_ request: WireRequest) -> [JSONValue] {
        (request.head.path ?? "").split(separator: "?", maxSplits: 1).dropFirst().first.map {
            $0.split(separator: "&").map { .string(String($0)) }
        } ?? []
    }

    // MARK: Settings

    /// The dialect with the settings that the case has.
    static func dialect(_ input: WireCase) throws(RemoteError) -> AzureDialect {
        let version: AzureVersion =
            switch input.text("dialect").map(WireCase.plain) {
            case "v1", "mobileservices": .mobileServices
            case "datasync", "v3": .datasync
            default: .mobileApps
            }
        var dialect = try AzureDialect(
            address: input.text("app") ?? "https://someUrl/", version: version,
            applicationKey: input.text("applicationKey"))
        if let id = input.text("installationId") { dialect.installationID = id }
        if let host = input.text("loginHost") { dialect.loginHost = try AzureAddress(host) }
        if let path = input.text("loginPrefix", "loginUriPrefix", "loginPath") { dialect.loginPath = path }
        // Cases restate what the library in Objective-C said of itself.
        dialect.agent.language = "objective-c"
        if let text = input.text("version", "sdkVersion") { dialect.agent.version = text }
        dialect.agent.system = input.text("os") ?? "--"
        dialect.agent.systemVersion = input.text("osVersion") ?? "--"
        dialect.agent.architecture = input.text("arch", "model") ?? "--"
        dialect.systemColumns = columns(input.texts("systemProperties") ?? [])
        return dialect
    }

    private static func columns(_ names: [String]) -> AzureSystemColumns {
        if names.contains("*") || names.contains("all") { return .all }
        return .some(
            Set(names.compactMap { AzureSystemProperty(rawValue: $0.hasPrefix("__") ? String($0.dropFirst(2)) : $0) }))
    }

    /// A client of a server that answers so.
    static func client(_ input: WireCase, _ server: WireServer) throws -> AzureClient {
        let dialect = try dialect(input)
        var configuration = try AzureConfiguration(dialect.address.description)
        configuration.dialect = dialect
        configuration.transport = server
        configuration.clock = WireClock()
        configuration.sessionStorage = MemorySessionStorage()
        let client = AzureClient(configuration)
        if let user = input["currentUser"] ?? input["user"] {
            let token = (user["token"] ?? user["authenticationToken"])?.string ?? ""
            client.session.replace(with: AzureUser(id: user["userId"]?.string ?? "", token: token))
        }
        return client
    }

    static func object(_ json: JSONValue?) -> JSONObject { json?.members ?? [:] }

    // MARK: Small areas

    static func features(_ input: WireCase) throws -> JSONValue {
        var features: [AzureFeature] = []
        for name in input.texts("features") ?? [] {
            let plain = WireCase.plain(name)
            guard let feature = feature(plain) else { throw WireFault("there is no feature \(name.prefix(40))") }
            features.append(feature)
        }
        return ["X-ZUMO-FEATURES": AzureFeature.header(features).map(JSONValue.string) ?? .null]
    }

    private static func feature(_ name: String) -> AzureFeature? {
        switch name {
        case "apijson": .apiJSON
        case "apigeneric", "apiraw", "apidata", "api": .apiRaw
        case "tablereadquery", "tablequery": .tableReadQuery
        case "tablereadraw", "tableraw", "tablereadquerystring": .tableReadRaw
        case "queryparameters", "parameters": .queryParameters
        case "optimisticconcurrency", "opportunisticconcurrency", "concurrency": .optimisticConcurrency
        case "offline", "offlinesync": .offline
        case "readwithlinkheader", "linkheader", "nextlink": .linkHeader
        case "incrementalpull": .incrementalPull
        case "refreshtoken": .refreshToken
        default: AzureFeature.allCases.first { $0.rawValue.lowercased() == name }
        }
    }

    static func userAgent(_ input: WireCase) throws -> JSONValue {
        let text = try dialect(input).agent.text
        return ["header": .string(text), "User-Agent": .string(text), "X-ZUMO-VERSION": .string(text)]
    }
}
