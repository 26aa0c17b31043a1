#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    /// Runs the code of a stage in the transaction of a migration.
    ///
    /// The tables of a store are changed in place, and nobody else can read them meanwhile. So the tables as they were are copied
    /// into temporary ones first, from which the objects of the old version are read.
    struct StageRunner {
        let stage: MigrationStage
        let engine: PostgresMigrationEngine
        let options: PostgresStore.Options
        let identifier: UUID
        /// The tables of the old version.
        private let past: StoreLayout

        private var connection: PostgresConnection { engine.connection }
        private var tables: [String] { past.tables.map(\.quoted) + past.pairTables.map(\.quoted) }

        init(
            _ stage: MigrationStage, engine: PostgresMigrationEngine, options: PostgresStore.Options, identifier: UUID
        ) throws(StoreError) {
            self.stage = stage
            self.engine = engine
            self.options = options
            self.identifier = identifier
            // The model of the stage, not the one in the database: classes that were generated for it know the order of its properties.
            past = try StoreLayout(model: stage.source, dialect: PostgresDialect())
        }

        /// Copies the tables as they are.
        func keepTables() throws(StoreError) {
            for table in tables {
                try engine.execute("CREATE TEMPORARY TABLE \(table) ON COMMIT DROP AS TABLE \(quotedSchema).\(table)")
            }
            try engine.execute("SET LOCAL search_path TO pg_temp, \(quotedSchema)")
            for table in past.tables { try engine.execute("ALTER TABLE \(table.quoted) ADD PRIMARY KEY (\"_id\")") }
            for pairs in past.pairTables {
                try engine.execute(
                    "ALTER TABLE \(pairs.quoted) ADD PRIMARY KEY (\(pairs.ownerColumn), \(pairs.memberColumn))")
            }
            for object in PostgresSchema(layout: past).objects { try engine.execute(object.create) }
            for table in tables { try engine.execute("ANALYZE \(table)") }
            // Left out of the path, temporary tables would be found before those of the store.
            try engine.execute("SET LOCAL search_path TO \(quotedSchema), pg_temp")
        }

        private var quotedSchema: String { SQLText.quote(options.schema) }

        /// Runs the code, once the tables are those of the new version.
        func run(_ context: MigrationContext) throws(StoreError) {
            let connections = BorrowedConnection.pair(connection, schema: options.schema)
            func store(_ connection: BorrowedConnection, _ layout: StoreLayout) throws(StoreError) -> PostgresStore {
                try PostgresStore(
                    identifier: identifier, address: engine.path, options: options, layout: layout,
                    pool: PostgresPool(connection), observers: StatementObserverList())
            }
            let old = try store(connections.past, past)
            let new = try store(connections.present, context.layout)
            defer {
                old.close()
                new.close()
            }
            try stage.run(old: old, new: new, options.migration, path: engine.path)
            try engine.execute("SET LOCAL search_path TO \(quotedSchema), pg_temp")
            try StageSteps(context).checkValues(after: stage)
            try checkReferences()
            try engine.execute("DROP TABLE \(tables.map { "pg_temp.\($0)" }.joined(separator: ", "))")
            try engine.execute("SET LOCAL search_path TO \(quotedSchema)")
        }

        /// Looks now at what is otherwise looked at in the end: what is still to be checked keeps tables from being changed again.
        private func checkReferences() throws(StoreError) {
            do throws(StoreError) {
                try engine.execute("SET CONSTRAINTS ALL IMMEDIATE")
            } catch {
                guard case .constraint(_, let reason) = error else { throw error }
                throw .migrationFailed(
                    path: engine.path, step: stage.title, reason: "\(reason); nothing was changed")
            }
            try engine.execute("SET CONSTRAINTS ALL DEFERRED")
        }
    }
#endif
