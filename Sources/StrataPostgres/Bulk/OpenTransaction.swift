#if Postgres
    import StrataSQL
    import StrataStore

    /// An open transaction, as bulk deletes see it.
    struct OpenTransaction: BulkTransaction {
        let store: PostgresStore
        let connection: PostgresConnection

        var model: ManagedObjectModel { store.model }

        /// Errors of the server are kept for the caller, who decides whether the transaction is tried again.
        final class Failure {
            var error: PostgresError?
        }

        let failure = Failure()

        private func attempt<T>(_ body: () throws -> T) throws(StoreError) -> T {
            do {
                return try body()
            } catch let error as StoreError {
                throw error
            } catch let error as PostgresError {
                failure.error = error
                throw store.storeError(error)
            } catch {
                throw .io(path: store.name, code: 0, reason: "\(error)")
            }
        }

        func identities(_ plan: FetchPlan) throws(StoreError) -> [RowIdentity] {
            try attempt {
                try store.sources(of: plan, ResidualReader(store: store, connection: connection), on: connection).map {
                    RowIdentity(entityIndex: $0.reference.entityIndex, key: $0.reference.key)
                }
            }
        }

        func rows(entityIndex: Int, keys: [Int64]) throws(StoreError) -> RowBatch {
            try attempt { try store.rows(entityIndex: entityIndex, keys: keys, on: connection) }
        }

        func memberKeys(
            entityIndex: Int, relationshipIndex: Int, owners: [Int64]
        ) throws(StoreError) -> [(owner: Int64, member: Int64)] {
            if owners.isEmpty { return [] }
            return try attempt {
                try store.memberKeys(
                    entityIndex: entityIndex, relationshipIndex: relationshipIndex, owners: owners, on: connection)
            }
        }

        func owners(
            entityIndex: Int, relationshipIndex: Int, members: [Int64]
        ) throws(StoreError) -> [(owner: Int64, member: Int64)] {
            let relationship = model.entities[entityIndex].relationships[relationshipIndex]
            let sql: String
            if let slot = relationship.slot, let column = store.layout.column(entityIndex, slot)?.quoted {
                sql = "SELECT \"_id\", \(column) FROM \(store.plans[entityIndex].table) WHERE \(column) = ANY($1)"
            } else if let side = store.layout.pairs(entityIndex, relationshipIndex), side.isPrimary {
                sql = "SELECT \(side.near), \(side.far) FROM \(side.table.quoted) WHERE \(side.far) = ANY($1)"
            } else {
                return []
            }
            var parameters = StatementParameters()
            parameters.add(members)
            return try attempt {
                let result = try connection.execute(sql, parameters)
                return (0..<result.rowCount).map { (result.integer($0, 0), result.integer($0, 1)) }
            }
        }

        func writeTogether(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
            try attempt {
                let writer = CommitWriter(store: store, connection: connection, changes: changes)
                try writer.write()
                guard !writer.hasConflict else {
                    throw PostgresError(sqlState: "40001", message: "others changed the objects")
                }
                return .committed(writer.effects)
            }
        }
    }
#endif
