import Foundation
import StrataStore

/// What a store says about itself.
public struct StoreMetadata: Sendable, Hashable {
    /// The identity of the store.
    public let identifier: UUID
    /// The version of the file format; ``currentFormatVersion`` in new files.
    public let formatVersion: Int
    /// The name of the model.
    public let modelName: String
    /// The version hash of the model.
    public let versionHash: String
    /// The properties of each entity as the store keeps them: name to a description such as `string` or `to-one
    /// Country`.
    public let entities: [String: [String: String]]

    /// The format that this version of Strata writes. Format 2 has the complete model, so that files can be migrated.
    public static let currentFormatVersion = 2

    /// The minimum version of the format that a program must know to write what this one writes.
    static let minimumWriterVersion = 2

    /// What a SQLite file's header carries to say that it is a store: the bytes of `STRA`.
    static let applicationID: Int64 = 0x5354_5241
}

extension StoreMetadata {
    /// What a store made for a model says.
    init(identifier: UUID, layout: StoreLayout) {
        self.init(
            identifier: identifier, formatVersion: Self.currentFormatVersion, modelName: layout.model.name,
            versionHash: layout.model.versionHash, entities: Self.describe(layout))
    }

    /// Describes all that decides where and how values are in the file.
    private static func describe(_ layout: StoreLayout) -> [String: [String: String]] {
        var result: [String: [String: String]] = [:]
        for entity in layout.model.entities {
            var properties = ["_table": layout.table(entity.index).name]
            if let parent = layout.model.parent(of: entity) { properties["_parent"] = parent.name }
            if entity.isAbstract { properties["_abstract"] = "true" }
            if layout.table(entity.index).hasEntityColumn { properties["_entity"] = "column" }
            for slot in entity.slots {
                guard let column = layout.column(entity.index, slot.index) else { continue }
                let destination = slot.relationshipIndex.map { entity.relationships[$0].destination }
                let kind = destination.map { "to-one \($0)" } ?? slot.type?.storedName ?? "\(slot.storage)"
                properties[slot.name] = kind + " in \(column.name)"
            }
            for relationship in entity.relationships where relationship.isToMany {
                let place: String
                switch relationship.storage {
                case .inverseSlot:
                    place = layout.orderColumn(entity.index, relationship.index).map { " ordered by \($0)" } ?? ""
                case .pairs:
                    let side = layout.pairs(entity.index, relationship.index)
                    place = side.map { " in \($0.table.name)" + ($0.order.map { " ordered by \($0)" } ?? "") } ?? ""
                case .slot: place = ""
                }
                properties[relationship.name] = "to-many \(relationship.destination)" + place
            }
            result[entity.name] = properties
        }
        return result
    }

    /// What differs between the model of a file and another one; empty if the file can be opened with the other.
    func differences(from other: StoreMetadata) -> [String] {
        var result: [String] = []
        for name in Set(entities.keys).union(other.entities.keys).sorted() {
            switch (entities[name], other.entities[name]) {
            case (nil, _): result.append("entity \(name) is new")
            case (_, nil): result.append("entity \(name) is missing from the model")
            case (let old?, let new?):
                for property in Set(old.keys).union(new.keys).sorted() where old[property] != new[property] {
                    let path =
                        property.hasPrefix("_") ? "entity \(name): \(property.dropFirst())" : "\(name).\(property)"
                    switch (old[property], new[property]) {
                    case (nil, let now?): result.append("\(path) is new (\(now))")
                    case (let was?, nil): result.append("\(path) is missing from the model (was \(was))")
                    case (let was?, let now?): result.append("\(path) was \(was), is \(now)")
                    default: break
                    }
                }
            }
        }
        if result.isEmpty, versionHash != other.versionHash {
            result.append("version hash was \(versionHash), is \(other.versionHash)")
        }
        return result
    }

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
        let entries = try entries(["store_uuid", "model_name", "version_hash", "model"], on: connection)
        guard let identifier = entries["store_uuid"].flatMap(UUID.init(uuidString:)),
            let name = entries["model_name"], let hash = entries["version_hash"], let model = entries["model"],
            let entities = try? JSONDecoder().decode([String: [String: String]].self, from: Data(model.utf8))
        else { throw .corrupt(path: path, reason: "_metadata lacks an entry or holds one that cannot be read") }
        return StoreMetadata(
            identifier: identifier, formatVersion: format, modelName: name, versionHash: hash, entities: entities)
    }
}
