import Foundation

extension StackMobDialect {
    /// Reads an answer. What a server refuses of a single write is the outcome of that write; what says nothing of the
    /// write, such as a missing session or a server that cannot answer for now, is thrown.
    /// - Throws: ``RemoteError`` for answers that report a failure or do not have the form of the service.
    public func answer(
        _ response: WireResponse, to operation: RemoteOperation
    ) throws(RemoteError) -> RemoteAnswer {
        switch operation {
        case .query(let query): return .page(try page(response, query))
        case .count:
            if let failure = failure(response) { throw failure }
            let elements = (try? JSONValue(parsing: response.body))?.elements?.count
            return .count(try count(contentRange: response[header: "Content-Range"], elements: elements))
        case .read(let entity, let ids):
            if ids.count == 1, response.status == 404 { return .page(RemotePage()) }
            if let failure = failure(response) { throw failure }
            let json = try json(response)
            return .page(records(json.elements ?? [json], try StackMobSchema(entity)))
        case .create, .update, .delete, .relate:
            return .outcomes(
                try outcomes(response, try? JSONValue(parsing: response.body), to: operation, KnownSchemas()))
        case .pull(let pull): return .page(try pullAnswer(response, pull))
        case .upload: throw StackMobError.unsupported("files are sent only with their objects")
        case .call: return .reply(try callReply(response, accepting: nil))
        case .batch(let operations): return .outcomes(try batchOutcomes(response, operations))
        case .ping:
            // Any answer shows that the server is there; one with an error of its own shows that it is not well.
            if response.status >= 500, let failure = failure(response) { throw failure }
            return .nothing
        }
    }

    private func page(_ response: WireResponse, _ query: RemoteQuery) throws(RemoteError) -> RemotePage {
        if let failure = failure(response) { throw failure }
        guard let elements = try json(response).elements else {
            throw invalidAnswer("the answer to a query is not an array", response)
        }
        var page = records(elements, try StackMobSchema(query.entity))
        if let limit = query.limit, page.records.count > limit { page.records.removeLast(page.records.count - limit) }
        let parts = (response[header: "Content-Range"] ?? "").split { "-/ ,=".contains($0) }.suffix(3)
        let numbers = parts.compactMap { Int($0) }
        if parts.count == 3, let total = parts.last.flatMap({ Int($0) }) { page.total = total }
        if response.status == 206, numbers.count >= 2, !elements.isEmpty, numbers[1] < .max {
            let end = numbers[1] + 1
            if end < page.total ?? .max, elements.count < query.limit ?? .max {
                page.next = String(end)
                page.hasMore = true
            }
        }
        return page
    }

    /// What became of the writes of one request.
    /// - Parameters:
    ///   - response: The answer. The body counts only for failures.
    ///   - told: The body, read; nil if it is not JSON.
    func outcomes(
        _ response: WireResponse, _ told: JSONValue?, to operation: RemoteOperation, _ schemas: KnownSchemas
    ) throws(RemoteError) -> [RemoteOutcome] {
        let identities = Self.identities(of: operation)
        if var failure = failure(response) {
            guard Self.isAboutWrite(failure) else { throw failure }
            failure.serverRecord = failure.kind == .conflict ? serverRecord(told, operation, schemas) : nil
            return identities.map { identity in
                var error = failure
                error.identity = identity
                return .failed(error)
            }
        }
        // Success is what the protocol says, not any answer with a status of 200: a portal gives that, too.
        guard response.status != 202 else {
            throw RemoteError(
                .timeout, domain: StackMobError.httpDomain, code: 202, message: "the server has not done the write yet",
                status: 202)
        }
        if case .delete = operation {
            guard told != nil || response.body.isEmpty else {
                throw invalidAnswer("the answer to a delete is not JSON", response)
            }
        } else if told?.members == nil {
            throw invalidAnswer("the answer to a write is not a JSON object", response)
        }
        switch operation {
        case .create(let entity, let writes) where writes.count > 1:
            return manyOutcomes(response, told, entity: entity, ids: writes.map(\.id))
        case .create(let entity, _), .update(let entity, _), .relate(let entity, _):
            return [.done(record(told, entity, schemas))]
        default: return [.done(nil)]
        }
    }

    /// What became of many new objects: the answer lists identifiers.
    private func manyOutcomes(
        _ response: WireResponse, _ told: JSONValue?, entity: EntityDescription?, ids: [String]
    ) -> [RemoteOutcome] {
        let failed = Set((told?["failed"]?.elements ?? []).compactMap(\.string))
        return ids.map { id in
            guard failed.contains(id) else { return .done(nil) }
            return .failed(
                RemoteError(
                    .rejected, domain: StackMobError.httpDomain, code: response.status,
                    message: "the server did not make this object", status: response.status,
                    body: told.flatMap { try? $0.data() },
                    identity: entity.map { RemoteIdentity(entity: $0.name, id: id) }))
        }
    }

    private func serverRecord(_ told: JSONValue?, _ operation: RemoteOperation, _ schemas: KnownSchemas)
        -> RemoteRecord?
    {
        switch operation {
        case .update(let entity, _), .delete(let entity, _): record(told, entity, schemas)
        default: nil
        }
    }

    /// Whether an error says something of the write itself.
    static func isAboutWrite(_ error: RemoteError) -> Bool {
        switch error.kind {
        case .forbidden, .notFound, .gone, .conflict, .duplicate, .rejected: true
        default: false
        }
    }

    static func identities(of operation: RemoteOperation) -> [RemoteIdentity] {
        switch operation {
        case .create(let entity, let writes): writes.map { RemoteIdentity(entity: entity.name, id: $0.id) }
        case .update(let entity, let write), .delete(let entity, let write):
            [RemoteIdentity(entity: entity.name, id: write.id)]
        case .relate(let entity, let relation): [RemoteIdentity(entity: entity.name, id: relation.id)]
        default: []
        }
    }

    func json(_ response: WireResponse) throws(RemoteError) -> JSONValue {
        do throws(JSONError) {
            return try JSONValue(parsing: response.body)
        } catch {
            throw invalidAnswer("the answer is \(error)", response)
        }
    }

    /// The objects of an answer. One that makes no sense does not keep the others from being read.
    func records(_ objects: [JSONValue], _ schema: StackMobSchema) -> RemotePage {
        let decoder = StackMobDecoder(dialect: self)
        var page = RemotePage()
        page.records.reserveCapacity(objects.count)
        for object in objects {
            do throws(RemoteError) {
                page.records.append(try decoder.record(object, schema: schema))
            } catch {
                let id = object.members?[schema.primaryKeyField]
                let identity = (id?.string ?? id?.integer.map(String.init)).map {
                    RemoteIdentity(entity: schema.entity, id: $0)
                }
                page.unreadable.append(UnreadableRecord(identity: identity, error: error))
            }
        }
        return page
    }

    /// The object that an answer tells; nil if it tells none.
    private func record(_ told: JSONValue?, _ entity: EntityDescription, _ schemas: KnownSchemas) -> RemoteRecord? {
        guard let told, let schema = try? schemas[entity] else { return nil }
        return try? StackMobDecoder(dialect: self).record(told, schema: schema)
    }

    func invalidAnswer(_ message: String, _ response: WireResponse) -> RemoteError {
        RemoteError(
            .invalidAnswer, domain: StackMobError.httpDomain, code: response.status, message: message,
            status: response.status, body: response.body)
    }
}
