#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    extension PostgresSettings {
        init(address: String, options: PostgresStore.Options) {
            self.init(address: address)
            connectTimeout = options.connectTimeout
            preparesStatements = options.preparesStatements
            startStatements = options.startStatements
            onNotice = options.onNotice
        }
    }

    extension PostgresStore {
        /// Opens a store, or makes it in a database without one.
        ///
        /// Several processes may do so at the same time: one of them makes the tables, in one transaction, and the others wait
        /// for it.
        /// - Parameters:
        ///   - model: The model. A store that was made with another version of it is migrated, as
        ///     ``Options/migration`` says.
        ///   - address: A URL `postgres://user@host:port/database`, or `key=value` pairs, as libpq takes them
        ///     (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING). What it does not say comes
        ///     from environment variables, the service file and the password file. Connections over a network are encrypted and
        ///     the server's certificate is checked, unless the address has another `sslmode`.
        ///   - options: How it is opened.
        /// - Throws: ``StoreError/cannotOpen(path:reason:)`` if there is no server or it does not accept the user,
        ///   ``StoreError/notFound(path:)``, ``StoreError/notAStore(path:reason:)``,
        ///   ``StoreError/incompatibleModel(path:differences:)``, ``StoreError/migrationNeedsAnswers(path:steps:)`` with the
        ///   store as it was, and ``StoreError/unsupported(store:feature:)`` for what
        ///   the model asks for and PostgreSQL lacks.
        public static func open(
            model: ManagedObjectModel, at address: String, options: Options = Options()
        ) throws(StoreError) -> PostgresStore {
            try open(model, address, options, onlyReads: false)
        }

        /// Opens a store only for reading: it must be there, and made with a model of the same version, and nothing of it is
        /// changed.
        /// - Throws: As ``open(model:at:options:)``.
        package static func openReadOnly(
            model: ManagedObjectModel, at address: String, options: Options = Options()
        ) throws(StoreError) -> PostgresStore {
            try open(model, address, options, onlyReads: true)
        }

        private static func open(
            _ model: ManagedObjectModel, _ address: String, _ options: Options, onlyReads: Bool
        ) throws(StoreError) -> PostgresStore {
            try options.check()
            let layout = try StoreLayout(model: model, dialect: PostgresDialect())
            let schema = PostgresSchema(layout: layout)
            var settings = PostgresSettings(address: address, options: options)
            let replicas = onlyReads ? nil : options.replicas
            if onlyReads { settings.startStatements.append("SET default_transaction_read_only TO on") }
            let place = settings.publicAddress
            let observers = StatementObserverList()
            let pool = PostgresPool(
                settings, limit: options.connectionLimit, timeout: options.poolTimeout,
                checkAge: options.healthCheckAge, observer: observers.observer(options.trace))
            do {
                let metadata = try pool.use(failure: { storeError($0, path: place, model: layout) }) {
                    (connection) throws(StoreError) in
                    try onlyReads
                        ? readMetadata(connection, model, path: place)
                        : prepare(connection, schema, options: options, path: place).metadata
                }
                let store = try PostgresStore(
                    identifier: metadata.identifier, address: place, options: options, layout: layout, pool: pool,
                    observers: observers, recordsHistory: metadata.history != nil,
                    replicas: replicas.map {
                        ReplicaSet($0, model: model, identifier: metadata.identifier, options, primary: pool, observers)
                    })
                if !onlyReads {
                    try store.sweep()
                    // If the purge fails, the next one makes up for it.
                    if store.recorder.isRecording { _ = try? store.history?.purge() }
                }
                return store
            } catch {
                pool.close()
                throw error
            }
        }

        /// What a store says about itself that was made with a model of the same version.
        private static func readMetadata(
            _ connection: PostgresConnection, _ model: ManagedObjectModel, path: String
        ) throws(StoreError) -> PostgresMetadata {
            let found: PostgresMetadata?
            do {
                found = try PostgresMetadata.read(on: connection, path: path)
            } catch let error as PostgresError {
                throw storeError(error, path: path, model: nil)
            } catch {
                throw error as? StoreError ?? .io(path: path, code: 0, reason: "\(error)")
            }
            guard let found else { throw .notFound(path: path) }
            guard found.versionHash != model.versionHash else { return found }
            let stored = try? found.record.model()
            throw .incompatibleModel(
                path: path,
                differences: stored.map { MigrationPlan(from: $0, to: model).steps.map(\.description) }
                    ?? ["the version hash is \(found.versionHash)"])
        }

        /// Runs a closure with a connection to a database, without opening its store.
        static func inspect<T>(
            _ address: String, _ options: Options, _ body: (PostgresConnection, String) throws -> T
        ) throws(StoreError) -> T {
            try options.check()
            let settings = PostgresSettings(address: address, options: options)
            let path = settings.publicAddress
            do {
                return try body(try PostgresConnection(settings), path)
            } catch let error as StoreError {
                throw error
            } catch let error as PostgresError {
                throw storeError(error, path: path, model: nil)
            } catch {
                throw .io(path: path, code: 0, reason: "\(error)")
            }
        }

        /// The model with which the store of a database was made, as the database describes it; nil if there is no store in
        /// the schema.
        package static func storedModel(
            at address: String, options: Options = Options()
        ) throws(StoreError) -> ManagedObjectModel? {
            try inspect(address, options) { connection, path in
                guard let metadata = try PostgresMetadata.read(on: connection, path: path) else { return nil }
                do throws(ModelError) {
                    return try metadata.record.model()
                } catch {
                    throw StoreError.corrupt(path: path, reason: "the model in _metadata has faults: \(error)")
                }
            }
        }

        /// Makes the tables where there are none, or checks those that there are.
        /// - Parameters:
        ///   - isTrial: Whether everything is taken back in the end.
        ///   - notes: Texts by name that are written in the same transaction; see ``notes(at:options:)``.
        /// - Returns: What the store says about itself, the plans that were carried out, and what a trial has left to be done.
        static func prepare(
            _ connection: PostgresConnection, _ schema: PostgresSchema, options: Options, path: String,
            isTrial: Bool = false, notes: [String: String] = [:]
        ) throws(StoreError) -> (metadata: PostgresMetadata, plans: [MigrationPlan], steps: [DeferredMigrationStep]) {
            let model = schema.layout.model
            do {
                if let found = try PostgresMetadata.read(on: connection, path: path) {
                    if notes.isEmpty, isUpToDate(found, schema, options) { return (found, [], []) }
                } else if !options.createIfMissing {
                    throw StoreError.notFound(path: path)
                }
                try connection.begin()
                // Until the transaction ends, others wait here.
                try connection.execute(
                    "SELECT pg_advisory_xact_lock(hashtextextended('strata ' || \(Identifiers.literal(options.schema)), 0))"
                )
                let wanted = Identifiers.literal(options.schema)
                if try connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = \(wanted)").rowCount == 0 {
                    try connection.run("CREATE SCHEMA \(SQLText.quote(options.schema))")
                }
                var metadata: PostgresMetadata
                var plans: [MigrationPlan] = []
                if let found = try PostgresMetadata.read(on: connection, path: path) {
                    metadata = found
                    if notes.isEmpty, isUpToDate(found, schema, options) { return (found, [], []) }
                    plans = try update(&metadata, to: schema, on: connection, options: options, path: path)
                } else {
                    for statement in schema.tableStatements { try connection.run(statement) }
                    for object in schema.objects { try connection.run(object.create) }
                    metadata = PostgresMetadata(model: model, objects: schema.objects)
                    var parameters = StatementParameters()
                    parameters.add(schema.layout.tables.map { model.entities[$0.rootIndex].name })
                    try connection.execute(
                        "INSERT INTO \"_keys\"(entity, next) SELECT name, 1 FROM unnest($1::text[]) AS name", parameters
                    )
                }
                let history = HistorySetup(layout: schema.layout, options: options)
                if !history.isCurrent(metadata) {
                    try StoreLock.take(schema.layout, on: connection)
                    try history.run(&metadata, on: connection)
                }
                if metadata.functionsVersion != PostgresSchema.functionsVersion {
                    for function in PostgresDialect().functions { try connection.run(function) }
                    metadata.functionsVersion = PostgresSchema.functionsVersion
                }
                try metadata.write(model, on: connection)
                try StoreNotes.write(notes, on: connection)
                let steps = try isTrial ? DeferredSteps.read(in: DatabaseNotes(connection: connection, path: path)) : []
                // What is only checked at the end belongs to a trial, too.
                try isTrial ? connection.run("SET CONSTRAINTS ALL IMMEDIATE; ROLLBACK") : connection.commit()
                return (metadata, plans, steps)
            } catch let error as StoreError {
                throw error
            } catch let error as PostgresError {
                if error.sqlState == "42P07" || error.sqlState == "42710" {
                    throw .notAStore(path: path, reason: "a table of another application has the same name: \(error)")
                }
                throw storeError(error, path: path, model: schema.layout)
            } catch {
                throw .io(path: path, code: 0, reason: "\(error)")
            }
        }

        /// Brings a store to a schema: by a migration if it was made with another model.
        private static func update(
            _ metadata: inout PostgresMetadata, to schema: PostgresSchema, on connection: PostgresConnection,
            options: Options, path: String
        ) throws -> [MigrationPlan] {
            let model = schema.layout.model
            let isSameData = metadata.versionHash == model.versionHash
            if metadata.record.fingerprint != model.fingerprint, options.migration.policy == .automatic {
                return try PostgresMigrator(connection, to: model, options: options, path: path).run(&metadata)
            }
            guard isSameData else {
                let stored = try PostgresMigrator.model(of: metadata, path: path)
                throw StoreError.incompatibleModel(
                    path: path, differences: MigrationPlan(from: stored, to: model).steps.map(\.description))
            }
            let old = Set(metadata.objects)
            let new = Set(schema.objects)
            for object in metadata.objects where !new.contains(object) { try connection.run(object.drop) }
            for object in schema.objects where !old.contains(object) { try connection.run(object.create) }
            metadata.objects = schema.objects
            return []
        }

        /// Whether nothing is to be done to a store.
        private static func isUpToDate(
            _ found: PostgresMetadata, _ schema: PostgresSchema, _ options: Options
        ) -> Bool {
            found.record.fingerprint == schema.layout.model.fingerprint && Set(found.objects) == Set(schema.objects)
                && found.functionsVersion == PostgresSchema.functionsVersion
                && HistorySetup(layout: schema.layout, options: options).isCurrent(found)
        }

        /// Removes external values that were dropped long enough ago, and old records of commits.
        func sweep() throws(StoreError) {
            let retention = options.externalRetention
            _ = try reading { (connection) throws(PostgresError) in
                var parameters = StatementParameters()
                parameters.add(retention)
                return try connection.executeAll([
                    .init(
                        sql: "DELETE FROM \"_blobs\" WHERE dropped_at < now() - make_interval(secs => $1)",
                        parameters: parameters),
                    .init(sql: "DELETE FROM \"_commits\" WHERE committed_at < now() - interval '1 day'"),
                ])
            }
        }

        /// Never known: to ask would take as long as to read.
        public func foreignCommitCount() -> ForeignCommitCount { .unknown }

        public func observeForeignCommits(_ handler: @escaping @Sendable () -> Void) -> StoreObservation? {
            guard pool.makesConnections else { return nil }
            let pool = pool
            let own = announcer.session
            let replicas = replicas
            let listener = PostgresListener(channel: announcer.channel) {
                guard !pool.isClosed else { throw PostgresPool.closed }
                return try pool.makeConnection()
            } onNotification: { notification in
                guard notification?.payload != own else { return }
                // What is read after that shows the commit.
                replicas?.noteNews()
                handler()
            }
            return StoreObservation { withExtendedLifetime(listener) {} }
        }
    }
#endif
