#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    extension PostgresStore {
        public func perform(_ operation: BulkOperation, by origin: ChangeOrigin) throws(StoreError) -> BulkResult {
            do throws(StoreError) {
                return try run(operation, by: origin)
            } catch {
                replicas?.noteNews()
                throw error
            }
        }

        private func run(_ operation: BulkOperation, by origin: ChangeOrigin) throws(StoreError) -> BulkResult {
            var attempt = 0
            while true {
                let record = UUID()
                let outcome = try use(lost: { .failed($0, nil) }) { (connection) throws(StoreError) in
                    try self.attempt(operation, by: origin, record: record, on: connection)
                }
                switch outcome {
                case .done(let result):
                    recorder.keepUp(self)
                    return result
                case .failed(let error, let result):
                    if error.isConnectionLost {
                        pool.dropIdle()
                        if let result, try hasCommitted(record) {
                            replicas?.noteNews()
                            return result
                        }
                    }
                    attempt += 1
                    guard attempt <= options.retryLimit, !pool.isClosed else { throw storeError(error) }
                    Retries.pause(attempt)
                }
            }
        }

        private enum BulkOutcome {
            case done(BulkResult)
            /// The same may succeed if it is done again. There is a result if the transaction was being committed.
            case failed(PostgresError, BulkResult?)
        }

        private func attempt(
            _ operation: BulkOperation, by origin: ChangeOrigin, record: UUID, on connection: PostgresConnection
        ) throws(StoreError) -> BulkOutcome {
            var result: BulkResult?
            let transaction = OpenTransaction(store: self, connection: connection)
            do {
                // In one snapshot: if another transaction changes one of the objects meanwhile, this one is tried again.
                try connection.begin("ISOLATION LEVEL REPEATABLE READ")
                let done =
                    switch operation {
                    case .update(let update): try BulkUpdater(store: self, connection: connection, update: update).run()
                    case .delete(let plan): try BulkDeleter(transaction).run(plan)
                    }
                result = done
                try connection.commit(after: ending(record, origin))
                replicas?.noteCommit(on: connection)
                return .done(done)
            } catch {
                connection.rollback()
                guard let error = transaction.failure.error ?? error as? PostgresError else {
                    throw error as? StoreError ?? .io(path: name, code: 0, reason: "\(error)")
                }
                if error.isConnectionLost || error.isTransient { return .failed(error, result) }
                if error.isUniqueViolation {
                    throw .constraint(
                        entity: entityName(of: error) ?? "",
                        reason: "the bulk operation would break a constraint (\(error)); nothing was changed")
                }
                throw storeError(error)
            }
        }

        private func entityName(of error: PostgresError) -> String? {
            layout.tables.first { $0.name == error.table }.map { model.entities[$0.rootIndex].name }
        }
    }
#endif
