#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    extension PostgresStore {
        /// What would have to be done so that the store of a database fits a model, with counts of the rows that the steps touch.
        /// Nothing is written.
        ///
        ///     let plan = try PostgresStore.migrationPlan(for: "postgres://app@db.example.com/cities", to: GazetteerModel.model)
        ///     for step in plan.steps { print(step) }
        /// - Throws: ``StoreError`` if the store cannot be read.
        public static func migrationPlan(
            for address: String, to model: ManagedObjectModel, options: Options = Options()
        ) throws(StoreError) -> MigrationPlan {
            try inspect(address, options) { connection, path in
                // Counts need temporary tables, which a transaction that only reads cannot make.
                try connection.begin("ISOLATION LEVEL REPEATABLE READ")
                defer { connection.rollback() }
                guard let metadata = try PostgresMetadata.read(on: connection, path: path) else {
                    throw StoreError.notFound(path: path)
                }
                return try PostgresMigrator(connection, to: model, options: options, path: path).plan(metadata)
            }
        }

        /// Migrates the store of a database to a model, with the answers of ``Options/migration``, in one transaction.
        ///
        /// Opening a store does the same. Call this to do it beforehand, with progress, or to know how long it took. Other clients
        /// wait meanwhile.
        ///
        ///     var options = PostgresStore.Options()
        ///     options.migration.answers = ["Country.phone": .accept]
        ///     try PostgresStore.migrate("postgres://app@db.example.com/cities", to: GazetteerModel.model, options: options)
        /// - Returns: What was done; a report without plans if the store fits already.
        /// - Throws: ``StoreError/migrationNeedsAnswers(path:steps:)`` if a step loses data, or data do not fit, without an
        ///   answer; ``StoreError/cancelled`` and others with the store as it was.
        @discardableResult
        public static func migrate(
            _ address: String, to model: ManagedObjectModel, options: Options = Options()
        ) throws(StoreError) -> MigrationReport {
            try migrate(address, to: model, options, isTrial: false)
        }

        /// Migrates the store of a database and takes everything back, to know whether it works and how long it takes. Other
        /// clients wait meanwhile.
        /// - Throws: As ``migrate(_:to:options:)``; the store is not changed.
        public static func dryRun(
            _ address: String, to model: ManagedObjectModel, options: Options = Options()
        ) throws(StoreError) -> MigrationReport {
            try migrate(address, to: model, options, isTrial: true)
        }

        private static func migrate(
            _ address: String, to model: ManagedObjectModel, _ options: Options, isTrial: Bool
        ) throws(StoreError) -> MigrationReport {
            var options = options
            options.createIfMissing = false
            options.migration.policy = .automatic
            let schema = PostgresSchema(layout: try StoreLayout(model: model, dialect: PostgresDialect()))
            return try inspect(address, options) { connection, path in
                let start = ContinuousClock.now
                let done = try prepare(connection, schema, options: options, path: path, isTrial: isTrial)
                let seconds = (ContinuousClock.now - start).inSeconds
                // What a trial has noted is taken back.
                let steps =
                    try isTrial && !done.plans.isEmpty
                    ? done.steps : DeferredSteps.read(in: DatabaseNotes(connection: connection, path: path))
                return MigrationReport(plans: done.plans, seconds: seconds, original: nil, deferredSteps: steps)
            }
        }
    }
#endif
