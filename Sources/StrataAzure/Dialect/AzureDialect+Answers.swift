import Foundation

extension AzureDialect {
    /// Reads an answer. What a server refuses of a single write is the outcome of that write; what says nothing of the
    /// write, such as a missing session or a server that cannot answer for now, is thrown.
    /// - Throws: ``RemoteError`` for answers that report a failure or do not have the form of the service.
    public func answer(
        _ response: WireResponse, to operation: RemoteOperation
    ) throws(RemoteError) -> RemoteAnswer {
        switch operation {
        case .query(let query): return .page(try queryAnswer(response, query))
        case .count:
            try checkSuccess(response)
            guard let count = try list(response).totalCount else {
                throw invalidAnswer(.expectedTotalCountInResponse, response)
            }
            return .count(count)
        case .read(let entity, let ids):
            let schema = try AzureSchema(entity, self)
            guard isReadByAddress(ids, schema) else {
                try checkSuccess(response)
                return .page(page(of: try list(response).items, schema))
            }
            if let failure = failure(response) {
                if failure.kind == .notFound || failure.kind == .gone { return .page(RemotePage()) }
                throw failure
            }
            try checkSuccess(response)
            return .page(page(of: [.object(try item(response))], schema))
        case .create(let entity, _), .update(let entity, _), .delete(let entity, _):
            return .outcomes([try outcome(response, operation, try AzureSchema(entity, self))])
        case .pull(let pull):
            return .page(try pullAnswer(response, pull))
        case .call:
            if let failure = failure(response) { throw failure }
            let type = response[header: "Content-Type"].map {
                String($0.prefix { $0 != ";" }).trimmingCharacters(in: .whitespaces).lowercased()
            }
            return .reply(RemoteReply(status: response.status, contentType: type, body: response.body))
        case .ping:
            // Any answer shows that the server is there; one with an error of its own shows that it is not well.
            if response.status >= 500, let failure = failure(response) { throw failure }
            return .nothing
        case .relate, .upload, .batch: throw unsupported("the service has no such operation")
        }
    }

    /// Refuses what is neither a success nor a failure of the service: redirects that nobody followed, for instance.
    func checkSuccess(_ response: WireResponse) throws(RemoteError) {
        if let failure = failure(response) { throw failure }
        guard (200..<300).contains(response.status) else {
            throw RemoteError(
                .invalidAnswer, domain: "HTTP", code: response.status,
                message: "the server answered with status \(response.status)", status: response.status,
                body: response.body)
        }
    }

    private func queryAnswer(_ response: WireResponse, _ query: RemoteQuery) throws(RemoteError) -> RemotePage {
        try checkSuccess(response)
        let list = try list(response)
        var page = page(of: list.items, try AzureSchema(query.entity, self))
        let count = list.items.count
        if let limit = query.limit, page.records.count > limit { page.records.removeLast(page.records.count - limit) }
        page.total = list.totalCount
        let end = try place(query).addingReportingOverflow(count)
        guard count > 0, count < query.limit ?? .max, !end.overflow else { return page }
        if let total = list.totalCount {
            page.hasMore = end.partialValue < total
        } else {
            page.hasMore = list.nextLink != nil || count >= maximumPage
        }
        if page.hasMore { page.next = String(end.partialValue) }
        return page
    }

    private func outcome(
        _ response: WireResponse, _ operation: RemoteOperation, _ schema: AzureSchema
    ) throws(RemoteError) -> RemoteOutcome {
        let (id, isNew, isDelete): (String, Bool, Bool) =
            switch operation {
            case .create(_, let writes): (writes.first?.id ?? "", true, false)
            case .delete(_, let write): (write.id, false, true)
            case .update(_, let write): (write.id, false, false)
            default: ("", false, false)
            }
        if var failure = failure(response) {
            switch failure.kind {
            case .forbidden, .notFound, .gone, .conflict, .duplicate, .rejected: break
            default: throw failure
            }
            // Servers answer with 409 to a change of another version, too.
            if failure.kind == .duplicate, !isNew { failure.kind = .conflict }
            failure.identity = RemoteIdentity(entity: schema.entity, id: id)
            if let item = conflictItem(response), !isDeleted(item) {
                let record = try? record(item, schema)
                if isNew || record?.id == id { failure.serverRecord = record }
            } else if let item = conflictItem(response), isDeleted(item), !isNew {
                failure.kind = .gone
            }
            return .failed(failure)
        }
        try checkSuccess(response)
        // An accepted write is not done yet.
        guard response.status != 202 else {
            throw RemoteError(
                .timeout, domain: "HTTP", code: 202, message: "the server has not done the write yet", status: 202)
        }
        if isDelete {
            guard response.body.isEmpty || (try? JSONValue(parsing: response.body)) != nil else {
                throw invalidAnswer(.expectedItemInResponse, response, "the answer to a delete is not JSON")
            }
            return .done(nil)
        }
        let told = try item(response)
        // What it tells may not fit the model; the write is done all the same, and is read again.
        if let record = try? record(withoutUnasked(told, response), schema) { return .done(record) }
        // A new row is found only by the id that the server has given it.
        guard isNew, schema.keys == .integers else { return .done(nil) }
        do throws(RemoteError) {
            return .done(RemoteRecord(entity: schema.entity, id: try rowID(told, schema)))
        } catch {
            guard error.kind == .rejected else { throw error }
            return .failed(error)
        }
    }

    /// The rows of an answer. One that makes no sense does not keep the others from being read.
    func page(of items: [JSONValue], _ schema: AzureSchema) -> RemotePage {
        var page = RemotePage()
        page.records.reserveCapacity(items.count)
        for item in items {
            do throws(RemoteError) {
                guard let members = item.members else {
                    throw mismatch("\(schema.entity): expected a JSON object in the answer, not \(item.typeName)")
                }
                if isDeleted(members) {
                    page.deleted.append(RemoteIdentity(entity: schema.entity, id: try rowID(members, schema)))
                } else {
                    page.records.append(try record(members, schema))
                }
            } catch {
                let id = item["id"].flatMap { $0.string ?? $0.integer.map { String($0) } }
                page.unreadable.append(
                    UnreadableRecord(identity: id.map { RemoteIdentity(entity: schema.entity, id: $0) }, error: error))
            }
        }
        return page
    }

    func isDeleted(_ item: JSONObject) -> Bool {
        item[AzureSystemProperty.deleted.column(in: version)]?.boolean ?? false
    }
}
