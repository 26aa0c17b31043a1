#if Postgres
    import Foundation

    /// The connection of a transaction that somebody else has begun, for several stores that use it in turn.
    ///
    /// Each store finds tables by a search path of its own. Nothing that the stores do is permanent before the transaction is.
    final class BorrowedConnection: Sendable {
        // Used only by the caller that holds the lock.
        private nonisolated(unsafe) let connection: PostgresConnection
        private let lock: NSLock
        private let path: String
        private let isReadOnly: Bool

        private init(_ connection: PostgresConnection, _ lock: NSLock, path: String, isReadOnly: Bool) {
            self.connection = connection
            self.lock = lock
            self.path = path
            self.isReadOnly = isReadOnly
        }

        /// The connection for two stores: one that only reads temporary tables, and one that works in a schema.
        static func pair(
            _ connection: PostgresConnection, schema: String
        ) -> (past: BorrowedConnection, present: BorrowedConnection) {
            let lock = NSLock()
            let schema = SQLText.quote(schema)
            return (
                BorrowedConnection(connection, lock, path: "pg_temp, \(schema)", isReadOnly: true),
                // Left out, temporary tables would come first.
                BorrowedConnection(connection, lock, path: "\(schema), pg_temp", isReadOnly: false)
            )
        }

        /// The connection, for the caller only until ``putBack()``.
        func take() throws(PostgresError) -> PostgresConnection {
            lock.lock()
            do throws(PostgresError) {
                try connection.run("SET LOCAL search_path TO \(path)")
            } catch {
                lock.unlock()
                throw error
            }
            connection.nesting = PostgresConnection.Nesting(isReadOnly: isReadOnly)
            return connection
        }

        func putBack() {
            connection.nesting = nil
            lock.unlock()
        }
    }
#endif
