import Foundation

extension WireResponse {
    /// The body as JSON.
    func json() throws(RemoteError) -> JSONValue {
        do throws(JSONError) {
            return try JSONValue(parsing: body)
        } catch {
            throw invalid("the answer is \(error)")
        }
    }

    /// The body as a JSON object; a body that is empty has no members.
    func object() throws(RemoteError) -> JSONObject {
        guard !body.isEmpty else { return [:] }
        guard let members = try json().members else { throw invalid("the answer is not a JSON object") }
        return members
    }

    /// The body as an array of JSON objects.
    func objects() throws(RemoteError) -> [JSONObject] {
        guard let elements = try json().elements else { throw invalid("the answer is not a JSON array") }
        var objects: [JSONObject] = []
        for element in elements {
            guard let members = element.members else {
                throw invalid("the answer has an element that is not a JSON object")
            }
            objects.append(members)
        }
        return objects
    }

    func invalid(_ message: String) -> RemoteError {
        RemoteError(
            .invalidAnswer, domain: StackMobError.httpDomain, code: status, message: message, status: status, body: body
        )
    }
}
