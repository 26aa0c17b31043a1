import Foundation
import StrataRemote

/// What is printed of requests and errors.
enum WireActual {
    /// An error: its code, and what the server said of it.
    static func json(_ error: RemoteError) -> JSONValue {
        var members: JSONObject = [
            "error": .integer(Int64(error.code)), "code": .integer(Int64(error.code)), "domain": .string(error.domain),
            "message": .string(error.message),
        ]
        if let body = error.body, let json = try? JSONValue(parsing: body) { members["userInfo"] = json }
        return .object(members)
    }

    /// A request: its destination and its content.
    static func json(_ request: WireRequest) -> JSONValue {
        let head = request.head
        let path = head.path ?? ""
        var members: JSONObject = [
            "method": .string(head.method.rawValue), "scheme": .string(head.scheme ?? ""),
            "host": .string(head.authority ?? ""), "path": .string(path),
            "url": .string("\(head.scheme ?? "http")://\(head.authority ?? "")\(path)"),
            "params": parameters(path), "headers": headers(request), "body": .null, "contentType": .null,
        ]
        if let type = head.headerFields[.contentType] { members["contentType"] = .string(type) }
        if let body = request.body {
            let text = String(decoding: body, as: UTF8.self)
            members["body"] = (try? JSONValue(parsing: body)) ?? .string(text)
            if head.headerFields[.contentType] == "application/x-www-form-urlencoded" {
                members["form"] = pairs(text)
            }
        }
        return .object(members)
    }

    static func headers(_ request: WireRequest) -> JSONValue {
        .object(JSONObject(request.head.headerFields.map { ($0.name.rawName, .string($0.value)) }))
    }

    /// The query parameters of a path, decoded.
    static func parameters(_ path: String) -> JSONValue {
        pairs(path.split(separator: "?", maxSplits: 1).dropFirst().first.map(String.init) ?? "")
    }

    private static func pairs(_ text: String) -> JSONValue {
        .object(JSONObject((QueryParameters.read(text) ?? []).map { ($0.name, .string($0.value)) }))
    }
}

extension JSONValue {
    /// The object with further members.
    func adding(_ more: JSONObject) -> JSONValue { .object((members ?? [:]).merging(more)) }
}
