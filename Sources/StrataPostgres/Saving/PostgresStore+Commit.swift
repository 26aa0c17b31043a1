#if Postgres
    import Foundation
    import StrataStore

    extension PostgresStore {
        public func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
            if changes.isEmpty { return .committed(CommitEffects()) }
            let result: CommitResult
            do throws(StoreError) {
                result = try write(changes)
            } catch {
                replicas?.noteNews()
                throw error
            }
            // The next read shows the rows in the way, even if a replica answers it.
            if case .conflicts = result { replicas?.noteNews() }
            return result
        }

        private func write(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
            var attempt = 0
            while true {
                let record = UUID()
                let outcome = try use(lost: { .again($0) }) { (connection) throws(StoreError) in
                    try self.attempt(changes, record: record, on: connection)
                }
                var failure: PostgresError?
                switch outcome {
                case .committed(let effects, let dropsBlobs):
                    if dropsBlobs { sweepSometimes() }
                    recorder.keepUp(self)
                    return .committed(effects)
                case .conflicts:
                    let conflicts = try findConflicts(changes)
                    if !conflicts.isEmpty { return .conflicts(conflicts) }
                // Others have changed what was in the way.
                case .again(let error):
                    failure = error
                    if error.isConnectionLost { pool.dropIdle() }
                case .unknown(let effects, let error):
                    pool.dropIdle()
                    if try hasCommitted(record) {
                        replicas?.noteNews()
                        return .committed(effects)
                    }
                    failure = error
                }
                attempt += 1
                guard attempt <= options.retryLimit, !pool.isClosed else {
                    throw failure.map(storeError) ?? .locked(path: name)
                }
                Retries.pause(attempt)
            }
        }

        /// What became of a transaction.
        private enum Outcome {
            case committed(CommitEffects, dropsBlobs: Bool)
            /// Nothing was written, because somebody else has changed something.
            case conflicts
            /// Nothing was written, and the same may succeed if it is done again.
            case again(PostgresError)
            /// The connection was lost while the transaction was being committed.
            case unknown(CommitEffects, PostgresError)
        }

        private func attempt(
            _ changes: ChangeSet, record: UUID, on connection: PostgresConnection
        ) throws(StoreError) -> Outcome {
            let writer = CommitWriter(store: self, connection: connection, changes: changes)
            var isCommitting = false
            do {
                try connection.begin("ISOLATION LEVEL READ COMMITTED")
                try writer.write()
                if writer.hasConflict {
                    connection.rollback()
                    return .conflicts
                }
                isCommitting = true
                try connection.commit(
                    after: ending(record, ChangeOrigin(author: changes.author, contextName: changes.contextName)))
                replicas?.noteCommit(on: connection)
                return .committed(writer.effects, dropsBlobs: writer.dropsBlobs)
            } catch let error as StoreError {
                connection.rollback()
                throw error
            } catch let error as PostgresError {
                connection.rollback()
                if error.isConnectionLost { return isCommitting ? .unknown(writer.effects, error) : .again(error) }
                if error.isTransient { return .again(error) }
                if error.isUniqueViolation, !isPrimaryKey(error.constraint) { return .conflicts }
                throw storeError(error)
            } catch {
                connection.rollback()
                throw .io(path: name, code: 0, reason: "\(error)")
            }
        }

        private func isPrimaryKey(_ constraint: String?) -> Bool { constraint?.hasSuffix("_pkey") == true }

        /// What comes before the end of a transaction: its record, who made it, and the news of it.
        func ending(_ record: UUID, _ origin: ChangeOrigin) -> [PostgresConnection.Part] {
            var id = StatementParameters()
            id.add(record)
            id.add(recorder.text(of: origin))
            // The triggers of history read the setting, if there are any: another process may have begun to record.
            var parts = [
                PostgresConnection.Part(
                    sql: """
                        INSERT INTO "_commits"(id) SELECT $1 FROM \
                        set_config('\(HistoryTriggers.originSetting)', $2, true)
                        """, parameters: id)
            ]
            if options.announcesCommits {
                var news = StatementParameters()
                news.add(announcer.channel)
                news.add(announcer.session)
                parts.append(.init(sql: "SELECT pg_notify($1, $2)", parameters: news))
            }
            return parts
        }

        /// Whether the transaction with a record was committed before the connection was lost.
        ///
        /// The insert waits for a server process that still works at the transaction. Where there was no record, there is one now,
        /// so that the transaction can no longer be committed.
        func hasCommitted(_ record: UUID) throws(StoreError) -> Bool {
            var parameters = StatementParameters()
            parameters.add(record)
            var attempt = 0
            while true {
                do throws(PostgresError) {
                    return try pool.use { (connection) throws(PostgresError) in
                        try connection.execute(
                            "INSERT INTO \"_commits\"(id, is_aborted) VALUES($1, true) ON CONFLICT DO NOTHING",
                            parameters)
                        let result = try connection.execute(
                            "SELECT is_aborted FROM \"_commits\" WHERE id = $1", parameters)
                        return result.rowCount == 1 && result.bytes(0, 0).first == 0
                    }
                } catch {
                    attempt += 1
                    guard error.isConnectionLost, attempt <= options.retryLimit + 10, !pool.isClosed else {
                        throw storeError(error)
                    }
                    pool.dropIdle()
                    Retries.pause(attempt)
                }
            }
        }

        private func sweepSometimes() {
            guard pool.makesConnections else { return }
            let now = ContinuousClock.now
            let isDue = nextSweep.withLock { next in
                if now < next { return false }
                next = now + .seconds(max(60, min(options.externalRetention, 86_400) / 8))
                return true
            }
            // The commit is permanent; what is left now is removed by the next sweep.
            if isDue { try? sweep() }
        }
    }
#endif
