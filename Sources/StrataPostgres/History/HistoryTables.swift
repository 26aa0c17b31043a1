#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    /// The tables of history in a database.
    ///
    /// `_history` has a row for each transaction, `_history_changes` one for each change, and `_history_values` the old values
    /// that the model asks for. Triggers write them, so that whatever changes an object leaves its row: saves, bulk
    /// operations, foreign keys, another process, even a shell.
    ///
    /// **Order.** A transaction gets its row with its first change, and its position in history when it commits. Two
    /// transactions that overlap may commit in another order than they began, and a reader that has seen the position of
    /// the later one must never find a smaller one afterwards: it would skip that transaction. So positions are given one
    /// transaction after the other:
    ///
    /// 1. A deferred trigger runs when the transaction commits. It writes to the row of the transaction, which defers
    ///    another trigger until all other deferred checks, such as those of foreign keys, have passed.
    /// 2. That trigger takes an advisory lock of the store, which PostgreSQL releases only after the transaction has become
    ///    visible to others, and takes the next number of a sequence.
    ///
    /// The transaction with the next number has waited for the lock, so a reader that can see it can see the one with the number
    /// before it as well. A transaction that fails after that leaves a gap, which no reader waits for. The lock is held
    /// while the commit reaches the disk, so that recorded transactions commit one after the other, as those that announce
    /// themselves by `NOTIFY` do anyway. It is taken before PostgreSQL's own lock for `NOTIFY`, by all in the same order, and
    /// nothing else is locked in between.
    enum HistoryTables {
        static let all = ["_history_values", "_history_changes", "_history", "_history_entities", "_history_consumers"]
        static let positions = "_history_positions"
        /// The entry of `_metadata` with the retention. It is there while the store records.
        static let metadataKey = "history"
        /// The entry of `_metadata` with a fingerprint of the triggers.
        static let triggersKey = "history_triggers"

        /// Of a transaction, `stage` says how far its commit is: 0 with its first change, 1 when the deferred checks run, 2 with
        /// its position.
        private static let statements = [
            """
            CREATE TABLE "_history" (
                number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                stage smallint NOT NULL DEFAULT 0,
                position bigint UNIQUE,
                tag bigint,
                date timestamptz,
                author text,
                context text,
                process text,
                process_id bigint,
                origin bigint
            )
            """,
            """
            CREATE TABLE "_history_changes" (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                transaction bigint NOT NULL,
                kind bigint NOT NULL,
                entity bigint NOT NULL,
                key bigint NOT NULL,
                changed bigint
            )
            """,
            "CREATE INDEX \"_history_changes_by_transaction\" ON \"_history_changes\" (transaction, id)",
            """
            CREATE TABLE "_history_values" (
                change bigint NOT NULL,
                property bigint NOT NULL,
                type text NOT NULL,
                value bytea,
                PRIMARY KEY (change, property)
            )
            """,
            """
            CREATE TABLE "_history_entities" (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                definition text NOT NULL,
                renamed text
            )
            """,
            """
            CREATE TABLE "_history_consumers" (
                name text PRIMARY KEY,
                position bigint NOT NULL,
                tag bigint NOT NULL,
                date timestamptz NOT NULL
            )
            """,
            "CREATE SEQUENCE \"_history_positions\"",
        ]

        /// A random number that the end of no other transaction has.
        static let newTag = "(('x' || substr(md5(gen_random_uuid()::text), 1, 15))::bit(60)::bigint + 1)"

        /// Makes the tables, with the row at which the recording begins.
        static func create(on connection: PostgresConnection) throws(PostgresError) {
            for statement in statements { try connection.run(statement) }
            try connection.run(
                """
                INSERT INTO "_history"(stage, position, tag, date) \
                VALUES (2, nextval('\(positions)'), \(newTag), clock_timestamp())
                """)
        }

        static func drop(on connection: PostgresConnection) throws(PostgresError) {
            try HistoryTriggers.drop(on: connection)
            for table in all { try connection.run("DROP TABLE IF EXISTS \"\(table)\"") }
            try connection.run("DROP SEQUENCE IF EXISTS \"\(positions)\"")
            try connection.run("DELETE FROM \"_metadata\" WHERE key IN ('\(metadataKey)', '\(triggersKey)')")
        }

        /// The retention of a store; nil if it does not record.
        static func retention(
            on connection: PostgresConnection, path: String
        ) throws -> HistoryRetention? {
            let result = try connection.execute("SELECT value FROM \"_metadata\" WHERE key = '\(metadataKey)'")
            guard result.rowCount == 1 else { return nil }
            guard let retention = HistoryRetention(text: result.text(0, 0)) else {
                throw StoreError.corrupt(path: path, reason: "the entry history of _metadata cannot be read")
            }
            return retention
        }
    }

    /// Makes a store record what its options say, with the triggers that fit its model. All of it is part of the transaction that
    /// opens the store.
    struct HistorySetup {
        let layout: StoreLayout
        let options: PostgresStore.Options

        /// Changes with the text of the triggers.
        private static let version = 1

        /// The entities of the model as history describes them.
        private var definitions: [String] {
            let history = HistoryLayout(layout)
            return layout.model.entities.map { history.entity($0).text }
        }

        /// What the triggers depend on.
        private var fingerprint: String {
            StableHash.text(of: (["\(Self.version)", options.schema] + definitions).joined(separator: "\n"))
        }

        /// Whether nothing is to be done.
        /// - Parameter found: What the store says about itself.
        func isCurrent(_ found: PostgresMetadata) -> Bool {
            switch options.history {
            case .off: return found.history == nil
            case .asInFile: return found.history == nil || found.historyTriggers == fingerprint
            case .on(let retention): return found.history == retention.text && found.historyTriggers == fingerprint
            }
        }

        /// Prepares a store for a change of its tables: what that writes is not a change of anybody.
        static func pause(_ found: PostgresMetadata, on connection: PostgresConnection) throws(PostgresError) {
            if found.history != nil { try HistoryTriggers.drop(on: connection) }
        }

        /// Notes under which names a new model has the entities and properties of recorded changes.
        static func rename(_ mapping: ModelMapping, on connection: PostgresConnection) throws(PostgresError) {
            let found = try connection.execute(
                "SELECT id, coalesce(renamed, definition) FROM \"_history_entities\"", isKept: false)
            for row in 0..<found.rowCount {
                guard let before = HistoryEntity(text: found.text(row, 1)),
                    let entity = before.renamed(by: mapping), entity != before
                else { continue }
                var parameters = StatementParameters()
                parameters.add(entity.text)
                parameters.add(found.integer(row, 0))
                try connection.execute("UPDATE \"_history_entities\" SET renamed = $1 WHERE id = $2", parameters)
            }
        }

        /// Begins or ends the recording, and makes the triggers.
        func run(_ metadata: inout PostgresMetadata, on connection: PostgresConnection) throws {
            let wanted: String?
            switch options.history {
            case .off: wanted = nil
            case .asInFile: wanted = metadata.history
            case .on(let retention): wanted = retention.text
            }
            guard let wanted else {
                if metadata.history != nil { try HistoryTables.drop(on: connection) }
                metadata.history = nil
                metadata.historyTriggers = nil
                return
            }
            if metadata.history == nil { try HistoryTables.create(on: connection) }
            try HistoryTriggers.drop(on: connection)
            let triggers = HistoryTriggers(
                layout: layout, history: HistoryLayout(layout), ids: try ids(on: connection), schema: options.schema)
            for statement in triggers.statements { try connection.run(statement) }
            metadata.history = wanted
            metadata.historyTriggers = fingerprint
        }

        /// The rows of `_history_entities` with the entities of the model, which are added where they are missing.
        private func ids(on connection: PostgresConnection) throws(PostgresError) -> [Int64] {
            let found = try connection.execute(
                "SELECT id, definition FROM \"_history_entities\" WHERE renamed IS NULL ORDER BY id", isKept: false)
            var known: [String: Int64] = [:]
            for row in 0..<found.rowCount { known[found.text(row, 1)] = found.integer(row, 0) }
            var ids: [Int64] = []
            for text in definitions {
                if let id = known[text] {
                    ids.append(id)
                    continue
                }
                var parameters = StatementParameters()
                parameters.add(text)
                let made = try connection.execute(
                    "INSERT INTO \"_history_entities\"(definition) VALUES ($1) RETURNING id", parameters)
                ids.append(made.integer(0, 0))
            }
            return ids
        }
    }
#endif
