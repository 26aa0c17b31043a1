import Foundation
import StrataCoreDataModel
import StrataSQL
import StrataSQLite

/// Compares a Core Data store with the rules of the format.
struct FormatChecker {
    let file: CoreDataFile
    let connection: Connection
    private(set) var problems: [CoreDataFormatProblem] = []

    var model: CoreDataModel { file.source.file.model }
    var map: StoreMap { file.map }

    init(file: CoreDataFile, connection: Connection) {
        self.file = file
        self.connection = connection
    }

    /// Runs all checks in one transaction, so that they see the store at one moment.
    mutating func run() throws(StoreError) -> [CoreDataFormatProblem] {
        try connection.readingOneState { () throws(StoreError) in try check() }
        return problems
    }

    private mutating func check() throws(StoreError) {
        try checkFile()
        checkMetadata()
        try checkEntities()
        for difference in map.differences { note(.tables, file.path, difference) }
        checkIndexes()
        for entity in model.entitiesInStoreOrder where map.places[entity.name] != nil { try checkRows(of: entity) }
        for entity in model.entitiesInStoreOrder {
            for relationship in entity.relationships where relationship.isToMany && !relationship.isTransient {
                try checkPairs(of: relationship, in: entity)
            }
        }
    }

    mutating func note(_ kind: CoreDataFormatProblem.Kind, _ subject: String, _ reason: String) {
        problems.append(CoreDataFormatProblem(kind: kind, subject: subject, reason: reason))
    }

    /// Notes how many rows meet a condition, if any do.
    mutating func count(
        _ kind: CoreDataFormatProblem.Kind, _ subject: String, _ from: String, _ condition: String, _ reason: String
    ) throws(StoreError) {
        let statement = try connection.prepare(
            "SELECT count(*), min(s.Z_PK) FROM \(from) WHERE \(condition)", persistent: false)
        guard try statement.step() else { return }
        defer { statement.reset() }
        let found = statement.integer(0)
        if found > 0 { note(kind, subject, "\(reason) in \(found) rows, first in row \(statement.integer(1))") }
    }

    // MARK: Housekeeping

    private mutating func checkFile() throws(StoreError) {
        for problem in try connection.texts("PRAGMA main.quick_check(20)") where problem != "ok" {
            note(.file, file.path, problem)
        }
        for (pragma, expected) in [("auto_vacuum", Int64(2)), ("user_version", 0), ("application_id", 0)] {
            let found = try connection.integer("PRAGMA main.\(pragma)") ?? 0
            if found != expected { note(.file, file.path, "\(pragma) is \(found), not \(expected)") }
        }
        for table in ["Z_METADATA", "Z_MODELCACHE"] where file.tables.table(table) != nil {
            let rows = try connection.integer("SELECT count(*) FROM \(table)") ?? 0
            if rows > 1 || table == "Z_METADATA" && rows == 0 { note(.metadata, table, "it has \(rows) rows, not one") }
        }
        if try connection.integer("SELECT Z_VERSION FROM Z_METADATA") != 1 {
            note(.metadata, "Z_METADATA", "Z_VERSION is not 1")
        }
    }

    private mutating func checkMetadata() {
        let metadata = file.metadata
        guard !metadata.versionHashes.isEmpty else { return }
        if file.source.hasMatchingHashes == false {
            note(.metadata, "NSStoreModelVersionHashes", "the hashes are not those of the model")
        }
        for (name, hash) in metadata.versionHashes.sorted(by: { $0.key < $1.key }) where hash.count != 32 {
            note(.metadata, "NSStoreModelVersionHashes", "the hash of \(name) has \(hash.count) bytes, not 32")
        }
        let stored = CoreDataVersionHashes(stored: metadata.versionHashes)
        if let digest = metadata.digest, digest != stored.digest {
            note(.metadata, "NSStoreModelVersionHashesDigest", "it is not the digest of the hashes")
        }
        if let checksum = metadata.checksum, checksum != stored.checksum {
            note(.metadata, "NSStoreModelVersionChecksumKey", "it is not the checksum of the hashes")
        }
    }

    private mutating func checkEntities() throws(StoreError) {
        for entity in model.entitiesInStoreOrder {
            guard let place = map.places[entity.name] else {
                // A configuration leaves out entities.
                if model.configurations.isEmpty { note(.entities, entity.name, "Z_PRIMARYKEY lacks it") }
                continue
            }
            guard let entry = file.tables.entries.first(where: { $0.number == place.number }) else { continue }
            let parent = entity.parent.flatMap { map.places[$0]?.number } ?? 0
            if entry.parent != parent { note(.entities, entity.name, "Z_SUPER is \(entry.parent), not \(parent)") }
            guard parent == 0 else {
                if entry.maximum != 0 {
                    note(.entities, entity.name, "Z_MAX is \(entry.maximum), but it is not a root")
                }
                continue
            }
            let highest = try connection.integer("SELECT max(Z_PK) FROM \(Identifiers.quote(place.table))") ?? 0
            if entry.maximum < highest {
                note(.entities, entity.name, "Z_MAX is \(entry.maximum), below the key \(highest)")
            }
        }
    }

    private mutating func checkIndexes() {
        for root in model.entities where model.lineage(of: root).count == 1 {
            guard let place = map.places[root.name] else { continue }
            let family = model.entities.filter { model.lineage(of: $0).last?.name == root.name }
            let table = place.table.uppercased()
            if family.count > 1 { checkIndex("\(table)_Z_ENT_INDEX") }
            for entity in family {
                for relationship in entity.relationships where !relationship.isToMany {
                    guard let column = map.columns[entity.name]?[relationship.name] else { continue }
                    checkIndex("\(table)_\(column.uppercased())_INDEX")
                }
                for constraint in entity.uniquenessConstraints where map.places[entity.name] != nil {
                    checkIndex("Z_\(entity.name)_UNIQUE_\(constraint.joined(separator: "_"))".uppercased())
                }
            }
        }
    }

    private mutating func checkIndex(_ name: String) {
        if !file.tables.indexes.contains(name) { note(.tables, name, "the index is missing") }
    }
}

extension CoreDataVersionHashes {
    /// The hashes that a store has.
    fileprivate init(stored: [String: Data]) {
        self.init(CoreDataModel(name: ""))
        hashes = stored
    }
}
