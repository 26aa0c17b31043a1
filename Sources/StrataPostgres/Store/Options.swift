#if Postgres
    import Foundation
    import StrataStore

    extension PostgresStore {
        /// How a store is opened. It has one of the stored properties for each option.
        public struct Options: Sendable {
            /// The schema of the database that has the tables; made if it is missing.
            public var schema = "public"
            /// The maximum number of connections, 1 to 1,000. Each thread that reads or writes uses one meanwhile.
            public var connectionLimit = 8
            /// How long to wait for a free connection, in seconds.
            public var poolTimeout: Double = 30
            /// How long to wait for the server while connecting, in seconds; at least 2.
            public var connectTimeout: Double = 10
            /// After how many seconds without use a connection is asked whether it still answers.
            public var healthCheckAge: Double = 30
            /// After how many seconds the server stops a statement; 0 for never.
            public var statementTimeout: Double = 0
            /// How long a statement waits for a lock, in seconds; 0 for any time.
            public var lockTimeout: Double = 30
            /// After how many seconds the server ends a session that has a transaction open and does nothing, so that a
            /// client that hangs cannot hold others up; 0 for never.
            public var idleTransactionTimeout: Double = 60
            /// Whether statements stay prepared. Set it to false for a pooler that gives each transaction another
            /// session, such as PgBouncer before 1.21 in its transaction mode.
            public var preparesStatements = true
            /// Whether each commit is announced to other processes; see ``PersistentStore/observeForeignCommits(_:)``.
            public var announcesCommits = true
            /// How often a commit is tried again after a deadlock, a serialization failure or a lost connection, and a batch of a
            /// deferred step after a lost connection.
            public var retryLimit = 10
            /// Binary values of attributes that allow it are kept apart from their rows above this size in bytes, 0 or more.
            public var externalStorageThreshold = 128 * 1024
            /// How long, in seconds, a replaced or deleted external value is kept, for contexts that still hold the old row.
            public var externalRetention: Double = 86_400
            /// Whether the store records history, for all processes that open it. ``HistoryRecording/asInFile`` leaves it as it is
            /// in the database.
            public var history = HistoryRecording.asInFile
            /// How a store of another version of the model is migrated. ``MigrationOptions/keepsOriginal`` and
            /// ``MigrationOptions/erasesOnMismatch`` are refused.
            public var migration = MigrationOptions()
            /// Whether a store is made where there is none.
            public var createIfMissing = true
            /// The replicas of the server, and how old what they show may be; nil if there are none. Contexts with
            /// ``ReadSource/replica`` read them.
            public var replicas: Replicas?
            /// Called with each notice of the server.
            public var onNotice: (@Sendable (String) -> Void)?
            /// Called with each statement after it has run, on the thread that ran it and while that thread holds the
            /// connection: it must not use the store.
            public var trace: (@Sendable (StatementTrace) -> Void)?

            /// The defaults.
            public init() {}

            func check() throws(StoreError) {
                func refuse(_ name: String, _ value: some CustomStringConvertible, _ range: String) -> StoreError {
                    .invalidOption(name: name, value: value.description, reason: "it must be \(range)")
                }
                guard (1...1000).contains(connectionLimit) else {
                    throw refuse("connectionLimit", connectionLimit, "1 to 1,000")
                }
                guard !schema.isEmpty, schema.utf8.count <= 63, !schema.utf8.contains(0) else {
                    throw refuse("schema", schema, "a name of 1 to 63 bytes")
                }
                for (name, isSet) in [
                    ("keepsOriginal", migration.keepsOriginal), ("erasesOnMismatch", migration.erasesOnMismatch),
                ] where isSet {
                    throw .unsupported(
                        store: "PostgreSQL",
                        feature: "options.migration.\(name); make a copy with pg_dump before you migrate")
                }
                try replicas?.check()
                guard retryLimit >= 0 else { throw refuse("retryLimit", retryLimit, "0 or more") }
                guard externalStorageThreshold >= 0 else {
                    throw refuse("externalStorageThreshold", externalStorageThreshold, "0 or more, in bytes")
                }
                if case .on(let retention) = history {
                    let times = [retention.age ?? 0, retention.patience]
                    guard times.allSatisfy({ $0 >= 0 && $0.isFinite }) else {
                        throw refuse("history", "\(retention)", "given in finite seconds, 0 or more")
                    }
                    guard retention.changes ?? 1 >= 1 else {
                        throw refuse("history", "\(retention)", "for 1 or more changes")
                    }
                }
                for (name, value) in [
                    ("poolTimeout", poolTimeout), ("connectTimeout", connectTimeout),
                    ("healthCheckAge", healthCheckAge), ("statementTimeout", statementTimeout),
                    ("lockTimeout", lockTimeout), ("idleTransactionTimeout", idleTransactionTimeout),
                    ("externalRetention", externalRetention),
                ] where !(value >= 0 && value < 2_000_000) {
                    throw refuse(name, value, "0 to 2,000,000, in seconds")
                }
            }

            /// What a new session begins with.
            var startStatements: [String] {
                func milliseconds(_ seconds: Double) -> Int { Int((seconds * 1000).rounded(.up)) }
                let settings = [
                    "search_path TO \(SQLText.quote(schema))", "TimeZone TO 'UTC'",
                    "statement_timeout TO \(milliseconds(statementTimeout))",
                    "lock_timeout TO \(milliseconds(lockTimeout))",
                    "idle_in_transaction_session_timeout TO \(milliseconds(idleTransactionTimeout))",
                ]
                return [settings.map { "SET \($0)" }.joined(separator: "; ")]
            }
        }
    }

    /// Names in SQL. Texts are those of ``Identifiers/literal(_:)``.
    enum SQLText {
        static func quote(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }
        /// The maximum number of bytes in a name.
        static let nameLimit = 63
    }
#endif
