#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    /// Takes a store from the version that it has to that of the application, in the transaction that opens it.
    struct PostgresMigrator {
        let connection: PostgresConnection
        /// The model of the application.
        let model: ManagedObjectModel
        let options: PostgresStore.Options
        let path: String
        /// The moment of the migration, the same for all objects.
        private let now = Date()

        private var migration: MigrationOptions { options.migration }

        init(
            _ connection: PostgresConnection, to model: ManagedObjectModel, options: PostgresStore.Options, path: String
        ) {
            self.connection = connection
            self.model = model
            self.options = options
            self.path = path
        }

        /// The model with which a store was made.
        static func model(of metadata: PostgresMetadata, path: String) throws(StoreError) -> ManagedObjectModel {
            // What a newer version of Strata has declared would be lost.
            do throws(UnknownDeclaration) {
                _ = try metadata.record.declarations()
            } catch {
                throw .unknownDeclaration(
                    path: path, entity: error.entity, property: error.property, declaration: error.declaration)
            }
            do throws(ModelError) {
                return try metadata.record.model()
            } catch {
                throw .corrupt(path: path, reason: "the model in _metadata has faults: \(error)")
            }
        }

        private func engine() throws(StoreError) -> PostgresMigrationEngine {
            try PostgresMigrationEngine(connection, path: path, cancellation: migration.cancellation)
        }

        private func context(
            _ past: StoreLayout, _ layout: StoreLayout, _ plan: MigrationPlan, _ engine: PostgresMigrationEngine
        ) -> MigrationContext {
            MigrationContext(
                old: past, new: layout, engine: engine, plan: plan, answers: migration.answers, now: now)
        }

        // MARK: Planning

        /// What would have to be done, with counts.
        func plan(_ metadata: PostgresMetadata) throws(StoreError) -> MigrationPlan {
            let stored = try Self.model(of: metadata, path: path)
            var plan = MigrationPlan(from: stored, to: model)
            let counter = MigrationCounter(
                context(
                    try StoreLayout(model: stored, dialect: PostgresDialect()),
                    try StoreLayout(model: model, dialect: PostgresDialect()), plan, try engine()))
            plan.steps =
                try counter.counted(plan.steps, all: true, cancellation: migration.cancellation)
                + MigrationLegs(from: stored, metadata.versionHash, to: model, migration, path: path)
                .furtherSteps(from: stored, plan)
            return plan
        }

        // MARK: Migrating

        /// Migrates the store.
        /// - Parameter metadata: What the store says about itself. It is not written.
        /// - Returns: The plans that were carried out.
        func run(_ metadata: inout PostgresMetadata) throws -> [MigrationPlan] {
            let stored = try Self.model(of: metadata, path: path)
            let legs = try MigrationLegs(from: stored, metadata.versionHash, to: model, migration, path: path).legs
            var plans: [MigrationPlan] = []
            let engine = try engine()
            var past = stored
            for leg in legs {
                if let plan = try run(from: past, leg, &metadata, engine) { plans.append(plan) }
                past = leg.target
            }
            return plans
        }

        private func run(
            from stored: ManagedObjectModel, _ leg: MigrationLegs.Leg, _ metadata: inout PostgresMetadata,
            _ engine: PostgresMigrationEngine
        ) throws -> MigrationPlan? {
            let target = leg.target
            var plan = MigrationPlan(from: stored, to: target)
            guard plan.source.fingerprint != plan.target.fingerprint else { return nil }
            let past = try StoreLayout(model: stored, dialect: PostgresDialect())
            let layout = try StoreLayout(model: target, dialect: PostgresDialect())
            let schema = PostgresSchema(layout: layout)
            let stage = leg.stage.flatMap { $0.hasCode ? $0 : nil }
            let changesData =
                stage != nil || plan.steps.contains { $0.kind != .describe && $0.kind != .changeIndexes }
            if changesData { try StoreLock.take(past, on: connection) }
            try finishSteps(before: plan, leg, stored, past, metadata)
            if changesData {
                try HistorySetup.pause(metadata, on: connection)
                // So that the triggers are made again, whatever changes.
                metadata.historyTriggers = nil
            }
            engine.begin(metadata.objects)
            let context = context(past, layout, plan, engine)
            plan.steps = try MigrationCounter(context).checked(
                hasStage: stage != nil, cancellation: migration.cancellation)
            let runner = try stage.map {
                try StageRunner($0, engine: engine, options: options, identifier: metadata.identifier)
            }
            try runner?.keepTables()
            if changesData { try carryOut(context, engine, metadata, hasStage: stage != nil) }
            try finish(schema, metadata, engine)
            try runner?.run(context)
            let notes = DatabaseNotes(connection: connection, path: path)
            try DeferredSteps.record(leg.deferred, context, in: notes) { (rows) throws(StoreError) in
                try notes.extent(rows)
            }
            metadata.versionHash = target.versionHash
            metadata.objects = schema.objects
            metadata.record = ModelRecord(target)
            return plan
        }

        /// Does what an earlier migration has deferred, because this one may need it: as a part of its transaction.
        private func finishSteps(
            before plan: MigrationPlan, _ leg: MigrationLegs.Leg, _ stored: ManagedObjectModel, _ past: StoreLayout,
            _ metadata: PostgresMetadata
        ) throws {
            let notes = DatabaseNotes(connection: connection, path: path)
            let steps = try DeferredSteps.blocking(plan, leg.deferred, in: notes)
            guard !steps.isEmpty else { return }
            try StoreLock.take(past, on: connection)
            for step in steps {
                let stage = try DeferredSteps.stage(
                    for: step, in: migration, path: path, why: "the migration to another version comes after it")
                // The model of the stage, not the one in the database: classes that were generated for it know the order of its
                // properties.
                let isSame = stage.target.fingerprint == stored.fingerprint
                let layout = isSame ? try StoreLayout(model: stage.target, dialect: PostgresDialect()) : past
                let place = try DatabasePlace(
                    within: connection, layout, identifier: metadata.identifier, options, path: path)
                try DeferredRunner(place, migration).run(step.name, stage) { _ in }
            }
        }

        private func carryOut(
            _ context: MigrationContext, _ engine: PostgresMigrationEngine, _ metadata: PostgresMetadata,
            hasStage: Bool
        ) throws {
            let reporter = MigrationReporter(context.layout, migration)
            try SchemaMigrator(context, reporter).run()
            if hasStage { try StageSteps(context).forgetLinks() }
            var parameters = StatementParameters()
            parameters.add(context.layout.tables.map { context.model.entities[$0.rootIndex].name })
            _ = try engine.query(
                "INSERT INTO \"_keys\"(entity, next) SELECT name, 1 FROM unnest($1::text[]) AS name ON CONFLICT DO NOTHING",
                parameters)
            if metadata.history != nil { try HistorySetup.rename(context.plan.mapping, on: connection) }
            try dropBlobs(context, engine)
            reporter.end()
        }

        /// Marks values that no row has any more, so that they are removed later.
        private func dropBlobs(_ context: MigrationContext, _ engine: PostgresMigrationEngine) throws(StoreError) {
            guard context.old.layout.hasExternalColumns else { return }
            let references = context.layout.tables.flatMap { table in
                table.columns.flatMap(engine.companions).map { column in
                    "NOT EXISTS (SELECT 1 FROM \(table.quoted) WHERE \(table.quoted).\(column) = b.name)"
                }
            }
            let conditions = (["b.dropped_at IS NULL"] + references).joined(separator: " AND ")
            try engine.execute("UPDATE \"_blobs\" AS b SET dropped_at = now() WHERE \(conditions)")
        }

        // MARK: Indexes and references

        /// Makes the names of keys, the references, indexes and constraints what those of a new store would be.
        private func finish(
            _ schema: PostgresSchema, _ metadata: PostgresMetadata, _ engine: PostgresMigrationEngine
        ) throws {
            // A table with checks that are still to come cannot be changed.
            try engine.execute("SET CONSTRAINTS ALL IMMEDIATE")
            try renameKeyConstraints(schema.layout, engine)
            let present = Set(
                try engine.texts(
                    """
                    SELECT '"' || replace(c.relname::text, '"', '""') || '" "' || replace(a.attname::text, '"', '""') || '"' \
                    FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid \
                    JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1] \
                    WHERE k.contype = 'f' AND k.connamespace = \(PostgresMigrationEngine.namespace)
                    """))
            for reference in schema.keyReferences where !present.contains("\(reference.table) \(reference.column)") {
                try engine.execute(schema.statement(of: reference))
            }
            try engine.execute("SET CONSTRAINTS ALL DEFERRED")
            let wanted = Set(schema.objects)
            let names = Set(
                try engine.texts(
                    """
                    SELECT c.relname::text FROM pg_class AS c WHERE c.relkind = 'i' \
                    AND c.relnamespace = \(PostgresMigrationEngine.namespace)
                    """))
            var gone: Set<String> = []
            for object in metadata.objects where names.contains(object.name) && !wanted.contains(object) {
                try engine.execute(object.drop)
                gone.insert(object.name)
            }
            for object in schema.objects where !names.contains(object.name) || gone.contains(object.name) {
                do throws(StoreError) {
                    try engine.execute(object.create)
                } catch {
                    guard case .constraint(_, let reason) = error else { throw error }
                    throw StoreError.migrationFailed(
                        path: path, step: "create unique constraints",
                        reason: "\(reason); make the values unique before you migrate")
                }
            }
        }

        /// Primary keys have the names that PostgreSQL gives them by default.
        private func renameKeyConstraints(
            _ layout: StoreLayout, _ engine: PostgresMigrationEngine
        ) throws(StoreError) {
            var parameters = StatementParameters()
            parameters.add(layout.tables.map(\.name) + layout.pairTables.map(\.name))
            let found = try engine.query(
                """
                SELECT c.relname::text, k.conname::text FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid \
                WHERE k.contype = 'p' AND k.connamespace = \(PostgresMigrationEngine.namespace) \
                AND c.relname::text = ANY($1) AND k.conname::text <> c.relname::text || '_pkey' \
                AND octet_length(c.relname::text) <= \(SQLText.nameLimit - 5) ORDER BY 1
                """, parameters)
            let names = (0..<found.rowCount).map { (found.text($0, 0), found.text($0, 1)) }
            func rename(_ table: String, _ old: String, _ new: String) throws(StoreError) {
                try engine.execute(
                    "ALTER TABLE \(SQLText.quote(table)) RENAME CONSTRAINT \(SQLText.quote(old)) TO \(SQLText.quote(new))"
                )
            }
            // Tables may have exchanged their names.
            for (number, name) in names.enumerated() { try rename(name.0, name.1, "_moving_key_\(number)") }
            for (number, name) in names.enumerated() { try rename(name.0, "_moving_key_\(number)", name.0 + "_pkey") }
        }
    }

    /// The lock that a change of tables takes before it looks at anything.
    enum StoreLock {
        /// How often it is tried.
        private static let limit = 50

        /// Waits until nobody uses the tables of a store, and keeps others away until the transaction ends.
        ///
        /// Others lock tables in an order of their own. Where the server finds that they wait for each other, the locks are given back,
        /// and asked for again.
        static func take(_ layout: StoreLayout, on connection: PostgresConnection) throws(PostgresError) {
            let present = try connection.execute(
                """
                SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = \(PostgresMigrationEngine.namespace)
                """, isKept: false)
            let known = Set((0..<present.rowCount).map { present.text($0, 0) })
            // Each save begins with a row in the first one.
            let names =
                ["_commits", "_keys"] + (layout.tables.map(\.name) + layout.pairTables.map(\.name)).sorted()
            let list = names.filter(known.contains).map(SQLText.quote).joined(separator: ", ")
            guard !list.isEmpty else { return }
            for attempt in 0... {
                try connection.run("SAVEPOINT strata_lock")
                do throws(PostgresError) {
                    try connection.run("LOCK TABLE \(list) IN ACCESS EXCLUSIVE MODE")
                    return try connection.run("RELEASE SAVEPOINT strata_lock")
                } catch {
                    guard error.isTransient, attempt < limit else { throw error }
                    try connection.run("ROLLBACK TO SAVEPOINT strata_lock")
                    Retries.pause(attempt)
                }
            }
        }
    }
#endif
