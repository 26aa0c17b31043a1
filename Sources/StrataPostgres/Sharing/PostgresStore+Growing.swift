#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    extension PostgresStore {
        /// Brings a store to a model that has all that its present one has, and more, or makes the store. Open stores keep the
        /// model that they were opened with.
        ///
        /// All of it is one transaction. The caller must see to it that nobody grows the store from an older model at the same
        /// time; see ``PostgresCoordinator/exclusively(_:)``.
        /// - Parameter notes: Texts by name that are kept together with the model; see ``notes(at:options:)``.
        /// - Throws: As ``open(model:at:options:)``, with the store as it was.
        package static func grow(
            to model: ManagedObjectModel, at address: String, notes: [String: String], options: Options
        ) throws(StoreError) {
            let schema = PostgresSchema(layout: try StoreLayout(model: model, dialect: PostgresDialect()))
            try inspect(address, options) { connection, path in
                _ = try prepare(connection, schema, options: options, path: path, notes: notes)
            }
        }

        /// The texts that ``grow(to:at:notes:options:)`` has left in a store, by name; empty if there is no store.
        package static func notes(at address: String, options: Options) throws(StoreError) -> [String: String] {
            try inspect(address, options) { connection, path in
                guard try PostgresMetadata.read(on: connection, path: path) != nil else { return [:] }
                return try StoreNotes.read(on: connection)
            }
        }
    }

    /// Texts of the application in `_metadata`.
    enum StoreNotes {
        private static let prefix = "note_"

        static func write(_ notes: [String: String], on connection: PostgresConnection) throws(PostgresError) {
            guard !notes.isEmpty else { return }
            var parameters = StatementParameters()
            let sorted = notes.sorted { $0.key < $1.key }
            parameters.add(sorted.map { prefix + $0.key })
            parameters.add(sorted.map(\.value))
            try connection.execute(
                """
                INSERT INTO "_metadata"(key, value) SELECT * FROM unnest($1::text[], $2::text[]) \
                ON CONFLICT (key) DO UPDATE SET value = excluded.value
                """, parameters)
        }

        static func read(on connection: PostgresConnection) throws(PostgresError) -> [String: String] {
            let result = try connection.execute(
                "SELECT key, value FROM \"_metadata\" WHERE starts_with(key, '\(prefix)')")
            var notes: [String: String] = [:]
            for row in 0..<result.rowCount {
                notes[String(result.text(row, 0).dropFirst(prefix.count))] = result.text(row, 1)
            }
            return notes
        }
    }
#endif
