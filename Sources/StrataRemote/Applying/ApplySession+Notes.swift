import Foundation
import StrataSQL
import StrataSQLite

/// Names and versions that a session writes, many by one statement.
struct ApplyNotes {
    /// New names of objects.
    var names: [(root: Int64, id: String, key: Int64)] = []
    /// New placeholders, by topmost entity.
    var placeholders: [Int: [(id: String, key: Int64, entityName: String)]] = [:]
    /// What the server reported about the states of objects.
    var versions: [(root: Int64, id: String, version: String?, modified: Date?)] = []
    /// Placeholders that turn out to be of other entities than was thought: their keys, by entity.
    var entities: [Int: [Int64]] = [:]
    /// Entries of the outbox whose base is another one now.
    var entries: [OutboxEntry] = []
}

extension ApplySession {
    /// Writes the names of new objects, and the rows of placeholders.
    mutating func writeNames() throws(StoreError) {
        for part in StatementRows.parts(notes.names[...], columns: 3) {
            let statement = try connection.statement(
                "\(StatementRows.insert) _remote(root, id, key) VALUES \(StatementRows.text("(?, ?, ?)", part.count))")
            var place: Int32 = 0
            for name in part {
                statement.bind(name.root, at: place + 1)
                statement.bind(name.id, at: place + 2)
                statement.bind(name.key, at: place + 3)
                place += 3
            }
            try statement.run()
        }
        notes.names = []
        for (root, list) in notes.placeholders.sorted(by: { $0.key < $1.key }) {
            for part in StatementRows.parts(list[...], columns: 3) { try writePlaceholders(part, root) }
        }
        notes.placeholders = [:]
    }

    private func writePlaceholders(
        _ list: ArraySlice<(id: String, key: Int64, entityName: String)>, _ root: Int
    ) throws(StoreError) {
        let slot = mirror.primaryKeys[root]
        guard let place = mirror.store.place(entityIndex: root, slot: slot.index) else { return }
        let hasEntity = mirror.store.hasEntityColumn(root)
        let row = hasEntity ? "(?, 0, ?, ?)" : "(?, 0, ?)"
        let statement = try connection.statement(
            "\(StatementRows.insert) \(place.table)(_id, _version, \(place.column)\(hasEntity ? ", _entity" : "")) "
                + "VALUES \(StatementRows.text(row, list.count))")
        var index: Int32 = 0
        for (id, key, entityName) in list {
            statement.bind(key, at: index + 1)
            switch PrimaryKey.value(id, slot) {
            case .integer(let number): statement.bind(number, at: index + 2)
            case .uuid(let uuid): statement.bind(uuid.data, at: index + 2)
            default: statement.bind(id, at: index + 2)
            }
            if hasEntity { statement.bind(entityName, at: index + 3) }
            index += hasEntity ? 3 : 2
        }
        try statement.run()
    }

    /// Writes what goes along with the rows.
    mutating func writeNotes() throws(StoreError) {
        try mirror.write(notes.entries, on: connection)
        notes.entries = []
        for (entityIndex, keys) in notes.entities.sorted(by: { $0.key < $1.key }) {
            let entity = model.entities[entityIndex]
            let slot = mirror.primaryKeys[entityIndex].index
            guard mirror.store.hasEntityColumn(entityIndex),
                let place = mirror.store.place(entityIndex: entity.rootIndex, slot: slot)
            else { continue }
            let statement = try connection.statement(
                "UPDATE \(place.table) SET _entity = ? WHERE _id IN (SELECT value FROM strata_list(?))")
            statement.bind(entity.name, at: 1)
            statement.bind(ValueList(keys: keys), at: 2)
            try statement.run()
        }
        notes.entities = [:]
        try writeVersions()
    }

    /// Writes the versions that the server told.
    private mutating func writeVersions() throws(StoreError) {
        for part in StatementRows.parts(notes.versions[...], columns: 4) {
            let statement = try connection.statement(
                """
                \(StatementRows.update) _remote SET version = v.column3, modified = v.column4 \
                FROM (VALUES \(StatementRows.text("(?, ?, ?, ?)", part.count))) AS v WHERE root = v.column1 AND id = v.column2
                """)
            var place: Int32 = 0
            for note in part {
                statement.bind(note.root, at: place + 1)
                statement.bind(note.id, at: place + 2)
                if let version = note.version {
                    statement.bind(version, at: place + 3)
                } else {
                    statement.bindNull(at: place + 3)
                }
                if let modified = note.modified {
                    statement.bind(modified.timeIntervalSinceReferenceDate, at: place + 4)
                } else {
                    statement.bindNull(at: place + 4)
                }
                place += 4
            }
            try statement.run()
        }
        notes.versions = []
    }
}
