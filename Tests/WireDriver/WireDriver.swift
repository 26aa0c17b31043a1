import StrataRemote

/// Puts the input of a case into the code that speaks one protocol, and writes down what it does. It decides nothing itself.
protocol WireDriver {
    /// What the code makes of a case.
    static func actual(_ input: WireCase) async throws -> JSONValue

    /// What is printed of an error that the code threw before anything was sent.
    static func actual(_ error: RemoteError) -> JSONValue
}

extension WireDriver {
    static func actual(_ error: RemoteError) -> JSONValue { WireActual.json(error).adding(["requestsSent": 0]) }

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
            return Self.line(id, try await actual(WireCase(json)))
        } catch let error as RemoteError {
            return Self.line(id, actual(error))
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
}
