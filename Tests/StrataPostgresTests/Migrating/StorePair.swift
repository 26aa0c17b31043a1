#if Postgres
    import Foundation
    import PostgresFixture
    import Strata
    import Testing

    @testable import StrataPostgres

    /// The same objects in a SQLite file and in a PostgreSQL schema, migrated alike.
    final class StorePair {
        let path: String
        let url: String
        let schema: String
        private let folder: URL

        /// - Parameter url: A database that others use, too, if the schema is another one.
        init(_ url: String? = nil, schema: String = "public") throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "strata-pair-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            path = folder.appending(path: "a.sqlite").path
            self.url = try url ?? PostgresServer.shared.newDatabase()
            self.schema = schema
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        /// Makes both stores. A closure fills the file, whose objects are copied to the database.
        func fill(
            _ model: ManagedObjectModel, _ body: (ManagedObjectContext) throws -> Void
        ) throws {
            let container = try PersistentContainer(model: model, at: .file(path: path))
            let context = container.newContext()
            try body(context)
            if context.hasChanges { try context.save() }
            container.close()
            let file = try SQLiteStore.open(model: model, location: .file(path: path))
            defer { file.close() }
            var options = options()
            options.externalStorageThreshold = 1000
            let database = try PostgresStore.open(model: model, at: url, options: options)
            defer { database.close() }
            try file.copy(to: database)
        }

        func options(_ answers: [String: MigrationAnswer] = [:]) -> PostgresStore.Options {
            var options = PostgresStore.Options()
            options.schema = schema
            options.migration.answers = answers
            return options
        }

        func openFile(_ model: ManagedObjectModel, _ answers: [String: MigrationAnswer] = [:]) throws -> SQLiteStore {
            var options = SQLiteStore.Options()
            options.migration.answers = answers
            return try SQLiteStore.open(model: model, location: .file(path: path), options: options)
        }

        func openDatabase(
            _ model: ManagedObjectModel, _ answers: [String: MigrationAnswer] = [:]
        ) throws -> PostgresStore {
            try PostgresStore.open(model: model, at: url, options: options(answers))
        }

        /// Opens both stores with another model.
        /// - Returns: What is wrong; empty if they have the same objects, and the database the tables of a new one.
        func migrate(_ model: ManagedObjectModel, _ answers: [String: MigrationAnswer] = [:]) throws -> [String] {
            let file = try openFile(model, answers)
            defer { file.close() }
            let database = try openDatabase(model, answers)
            defer { database.close() }
            var problems = try StoreContent(database).differences(from: StoreContent(file))
            var check = options()
            check.createIfMissing = false
            problems += try PostgresStore.storeInfo(at: url, options: check, isChecked: true).problems ?? []
            let fresh = "\(schema)_fresh"
            var other = options()
            other.schema = fresh
            try PostgresStore.open(model: model, at: url, options: other).close()
            let connection = try PostgresConnection(PostgresSettings(address: url))
            let expected = try Self.shape(connection, fresh)
            let found = try Self.shape(connection, schema)
            problems += expected.subtracting(found).sorted().map { "lacks \($0)" }
            problems += found.subtracting(expected).sorted().map { "has \($0)" }
            try connection.run("SET client_min_messages TO error; DROP SCHEMA \(SQLText.quote(fresh)) CASCADE")
            return problems
        }

        /// The columns, constraints, indexes and triggers of a schema.
        static func shape(_ connection: PostgresConnection, _ schema: String) throws -> Set<String> {
            try connection.run("SET search_path TO \(SQLText.quote(schema))")
            let own = "(SELECT oid FROM pg_namespace WHERE nspname = current_schema())"
            let result = try connection.execute(
                """
                SELECT c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, NULL) || ' ' || a.attnotnull || ' ' || \
                coalesce(l.collname, '') || ' ' || a.atthasdef FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid \
                LEFT JOIN pg_collation AS l ON l.oid = a.attcollation WHERE c.relnamespace = \(own) AND c.relkind = 'r' \
                AND a.attnum > 0 AND NOT a.attisdropped \
                UNION ALL SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) || CASE contype WHEN 'f' THEN '' ELSE \
                ' ' || conname END FROM pg_constraint WHERE connamespace = \(own) \
                UNION ALL SELECT replace(indexdef, quote_ident(schemaname) || '.', '') FROM pg_indexes \
                WHERE schemaname = current_schema() \
                UNION ALL SELECT tgrelid::regclass || ' ' || tgname FROM pg_trigger AS g JOIN pg_class AS c ON c.oid = g.tgrelid \
                WHERE c.relnamespace = \(own) AND NOT tgisinternal
                """, isKept: false)
            return Set((0..<result.rowCount).map { result.text($0, 0) })
        }
    }

    extension StoreContent {
        /// What differs from other content, by object.
        func differences(from other: StoreContent) -> [String] {
            var result: [String] = []
            for entity in Set(rows.keys).union(other.rows.keys).sorted() {
                let mine = rows[entity] ?? [:]
                let theirs = other.rows[entity] ?? [:]
                for key in Set(mine.keys).union(theirs.keys).sorted() where mine[key] != theirs[key] {
                    result.append(
                        "\(entity)/\(key) is \(String(describing: mine[key]?.sorted { $0.key < $1.key })), not "
                            + "\(String(describing: theirs[key]?.sorted { $0.key < $1.key }))")
                }
            }
            for name in Set(members.keys).union(other.members.keys).sorted() where members[name] != other.members[name]
            {
                result.append(
                    "\(name) is \(members[name] ?? [:]), not \(other.members[name] ?? [:])")
            }
            return result
        }
    }
#endif
