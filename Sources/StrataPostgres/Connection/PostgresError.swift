#if Postgres
    /// An error of PostgreSQL or of the connection to it.
    public struct PostgresError: Error, Sendable, Hashable {
        /// The five characters of the SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html). Errors of the
        /// connection have those of class `08`, and `57014` stands for a statement that was cancelled.
        public var sqlState: String
        /// What happened, as the server says it.
        public var message: String
        /// More about it; nil if the server says no more.
        public var detail: String?
        /// The table that the error is about; nil if it is about none.
        public var table: String?
        /// The constraint that the error is about; nil if it is about none.
        public var constraint: String?

        /// Describes an error.
        public init(
            sqlState: String, message: String, detail: String? = nil, table: String? = nil, constraint: String? = nil
        ) {
            self.sqlState = sqlState
            self.message = message
            self.detail = detail
            self.table = table
            self.constraint = constraint
        }

        /// Whether the connection is lost, or was never made: class 08, and the server shutting down or starting
        /// (57P01 to 57P03).
        public var isConnectionLost: Bool { sqlState.hasPrefix("08") || sqlState.hasPrefix("57P0") }
        /// Whether the transaction would succeed if it were run again: a serialization failure or a deadlock.
        public var isTransient: Bool { sqlState == "40001" || sqlState == "40P01" }
        /// Whether a unique or an exclusion constraint was violated.
        public var isUniqueViolation: Bool { sqlState == "23505" || sqlState == "23P01" }

        static let lostState = "08006"
        static let cancelledState = "57014"
        static let timeoutState = "08001"
        static let abortedState = "25P02"
    }

    extension PostgresError: CustomStringConvertible {
        /// The message with what is known about it.
        public var description: String {
            let more = detail.map { " (\($0))" } ?? ""
            return "\(message)\(more) [SQLSTATE \(sqlState)]"
        }
    }
#endif
