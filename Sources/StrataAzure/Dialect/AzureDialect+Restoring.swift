import Foundation
import StrataStore

// Rows that are made again. A table that keeps deleted rows refuses a new row with the id of a deleted one (409), although nobody
// can read it: the deletion has to be taken back, and the row gets its values afterwards.

extension AzureDialect {
    /// Takes the deletion of a row back if it stands in the way of a new one.
    ///
    /// Mobile Services and Mobile Apps take two more requests (`POST tables/T/<id>` and `PATCH`), Datasync one (`PUT` with
    /// `deleted` and all columns). If the refusal does not contain the row, as those of older servers, and
    /// ``keepsDeletedRows`` is set, the row is read first. Each request names the version that it goes out from, so that a row
    /// that somebody else restores at the same moment is a conflict.
    /// - Throws: ``RemoteError`` if the next request cannot be made.
    public func continuation(
        of operation: RemoteOperation, after exchanges: [DialectExchange], options: RequestOptions
    ) throws(RemoteError) -> DialectContinuation {
        let (refusal, last) = (exchanges[0].response, exchanges[exchanges.count - 1])
        guard case .create(let entity, let writes) = operation, let write = writes.first, refusal.status == 409 else {
            return .answer(last.response)
        }
        let schema = try AzureSchema(entity, self)
        guard schema.keys == .text else { return .answer(refusal) }
        switch last.request.head.method {
        case .post where exchanges.count == 1:
            if let row = conflictItem(refusal) { return try restoring(row, write, schema, refusal, options) }
            guard keepsDeletedRows, let id = schema.keys.literal(write.id)?.text(in: version) else {
                return .answer(refusal)
            }
            return .send(
                try readRequest(
                    table: schema.table,
                    pairs: withSystemColumns([
                        Self.pair("$filter", "(id eq \(id))"), "\(version.includesDeletedName)=true",
                    ]), features: [.tableReadQuery], options))
        case .get:
            guard (200..<300).contains(last.response.status),
                let row = try? list(last.response).items.lazy.compactMap(\.members).first
            else { return .answer(refusal) }
            return try restoring(row, write, schema, refusal, options)
        case .post:
            // A service that restores no rows does not know the request.
            if [400, 404, 405, 410, 501].contains(last.response.status) { return .answer(refusal) }
            if failure(last.response) != nil { return .answer(last.response) }
            let tag = Self.version(ofTag: last.response[header: "ETag"])
            let fields = try body(.object(try fields(of: write, schema, isNew: false)))
            return .send(
                try rowRequest(.patch, schema, write.id, Message(ifMatch: tag, body: fields), options))
        default: return .answer(last.response)
        }
    }

    /// - Parameter row: What the server has under the id.
    private func restoring(
        _ row: JSONObject, _ write: RemoteWrite, _ schema: AzureSchema, _ refusal: WireResponse,
        _ options: RequestOptions
    ) throws(RemoteError) -> DialectContinuation {
        guard isDeleted(row), schema.keys.id(row["id"]) == write.id else { return .answer(refusal) }
        var item = row
        if version == .datasync {
            let fields = try fields(of: write, schema, isNew: false)
            item = JSONObject(item.filter { AzureSystemProperty.isColumn($0.name, in: version) })
            item.merge(fields)
        }
        return .send(try undeleteRequest(table: schema.table, item: .object(item), options: options))
    }
}
