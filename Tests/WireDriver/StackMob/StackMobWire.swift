import Foundation
import StrataStackMob

/// The driver of `strata-wire --dialect stackmob`.
enum StackMobWire: WireDriver {
    /// An error, and the exception that the old libraries raised, if they did.
    static func json(_ error: RemoteError) -> JSONValue {
        let json = WireActual.json(error)
        guard StackMobError.Exception(rawValue: error.domain) != nil else { return json }
        return json.adding(["exception": .string(error.domain), "domain": .string(StackMobError.domain)])
    }

    static func actual(_ error: RemoteError) -> JSONValue { json(error).adding(["requestsSent": 0]) }

    /// An answer of StackMob's servers with a JSON body.
    static func response(_ status: Int, _ body: JSONValue?, headers: [String: String] = [:]) -> WireResponse {
        WireServer.answer(status, body, headers: headers, type: "application/vnd.stackmob+json")
    }

    static func actual(_ input: WireCase) async throws -> JSONValue {
        switch input.text("area") {
        case "query": try query(input)
        case "query-logic": try queryLogic(input)
        case "predicate": try predicate(input)
        case "fetch-request": try fetchRequest(input)
        case "count": try count(input)
        case "encoding": try encoding(input)
        case "request": try request(input)
        case "name-mapping": try nameMapping(input)
        case "serialize": try serialize(input)
        case "deserialize": try deserialize(input)
        case "binary": try binary(input)
        case "mac": try mac(input)
        case "oauth1": try oauth1(input)
        case "auth": try await auth(input)
        case "error": try await error(input)
        case "retry-503": try await retry(input)
        case "push": try push(input)
        case "cache-policy": try await cachePolicy(input)
        case "dirty-queue": try dirtyQueue(input)
        case "sync": try sync(input)
        case let area?: throw WireFault("there is no area \(area.prefix(40))")
        case nil: throw WireFault("the case has no \"area\"")
        }
    }
}
