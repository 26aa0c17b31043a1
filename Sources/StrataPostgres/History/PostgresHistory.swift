#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    extension PostgresStore {
        /// What the database has recorded; see ``Options/history``.
        public var history: (any StoreHistory)? { PostgresHistory(store: self) }
    }

    /// The history of a store in PostgreSQL.
    struct PostgresHistory: CompleteStoreHistory {
        let store: PostgresStore

        var origin: Int64 { store.recorder.origin }

        func currentToken() throws(HistoryError) -> HistoryToken {
            try reading { reader in try current(reader) }
        }

        func token(at date: Date) throws(HistoryError) -> HistoryToken? {
            try reading { reader in try reader.token(at: date) }
        }

        func transactions(
            after token: HistoryToken?, where filter: HistoryFilter, limit: Int?
        ) throws(HistoryError) -> HistoryPage {
            let page: HistoryPage? = try reading { reader in
                if let token, try !reader.isValid(token) { return nil }
                let first = try reader.first()
                guard let start = token ?? first else { throw damaged }
                return try reader.transactions(after: start, where: filter, limit: limit.map { max(1, $0) } ?? .max)
            }
            return try unexpired(page, token)
        }

        private func unexpired<T>(_ value: T?, _ token: HistoryToken?) throws(HistoryError) -> T {
            if let value { return value }
            guard let token else { throw .store(damaged) }
            throw .expired(token: token)
        }

        // MARK: One object

        func object(_ id: ObjectID, at token: HistoryToken) throws(HistoryError) -> HistoricalObject? {
            let found: HistoricalObject?? = try reading { reader in
                guard try reader.isValid(token) else { return nil }
                return .some(try object(id, at: token, reader))
            }
            return try unexpired(found, token)
        }

        private func object(_ id: ObjectID, at token: HistoryToken, _ reader: HistoryReader) throws -> HistoricalObject?
        {
            guard let entity = reader.names.ownEntity(of: id) else { return nil }
            return try reader.names.object(id, entity, past: try reader.past(of: id, after: token)) {
                try store.rows(entityIndex: entity.index, keys: [id.key], on: reader.connection).rows.first
            } value: { row, slot in
                try value(row, slot, reader.connection)
            }
        }

        private func value(
            _ row: RowReference, _ slot: SlotDescription, _ connection: PostgresConnection
        ) throws -> Value {
            let value = row.value(slot)
            guard slot.storage == .bytes, row.isExternal(slot), case .binary(let name) = value else { return value }
            let session = PostgresCopySession(store: store, connection: connection)
            let file = String(decoding: name, as: UTF8.self)
            guard let data = try session.external(named: file) else {
                throw StoreError.notFound(path: "\(store.name)/\(file)")
            }
            return .binary(data)
        }

        // MARK: Consumers

        func position(of consumer: String) throws(HistoryError) -> HistoryToken? {
            try reading { reader in
                var parameters = StatementParameters()
                parameters.add(consumer)
                let result = try reader.connection.execute(
                    "SELECT position, tag FROM \"_history_consumers\" WHERE name = $1", parameters)
                guard result.rowCount == 1 else { return nil }
                return HistoryToken(
                    store: store.identifier, position: result.integer(0, 0), tag: result.integer(0, 1))
            }
        }

        func setPosition(_ token: HistoryToken, of consumer: String) throws(HistoryError) {
            let isSet: Bool = try recording { connection, _ in
                guard try HistoryReader(store, on: connection).isValid(token) else { return false }
                var parameters = StatementParameters()
                parameters.add(consumer)
                parameters.add(token.position)
                parameters.add(token.tag)
                parameters.add(Date())
                // A position that a purge has overtaken, or that belongs to another recording, gives way to any valid one.
                let moves = """
                    (c.position <= $2 OR NOT EXISTS (SELECT 1 FROM "_history" AS h WHERE h.position = c.position \
                    AND h.tag = c.tag))
                    """
                try connection.execute(
                    """
                    INSERT INTO "_history_consumers" AS c (name, position, tag, date) VALUES ($1, $2, $3, $4) \
                    ON CONFLICT (name) DO UPDATE SET date = $4, tag = CASE WHEN \(moves) THEN $3 ELSE c.tag END, \
                    position = CASE WHEN \(moves) THEN $2 ELSE c.position END
                    """, parameters)
                return true
            }
            if !isSet { throw .expired(token: token) }
        }

        func removeConsumer(_ consumer: String) throws(HistoryError) {
            try recording { connection, _ in
                var parameters = StatementParameters()
                parameters.add(consumer)
                try connection.execute("DELETE FROM \"_history_consumers\" WHERE name = $1", parameters)
            }
        }

        func consumers() throws(HistoryError) -> [String] {
            try reading { reader in
                let result = try reader.connection.execute(
                    "SELECT name FROM \"_history_consumers\" ORDER BY name COLLATE \"C\"")
                return (0..<result.rowCount).map { result.text($0, 0) }
            }
        }

        // MARK: Purging

        @discardableResult
        func purge(upTo token: HistoryToken) throws(HistoryError) -> Int {
            let removed: Int? = try recording { connection, _ in
                guard try HistoryReader(store, on: connection).isValid(token) else { return nil }
                return try HistoryPurge(store: store, connection: connection).remove(upTo: token.position)
            }
            return try unexpired(removed, token)
        }

        @discardableResult
        func purge() throws(HistoryError) -> Int {
            try recording { connection, retention in
                try HistoryPurge(store: store, connection: connection).run(retention)
            }
        }

        // MARK: Connections

        private var damaged: StoreError {
            .corrupt(path: store.name, reason: "_history has lost the row at which it begins")
        }

        private func current(_ reader: HistoryReader) throws -> HistoryToken {
            guard let token = try reader.current() else { throw damaged }
            return token
        }

        /// Runs a closure that sees one state of the database.
        private func reading<T>(_ body: (HistoryReader) throws -> T) throws(HistoryError) -> T {
            // Later reads show the changes that history lists.
            defer { store.replicas?.noteNews() }
            return try recording { connection, _ in
                try connection.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY")
                defer { connection.rollback() }
                return try body(HistoryReader(store, on: connection))
            }
        }

        /// Runs a closure with a connection and the retention; again if the connection is lost, because nothing of this does
        /// harm if it is done twice.
        private func recording<T>(
            _ body: (PostgresConnection, HistoryRetention) throws -> T
        ) throws(HistoryError) -> T {
            let outcome: Result<T?, StoreError>
            do throws(StoreError) {
                outcome = try store.reading { (connection) throws(PostgresError) in
                    do {
                        guard let retention = try HistoryTables.retention(on: connection, path: store.name) else {
                            return .success(nil)
                        }
                        return .success(try body(connection, retention))
                    } catch let error as PostgresError {
                        throw error
                    } catch let error as StoreError {
                        return .failure(error)
                    } catch {
                        return .failure(.io(path: store.name, code: 0, reason: "\(error)"))
                    }
                }
            } catch {
                throw .store(error)
            }
            switch outcome {
            case .success(let value?): return value
            case .success(nil): throw .notRecorded(store: store.name)
            case .failure(let error): throw .store(error)
            }
        }
    }
#endif
