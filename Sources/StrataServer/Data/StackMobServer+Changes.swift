#if Server
    import Foundation
    import Strata

    // What the dialect lacks and clients that keep a copy need. Requests that do not use it see nothing of it.
    extension StackMobServer {
        /// `GET /_changes/<schema>?since=<cursor>&limit=<n>`: what was changed and deleted since a cursor, oldest first.
        ///
        /// A cursor is the number of a change. Numbers are given in the order of writing, and an answer stops at the
        /// last one that was on the disk when it began: what is written meanwhile has a greater number and comes next
        /// time. A cursor that is ahead of the server, because that was restored from a backup, is answered with 410.
        func changes(_ call: Call) async throws(ServerError) -> ServerResponse {
            guard call.request.method == "GET" else { throw .notAllowed("Changes are only read.", "GET") }
            let name = call.segments[1].lowercased()
            var (since, limit) = (Int64(0), 1_000)
            for (key, value) in QueryParameters.read(call.request.query) ?? [] {
                switch (key, Int64(value)) {
                case ("since", let number?) where number >= 0: since = number
                case ("limit", let number?) where number > 0: limit = Int(min(number, 10_000))
                case ("since", _) where value.isEmpty: since = 0
                default: throw .badRequest("Changes take since=<cursor> and limit=<number>.")
                }
            }
            let (start, count) = (since, limit)
            let isDevelopment = call.isDevelopment
            let level = options.access.level(.read, schema: name, isUser: options.accounts(name) != nil)
            let grant = try call.principal.grant(level, "read \(name)")
            return try await call.database.read(isLong: true) { (scope) throws(ServerError) in
                guard let schema = scope.catalogue[name] else {
                    guard isDevelopment else { throw Self.noSchema(name) }
                    return Self.answer([], [], next: start, more: false)
                }
                guard start <= scope.visibleSequence else {
                    throw ServerError(
                        410,
                        "The cursor is ahead of the server, which was restored from a backup; begin anew without one.")
                }
                func after(_ name: String) -> FetchPredicate {
                    .comparison(.keyPath([name]), .greater, .constant(.integer(start)), [])
                        && .comparison(
                            .keyPath([name]), .lessOrEqual, .constant(.integer(scope.visibleSequence)), [])
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
                let next = entries.count > count ? page.last?.sequence ?? start : max(start, scope.visibleSequence)
                return Self.answer(
                    page.filter { !$0.isGone }.map { .object(ObjectReader.members($0.object, schema)) },
                    page.filter(\.isGone).map { $0.object.text("identifier").map(JSONValue.string) ?? .null },
                    next: next, more: entries.count > count)
            }
        }

        private static func answer(
            _ objects: [JSONValue], _ deleted: [JSONValue], next: Int64, more: Bool
        ) -> ServerResponse {
            ServerResponse(json: [
                "objects": .array(objects), "deleted": .array(deleted), "next": .string(String(next)),
                "more": .boolean(more),
            ])
        }
    }
#endif
