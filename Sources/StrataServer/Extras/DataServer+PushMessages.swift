#if Server
    import Foundation
    import Strata

    // Messages that were recorded, for a program that has a channel to devices.
    extension DataServer {
        private static let messagesAtOnce = 10_000

        /// The messages that were to be pushed, oldest first: `audience` (`broadcast`, `users` or `tokens`), `payload`
        /// and `created` in milliseconds since 1970. At most some 10,000; the next ones follow the last `created`.
        /// - Parameters:
        ///   - since: Messages of that millisecond and older are left out.
        ///   - apiVersion: Whose messages: those of development for 0, where there is development.
        /// - Throws: ``ServerError`` if the store fails.
        public func pushMessages(since: Int64 = 0, apiVersion: Int = 1) async throws(ServerError) -> [JSONValue] {
            try await pushMessages(since: since, in: databases.environment(version: apiVersion))
        }

        func pushMessages(
            since: Int64, in environment: Environment
        ) async throws(ServerError) -> [JSONValue] {
            try await environment.database.read(.many) { (scope) throws(ServerError) in
                func created(_ comparison: ComparisonOperator, _ time: Int64) -> FetchPredicate {
                    .comparison(.keyPath(["created"]), comparison, .constant(.integer(time)), [])
                }
                var request = FetchRequest<ManagedObject>(
                    entity: "ServerPushMessage", where: created(.greater, since), sortedBy: [FetchSort("created")],
                    limit: Self.messagesAtOnce)
                var rows = try scope.fetch(request)
                if rows.count == Self.messagesAtOnce, let last = rows.last?.whole("created") {
                    // Those of one millisecond stay together, since a millisecond is where the next ones begin.
                    request = FetchRequest(entity: "ServerPushMessage", where: created(.equal, last))
                    rows = try rows.filter { $0.whole("created") != last } + scope.fetch(request)
                }
                return rows.map { row in
                    func json(_ name: String) -> JSONValue {
                        .ofStored(row.text(name)) ?? .null
                    }
                    return [
                        "audience": json("audience"), "payload": json("payload"),
                        "created": .integer(row.whole("created") ?? 0),
                    ]
                }
            }
        }
    }
#endif
