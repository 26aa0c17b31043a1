import Foundation
import StrataSQLite

/// Names and versions that a session writes, many by one statement.
struct ApplyNotes {
    /// New names of objects.
    var names: [(root: Int64, id: String, key: Int64)] = []
    /// New placeholders, by topmost entity.
    var placeholders: [Int: [(id: String, key: Int64, entityName: String)]] = [:]
    /// What the server told of the states of objects.
    var versions: [(root: Int64, id: String, version: String?, modified: Date?)] = []
}

extension ApplySession {
    /// How many rows one statement writes at most.
    private static let rowsAtOnce = 100

    /// Writes the names of new objects, and the rows of placeholders.
    mutating func writeNames() throws(StoreError) {
        for part in Self.parts(notes.names) {
            let statement = try connection.statement(
                "INSERT INTO _remote(root, id, key) VALUES \(Self.rows("(?, ?, ?)", part.count))")
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
            for part in Self.parts(list) { try writePlaceholders(part, root) }
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
            "INSERT INTO \(place.table)(_id, _version, \(place.column)\(hasEntity ? ", _entity" : "")) "
                + "VALUES \(Self.rows(row, list.count))")
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

    /// Writes the versions that the server told.
    mutating func writeVersions() throws(StoreError) {
        for part in Self.parts(notes.versions) {
            let statement = try connection.statement(
                """
                UPDATE _remote SET version = v.column3, modified = v.column4 \
                FROM (VALUES \(Self.rows("(?, ?, ?, ?)", part.count))) AS v WHERE root = v.column1 AND id = v.column2
                """)
            var place: Int32 = 0
            for note in part {
                statement.bind(note.root, at: place + 1)
                statement.bind(note.id, at: place + 2)
                if let version = note.version { statement.bind(version, at: place + 3) } else { statement.bindNull(at: place + 3) }
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

    private static func rows(_ row: String, _ count: Int) -> String {
        Array(repeating: row, count: count).joined(separator: ", ")
    }

    /// Full parts, and what is left in parts of few sizes: each size is a statement that stays prepared.
    private static func parts<T>(_ list: [T]) -> [ArraySlice<T>] {
        var result: [ArraySlice<T>] = []
        var rest = list[...]
        for size in [rowsAtOnce, 20, 5, 1] {
            while rest.count >= size {
                result.append(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
        }
        return result
    }
}
