#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    /// Reads history in an open transaction that sees one moment, so that nothing is purged or added meanwhile.
    struct HistoryReader {
        let store: PostgresStore
        let connection: PostgresConnection
        let names: HistoryNames

        /// How many transactions are read at a time.
        private static let chunk: Int64 = 200

        init(_ store: PostgresStore, on connection: PostgresConnection) throws {
            self.store = store
            self.connection = connection
            let result = try connection.execute(
                "SELECT id, coalesce(renamed, definition) FROM \"_history_entities\"")
            var entities: [Int64: HistoryEntity] = [:]
            for row in 0..<result.rowCount {
                guard let entity = HistoryEntity(text: result.text(row, 1)) else {
                    throw StoreError.corrupt(path: store.name, reason: "a row of _history_entities cannot be read")
                }
                entities[result.integer(row, 0)] = entity
            }
            names = HistoryNames(model: store.model, storeIdentifier: store.identifier, entities: entities)
        }

        // MARK: Places

        /// The last place.
        func current() throws -> HistoryToken? {
            try token("position IS NOT NULL ORDER BY position DESC LIMIT 1", StatementParameters())
        }

        /// The place at which what is kept begins.
        func first() throws -> HistoryToken? {
            try token("position IS NOT NULL ORDER BY position LIMIT 1", StatementParameters())
        }

        /// The last place that is not later than a date.
        func token(at date: Date) throws -> HistoryToken? {
            var parameters = StatementParameters()
            parameters.add(date)
            return try token("position IS NOT NULL AND date <= $1 ORDER BY position DESC LIMIT 1", parameters)
        }

        private func token(_ condition: String, _ parameters: StatementParameters) throws -> HistoryToken? {
            let result = try connection.execute(
                "SELECT position, tag FROM \"_history\" WHERE \(condition)", parameters)
            guard result.rowCount == 1 else { return nil }
            return HistoryToken(
                store: store.identifier, position: result.integer(0, 0), tag: result.integer(0, 1))
        }

        /// Whether all that came after a place is there.
        func isValid(_ token: HistoryToken) throws -> Bool {
            guard token.store == store.identifier else { return false }
            var parameters = StatementParameters()
            parameters.add(token.position)
            parameters.add(token.tag)
            return try connection.execute(
                "SELECT 1 FROM \"_history\" WHERE position = $1 AND tag = $2", parameters
            ).rowCount == 1
        }

        // MARK: Transactions

        /// The transactions after a place.
        func transactions(
            after start: HistoryToken, where filter: HistoryFilter, limit: Int
        ) throws -> HistoryPage {
            var result: [HistoryTransaction] = []
            var end = start
            while true {
                var parameters = StatementParameters()
                parameters.add(end.position)
                let ends = try connection.execute(
                    """
                    SELECT position, tag, number, date, author, context, process, process_id, origin FROM "_history" \
                    WHERE position > $1 ORDER BY position LIMIT \(Self.chunk)
                    """, parameters)
                if ends.rowCount == 0 { return HistoryPage(transactions: result, token: end, hasMore: false) }
                for row in 0..<ends.rowCount {
                    if result.count == limit { return HistoryPage(transactions: result, token: end, hasMore: true) }
                    end = HistoryToken(
                        store: store.identifier, position: ends.integer(row, 0), tag: ends.integer(row, 1))
                    guard filter.wants(transaction(ends, row, end, [])) else { continue }
                    let changes = try changes(of: ends.integer(row, 2), filter).filter {
                        filter.wants($0, in: names.model)
                    }
                    if !changes.isEmpty { result.append(transaction(ends, row, end, changes)) }
                }
            }
        }

        private func transaction(
            _ result: PostgresResult, _ row: Int, _ token: HistoryToken, _ changes: [HistoryChange]
        ) -> HistoryTransaction {
            func text(_ column: Int) -> String? { result.isNull(row, column) ? nil : result.text(row, column) }
            return HistoryTransaction(
                token: token,
                date: Date(timeIntervalSinceReferenceDate: TimestampCoding.seconds(result.integer(row, 3))),
                author: text(4), contextName: text(5), processName: text(6) ?? "",
                processID: Int32(truncatingIfNeeded: result.integer(row, 7)), origin: result.integer(row, 8),
                changes: changes)
        }

        private func changes(of transaction: Int64, _ filter: HistoryFilter) throws -> [HistoryChange] {
            var parameters = StatementParameters()
            parameters.add(transaction)
            var conditions = ""
            if let entities = filter.entities {
                // The row of a relationship may only know an ancestor of an object.
                let roots = Set(entities.compactMap { names.model.entity(named: $0)?.rootName })
                parameters.add(names.ids(of: entities) + names.ids(of: roots))
                conditions += " AND entity = ANY($\(parameters.count))"
            }
            if let objects = filter.objects {
                parameters.add(objects.map(\.key))
                conditions += " AND key = ANY($\(parameters.count))"
            }
            let rows = try connection.execute(
                """
                SELECT id, kind, entity, key, changed FROM "_history_changes" \
                WHERE transaction = $1\(conditions) ORDER BY id
                """, parameters)
            var fold = TransactionFold(names: names)
            try add(rows, to: &fold)
            return fold.changes()
        }

        private static func row(_ result: PostgresResult, _ row: Int) -> TransactionFold.Row {
            TransactionFold.Row(
                kind: result.integer(row, 1), entity: result.integer(row, 2), key: result.integer(row, 3),
                changed: result.integer(row, 4))
        }

        private func add(_ rows: PostgresResult, to fold: inout TransactionFold) throws {
            let values = try oldValues(rows)
            for row in 0..<rows.rowCount {
                let change = Self.row(rows, row)
                guard let place = fold.add(change) else { continue }
                for (name, value) in values[rows.integer(row, 0)] ?? [] { fold.note(value, of: name, place: place) }
            }
        }

        // MARK: Old values

        /// The old values that are kept of some changes, by the number of the change.
        private func oldValues(_ rows: PostgresResult) throws -> [Int64: [(String, Value)]] {
            var entities: [Int64: Int64] = [:]
            for row in 0..<rows.rowCount {
                let change = Self.row(rows, row)
                if change.kind != HistoryKind.insert, names.keepsValues(change.entity) {
                    entities[rows.integer(row, 0)] = change.entity
                }
            }
            if entities.isEmpty { return [:] }
            var parameters = StatementParameters()
            parameters.add(Array(entities.keys))
            let found = try connection.execute(
                "SELECT change, property, type, value FROM \"_history_values\" WHERE change = ANY($1)", parameters)
            var result: [Int64: [(String, Value)]] = [:]
            for row in 0..<found.rowCount {
                let change = found.integer(row, 0)
                let bit = Int(found.integer(row, 1))
                guard let entity = entities[change], names.keeps(bit, entity), let name = names.name(bit, entity) else {
                    continue
                }
                let slot = names.description(entity)?.slot(named: name)
                let value: Value =
                    found.isNull(row, 3) ? .null : Self.value(found.bytes(row, 3), found.text(row, 2), slot)
                result[change, default: []].append((name, value))
            }
            return result
        }

        /// An old value as one of a slot; as what it is if that was of another type then.
        private static func value(
            _ bytes: UnsafeRawBufferPointer, _ type: String, _ slot: SlotDescription?
        ) -> Value {
            if let slot, "\(slot.storage)" == type {
                var builder = RowBatchBuilder(expectedRows: 1)
                builder.beginRow(entityIndex: 0, slotCount: slot.index + 1, key: 1, version: 1)
                let isRead = SlotCoding.read(bytes, slot.index, slot.storage, into: &builder)
                builder.endRow()
                if isRead { return builder.finish()[0].value(slot) }
            }
            switch type {
            case "\(SlotStorage.text)": return .string(String(decoding: bytes, as: UTF8.self))
            case "\(SlotStorage.integer)" where bytes.count == 8:
                return .integer(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)))
            case "\(SlotStorage.double)" where bytes.count == 8:
                return .double(Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))))
            default: return .binary(Data(bytes))
            }
        }

        // MARK: One object

        /// What happened to an object after a place, as if it had been one transaction; nil if nothing did.
        func past(of id: ObjectID, after start: HistoryToken) throws -> ObjectPast? {
            var parameters = StatementParameters()
            parameters.add(start.position)
            parameters.add(id.key)
            parameters.add(names.ids(ofHierarchy: id.entity.rootName))
            let rows = try connection.execute(
                """
                SELECT c.id, c.kind, c.entity, c.key, c.changed FROM "_history_changes" AS c \
                JOIN "_history" AS t ON t.number = c.transaction \
                WHERE t.position > $1 AND c.key = $2 AND c.entity = ANY($3) ORDER BY t.position, c.id
                """, parameters)
            let values = try oldValues(rows)
            var fold = TransactionFold(names: names)
            var hasGone = false
            for row in 0..<rows.rowCount {
                // What happened to an object that came back says nothing of the one that went.
                if hasGone { break }
                let change = Self.row(rows, row)
                guard let place = fold.add(change) else { continue }
                for (name, value) in values[rows.integer(row, 0)] ?? [] { fold.note(value, of: name, place: place) }
                if change.kind == HistoryKind.delete { hasGone = true }
            }
            return fold.objects.first.map { ObjectPast(object: $0, hasGone: hasGone) }
        }
    }

    extension StatementParameters {
        mutating func add(_ date: Date) {
            let seconds = date.timeIntervalSinceReferenceDate
            // A date outside of the range is before or after all others.
            let number = TimestampCoding.microseconds(seconds) ?? (seconds < 0 ? .min : .max)
            add(PostgresType.timestamp.rawValue) { $0.append(number) }
        }
    }
#endif
