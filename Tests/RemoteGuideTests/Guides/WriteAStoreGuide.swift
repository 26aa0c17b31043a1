import Foundation
import StrataRemote

/// Shelf over HTTP.
struct ShelfDialect: RemoteDialect {
    let name = "Shelf"
    let capabilities = RemoteCapabilities(
        features: [.readingMany, .conditionalWrites, .incrementalPull, .deletions], maximumIDs: 50)
    /// `shelf.example`, with a port if there is one. Requests go over HTTPS.
    let authority: String

    private let coder = JSONRecordCoder(idField: "id", dates: .iso8601)

    init(authority: String) { self.authority = authority }

    func check(_ model: ManagedObjectModel) throws(RemoteError) { try coder.check(model, reserved: ["rev"]) }

    func request(for operation: RemoteOperation, options: RequestOptions) throws(RemoteError) -> WireRequest {
        switch operation {
        case .ping: return try request(.get, "/")
        case .query(let query):
            guard query.predicate == nil else { throw unsupported("conditions") }
            return try request(.get, "/\(query.entity.name)")
        case .read(let entity, let ids):
            let parameters = ids.map { "id=\(PercentEncoding.encode($0))" }
            return try request(.get, "/\(entity.name)?" + parameters.joined(separator: "&"))
        case .pull(let pull):
            let since = PercentEncoding.encode(pull.cursor ?? "0")
            return try request(.get, "/\(pull.entity.name)?since=\(since)&limit=\(pull.limit)")
        case .create(let entity, let writes):
            var request = try request(.put, writes[0], entity)
            request.head.headerFields[.ifNoneMatch] = "*"
            return request
        case .update(let entity, let write): return try request(.patch, write, entity)
        case .delete(let entity, let write): return try request(.delete, write, entity)
        case .count, .relate, .upload, .call, .batch: throw unsupported("the operation \(operation)")
        }
    }

    private func request(
        _ method: HTTPRequest.Method, _ path: String, json: JSONValue? = nil
    ) throws(RemoteError) -> WireRequest {
        try WireRequest(method, authority: authority, path: path, json: json)
    }

    private func request(
        _ method: HTTPRequest.Method, _ write: RemoteWrite, _ entity: EntityDescription
    ) throws(RemoteError) -> WireRequest {
        let json: JSONValue? = method == .delete ? nil : .object(try coder.fields(of: write, entity))
        var request = try request(method, "/\(entity.name)/\(PercentEncoding.encode(write.id))", json: json)
        if let version = write.baseVersion { request.head.headerFields[.ifMatch] = "\"\(version)\"" }
        return request
    }

    func answer(_ response: WireResponse, to operation: RemoteOperation) throws(RemoteError) -> RemoteAnswer {
        switch operation {
        case .ping:
            _ = try response.json(domain: name)
            return .nothing
        case .query(let query): return .page(page(try list(response), query.entity))
        case .read(let entity, _): return .page(page(try list(response), entity))
        case .pull(let pull): return .page(try news(response, pull))
        case .create(let entity, let writes): return try outcome(response, writes[0], entity, refusal: .duplicate)
        case .update(let entity, let write): return try outcome(response, write, entity, refusal: .conflict)
        case .delete(let entity, let write):
            if response.status == 204 { return .outcomes([.done(nil)]) }
            return try outcome(response, write, entity, refusal: .conflict)
        case .count, .relate, .upload, .call, .batch: throw unsupported("the operation \(operation)")
        }
    }

    private func list(_ response: WireResponse) throws(RemoteError) -> [JSONValue] {
        guard let list = try response.json(domain: name).elements else {
            throw RemoteError(answer: response, domain: name)
        }
        return list
    }

    private func page(_ list: [JSONValue], _ entity: EntityDescription) -> RemotePage {
        coder.page(of: list, entity) { record, json in record.version = version(json) }
    }

    private func version(_ json: JSONValue) -> String? { json["rev"]?.integer.map { String($0) } }

    private func outcome(
        _ response: WireResponse, _ write: RemoteWrite, _ entity: EntityDescription, refusal: RemoteError.Kind
    ) throws(RemoteError) -> RemoteAnswer {
        if response.status == 412 {
            var error = RemoteError(answer: response, domain: name)
            if error.kind == .conflict { error.kind = refusal }
            error.identity = RemoteIdentity(entity: entity.name, id: write.id)
            error.serverRecord = (try? JSONValue(parsing: response.body)).flatMap { page([$0], entity).records.first }
            return .outcomes([.failed(error)])
        }
        let json = try response.json(domain: name)
        guard json["id"] != nil else { throw RemoteError(answer: response, domain: name) }
        return .outcomes([.done(page([json], entity).records.first)])
    }

    private func news(_ response: WireResponse, _ pull: RemotePull) throws(RemoteError) -> RemotePage {
        if response.status == 410 {
            throw RemoteError(
                .cursorExpired, domain: name, message: "Shelf does not know the revision \(pull.cursor ?? "0")")
        }
        let news = try response.json(domain: name)
        guard let changed = news["changed"]?.elements, let deleted = news["deleted"]?.elements,
            let now = news["now"]?.integer
        else { throw RemoteError(answer: response, domain: name) }
        var page = page(changed, pull.entity)
        page.deleted = deleted.compactMap(\.string).map { RemoteIdentity(entity: pull.entity.name, id: $0) }
        page.next = String(now)
        page.hasMore = news["more"] == true
        return page
    }

    private func unsupported(_ what: String) -> RemoteError {
        RemoteError(.unsupported, domain: name, message: "Shelf cannot take \(what)")
    }
}
