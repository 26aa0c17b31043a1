#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    /// What is in a store in PostgreSQL: for people who look after one.
    public struct PostgresStoreInfo: Sendable, Hashable {
        /// An entity of a store.
        public typealias EntityInfo = StoreEntityInfo

        /// A session of another client that has had a transaction open for long: it keeps locks, and old versions of rows.
        public struct LongTransaction: Sendable, Hashable {
            /// The number of the server's process, by which `pg_terminate_backend` ends it.
            public let process: Int
            /// What the client calls itself.
            public let application: String
            /// `active`, `idle in transaction` and so on.
            public let state: String
            /// For how many seconds the transaction has been open.
            public let seconds: Double
            /// The last statement.
            public let statement: String
        }

        /// A replica that is connected to a server.
        public struct ConnectedReplica: Sendable, Hashable {
            /// What it calls itself: its `application_name`.
            public let name: String
            /// `streaming`, `catchup` and so on.
            public let state: String
            /// How many bytes of the log it has not replayed.
            public let missingBytes: Int
        }

        /// The server of a store.
        public struct ServerInfo: Sendable, Hashable {
            /// The version.
            public let version: String
            /// Whether it is a replica, and not the primary.
            public let isReplica: Bool
            /// The replicas that are connected to it, by name, as far as the user may see them: all for a member of
            /// `pg_read_all_stats`.
            public let replicas: [ConnectedReplica]
            /// How many sessions the database has.
            public let sessionCount: Int
            /// Transactions in the database that have been open for more than a minute, the longest first.
            public let longTransactions: [LongTransaction]
        }

        /// The identity of the store.
        public let identifier: UUID
        /// The version of the format of the tables.
        public let formatVersion: Int
        /// The name of the model.
        public let modelName: String
        /// The version hash of the model.
        public let versionHash: String
        /// The entities by name.
        public let entities: [EntityInfo]
        /// The size of the tables with their indexes in bytes.
        public let size: Int
        /// How many values are kept apart from their rows, including dropped ones that are not removed yet.
        public let externalCount: Int
        /// The size of these values in bytes.
        public let externalSize: Int
        /// The server.
        public let server: ServerInfo
        /// How much history is kept; nil if none is recorded.
        public let history: HistoryRetention?
        /// The steps of migrations that are still to be done.
        public let deferredMigrationSteps: [DeferredMigrationStep]
        /// What is wrong: tables, columns, indexes or constraints that are missing or not valid, rows of unknown entities, and
        /// references to values that are gone. nil if it was not checked.
        public let problems: [String]?
    }

    extension PostgresStore {
        /// What is in the store of a database, without its model. All of it is read at one moment, and nothing is changed.
        /// - Parameters:
        ///   - address: As in ``open(model:at:options:)``.
        ///   - options: The schema, timeouts and so on.
        ///   - isChecked: Whether the store is checked, which looks at all rows.
        /// - Throws: ``StoreError/notFound(path:)`` if there is no store; ``StoreError/cannotOpen(path:reason:)``.
        public static func storeInfo(
            at address: String, options: Options = Options(), isChecked: Bool = false
        ) throws(StoreError) -> PostgresStoreInfo {
            try inspect(address, options) { connection, path in
                try connection.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY")
                defer { connection.rollback() }
                guard let metadata = try PostgresMetadata.read(on: connection, path: path) else {
                    throw StoreError.notFound(path: path)
                }
                let model: ManagedObjectModel
                do throws(ModelError) {
                    model = try metadata.record.model()
                } catch {
                    throw StoreError.corrupt(path: path, reason: "the model in _metadata has faults: \(error)")
                }
                let layout = try StoreLayout(model: model, dialect: PostgresDialect())
                return try StoreInspector(connection: connection, metadata: metadata, layout: layout)
                    .info(isChecked: isChecked)
            }
        }
    }

    /// Reads what there is to say about a store.
    private struct StoreInspector {
        let connection: PostgresConnection
        let metadata: PostgresMetadata
        let layout: StoreLayout

        private var model: ManagedObjectModel { layout.model }

        func info(isChecked: Bool) throws -> PostgresStoreInfo {
            // Tables that are missing have no objects; the check names them.
            let present = try texts(
                """
                SELECT relname::text FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) \
                AND relkind IN ('r', 'p')
                """)
            let problems = isChecked ? try problems(Set(present)) : nil
            let blobs = try connection.execute(
                "SELECT count(*), coalesce(sum(length(data)), 0)::bigint FROM \"_blobs\"", isKept: false)
            var tableNames = StatementParameters()
            tableNames.add(names)
            let size = try connection.execute(
                """
                SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class \
                WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) AND relname::text = ANY($1)
                """, tableNames, isKept: false)
            let sessions = try connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()", isKept: false)
            return PostgresStoreInfo(
                identifier: metadata.identifier, formatVersion: metadata.format, modelName: metadata.record.name,
                versionHash: metadata.versionHash, entities: try entities(Set(present)), size: Int(size.integer(0, 0)),
                externalCount: Int(blobs.integer(0, 0)), externalSize: Int(blobs.integer(0, 1)),
                server: PostgresStoreInfo.ServerInfo(
                    version: try texts("SHOW server_version").first ?? "",
                    isReplica: try texts("SELECT pg_is_in_recovery()::text").first == "true",
                    replicas: try connectedReplicas(), sessionCount: Int(sessions.integer(0, 0)),
                    longTransactions: try longTransactions()),
                history: metadata.history.flatMap(HistoryRetention.init(text:)),
                deferredMigrationSteps: try DeferredSteps.read(
                    in: DatabaseNotes(connection: connection, path: "PostgreSQL")), problems: problems)
        }

        private func texts(_ sql: String) throws(PostgresError) -> [String] {
            let result = try connection.execute(sql, isKept: false)
            return (0..<result.rowCount).map { result.text($0, 0) }
        }

        private var names: [String] {
            ["_metadata", "_keys", "_commits", "_blobs"] + (metadata.history == nil ? [] : HistoryTables.all)
                + layout.tables.map(\.name) + layout.pairTables.map(\.name)
        }

        private func entities(_ present: Set<String>) throws(PostgresError) -> [PostgresStoreInfo.EntityInfo] {
            var counts: [String: Int] = [:]
            for table in layout.tables where present.contains(table.name) {
                let name =
                    table.hasEntityColumn
                    ? "\"_entity\"" : Identifiers.literal(model.entities[table.onlyEntityIndex].name)
                let result = try connection.execute(
                    "SELECT \(name)::text, count(*) FROM \(table.quoted) GROUP BY 1", isKept: false)
                for row in 0..<result.rowCount { counts[result.text(row, 0)] = Int(result.integer(row, 1)) }
            }
            return model.entities.sorted { $0.name < $1.name }.map { entity in
                PostgresStoreInfo.EntityInfo(
                    name: entity.name, parent: model.parent(of: entity)?.name, isAbstract: entity.isAbstract,
                    table: layout.table(entity.index).name, count: counts[entity.name] ?? 0)
            }
        }

        private func connectedReplicas() throws(PostgresError) -> [PostgresStoreInfo.ConnectedReplica] {
            let result = try connection.execute(
                """
                SELECT application_name::text, state::text, pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() \
                THEN pg_last_wal_receive_lsn() ELSE pg_current_wal_lsn() END, replay_lsn)::bigint \
                FROM pg_stat_replication WHERE replay_lsn IS NOT NULL ORDER BY 1, pid
                """, isKept: false)
            return (0..<result.rowCount).map { row in
                PostgresStoreInfo.ConnectedReplica(
                    name: result.text(row, 0), state: result.text(row, 1),
                    missingBytes: Int(max(0, result.integer(row, 2))))
            }
        }

        private func longTransactions() throws(PostgresError) -> [PostgresStoreInfo.LongTransaction] {
            let result = try connection.execute(
                """
                SELECT pid::bigint, application_name::text, state::text, \
                extract(epoch FROM clock_timestamp() - xact_start)::double precision, query::text FROM pg_stat_activity \
                WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' \
                AND xact_start < clock_timestamp() - interval '1 minute' ORDER BY xact_start
                """, isKept: false)
            return (0..<result.rowCount).map { row in
                PostgresStoreInfo.LongTransaction(
                    process: Int(result.integer(row, 0)), application: result.text(row, 1), state: result.text(row, 2),
                    seconds: Double(bitPattern: UInt64(bitPattern: result.integer(row, 3))),
                    statement: result.text(row, 4))
            }
        }

        // MARK: Checking

        private func problems(_ present: Set<String>) throws(PostgresError) -> [String] {
            var problems: [String] = []
            for name in names where !present.contains(name) { problems.append("the table \(name) is missing") }
            for table in layout.tables where present.contains(table.name) {
                let missing = try missingColumns(table)
                problems += missing.map { "the column \($0) of \(table.name) is missing" }
                if missing.isEmpty { problems += try unsoundRows(table) }
            }
            let objects = Set(
                try texts(
                    """
                    SELECT c.relname::text FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid \
                    WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) AND i.indisvalid
                    """))
            for object in metadata.objects where !objects.contains(object.name) {
                problems.append("the index or constraint \(object.name) is missing, or not valid")
            }
            problems += try texts(
                """
                SELECT format('the constraint %s of %s is not valid', conname, conrelid::regclass) FROM pg_constraint \
                WHERE connamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) AND NOT convalidated ORDER BY 1
                """)
            return problems
        }

        private func missingColumns(_ table: TableLayout) throws(PostgresError) -> [String] {
            let columns = Set(
                try texts(
                    """
                    SELECT attname::text FROM pg_attribute WHERE attrelid = \(Identifiers.literal(table.quoted))::regclass \
                    AND attnum > 0 AND NOT attisdropped
                    """))
            return (["_id", "_version"] + table.columns.map(\.name) + table.orderColumns).filter {
                !columns.contains($0)
            }
        }

        private func unsoundRows(_ table: TableLayout) throws(PostgresError) -> [String] {
            var problems: [String] = []
            if table.hasEntityColumn {
                let known = model.entities[table.rootIndex].descendantIndexes.map { model.entities[$0] }.filter {
                    !$0.isAbstract
                }
                let list = known.map { Identifiers.literal($0.name) }.joined(separator: ", ")
                problems += try texts(
                    """
                    SELECT format('%s: %s rows of the unknown entity %s', \(Identifiers.literal(table.name)), count(*), \
                    "_entity") FROM \(table.quoted) WHERE "_entity" NOT IN (\(list)) GROUP BY "_entity"
                    """)
            }
            for column in table.columns where column.allowsExternal {
                let name = PostgresSchema.externalColumn(of: column)
                problems += try texts(
                    """
                    SELECT format('%s: the value of %s in row %s is gone', \(Identifiers.literal(table.name)), \
                    \(Identifiers.literal(column.name)), "_id") FROM \(table.quoted) AS t WHERE \(name) IS NOT NULL \
                    AND NOT EXISTS (SELECT 1 FROM "_blobs" AS b WHERE b.name = t.\(name)) ORDER BY "_id" LIMIT 20
                    """)
            }
            return problems
        }
    }
#endif
