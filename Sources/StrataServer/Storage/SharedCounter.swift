#if Server
    import Strata
    import StrataStore

    /// The row of a shared database by which its servers agree: the number and the time of the last change, and the version
    /// of the catalogue. It is written in the transaction of the changes that it counts; two servers that would number
    /// changes alike have a conflict over it.
    struct SharedCounter: Sendable {
        var sequence: Int64 = 0
        var time: Int64 = 0
        var version: Int64 = 0

        static let entity = Entity("ServerCounter") {
            Attribute("name", .string).unique()
            Attribute("sequence", .integer64)
            Attribute("time", .integer64)
            Attribute("catalogue", .integer64)
        }

        /// Reads the row; nil if it was never written.
        init?(in context: ManagedObjectContext) throws(PersistenceError) {
            guard let row = try Self.row(in: context) else { return nil }
            sequence = row.whole("sequence") ?? 0
            time = row.whole("time") ?? 0
            version = row.whole("catalogue") ?? 0
        }

        init(sequence: Int64, time: Int64, version: Int64) {
            (self.sequence, self.time, self.version) = (sequence, time, version)
        }

        /// Raises the values of the row that are lower; the context is not saved.
        func write(in context: ManagedObjectContext) throws(PersistenceError) {
            let known = try Self.row(in: context)
            let row: ManagedObject
            if let known { row = known } else { row = try context.insert(entityNamed: "ServerCounter") }
            if known == nil { row["name"] = "writer" }
            for (name, value) in [("sequence", sequence), ("time", time), ("catalogue", version)]
            where known == nil || row.whole(name) ?? 0 < value {
                row[name] = value
            }
        }

        private static func row(in context: ManagedObjectContext) throws(PersistenceError) -> ManagedObject? {
            try context.fetch(FetchRequest<ManagedObject>(entity: "ServerCounter", limit: 1)).first
        }
    }
#endif
