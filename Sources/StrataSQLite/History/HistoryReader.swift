import Foundation
import StrataCSQLite
import StrataSQL
import StrataStore

/// Reads history on a connection, within a transaction, so that nothing is purged or added meanwhile.
struct HistoryReader {
    private typealias Kind = HistoryKind

    let connection: Connection
    let storeIdentifier: UUID
    let names: HistoryNames

    init(_ store: SQLiteStore, on connection: Connection) throws(StoreError) {
        self.connection = connection
        storeIdentifier = store.identifier
        let query = try connection.statement(
            "SELECT id, coalesce(renamed, definition) FROM \(HistoryTables.entities)")
        var entities: [Int64: HistoryEntity] = [:]
        while try query.step() {
            guard let entity = HistoryEntity(text: query.text(1)) else {
                query.reset()
                throw .corrupt(path: connection.path, reason: "a row of \(HistoryTables.entities) cannot be read")
            }
            entities[query.integer(0)] = entity
        }
        names = HistoryNames(model: store.model, storeIdentifier: store.identifier, entities: entities)
    }

    // MARK: Places

    /// The last place.
    func current() throws(StoreError) -> HistoryToken? {
        try token("WHERE kind = \(Kind.end) ORDER BY position DESC LIMIT 1")
    }

    /// The place at which what is kept begins.
    func first() throws(StoreError) -> HistoryToken? { try token("ORDER BY position LIMIT 1") }

    /// The last place that is not later than a date.
    func token(at date: Date) throws(StoreError) -> HistoryToken? {
        try token(
            "WHERE kind = \(Kind.end) AND date <= \(date.timeIntervalSinceReferenceDate) ORDER BY position DESC LIMIT 1"
        )
    }

    private func token(_ rest: String) throws(StoreError) -> HistoryToken? {
        let query = try connection.prepare(
            "SELECT position, key FROM \(HistoryTables.changes) \(rest)", persistent: false)
        guard try query.step() else { return nil }
        defer { query.reset() }
        return HistoryToken(store: storeIdentifier, position: query.integer(0), tag: query.integer(1))
    }

    /// Whether all that came after a place is there.
    func isValid(_ token: HistoryToken) throws(StoreError) -> Bool {
        guard token.store == storeIdentifier else { return false }
        let query = try connection.statement(
            "SELECT 1 FROM \(HistoryTables.changes) WHERE position = ? AND kind = \(Kind.end) AND key = ?")
        query.bind(token.position, at: 1)
        query.bind(token.tag, at: 2)
        guard try query.step() else { return false }
        query.reset()
        return true
    }

    // MARK: Transactions

    /// The transactions after a place.
    func transactions(
        after start: HistoryToken, where filter: HistoryFilter, limit: Int
    ) throws(StoreError) -> HistoryPage {
        let query = try connection.prepare(
            """
            SELECT position, kind, entity, key, changed, date, author, context, process, process_id, origin \
            FROM \(HistoryTables.changes) WHERE position > ?\(condition(filter)) ORDER BY position
            """, persistent: false)
        query.bind(start.position, at: 1)
        defer { query.reset() }
        var result: [HistoryTransaction] = []
        var end = start
        var fold = TransactionFold(names: names)
        while try query.step() {
            let kind = query.integer(1)
            if kind != Kind.end {
                let row = TransactionFold.Row(
                    kind: kind, entity: query.integer(2), key: query.integer(3), changed: query.integer(4))
                let place = fold.add(row)
                if let place { try readValues(query.integer(0), row, place, &fold) }
                continue
            }
            if result.count == limit { return HistoryPage(transactions: result, token: end, hasMore: true) }
            end = HistoryToken(store: storeIdentifier, position: query.integer(0), tag: query.integer(3))
            let transaction = transaction(query, end, [])
            if filter.wants(transaction) {
                let changes = fold.changes().filter { filter.wants($0, in: names.model) }
                if !changes.isEmpty { result.append(self.transaction(query, end, changes)) }
            }
            fold.removeAll()
        }
        return HistoryPage(transactions: result, token: end, hasMore: false)
    }

    /// The part of a filter that spares rows; ends of transactions are always read.
    private func condition(_ filter: HistoryFilter) -> String {
        var ids: [Int64]?
        if let entities = filter.entities { ids = names.ids(of: entities) + inherited(entities) }
        var result = ids.map { " AND (kind = \(Kind.end) OR entity IN (\(list($0))))" } ?? ""
        if let objects = filter.objects, objects.count <= 500 {
            result += " AND (kind = \(Kind.end) OR key IN (\(list(objects.map(\.key)))))"
        }
        return result
    }

    /// The recorded entities from which some inherit: the row of a relationship may only know such an ancestor of an
    /// object.
    private func inherited(_ entities: Set<String>) -> [Int64] {
        let roots = entities.compactMap { names.model.entity(named: $0)?.rootName }
        return names.ids(of: Set(roots))
    }

    private func list(_ numbers: [Int64]) -> String { numbers.map(String.init).joined(separator: ", ") }

    private func transaction(_ row: Statement, _ token: HistoryToken, _ changes: [HistoryChange]) -> HistoryTransaction
    {
        HistoryTransaction(
            token: token, date: Date(timeIntervalSinceReferenceDate: row.double(5)),
            author: row.isNull(6) ? Optional.none : row.text(6),
            contextName: row.isNull(7) ? Optional.none : row.text(7), processName: row.text(8),
            processID: Int32(truncatingIfNeeded: row.integer(9)), origin: row.integer(10), changes: changes)
    }

    // MARK: Old values

    private func readValues(
        _ change: Int64, _ row: TransactionFold.Row, _ place: Int, _ fold: inout TransactionFold
    ) throws(StoreError) {
        guard row.kind != Kind.insert, names.keepsValues(row.entity) else { return }
        let query = try connection.statement("SELECT property, value FROM \(HistoryTables.values) WHERE change = ?")
        query.bind(change, at: 1)
        while try query.step() {
            let bit = Int(query.integer(0))
            guard names.keeps(bit, row.entity), let name = names.name(bit, row.entity) else { continue }
            fold.note(value(query, names.description(row.entity)?.slot(named: name)), of: name, place: place)
        }
    }

    /// An old value as one of a slot; as what it is if that was of another type then.
    private func value(_ query: Statement, _ slot: SlotDescription?) -> Value {
        let type = query.type(1)
        if type == SQLITE_NULL { return .null }
        if let slot {
            let kind: SQLKind? =
                switch (slot.storage, type) {
                case (.integer, SQLITE_INTEGER): .integer
                case (.boolean, SQLITE_INTEGER): .boolean
                case (.key, SQLITE_INTEGER): .object
                case (.double, SQLITE_FLOAT), (.double, SQLITE_INTEGER): .double
                case (.date, SQLITE_FLOAT), (.date, SQLITE_INTEGER): .date
                case (.text, SQLITE_TEXT): slot.type?.isJSON == true ? .json : slot.type == .uri ? .uri : .text
                case (.bytes, SQLITE_BLOB): .bytes
                case (.uuid, SQLITE_BLOB): .uuid
                case (.geoPoint, SQLITE_BLOB): .point
                default: nil
                }
            if slot.storage == .decimal, let number = SQLFunctions.decimal(query.textBytes(1)) {
                return .decimal(number)
            }
            if let kind { return query.value(1, kind) }
        }
        switch type {
        case SQLITE_INTEGER: return .integer(query.integer(1))
        case SQLITE_FLOAT: return .double(query.double(1))
        case SQLITE_TEXT: return .string(query.text(1))
        default: return .binary(Data(query.blobBytes(1)))
        }
    }

    // MARK: One object

    /// What happened to an object after a place, as if it had been one transaction; nil if nothing did.
    func past(of id: ObjectID, after start: HistoryToken) throws(StoreError) -> ObjectPast? {
        let ids = names.ids(ofHierarchy: id.entity.rootName)
        let query = try connection.prepare(
            """
            SELECT position, kind, entity, key, changed FROM \(HistoryTables.changes) \
            WHERE position > ? AND key = ? AND entity IN (\(list(ids))) ORDER BY position
            """, persistent: false)
        query.bind(start.position, at: 1)
        query.bind(id.key, at: 2)
        defer { query.reset() }
        var fold = TransactionFold(names: names)
        var hasGone = false
        while try query.step() {
            let row = TransactionFold.Row(
                kind: query.integer(1), entity: query.integer(2), key: query.integer(3), changed: query.integer(4))
            // What happened to an object that came back says nothing of the one that went.
            if hasGone { break }
            guard let place = fold.add(row) else { continue }
            try readValues(query.integer(0), row, place, &fold)
            if row.kind == Kind.delete { hasGone = true }
        }
        return fold.objects.first.map { ObjectPast(object: $0, hasGone: hasGone) }
    }
}
