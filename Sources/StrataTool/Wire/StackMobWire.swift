import Foundation
import StrataStackMob

/// The driver of `strata wire --dialect stackmob`: puts the input of a case into the code that speaks the protocol, and
/// writes down what it does. It decides nothing itself.
enum StackMobWire {
    /// The answer to one line.
    static func answer(to line: String) async -> String {
        var id = JSONValue.null
        do {
            let json: JSONValue
            do {
                json = try JSONValue(parsing: line)
            } catch {
                id = Self.id(in: line)
                throw error
            }
            id = json["id"] ?? .null
            let input = try WireCase(json)
            return Self.line(id, try await actual(input))
        } catch let error as RemoteError {
            return Self.line(id, WireActual.json(error).adding(["requestsSent": 0]))
        } catch {
            let message = (error as? WireFault)?.message ?? "\(error)"
            return "{\"id\":\(id),\"actual\":null,\"error\":\(JSONValue.string(message))}"
        }
    }

    /// The identifier in a line that is not JSON, so that one knows which case it was.
    private static func id(in line: String) -> JSONValue {
        guard let match = line.prefix(1000).firstMatch(of: /"id"\s*:\s*("[^"\\]*")/) else { return .null }
        return (try? JSONValue(parsing: String(match.1))) ?? .null
    }

    private static func line(_ id: JSONValue, _ actual: JSONValue) -> String {
        "{\"id\":\(id),\"actual\":\(actual)}"
    }

    private static func actual(_ input: WireCase) async throws -> JSONValue {
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
