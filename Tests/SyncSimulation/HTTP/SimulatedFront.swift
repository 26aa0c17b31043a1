import Foundation
import PlainJSONStore
import StrataRemote

/// The server of a simulation as ``PlainJSONDialect`` knows it: HTTP requests in, HTTP answers out.
struct SimulatedFront {
    let server: ModelServer

    /// What the server does with a request.
    func answer(_ request: WireRequest) -> WireResponse {
        let parts = URLComponents(string: request.head.path ?? "/")
        let path = (parts?.percentEncodedPath ?? "/").split(separator: "/").map {
            $0.removingPercentEncoding ?? String($0)
        }
        let parameters = parts?.queryItems ?? []
        guard let name = path.last(where: { server.model.entity(named: $0) != nil }),
            let entity = server.model.entity(named: name)
        else { return refusal(.notFound, "there is no such collection") }
        do throws(RemoteError) {
            switch (request.head.method, path.count) {
            case (.get, 2) where path[0] == "changes": return try changes(entity, parameters)
            case (.get, 1): return try list(entity, parameters)
            case (.post, 1): return try create(entity, request)
            case (.patch, 2): return try update(entity, path[1], request)
            case (.delete, 2): return try delete(entity, path[1], request)
            default: return refusal(.methodNotAllowed, "no")
            }
        } catch {
            switch error.kind {
            case .cursorExpired: return refusal(.gone, error.message)
            default: return refusal(.badRequest, error.message)
            }
        }
    }

    func refusal(_ status: HTTPResponse.Status, _ message: String) -> WireResponse {
        reply(status, ["error": .string(message)])
    }

    private func reply(_ status: HTTPResponse.Status, _ json: JSONValue) -> WireResponse {
        var head = HTTPResponse(status: status)
        head.headerFields[.contentType] = "application/json"
        return WireResponse(head, body: (try? json.data()) ?? Data())
    }

    // MARK: Reading

    private func changes(_ entity: EntityDescription, _ parameters: [URLQueryItem]) throws(RemoteError) -> WireResponse
    {
        let since = parameters.first { $0.name == "since" }?.value
        var pull = RemotePull(entity: entity, cursor: since == "0" ? nil : since)
        pull.limit = parameters.first { $0.name == "limit" }?.value.flatMap(Int.init) ?? 500
        guard case .page(let page) = try server.perform(.pull(pull)) else { return refusal(.badRequest, "") }
        return reply(
            .ok,
            .object([
                "objects": .array(page.records.map { json($0, entity) }),
                "deleted": .array(page.deleted.map { .string($0.id) }),
                "next": page.next.map(JSONValue.string) ?? .null,
                "more": .boolean(page.hasMore),
            ]))
    }

    private func list(_ entity: EntityDescription, _ parameters: [URLQueryItem]) throws(RemoteError) -> WireResponse {
        let ids = parameters.filter { $0.name == "id" }.compactMap(\.value)
        guard ids.isEmpty else {
            guard case .page(let page) = try server.perform(.read(entity: entity, ids: ids)) else {
                return refusal(.badRequest, "")
            }
            return reply(.ok, .array(page.records.map { json($0, entity) }))
        }
        var query = RemoteQuery(entity: entity)
        for parameter in parameters {
            let text = parameter.value ?? ""
            switch parameter.name {
            case "limit": query.limit = Int(text)
            case "offset": query.offset = Int(text) ?? 0
            case "sort": break
            default:
                guard case .string(let wanted)? = try? JSONValue(parsing: text) else { continue }
                query.predicate = .comparison(.keyPath([parameter.name]), .equal, .constant(.string(wanted)), [])
            }
        }
        guard case .page(let page) = try server.perform(.query(query)) else { return refusal(.badRequest, "") }
        return reply(.ok, .array(page.records.map { json($0, entity) }))
    }

    // MARK: Writing

    private func create(_ entity: EntityDescription, _ request: WireRequest) throws(RemoteError) -> WireResponse {
        guard case .array(let list)? = request.body.flatMap({ try? JSONValue(parsing: $0) }) else {
            return refusal(.badRequest, "no objects")
        }
        guard case .outcomes(let outcomes) = try server.perform(.create(entity: entity, list.map { write($0, entity) }))
        else { return refusal(.badRequest, "") }
        return reply(
            .created,
            .array(
                zip(list, outcomes).map { sent, outcome in
                    switch outcome {
                    case .done(let record?): json(record, entity)
                    default:
                        .object([
                            "id": sent.members?["id"] ?? .null, "error": .string("duplicate"),
                        ])
                    }
                }))
    }

    private func update(
        _ entity: EntityDescription, _ id: String, _ request: WireRequest
    ) throws(RemoteError) -> WireResponse {
        guard let body = request.body.flatMap({ try? JSONValue(parsing: $0) }) else { return refusal(.badRequest, "") }
        var change = write(body, entity)
        change.id = id
        change.baseVersion = version(request)
        return try outcome(.update(entity: entity, change), entity)
    }

    private func delete(
        _ entity: EntityDescription, _ id: String, _ request: WireRequest
    ) throws(RemoteError) -> WireResponse {
        try outcome(.delete(entity: entity, RemoteWrite(id: id, baseVersion: version(request))), entity)
    }

    private func version(_ request: WireRequest) -> String? {
        request.head.headerFields[.ifMatch].map { String($0.dropFirst().dropLast()) }
    }

    private func outcome(_ operation: RemoteOperation, _ entity: EntityDescription) throws(RemoteError) -> WireResponse
    {
        guard case .outcomes(let list) = try server.perform(operation), let outcome = list.first else {
            return refusal(.badRequest, "")
        }
        switch outcome {
        case .done(let record?): return reply(.ok, json(record, entity))
        case .done(nil): return WireResponse(HTTPResponse(status: .noContent))
        case .failed(let error):
            guard error.kind == .conflict, let record = error.serverRecord else {
                return refusal(.notFound, error.message)
            }
            return reply(.preconditionFailed, json(record, entity))
        }
    }

    // MARK: JSON

    private func json(_ record: RemoteRecord, _ entity: EntityDescription) -> JSONValue {
        var object: JSONObject = ["id": .string(record.id)]
        if let version = record.version { object["rev"] = .string(version) }
        for (name, value) in record.values.sorted(by: { $0.key < $1.key }) {
            switch value {
            case .value(.string(let text)): object[name] = .string(text)
            case .value(.binary(let data)): object[name] = .string(data.base64EncodedString())
            case .value: object[name] = .null
            case .reference(let id): object[name] = id.map(JSONValue.string) ?? .null
            case .references(let ids): object[name] = .array(ids.map(JSONValue.string))
            case .record, .records: break
            }
        }
        return .object(object)
    }

    private func write(_ json: JSONValue, _ entity: EntityDescription) -> RemoteWrite {
        var result = RemoteWrite(id: json.members?["id"]?.string ?? "")
        for (name, value) in json.members ?? [:] where name != "id" {
            if let relationship = entity.relationship(named: name) {
                if case .array(let ids) = value, relationship.isToMany {
                    result.values[name] = .references(ids.compactMap(\.string))
                } else if !relationship.isToMany {
                    result.values[name] = .reference(value.string)
                }
            } else if let slot = entity.slot(named: name) {
                let text = value.string
                result.values[name] = .value(
                    slot.storage == .bytes
                        ? text.flatMap { Data(base64Encoded: $0) }.map(Value.binary) ?? .null
                        : text.map(Value.string) ?? .null)
            }
        }
        return result
    }
}
