#if Postgres
    extension PostgresConnection {
        /// How stores work within a transaction that somebody else has begun: their transactions are savepoints.
        struct Nesting {
            /// Whether only transactions that read may begin.
            let isReadOnly: Bool
            /// Whether a savepoint is open.
            var hasSavepoint = false
            static let savepoint = "strata_nested"

            init(isReadOnly: Bool) { self.isReadOnly = isReadOnly }
        }

        func begin(_ kind: String = "") throws(PostgresError) {
            guard let nesting else { return try run("BEGIN \(kind)") }
            if nesting.isReadOnly, !kind.hasSuffix("READ ONLY") {
                throw PostgresError(sqlState: "25006", message: "the objects of the old version can only be read")
            }
            try run("SAVEPOINT \(Nesting.savepoint)")
            self.nesting?.hasSavepoint = true
        }

        func commit() throws(PostgresError) { try commit(after: []) }

        /// Sends the last statements of a transaction together with its end.
        func commit(after parts: [Part]) throws(PostgresError) {
            // What is otherwise checked by the commit is checked here, so that a failure takes back this transaction only.
            let end =
                nesting == nil
                ? ["COMMIT"]
                : [
                    "SET CONSTRAINTS ALL IMMEDIATE", "RELEASE SAVEPOINT \(Nesting.savepoint)",
                    "SET CONSTRAINTS ALL DEFERRED",
                ]
            if parts.isEmpty {
                try run(end.joined(separator: "; "))
            } else {
                try executeAll(parts + end.map { Part(sql: $0) })
            }
            nesting?.hasSavepoint = false
        }

        /// Takes back an open transaction. A lost connection has taken it back by itself.
        func rollback() {
            guard isOpen, isInTransaction else { return }
            if let nesting {
                guard nesting.hasSavepoint else { return }
                self.nesting?.hasSavepoint = false
                let name = Nesting.savepoint
                _ = try? run("ROLLBACK TO SAVEPOINT \(name); RELEASE SAVEPOINT \(name)")
                return
            }
            _ = try? run("ROLLBACK")
        }
    }
#endif
