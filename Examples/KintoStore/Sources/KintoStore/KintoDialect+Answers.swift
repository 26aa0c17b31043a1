import Foundation
import StrataRemote

extension KintoDialect {
    public func answer(_ response: WireResponse, to operation: RemoteOperation) throws(RemoteError) -> RemoteAnswer {
        switch operation {
        case .create(let entity, let writes) where writes.count == 1:
            return .outcomes([try outcome(response, operation, entity, writes[0].id)])
        case .update(let entity, let write), .delete(let entity, let write):
            return .outcomes([try outcome(response, operation, entity, write.id)])
        case .create, .batch: return .outcomes(try outcomes(response, Self.singles(operation)))
        case .ping:
            _ = try body(response)
            return .nothing
        case .count:
            guard response.status == 200 else { throw failure(response) }
            guard let count = response[header: "Total-Objects"].flatMap({ Int($0) }) else {
                throw invalid(response, "the answer has no Total-Objects")
            }
            return .count(count)
        case .query(let query):
            var page = try page(response, query.entity)
            if let limit = query.limit { page.records = Array(page.records.prefix(limit)) }
            page.next = Self.token(response)
            page.hasMore = page.next != nil && page.records.count < query.limit ?? .max
            return .page(page)
        case .read(let entity, _):
            return .page(try page(response, entity))
        case .pull(let pull): return .page(try news(response, pull))
        case .relate, .upload, .call: throw unsupported("the service has no such operation")
        }
    }

    /// The time by the header `Date`.
    public func time(of response: WireResponse) -> Date? { response.date }

    // MARK: Reading

    private func page(_ response: WireResponse, _ entity: EntityDescription) throws(RemoteError) -> RemotePage {
        guard case .array(let list)? = try body(response)["data"] else {
            throw invalid(response, "the answer has no list of records")
        }
        var page = coder.page(of: list.filter { $0["deleted"] != true }, entity, complete: Self.complete)
        page.deleted = list.filter { $0["deleted"] == true }.compactMap { $0["id"]?.string }
            .map { RemoteIdentity(entity: entity.name, id: $0) }
        return page
    }

    private func record(_ json: JSONValue, _ entity: EntityDescription) throws(RemoteError) -> RemoteRecord {
        var record = try coder.record(json, entity)
        Self.complete(&record, json)
        return record
    }

    /// The version is a text that is compared, and nothing else. The time of the last change decides which of two changes is the
    /// later one; as Kinto makes a time of each change that no other change has, it is both.
    private static func complete(_ record: inout RemoteRecord, _ json: JSONValue) {
        guard let time = json["last_modified"]?.integer else { return }
        record.version = String(time)
        record.modified = Date(timeIntervalSince1970: Double(time) / 1000)
    }

    /// The cursor is the time of the last record. It has to be newer than all that is asked for the next time, so a collection
    /// whose own time is older has been flushed or restored from a backup.
    private func news(_ response: WireResponse, _ pull: RemotePull) throws(RemoteError) -> RemotePage {
        var page = try page(response, pull.entity)
        let since = pull.cursor ?? "0"
        let own = response[header: "ETag"].flatMap { Int64($0.filter { $0 != "\"" }) }
        if let own, let place = Int64(since), own < place {
            throw RemoteError(
                .cursorExpired, domain: "Kinto",
                message: "the collection \(pull.entity.name) is older than the last pull")
        }
        let last = try body(response)["data"]?.elements?.last?["last_modified"]?.integer
        page.next = last.map { String($0) } ?? since
        page.hasMore = Self.token(response) != nil
        return page
    }

    /// The parameter `_token` of the address of the next page.
    private static func token(_ response: WireResponse) -> String? {
        guard let address = response[header: "Next-Page"], let mark = address.firstIndex(of: "?") else { return nil }
        return QueryParameters.read(address[address.index(after: mark)...])?.first { $0.name == "_token" }?.value
    }

    // MARK: Writes

    private func outcome(
        _ response: WireResponse, _ operation: RemoteOperation, _ entity: EntityDescription, _ id: String
    ) throws(RemoteError) -> RemoteOutcome {
        do throws(RemoteError) {
            guard let data = try body(response)["data"] else { throw invalid(response, "the answer has no record") }
            if case .delete = operation { return .done(nil) }
            // The write is done, even if the server has made something unreadable of it. The store reads it again.
            return .done(try? record(data, entity))
        } catch {
            var error = error
            switch error.kind {
            case .conflict, .duplicate:
                // A creation is refused because the record exists, whether an earlier attempt or somebody else created it.
                if case .create = operation, response.status == 412 {
                    error.kind = .duplicate
                } else {
                    error.kind = .conflict
                }
                let details = (try? JSONValue(parsing: response.body))?["details"]
                error.serverRecord = details?["existing"].flatMap { try? record($0, entity) }
            case .notFound, .gone, .forbidden, .rejected: break
            default: throw error
            }
            error.identity = RemoteIdentity(entity: entity.name, id: id)
            return .failed(error)
        }
    }

    /// The outcomes of a batch, each read like an answer of its own.
    private func outcomes(
        _ response: WireResponse, _ operations: [RemoteOperation]
    ) throws(RemoteError) -> [RemoteOutcome] {
        guard let list = try body(response)["responses"]?.elements, list.count == operations.count else {
            throw invalid(response, "the answer does not have one response for each request of the batch")
        }
        var outcomes: [RemoteOutcome] = []
        for (json, operation) in zip(list, operations) {
            guard let status = json["status"]?.integer, let body = json["body"], let data = try? body.data() else {
                throw invalid(response, "a response of the batch has no status or no body")
            }
            // The server may have taken back the whole batch, whatever the other responses say.
            if status == 409 || status >= 500 {
                throw RemoteError(
                    .unavailable, domain: "Kinto", code: Int(status),
                    message: "the server could not carry out the batch: \(body.description.prefix(200))",
                    status: Int(status))
            }
            let head = HTTPResponse(status: .init(code: Int(status)), headerFields: [.contentType: "application/json"])
            guard case .outcomes(let own) = try answer(WireResponse(head, body: data), to: operation) else { continue }
            outcomes += own
        }
        return outcomes
    }

    // MARK: Failures

    /// The JSON of a success.
    private func body(_ response: WireResponse) throws(RemoteError) -> JSONObject {
        guard (200..<300).contains(response.status) else { throw failure(response) }
        guard let object = (try? JSONValue(parsing: response.body))?.members else {
            throw invalid(response, "the answer is not a JSON object")
        }
        return object
    }

    private func failure(_ response: WireResponse) -> RemoteError {
        let body = try? JSONValue(parsing: response.body)
        let text = body?["message"]?.string ?? body?["error"]?.string
        return RemoteError(answer: response, domain: name, message: text.map { "Kinto answered: \($0)" })
    }

    private func invalid(_ response: WireResponse, _ message: String) -> RemoteError {
        RemoteError(answer: response, domain: name, message: message)
    }
}
