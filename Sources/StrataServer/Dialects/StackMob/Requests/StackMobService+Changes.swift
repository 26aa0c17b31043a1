#if Server
    import Foundation
    import Strata

    // What the dialect lacks and clients that keep a copy need. Requests that do not use it see nothing of it.
    extension StackMobService {
        /// `GET /_changes/<schema>?since=<cursor>&limit=<n>`: what was changed and deleted since a cursor, oldest first.
        ///
        /// Changes are numbered in the order of writing, and an answer stops at the last number that was on the disk when
        /// it began: what is written meanwhile has a greater one and comes next time. A cursor that reports changes
        /// which the server does not have, because it was restored from a backup, is answered with 410, and so is one
        /// from before deletions that are no longer known.
        func changes(_ call: Call) async throws(ServerError) -> ServerResponse {
            guard call.request.method == "GET" else { throw .notAllowed("Changes are only read.", "GET") }
            let name = call.segments[1].lowercased()
            var (cursor, limit) = (ChangeCursor.start, 1_000)
            for (key, value) in call.request.parameters ?? [] {
                if key == "since" {
                    guard let read = ChangeCursor(value) else {
                        // Perhaps of another kind of server, at whose address this one stands now.
                        throw ServerError(410, "The cursor is not one of this server. Start over without a cursor.")
                    }
                    cursor = read
                } else if key == "limit", let number = Int64(value), number > 0 {
                    limit = Int(min(number, 10_000))
                } else {
                    throw .badRequest("Changes take since=<cursor> and limit=<number>.")
                }
            }
            let (since, count, history) = (cursor, limit, call.database.history)
            let isDevelopment = call.isDevelopment
            let grant = try server.precheck(.read, name, call.caller)
            return try await call.database.read(.many) { (scope) throws(ServerError) in
                guard let schema = scope.catalogue[name] else {
                    guard isDevelopment else { throw .noSchema(name) }
                    return Self.answer([], [], next: since, more: false)
                }
                let (start, visible) = (since.position, scope.visibleSequence)
                guard history.holds(since, committed: visible) else {
                    throw ServerError(
                        410,
                        "The server lacks changes that the cursor includes: it was restored from a backup. Start over without a cursor."
                    )
                }
                if since.period != nil, since.known < (try Tombstones.horizon(of: name, scope)) {
                    throw ServerError(
                        410, "Objects were deleted since that are no longer known; start over without a cursor.")
                }
                func after(_ name: String) -> FetchPredicate {
                    .comparison(.keyPath([name]), .greater, .constant(.integer(start)), [])
                        && .comparison(
                            .keyPath([name]), .lessOrEqual, .constant(.integer(visible)), [])
                }
                var wanted = after("sm_sequence")
                var gone = after("sequence") && DataScope.equal("schema", .string(name))
                if let own = try grant.predicate(schema, scope) { wanted = wanted && own }
                if let owner = grant.owner { gone = gone && DataScope.equal("owner", .string(owner)) }
                let objects = try scope.fetch(
                    FetchRequest(
                        entity: schema.entityName, where: wanted, sortedBy: [FetchSort("sm_sequence")], limit: count + 1
                    ))
                let stones = try scope.fetch(
                    FetchRequest(
                        entity: "ServerTombstone", where: gone, sortedBy: [FetchSort("sequence")], limit: count + 1))
                var entries = objects.map { (sequence: $0.whole("sm_sequence") ?? 0, object: $0, isGone: false) }
                entries += stones.map { (sequence: $0.whole("sequence") ?? 0, object: $0, isGone: true) }
                entries.sort { $0.sequence < $1.sequence }
                let page = entries.prefix(count)
                let next = entries.count > count ? page.last?.sequence ?? start : max(start, visible)
                return Self.answer(
                    page.filter { !$0.isGone }.map { .object(ObjectReader.members($0.object, schema)) },
                    page.filter(\.isGone).map { $0.object.text("identifier").map(JSONValue.string) ?? .null },
                    next: since.moved(to: next, in: history.current, visible: visible), more: entries.count > count)
            }
        }

        private static func answer(
            _ objects: [JSONValue], _ deleted: [JSONValue], next: ChangeCursor, more: Bool
        ) -> ServerResponse {
            ServerResponse(json: [
                "objects": .array(objects), "deleted": .array(deleted), "next": .string(next.text),
                "more": .boolean(more),
            ])
        }
    }
#endif
