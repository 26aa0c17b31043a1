import Foundation
import StrataCoreDataModel
import StrataSQL
import StrataSQLite

/// What is in a Core Data store: for people who look after one.
public struct CoreDataStoreInfo: Sendable, Hashable {
    /// An entity of a store.
    public struct EntityInfo: Sendable, Hashable {
        /// The name in Core Data.
        public let name: String
        /// The name in Strata; nil if the model cannot be converted.
        public let strataName: String?
        /// The number of the entity in the store.
        public let number: Int
        /// The name of the entity that it inherits from.
        public let parent: String?
        /// Whether there are no objects of this entity itself.
        public let isAbstract: Bool
        /// The table that keeps its objects.
        public let table: String
        /// How many objects of this entity itself there are, without those of entities that inherit from it.
        public let count: Int
        /// Whether the version hash in the store is that of the model; nil if they cannot be compared.
        public let hasMatchingHash: Bool?
    }

    /// What the store says about itself.
    public let metadata: CoreDataMetadata
    /// The model, and how it was found.
    public let model: CoreDataStoreModel
    /// The entities in the order of their numbers.
    public let entities: [EntityInfo]
    /// How many transactions of persistent history there are; nil if the store records none.
    public let transactionCount: Int?
    /// Whether the store mirrors CloudKit.
    public let isCloudMirrored: Bool
    /// The size of the database file in bytes.
    public let fileSize: Int
    /// The size of the write-ahead log in bytes.
    public let logSize: Int
    /// How many values are in files of their own, and their size in bytes.
    public let externalCount: Int
    public let externalSize: Int
    /// What SQLite's `PRAGMA quick_check` finds; empty if all is well, nil if it was left out.
    public let problems: [String]?
    /// What is odd about the store, and what of its model has no counterpart.
    public let warnings: [String]
}

extension CoreDataStore {
    /// What is in a store. The file is opened for reading only.
    ///
    ///     for entity in try CoreDataStore.info(at: "Notes.sqlite").entities { print(entity.name, entity.count) }
    ///
    /// - Parameters:
    ///   - path: The file of the store.
    ///   - model: Where the model comes from.
    ///   - checkingIntegrity: Whether the whole file is read to see whether it is sound.
    /// - Throws: As ``open(path:model:as:options:)``.
    public static func info(
        at path: String, model: CoreDataModelSource = .automatic, checkingIntegrity: Bool = true
    ) throws(StoreError) -> CoreDataStoreInfo {
        let file = try CoreDataFile(path: path, model: model, options: Options())
        let hashes = CoreDataVersionHashes(file.source.file.model)
        let counts = try file.database.inspect { (connection) throws(StoreError) in
            try Counts(connection, file: file, checkingIntegrity: checkingIntegrity)
        }
        let entities = file.source.file.model.entitiesInStoreOrder.compactMap {
            entity -> CoreDataStoreInfo.EntityInfo? in
            guard let place = file.map.places[entity.name] else { return nil }
            let isComparable = file.source.origin != .inferred && !file.metadata.versionHashes.isEmpty
            return CoreDataStoreInfo.EntityInfo(
                name: entity.name, strataName: file.conversion.mapping.entities[entity.name], number: Int(place.number),
                parent: entity.parent, isAbstract: entity.isAbstract, table: place.table,
                count: counts.count(of: place, in: file),
                hasMatchingHash: isComparable
                    ? hashes.hashes[entity.name].map { $0 == file.metadata.versionHashes[entity.name] } : nil)
        }
        let external = file.folder.content()
        return CoreDataStoreInfo(
            metadata: file.metadata, model: file.source, entities: entities, transactionCount: counts.transactions,
            isCloudMirrored: file.tables.tables.keys.contains { $0.hasPrefix("ANSCK") },
            fileSize: size(file.path), logSize: size(file.path + "-wal"), externalCount: external.count,
            externalSize: external.size, problems: counts.problems,
            warnings: file.warnings + file.map.differences + file.conversion.warnings.map(\.message))
    }

    private static func size(_ path: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.intValue ?? 0
    }

    /// What has to be counted in the tables.
    private struct Counts: Sendable {
        /// How many rows there are, by table and number of the entity.
        var rows: [String: [Int64: Int]] = [:]
        var transactions: Int?
        var problems: [String]?

        /// The rows of an entity: all rows, if the table has no other entity.
        func count(of place: StoreMap.Place, in file: CoreDataFile) -> Int {
            let rows = rows[place.table] ?? [:]
            let isAlone = file.map.places.values.filter { $0.table == place.table }.count == 1
            return isAlone ? rows.values.reduce(0, +) : rows[place.number] ?? 0
        }

        init(_ connection: Connection, file: CoreDataFile, checkingIntegrity: Bool) throws(StoreError) {
            // A table whose column is missing is named among the differences.
            for table in Set(file.map.places.values.map(\.table)) where file.tables.table(table)?.column("Z_ENT") != nil
            {
                let statement = try connection.prepare(
                    "SELECT Z_ENT, count(*) FROM \(Identifiers.quote(table)) GROUP BY Z_ENT", persistent: false)
                while try statement.step() {
                    rows[table, default: [:]][statement.integer(0)] = Int(statement.integer(1))
                }
            }
            if let history = file.tables.table("ATRANSACTION") {
                transactions = Int(
                    try connection.integer("SELECT count(*) FROM \(Identifiers.quote(history.name))") ?? 0)
            }
            guard checkingIntegrity else { return }
            let found = try connection.texts("PRAGMA quick_check(20)")
            problems = found == ["ok"] ? [] : found
        }
    }
}
