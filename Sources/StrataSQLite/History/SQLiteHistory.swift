import Foundation
import StrataSQL
import StrataStore

extension SQLiteStore {
    /// What the file has recorded; see ``Options/history``.
    public var history: (any StoreHistory)? { SQLiteHistory(store: self) }
}

/// The history of a SQLite store.
struct SQLiteHistory: StoreHistory {
    let store: SQLiteStore

    var origin: Int64 { store.recorder.origin }

    func currentToken() throws(HistoryError) -> HistoryToken {
        try reading { (reader) throws(StoreError) in try current(reader) }
    }

    func token(at date: Date) throws(HistoryError) -> HistoryToken? {
        try reading { (reader) throws(StoreError) in try reader.token(at: date) }
    }

    func transactions(
        after token: HistoryToken?, where filter: HistoryFilter, limit: Int?
    ) throws(HistoryError) -> HistoryPage {
        let page: HistoryPage? = try reading { (reader) throws(StoreError) in
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

    func object(_ id: ObjectID, at token: HistoryToken) throws(HistoryError) -> HistoricalObject? {
        let found: HistoricalObject?? = try reading { (reader) throws(StoreError) in
            guard try reader.isValid(token) else { return nil }
            return .some(try object(id, at: token, reader))
        }
        return try unexpired(found, token)
    }

    private func object(
        _ id: ObjectID, at token: HistoryToken, _ reader: HistoryReader
    ) throws(StoreError) -> HistoricalObject? {
        guard let entity = reader.names.ownEntity(of: id) else { return nil }
        return try reader.names.object(id, entity, past: try reader.past(of: id, after: token)) {
            () throws(StoreError) in
            try store.rows(entityIndex: entity.index, keys: [id.key], on: reader.connection).rows.first
        } value: { (row, slot) throws(StoreError) in
            try value(row.row, slot)
        }
    }

    private func value(_ row: RowPointer, _ slot: SlotDescription) throws(StoreError) -> Value {
        let value = row.value(slot)
        guard row.isPresent(slot.index), slot.storage == .bytes, row.isExternal(slot.index),
            case .binary(let name) = value
        else { return value }
        return .binary(try store.externalData(named: String(decoding: name, as: UTF8.self)))
    }

    // MARK: Consumers

    func position(of consumer: String) throws(HistoryError) -> HistoryToken? {
        try reading { (reader) throws(StoreError) in
            let query = try reader.connection.prepare(
                "SELECT position, tag FROM \(HistoryTables.consumers) WHERE name = ?", persistent: false)
            query.bind(consumer, at: 1)
            guard try query.step() else { return nil }
            defer { query.reset() }
            return HistoryToken(store: store.identifier, position: query.integer(0), tag: query.integer(1))
        }
    }

    func setPosition(_ token: HistoryToken, of consumer: String) throws(HistoryError) {
        let isSet = try writing { (connection) throws(StoreError) -> Bool in
            try connection.begin()
            defer { connection.rollback() }
            guard try HistoryReader(store, on: connection).isValid(token) else { return false }
            // A position that a purge has overtaken, or that belongs to another recording, gives way to any valid one.
            let update = try connection.prepare(
                """
                INSERT INTO \(HistoryTables.consumers)(name, position, tag, date) VALUES(?1, ?2, ?3, ?4) \
                ON CONFLICT(name) DO UPDATE SET date = ?4, \
                tag = CASE WHEN position <= ?2 OR NOT \(Self.isKnown) THEN ?3 ELSE tag END, \
                position = CASE WHEN position <= ?2 OR NOT \(Self.isKnown) THEN ?2 ELSE position END
                """, persistent: false)
            update.bind(consumer, at: 1)
            update.bind(token.position, at: 2)
            update.bind(token.tag, at: 3)
            update.bind(Date().timeIntervalSinceReferenceDate, at: 4)
            try update.run()
            try connection.commit()
            return true
        }
        if !isSet { throw .expired(token: token) }
    }

    private static let isKnown = """
        EXISTS (SELECT 1 FROM \(HistoryTables.changes) AS h WHERE h.position = \(HistoryTables.consumers).position \
        AND h.key = \(HistoryTables.consumers).tag)
        """

    func removeConsumer(_ consumer: String) throws(HistoryError) {
        try writing { (connection) throws(StoreError) in
            let delete = try connection.prepare(
                "DELETE FROM \(HistoryTables.consumers) WHERE name = ?", persistent: false)
            delete.bind(consumer, at: 1)
            try delete.run()
        }
    }

    func consumers() throws(HistoryError) -> [String] {
        try reading { (reader) throws(StoreError) in
            try reader.connection.texts("SELECT name FROM \(HistoryTables.consumers) ORDER BY name")
        }
    }

    // MARK: Purging

    @discardableResult
    func purge(upTo token: HistoryToken) throws(HistoryError) -> Int {
        let removed: Int? = try writing { (connection) throws(StoreError) in
            guard try HistoryReader(store, on: connection).isValid(token) else { return nil }
            return try HistoryPurge(connection: connection).remove(upTo: token.position)
        }
        return try unexpired(removed, token)
    }

    @discardableResult
    func purge() throws(HistoryError) -> Int {
        try writing { (connection) throws(StoreError) in try HistoryPurge(connection: connection).run() }
    }

    // MARK: Connections

    private var damaged: StoreError {
        .corrupt(path: store.path, reason: "\(HistoryTables.changes) has lost the row at which it begins")
    }

    private func current(_ reader: HistoryReader) throws(StoreError) -> HistoryToken {
        guard let token = try reader.current() else { throw damaged }
        return token
    }

    /// Runs a closure that sees one state of the file.
    private func reading<T>(_ body: (HistoryReader) throws(StoreError) -> T) throws(HistoryError) -> T {
        let result: T?
        do throws(StoreError) {
            result = try store.pool.read { (connection) throws(StoreError) in
                try connection.readingOneState { () throws(StoreError) in
                    guard try HistoryTables.retention(on: connection) != nil else { return nil }
                    return try body(HistoryReader(store, on: connection))
                }
            }
        } catch {
            throw .store(error)
        }
        return try recorded(result)
    }

    private func writing<T>(_ body: (Connection) throws(StoreError) -> T) throws(HistoryError) -> T {
        let result: T?
        do throws(StoreError) {
            guard !store.options.isReadOnly else { throw StoreError.readOnly(path: store.path) }
            result = try store.pool.write { (connection) throws(StoreError) in
                guard try HistoryTables.retention(on: connection) != nil else { return nil }
                return try body(connection)
            }
        } catch {
            throw .store(error)
        }
        return try recorded(result)
    }

    private func recorded<T>(_ result: T?) throws(HistoryError) -> T {
        guard let result else { throw .notRecorded(store: store.name) }
        return result
    }
}
