import Foundation
import StrataRemote

/// A server for ``PlainJSONDialect`` in the same process.
///
/// `@unchecked Sendable`: all state is touched only while the lock is held.
public final class PlainJSONServer: HTTPTransport, @unchecked Sendable {
    private let lock = NSLock()
    private var objects: [String: [String: (revision: Int, json: JSONObject)]] = [:]
    private var deleted: [String: [String: Int]] = [:]
    private var revision = 0
    private var requests = 0

    /// Makes an empty server.
    public init() {}

    /// How many requests there have been.
    public var requestCount: Int { lock.withLock { requests } }

    public func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
        lock.withLock {
            requests += 1
            return answer(request)
        }
    }

    private func answer(_ request: WireRequest) -> WireResponse {
        let parts = URLComponents(string: request.head.path ?? "/")
        // Divided before it is decoded: a primary key may have slashes.
        let path = (parts?.percentEncodedPath ?? "/").split(separator: "/").map {
            $0.removingPercentEncoding ?? String($0)
        }
        let parameters = parts?.queryItems ?? []
        let body = request.body.flatMap { try? JSONValue(parsing: $0) }
        switch (request.head.method, path.count) {
        case (.get, 0): return reply(.ok, .object([:]))
        case (.get, 2) where path[0] == "changes": return changes(path[1], parameters)
        case (.get, 1): return list(path[0], parameters)
        case (.post, 1):
            guard case .array(let new)? = body else { return reply(.badRequest, .null) }
            return reply(.created, .array(new.map { create($0, path[0]) }))
        case (.patch, 2), (.delete, 2):
            guard let old = objects[path[0]]?[path[1]] else { return reply(.notFound, .null) }
            if let wanted = request.head.headerFields[.ifMatch], wanted != "\"\(old.revision)\"" {
                return reply(.preconditionFailed, shown(path[0], path[1]))
            }
            revision += 1
            guard request.head.method == .patch, case .object(let changed)? = body else {
                objects[path[0]]?[path[1]] = nil
                deleted[path[0], default: [:]][path[1]] = revision
                return WireResponse(HTTPResponse(status: .noContent))
            }
            objects[path[0]]?[path[1]] = (revision, old.json.merging(changed))
            return reply(.ok, shown(path[0], path[1]))
        default: return reply(.methodNotAllowed, .null)
        }
    }

    private func reply(_ status: HTTPResponse.Status, _ json: JSONValue, total: Int? = nil) -> WireResponse {
        var head = HTTPResponse(status: status)
        head.headerFields[.contentType] = "application/json"
        if let total, let name = HTTPField.Name("X-Total-Count") { head.headerFields[name] = String(total) }
        return WireResponse(head, body: (try? json.data()) ?? Data())
    }

    private func shown(_ entity: String, _ id: String) -> JSONValue {
        guard let found = objects[entity]?[id] else { return .null }
        return .object(found.json.merging(["rev": .string(String(found.revision))]))
    }

    private func create(_ json: JSONValue, _ entity: String) -> JSONValue {
        guard case .object(let object) = json, let id = object["id"]?.string else { return .null }
        guard objects[entity]?[id] == nil else {
            return .object(["id": .string(id), "error": .string("duplicate")])
        }
        revision += 1
        objects[entity, default: [:]][id] = (revision, object)
        deleted[entity]?[id] = nil
        return shown(entity, id)
    }

    private func list(_ entity: String, _ parameters: [URLQueryItem]) -> WireResponse {
        var found = Array((objects[entity] ?? [:]).values.map(\.json))
        let ids = Set(parameters.filter { $0.name == "id" }.compactMap(\.value))
        if !ids.isEmpty { found.removeAll { !ids.contains($0["id"]?.string ?? "") } }
        var limit = Int.max
        var offset = 0
        for parameter in parameters {
            let text = parameter.value ?? ""
            switch parameter.name {
            case "id": break
            case "limit": limit = Int(text) ?? limit
            case "offset": offset = Int(text) ?? offset
            case "sort":
                for name in text.split(separator: ",").reversed() {
                    let isUp = !name.hasPrefix("-")
                    let key = String(name.drop { $0 == "-" })
                    // A stable sort, so that earlier names count more.
                    found = found.enumerated().sorted { a, b in
                        let (x, y) = (Self.number(a.element[key]), Self.number(b.element[key]))
                        return x == y ? a.offset < b.offset : isUp ? x < y : x > y
                    }.map(\.element)
                }
            default:
                let wanted = try? JSONValue(parsing: text)
                found.removeAll { $0[parameter.name] != wanted }
            }
        }
        let page = found.dropFirst(offset).prefix(limit).map { shown(entity, $0["id"]?.string ?? "") }
        return reply(.ok, .array(page), total: max(0, min(limit == 0 ? Int.max : limit, found.count - offset)))
    }

    /// Nil is less than every number.
    private static func number(_ json: JSONValue?) -> Double { json?.double ?? -.infinity }

    private func changes(_ entity: String, _ parameters: [URLQueryItem]) -> WireResponse {
        let since = parameters.first { $0.name == "since" }?.value.flatMap(Int.init) ?? 0
        let limit = parameters.first { $0.name == "limit" }?.value.flatMap(Int.init) ?? 500
        var log = (objects[entity] ?? [:]).map { (revision: $1.revision, id: $0, isGone: false) }
        log += (deleted[entity] ?? [:]).map { (revision: $1, id: $0, isGone: true) }
        let new = log.filter { $0.revision > since }.sorted { $0.revision < $1.revision }
        let page = new.prefix(limit)
        return reply(
            .ok,
            .object([
                "objects": .array(page.filter { !$0.isGone }.map { shown(entity, $0.id) }),
                "deleted": .array(page.filter(\.isGone).map { .string($0.id) }),
                "next": .string(String(page.last?.revision ?? since)), "more": .boolean(new.count > page.count),
            ]))
    }
}
