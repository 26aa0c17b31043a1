import Foundation

extension MaxLeapDialect {
    /// Reads an answer. What a server refuses of a single write is the outcome of that write; what says nothing of the
    /// write, such as a missing session or a server that cannot answer for now, is thrown.
    /// - Throws: ``RemoteError`` for answers that report a failure or do not have the form of the service.
    public func answer(
        _ response: WireResponse, to operation: RemoteOperation
    ) throws(RemoteError) -> RemoteAnswer {
        switch operation {
        case .query(let query): return .page(try page(response, query))
        case .count: return .count(try count(response))
        case .read(let entity, _): return .page(records(try results(response), try schema(entity)))
        case .create, .update, .delete, .relate:
            return .outcomes([try outcome(response, try? JSONValue(parsing: response.body), to: operation)])
        case .pull(let pull): return .page(try pullAnswer(response, pull))
        case .batch(let operations): return .outcomes(try batchOutcomes(response, operations))
        case .call:
            let result = try functionResult(response)
            return .reply(
                RemoteReply(
                    status: response.status, contentType: "application/json",
                    body: try Self.body(result)))
        case .upload:
            guard let reference = try uploaded(response).reference else {
                throw invalidAnswer("the answer to an upload has no url", response)
            }
            return .file(reference)
        case .ping:
            // Any answer shows that the server is there; one with an error of its own shows that it is not well.
            if response.status >= 500, let failure = failure(response) { throw failure }
            return .nothing
        }
    }

    private func page(_ response: WireResponse, _ query: RemoteQuery) throws(RemoteError) -> RemotePage {
        let objects = try results(response)
        var page = records(objects, try schema(query.entity))
        if query.countsAll { page.total = try count(response) }
        let asked = try self.query(for: query)
        let limit = asked.limit ?? Self.maximumPage
        let end = asked.skip.addingReportingOverflow(objects.count)
        if limit > 0, objects.count >= limit, !end.overflow, objects.count < query.limit ?? .max {
            page.next = String(end.partialValue)
            page.hasMore = true
        }
        return page
    }

    /// The objects of the answer to a query.
    func results(_ response: WireResponse) throws(RemoteError) -> [JSONValue] {
        guard let results = try object(response)["results"]?.elements else {
            throw invalidAnswer("the answer to a query has no results", response)
        }
        return results
    }

    /// The number in the answer to a count.
    func count(_ response: WireResponse) throws(RemoteError) -> Int {
        guard let count = try object(response)["count"]?.integer.flatMap({ Int(exactly: $0) }), count >= 0 else {
            throw invalidAnswer("the answer to a count has no count", response)
        }
        return count
    }

    /// What a function gave back. Parse wraps it.
    func functionResult(_ response: WireResponse) throws(RemoteError) -> JSONValue {
        if let failure = failure(response) { throw failure }
        if response.body.isEmpty { return .null }
        let json = try json(response)
        return flavor == .parse ? json["result"] ?? .null : json
    }

    /// What became of a write.
    /// - Parameter told: The body, read; nil if it is not JSON.
    func outcome(
        _ response: WireResponse, _ told: JSONValue?, to operation: RemoteOperation
    ) throws(RemoteError) -> RemoteOutcome {
        let identity = operation.identity
        if var failure = failure(response.status, told, response) {
            guard Self.isAboutWrite(failure) else { throw failure }
            failure.identity = identity
            return .failed(failure)
        }
        // Success is what the protocol says, not any answer with a status of 200: a portal gives that, too.
        guard let members = told?.members else {
            if case .delete = operation, response.body.isEmpty { return .done(nil) }
            throw invalidAnswer("the answer to a write is not a JSON object", response)
        }
        switch operation {
        case .create(let entity, _):
            guard members["objectId"]?.string?.isEmpty == false else {
                throw invalidAnswer("the answer to a creation has no objectId", response)
            }
            return .done(try? record(.object(members), entity, id: nil))
        case .update(let entity, let write):
            if let failure = unmet(members, identity, isConditional: write.baseVersion != nil) {
                return .failed(failure)
            }
            return .done(try? record(updated(members), entity, id: write.id))
        case .relate(let entity, let relation):
            if let failure = unmet(members, identity, isConditional: false) { return .failed(failure) }
            return .done(try? record(updated(members), entity, id: relation.id))
        case .delete(_, let write):
            if let failure = unmet(members, identity, isConditional: write.baseVersion != nil) {
                return .failed(failure)
            }
            return .done(nil)
        default: return .done(nil)
        }
    }

    /// The answer to an update without the number of objects that it met, which is not a field.
    private func updated(_ members: JSONObject) -> JSONValue {
        .object(flavor == .maxLeap ? JSONObject(members.filter { $0.name != "number" }) : members)
    }

    /// MaxLeap tells how many objects a write met: none is a failure.
    private func unmet(_ members: JSONObject, _ identity: RemoteIdentity?, isConditional: Bool) -> RemoteError? {
        guard flavor == .maxLeap, members["number"]?.integer == 0 else { return nil }
        let isConflict = isConditional && sendsVersions
        return RemoteError(
            isConflict ? .conflict : .notFound, domain: MaxLeapError.domain,
            code: MaxLeapError.objectNotFound.rawValue,
            message: isConflict ? "the object has been changed, or deleted" : "there is no such object", status: 200,
            identity: identity)
    }

    private func record(
        _ json: JSONValue, _ entity: EntityDescription, id: String?
    ) throws(RemoteError) -> RemoteRecord {
        try MaxLeapRecordCoder(dialect: self, schema: schema(entity)).record(json, id: id)
    }

    /// Whether an error says something of the write itself.
    static func isAboutWrite(_ error: RemoteError) -> Bool {
        switch error.kind {
        case .forbidden, .notFound, .gone, .conflict, .duplicate, .rejected: true
        default: false
        }
    }

    /// The objects of an answer. One that makes no sense does not keep the others from being read.
    func records(_ objects: [JSONValue], _ schema: MaxLeapSchema) -> RemotePage {
        let coder = MaxLeapRecordCoder(dialect: self, schema: schema)
        var page = RemotePage()
        page.records.reserveCapacity(objects.count)
        for object in objects {
            do throws(RemoteError) {
                page.records.append(try coder.record(object))
            } catch {
                let identity = object["objectId"]?.string.map { RemoteIdentity(entity: schema.entity, id: $0) }
                page.unreadable.append(UnreadableRecord(identity: identity, error: error))
            }
        }
        return page
    }

    // MARK: Bodies

    /// The body of a success as JSON.
    func json(_ response: WireResponse) throws(RemoteError) -> JSONValue {
        do throws(JSONError) {
            return try JSONValue(parsing: response.body)
        } catch {
            throw invalidAnswer("the answer is \(error)", response)
        }
    }

    /// The body as a JSON object; a body that is empty has no members.
    /// - Throws: The error that the answer reports.
    func object(_ response: WireResponse) throws(RemoteError) -> JSONObject {
        if let failure = failure(response) { throw failure }
        guard !response.body.isEmpty else { return [:] }
        guard let members = try json(response).members else {
            throw invalidAnswer("the answer is not a JSON object", response)
        }
        return members
    }

    func invalidAnswer(_ message: String, _ response: WireResponse) -> RemoteError {
        RemoteError(
            .invalidAnswer, domain: MaxLeapError.domain, code: MaxLeapError.invalidJSON.rawValue, message: message,
            status: response.status, body: response.body)
    }
}

extension RemoteOperation {
    /// The object that a write of one object is about.
    var identity: RemoteIdentity? {
        switch self {
        case .create(let entity, let writes) where writes.count == 1:
            RemoteIdentity(entity: entity.name, id: writes[0].id)
        case .update(let entity, let write), .delete(let entity, let write):
            RemoteIdentity(entity: entity.name, id: write.id)
        case .relate(let entity, let relation): RemoteIdentity(entity: entity.name, id: relation.id)
        default: nil
        }
    }
}
