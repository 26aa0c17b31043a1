#if Server
    import Strata

    /// The marks that deleted objects leave for clients that keep a copy. They are bounded in number and age; what has gone
    /// of them is remembered as one number for each schema, so that clients who were away for longer learn that they
    /// have to start over.
    enum Tombstones {
        /// How many old marks go with a new one at most.
        static let forgottenPerDeletion = 4

        /// Forgets the oldest marks beyond a number.
        static func forget(beyond maximum: Int, in context: ManagedObjectContext) throws(PersistenceError) {
            var all = FetchRequest<ManagedObject>(entity: "ServerTombstone", sortedBy: [FetchSort("sequence")])
            all.includesPendingChanges = false
            let excess = try context.count(all) - maximum
            guard excess > 0 else { return }
            all.limit = excess
            try forget(try context.fetch(all), in: context)
        }

        /// Forgets marks.
        static func forget(_ rows: [ManagedObject], in context: ManagedObjectContext) throws(PersistenceError) {
            var last: [String: Int64] = [:]
            for row in rows where !row.isDeleted {
                let schema = row.text("schema") ?? ""
                last[schema] = max(last[schema] ?? 0, row.whole("sequence") ?? 0)
                context.delete(row)
            }
            for (schema, sequence) in last {
                let known = try context.fetch(
                    FetchRequest<ManagedObject>(
                        entity: "ServerHorizon", where: DataScope.equal("schema", .string(schema)), limit: 1)
                ).first
                let row: ManagedObject
                if let known { row = known } else { row = try context.insert(entityNamed: "ServerHorizon") }
                row["schema"] = schema
                row["sequence"] = max(sequence, known?.whole("sequence") ?? 0)
            }
        }

        /// The number of the last deletion in a schema that is no longer known.
        static func horizon(of schema: String, _ scope: DataScope) throws(ServerError) -> Int64 {
            try scope.first("ServerHorizon", ("schema", .string(schema)))?.whole("sequence") ?? 0
        }
    }
#endif
