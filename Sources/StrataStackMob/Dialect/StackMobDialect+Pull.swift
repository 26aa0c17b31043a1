import Foundation

/// Where a pull from a plain StackMob server goes on: at a time of change, after this many objects of that time.
struct StackMobPullCursor {
    var milliseconds: Int64
    var skip = 0

    init(milliseconds: Int64, skip: Int = 0) {
        self.milliseconds = milliseconds
        self.skip = skip
    }

    init?(_ text: String) {
        let parts = text.split(separator: "+")
        guard let first = parts.first, let time = Int64(first), parts.count <= 2 else { return nil }
        milliseconds = time
        if parts.count == 2 {
            guard let number = Int(parts[1]), (0...Int(Int32.max)).contains(number) else { return nil }
            skip = number
        }
    }

    var text: String { skip == 0 ? String(milliseconds) : "\(milliseconds)+\(skip)" }
}

extension StackMobDialect {
    /// What changed since a cursor. A plain StackMob server is asked for objects by time of change, and reports no
    /// deletions; those of the cursor's own millisecond come again.
    func pullRequest(_ pull: RemotePull, _ options: RequestOptions) throws(RemoteError) -> WireRequest {
        let schema = try StackMobSchema(pull.entity)
        var query = StackMobQuery(schema.name)
        if usesExtensions {
            var parameters = try query.parameters().map { (name: $0.name, value: $0.value) }
            if let cursor = pull.cursor { parameters.append(("since", cursor)) }
            parameters.append(("limit", String(max(pull.limit, 1))))
            return try dataRequest(
                .get, "/_changes/" + schemaPath(schema.name), parameters: parameters, options: options)
        }
        query.order("lastmoddate")
        if let text = pull.cursor {
            guard let cursor = StackMobPullCursor(text) else {
                throw StackMobError.invalidArguments.error(
                    "\"\(text.prefix(80))\" is not a cursor of a pull from StackMob", kind: .cursorExpired)
            }
            query.add(.compare("lastmoddate", .greaterOrEqual, .integer(cursor.milliseconds)))
            if cursor.skip > 0 { query.first = cursor.skip }
        }
        query.limit(max(pull.limit, 2))
        return try queryRequest(query, options: options)
    }

    func pullAnswer(_ response: WireResponse, _ pull: RemotePull) throws(RemoteError) -> RemotePage {
        if var failure = failure(response) {
            // The server has forgotten what it would have to tell, or was restored.
            if response.status == 410, pull.cursor != nil { failure.kind = .cursorExpired }
            throw failure
        }
        let schema = try StackMobSchema(pull.entity)
        let json = try json(response)
        if usesExtensions {
            guard let objects = json["objects"]?.elements, let next = json["next"]?.string else {
                throw invalidAnswer("the answer to a pull has no objects or no next", response)
            }
            var page = records(objects, schema)
            page.deleted = (json["deleted"]?.elements ?? []).compactMap(\.string)
                .map { RemoteIdentity(entity: schema.entity, id: $0) }
            page.next = next
            page.hasMore = json["more"]?.boolean ?? false
            return page
        }
        guard let objects = json.elements else {
            throw invalidAnswer("the answer to a query is not an array", response)
        }
        var page = records(objects, schema)
        let times = objects.compactMap { $0["lastmoddate"]?.integer }
        page.hasMore = objects.count >= max(pull.limit, 2)
        guard let last = times.last else {
            page.next = pull.cursor ?? "0"
            page.hasMore = false
            return page
        }
        let before = pull.cursor.flatMap(StackMobPullCursor.init)
        var cursor = StackMobPullCursor(milliseconds: last)
        if page.hasMore, times.first == last {
            // All of one millisecond: only by counting does the next page get past them.
            cursor.skip = objects.count + (before?.milliseconds == last ? before?.skip ?? 0 : 0)
        }
        page.next = cursor.text
        return page
    }
}
