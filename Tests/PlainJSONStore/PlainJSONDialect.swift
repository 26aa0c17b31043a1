import Foundation
import StrataRemote

/// A third-party back end: plain JSON over HTTP, written with only the public interface of StrataRemote.
///
///     GET    /City?capital=true&sort=name,-created&limit=10&offset=20   → [{"id": …}, …], with X-Total-Count
///     GET    /City?id=1&id=2                                            → those that exist
///     POST   /City           [{…}, …]                                   → 201 [{"id": …, "rev": "1"}, …]
///     PATCH  /City/1         {"name": …}       If-Match: "3"            → 200 {…}, or 412 with the server's object
///     DELETE /City/1         If-Match: "3"                              → 204, or 412
///     GET    /changes/City?since=41&limit=500                           → {"objects": […], "deleted": ["7"], "next": "57", "more": false}
///
/// Conditions are equalities of attributes joined by AND; all others are left to the planner. Names go out as in the
/// model; dates are seconds since 2001, bytes are base64, positions are pairs.
public struct PlainJSONDialect: RemoteDialect {
    public let name = "Plain JSON"
    public let capabilities = RemoteCapabilities(
        features: [
            .sorting, .paging, .counting, .readingMany, .creatingMany, .conditionalWrites, .incrementalPull, .deletions,
            .files,
        ],
        maximumBatch: 500, maximumIDs: 200, maximumPage: 1000)
    /// `localhost:8080`.
    public let authority: String

    /// Speaks to a server.
    public init(authority: String) { self.authority = authority }

    // MARK: Requests

    public func request(for operation: RemoteOperation, options: RequestOptions) throws(RemoteError) -> WireRequest {
        switch operation {
        case .query(let query): return try request(.get, "/\(query.entity.name)" + (try parameters(query)))
        case .count(let query):
            var counted = query
            counted.sorts = []
            counted.limit = 0
            return try request(.get, "/\(query.entity.name)" + (try parameters(counted)))
        case .read(let entity, let ids):
            return try request(.get, "/\(entity.name)?" + ids.map { "id=\(Self.escaped($0))" }.joined(separator: "&"))
        case .create(let entity, let writes):
            var objects: [JSONValue] = []
            for write in writes { objects.append(try json(write, entity)) }
            return try request(.post, "/\(entity.name)", body: .array(objects))
        case .update(let entity, let write):
            return try request(
                .patch, path(entity, write.id), body: try json(write, entity), ifMatch: write.baseVersion)
        case .delete(let entity, let write):
            return try request(.delete, path(entity, write.id), ifMatch: write.baseVersion)
        case .pull(let pull):
            return try request(
                .get, "/changes/\(pull.entity.name)?since=\(Self.escaped(pull.cursor ?? "0"))&limit=\(pull.limit)")
        case .ping: return try request(.get, "/")
        case .relate, .upload, .call, .batch: throw unsupported("\(operation)")
        }
    }

    private func request(
        _ method: HTTPRequest.Method, _ path: String, body: JSONValue? = nil, ifMatch: String? = nil
    ) throws(RemoteError) -> WireRequest {
        var head = HTTPRequest(method: method, scheme: "http", authority: authority, path: path)
        head.headerFields[.accept] = "application/json"
        if body != nil { head.headerFields[.contentType] = "application/json" }
        if let ifMatch { head.headerFields[.ifMatch] = "\"\(ifMatch)\"" }
        do throws(JSONWritingError) {
            return WireRequest(head, body: try body?.data())
        } catch {
            throw unsupported("\(error)")
        }
    }

    private func path(_ entity: EntityDescription, _ id: String) -> String { "/\(entity.name)/\(Self.escaped(id))" }

    private static func escaped(_ text: String) -> String { PercentEncoding.encode(text) }

    /// `?done=true&sort=…`, or nothing.
    private func parameters(_ query: RemoteQuery) throws(RemoteError) -> String {
        var parts = try conditions(query.predicate, query.entity)
        if !query.sorts.isEmpty {
            var names: [String] = []
            for sort in query.sorts {
                guard let path = sort.keyPath, path.count == 1, sort.options.isEmpty,
                    query.entity.slot(named: path[0])?.type?.isNumeric == true
                else { throw unsupported("an order by \(sort)") }
                names.append((sort.ascending ? "" : "-") + path[0])
            }
            parts.append("sort=" + names.joined(separator: ","))
        }
        if let limit = query.limit { parts.append("limit=\(limit)") }
        if query.offset > 0 { parts.append("offset=\(query.offset)") }
        return parts.isEmpty ? "" : "?" + parts.joined(separator: "&")
    }

    private func conditions(_ predicate: FetchPredicate?, _ entity: EntityDescription) throws(RemoteError) -> [String] {
        switch predicate?.node {
        case nil: return []
        case .and(let parts)?:
            var result: [String] = []
            for part in parts { result += try conditions(part, entity) }
            return result
        case .comparison(let left, .equal, let right, [])?:
            guard case .keyPath(let path) = left.node, case .constant(let value) = right.node, path.count == 1,
                entity.attribute(named: path[0]) != nil
            else { break }
            let isKey = path[0] == entity.primaryKeyField
            switch value {
            case .string(let text) where isKey: return ["id=\(Self.escaped(text))"]
            case .integer(let number) where isKey: return ["id=\(number)"]
            case .uuid(let id) where isKey: return ["id=\(id.uuidString)"]
            case .string(let text): return ["\(path[0])=\(Self.escaped("\(JSONValue.string(text))"))"]
            case .integer(let number): return ["\(path[0])=\(number)"]
            case .boolean(let flag): return ["\(path[0])=\(flag)"]
            default: break
            }
        default: break
        }
        throw unsupported(predicate.map { "\($0)" } ?? "the condition")
    }

    private func unsupported(_ what: String) -> RemoteError {
        RemoteError(.unsupported, domain: name, code: 1, message: "\(name) cannot do \(what)")
    }

    // MARK: Answers

    public func answer(_ response: WireResponse, to operation: RemoteOperation) throws(RemoteError) -> RemoteAnswer {
        guard !response.isMarkup else {
            // Portals and proxies answer in pages.
            throw failure(
                response.status >= 500 ? RemoteError.Kind(status: response.status) : .invalidAnswer, response,
                "somebody else answered in place of the server")
        }
        let json = try? JSONValue(parsing: response.body)
        // What has no words of the server may be anybody's.
        func checked(_ kind: RemoteError.Kind) -> RemoteError.Kind { json == nil ? .invalidAnswer : kind }
        switch (response.status, operation.entity) {
        case (200..<300, _), (404, nil): break
        case (404, _?):
            guard json != nil else { throw failure(.invalidAnswer, response, "there is nothing at this address") }
            return .outcomes([.failed(failure(.notFound, response, "there is no such object"))])
        case (410, _) where operation.isPull:
            throw failure(checked(.cursorExpired), response, "the server has forgotten what was pulled")
        case (412, let entity?):
            guard let json else { throw failure(.invalidAnswer, response, "the answer is no JSON") }
            var error = failure(.conflict, response, "the object has been changed")
            error.serverRecord = try record(json, entity, response)
            return .outcomes([.failed(error)])
        case (500..., _):
            throw failure(RemoteError.Kind(status: response.status), response, "the server answered \(response.status)")
        default:
            throw failure(
                checked(RemoteError.Kind(status: response.status)), response, "the server answered \(response.status)")
        }
        switch operation {
        case .ping: return .nothing
        case .count:
            guard let total = response[header: "X-Total-Count"].flatMap(Int.init) else {
                throw failure(.invalidAnswer, response, "the answer to a count has no X-Total-Count")
            }
            return .count(total)
        case .delete:
            guard response.status == 204 else { throw failure(.invalidAnswer, response, "a delete is answered by 204") }
            return .outcomes([.done(nil)])
        default: break
        }
        guard let entity = operation.entity, let json else {
            throw failure(.invalidAnswer, response, "the answer is no JSON")
        }
        switch (operation, json) {
        case (.query, .array(let objects)), (.read, .array(let objects)):
            return .page(RemotePage(records: try records(objects, entity, response)))
        case (.create, .array(let objects)):
            var outcomes: [RemoteOutcome] = []
            for object in objects { outcomes.append(try outcome(object, entity, response)) }
            return .outcomes(outcomes)
        case (.update, .object): return .outcomes([.done(try record(json, entity, response))])
        case (.pull, .object(let page)):
            guard case .array(let objects)? = page["objects"], case .array(let deleted)? = page["deleted"],
                case .string(let next)? = page["next"]
            else { break }
            return .page(
                RemotePage(
                    records: try records(objects, entity, response),
                    deleted: deleted.compactMap(\.string).map { RemoteIdentity(entity: entity.name, id: $0) },
                    next: next,
                    hasMore: page["more"] == true))
        default: break
        }
        throw failure(.invalidAnswer, response, "the answer has another form than it must")
    }

    private func records(
        _ list: [JSONValue], _ entity: EntityDescription, _ response: WireResponse
    ) throws(RemoteError) -> [RemoteRecord] {
        var result: [RemoteRecord] = []
        for json in list { result.append(try record(json, entity, response)) }
        return result
    }

    private func failure(_ kind: RemoteError.Kind, _ response: WireResponse, _ message: String) -> RemoteError {
        RemoteError(kind, code: response.status, message: message, status: response.status, body: response.body)
    }

    /// One of several new objects: itself, or `{"id": …, "error": "duplicate"}`.
    private func outcome(
        _ json: JSONValue, _ entity: EntityDescription, _ response: WireResponse
    ) throws(RemoteError) -> RemoteOutcome {
        guard case .object(let values) = json, values["error"] != nil else {
            return .done(try record(json, entity, response))
        }
        return .failed(failure(.duplicate, response, "there is an object with the same id"))
    }

    // MARK: Objects

    private func json(_ write: RemoteWrite, _ entity: EntityDescription) throws(RemoteError) -> JSONValue {
        guard write.operations.isEmpty else { throw unsupported("changes that the server computes") }
        var object: JSONObject = ["id": .string(write.id)]
        for (name, value) in write.values.sorted(by: { $0.key < $1.key }) {
            switch value {
            case .value(let value): object[name] = AttributeJSON.json(value)
            case .reference(let id): object[name] = id.map { .string($0) } ?? .null
            case .references(let ids): object[name] = .array(ids.map { .string($0) })
            case .record, .records: throw unsupported("\(entity.name).\(name) with the related objects themselves")
            }
        }
        return .object(object)
    }

    private func record(
        _ json: JSONValue, _ entity: EntityDescription, _ response: WireResponse
    ) throws(RemoteError) -> RemoteRecord {
        guard case .object(var object) = json, let id = object.removeValue(forName: "id")?.string, !id.isEmpty else {
            throw failure(.invalidAnswer, response, "there is an object without an id")
        }
        var record = RemoteRecord(entity: entity.name, id: id)
        record.version = object.removeValue(forName: "rev")?.string
        for (name, value) in object {
            if let relationship = entity.relationship(named: name) {
                if case .array(let ids) = value, relationship.isToMany {
                    record.values[name] = .references(ids.compactMap(\.string))
                } else if !relationship.isToMany {
                    record.values[name] = .reference(value.string)
                }
            } else if let slot = entity.slot(named: name), let type = slot.type {
                record.values[name] = .value(AttributeJSON.value(value, type))
            }
        }
        if let key = entity.primaryKeyField { record.values[key] = .value(.string(record.id)) }
        return record
    }
}

extension RemoteOperation {
    var isPull: Bool { if case .pull = self { true } else { false } }

    /// The entity that it is about.
    var entity: EntityDescription? {
        switch self {
        case .query(let query), .count(let query): query.entity
        case .read(let entity, _), .create(let entity, _), .update(let entity, _), .delete(let entity, _),
            .relate(let entity, _), .upload(let entity, _):
            entity
        case .pull(let pull): pull.entity
        case .call, .batch, .ping: nil
        }
    }
}
