import Foundation
import StrataSQL
import StrataStore

extension StoreMetadata {
    /// What a SQLite file's header carries to say that it is a store: the bytes of `STRA`.
    static let applicationID: Int64 = 0x5354_5241

    func write(to connection: Connection, objects: [SchemaObject]) throws(StoreError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let description = (try? encoder.encode(entities)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        for (key, value) in [
            ("store_uuid", identifier.uuidString.lowercased()), ("format_version", String(formatVersion)),
            ("model_name", modelName), ("version_hash", versionHash), ("model", description),
        ] {
            try Self.set(key, value, on: connection)
        }
    }

    static func set(_ key: String, _ value: String, on connection: Connection) throws(StoreError) {
        let statement = try connection.prepare(
            "INSERT OR REPLACE INTO _metadata(key, value) VALUES(?, ?)", persistent: false)
        statement.bind(key, at: 1)
        statement.bind(value, at: 2)
        try statement.run()
    }

    static func get(_ key: String, on connection: Connection) throws(StoreError) -> String? {
        let statement = try connection.prepare("SELECT value FROM _metadata WHERE key = ?", persistent: false)
        statement.bind(key, at: 1)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return statement.text(0)
    }

    /// Entries by key, in one statement.
    static func entries(_ keys: [String], on connection: Connection) throws(StoreError) -> [String: String] {
        let list = keys.map(Identifiers.literal).joined(separator: ", ")
        let statement = try connection.prepare(
            "SELECT key, value FROM _metadata WHERE key IN (\(list))", persistent: false)
        var result: [String: String] = [:]
        while try statement.step() { result[statement.text(0)] = statement.text(1) }
        return result
    }

    /// Reads what the file of a connection says; nil if the file is empty.
    static func read(from connection: Connection) throws(StoreError) -> StoreMetadata? {
        try find(on: connection)?.metadata
    }

    /// The entries that describe the model of a file.
    static let modelKeys = [
        "store_uuid", "model_name", "version_hash", "model", StoredModel.recordKey, StoredModel.fingerprintKey,
    ]

    /// Reads what the file of a connection says, with the entries that it was read from; nil if the file is empty.
    static func find(on connection: Connection) throws(StoreError) -> FoundMetadata? {
        // Another process may create the store, or migrate it, between two of the statements.
        try connection.readingOneState { () throws(StoreError) in try findInOneState(on: connection) }
    }

    private static func findInOneState(on connection: Connection) throws(StoreError) -> FoundMetadata? {
        let path = connection.path
        let application = try connection.integer("PRAGMA application_id") ?? 0
        guard application == applicationID else {
            let count = try connection.integer("SELECT count(*) FROM sqlite_master") ?? 0
            if application == 0, count == 0 { return nil }
            throw .notAStore(path: path, reason: "it is the database of another application")
        }
        let format = Int(try connection.integer("PRAGMA user_version") ?? 0)
        if format > currentFormatVersion {
            let writer = try get(StoredModel.minimumWriterKey, on: connection).flatMap { Int($0) } ?? format
            guard writer <= currentFormatVersion else {
                throw .unsupported(
                    store: "SQLite",
                    feature:
                        "format version \(format) of \(path), only up to \(currentFormatVersion); it was written by a "
                        + "newer version of Strata, so update this one")
            }
        }
        let tables =
            try connection.integer("SELECT count(*) FROM sqlite_master WHERE name IN ('_metadata', '_keys')") ?? 0
        guard tables == 2 else { throw .corrupt(path: path, reason: "the table _metadata or _keys is missing") }
        let entries = try entries(modelKeys, on: connection)
        guard let identifier = entries["store_uuid"].flatMap(UUID.init(uuidString:)),
            let name = entries["model_name"], let hash = entries["version_hash"], let model = entries["model"],
            let entities = try? JSONDecoder().decode([String: [String: String]].self, from: Data(model.utf8))
        else { throw .corrupt(path: path, reason: "_metadata lacks an entry or holds one that cannot be read") }
        let metadata = StoreMetadata(
            identifier: identifier, formatVersion: format, modelName: name, versionHash: hash, entities: entities)
        return FoundMetadata(metadata: metadata, entries: entries)
    }
}

/// What a file says about itself, with the entries of `_metadata` that it was read from in one statement.
struct FoundMetadata {
    let metadata: StoreMetadata
    let entries: [String: String]
}
