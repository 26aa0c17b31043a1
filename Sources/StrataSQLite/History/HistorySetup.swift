import Foundation
import StrataSQL
import StrataStore

/// Makes a file record what its options say, with the tables and triggers that fit its model.
struct HistorySetup {
    let schema: Schema
    let recording: HistoryRecording

    /// - Parameter now: The retention of the file as it is; nil if it does not record.
    func run(_ now: HistoryRetention?, on connection: Connection) throws(StoreError) {
        switch recording {
        case .off:
            if now != nil { try inTransaction(connection) { (c) throws(StoreError) in try HistoryTables.drop(on: c) } }
        case .asInFile: if let now { try update(now, now, connection) }
        case .on(let retention): try update(now, retention, connection)
        }
    }

    private func inTransaction(
        _ connection: Connection, _ body: (Connection) throws(StoreError) -> Void
    ) throws(StoreError) {
        try connection.begin()
        defer { connection.rollback() }
        try body(connection)
        try connection.commit()
    }

    private func update(
        _ now: HistoryRetention?, _ wanted: HistoryRetention, _ connection: Connection
    ) throws(StoreError) {
        if now == wanted, try isCurrent(on: connection) { return }
        try inTransaction(connection) { (connection) throws(StoreError) in
            // Another process may have been faster.
            if try HistoryTables.retention(on: connection) == nil { try HistoryTables.create(on: connection) }
            try StoreMetadata.set(HistoryTables.metadataKey, wanted.text, on: connection)
            let triggers = try triggers(adding: true, on: connection).statements()
            let statements = Dictionary(uniqueKeysWithValues: triggers.map { ($0.name, $0.sql) })
            let present = try HistoryTriggers.present(on: connection)
            for name in present.keys.sorted() where present[name] != statements[name] {
                try connection.execute("DROP TRIGGER \(Identifiers.quote(name))")
            }
            for (name, sql) in triggers where present[name] != sql { try connection.execute(sql) }
        }
    }

    private func isCurrent(on connection: Connection) throws(StoreError) -> Bool {
        guard let triggers = try? triggers(adding: false, on: connection) else { return false }
        let wanted = triggers.statements()
        return try HistoryTriggers.present(on: connection)
            == Dictionary(uniqueKeysWithValues: wanted.map { ($0.name, $0.sql) })
    }

    /// The triggers for the model of the schema.
    /// - Parameter adding: Whether definitions of entities that the file lacks are added, otherwise that is an error.
    private func triggers(adding: Bool, on connection: Connection) throws(StoreError) -> HistoryTriggers {
        let layout = HistoryLayout(schema.layout)
        var known: [String: Int64] = [:]
        let query = try connection.prepare(
            "SELECT definition, id FROM \(HistoryTables.entities) WHERE renamed IS NULL", persistent: false)
        while try query.step() { known[query.text(0)] = query.integer(1) }
        var ids: [Int64] = []
        for entity in schema.layout.model.entities {
            let text = layout.entity(entity).text
            if let id = known[text] {
                ids.append(id)
                continue
            }
            guard adding else {
                throw .corrupt(path: connection.path, reason: "\(HistoryTables.entities) lacks \(entity.name)")
            }
            let insert = try connection.prepare(
                "INSERT INTO \(HistoryTables.entities)(definition) VALUES(?) RETURNING id", persistent: false)
            insert.bind(text, at: 1)
            guard try insert.step() else {
                throw .corrupt(path: connection.path, reason: "\(HistoryTables.entities) takes no row")
            }
            ids.append(insert.integer(0))
            insert.reset()
        }
        return HistoryTriggers(layout: schema.layout, history: layout, ids: ids, isMirror: schema.isMirror)
    }

    // MARK: Migration

    /// Prepares a file for a migration: what that writes is not a change of anybody.
    static func pause(on connection: Connection) throws(StoreError) { try HistoryTriggers.drop(on: connection) }

    /// Notes under which names a new model has the entities and properties of recorded changes.
    static func rename(_ mapping: ModelMapping, on connection: Connection) throws(StoreError) {
        guard try HistoryTables.retention(on: connection) != nil else { return }
        let query = try connection.prepare(
            "SELECT id, coalesce(renamed, definition) FROM \(HistoryTables.entities)", persistent: false)
        var renamed: [(Int64, HistoryEntity)] = []
        while try query.step() {
            guard let before = HistoryEntity(text: query.text(1)), let entity = before.renamed(by: mapping),
                entity != before
            else { continue }
            renamed.append((query.integer(0), entity))
        }
        let update = try connection.prepare(
            "UPDATE \(HistoryTables.entities) SET renamed = ? WHERE id = ?", persistent: false)
        for (id, entity) in renamed {
            update.bind(entity.text, at: 1)
            update.bind(id, at: 2)
            try update.run()
        }
    }
}
