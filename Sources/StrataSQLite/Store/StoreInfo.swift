import Foundation
import StrataSQL
import StrataStore

/// What is in a store: for people who look after one.
public struct StoreInfo: Sendable, Hashable {
    /// An entity of a store.
    public typealias EntityInfo = StoreEntityInfo

    /// What the store says about itself.
    public let metadata: StoreMetadata
    /// The entities by name.
    public let entities: [EntityInfo]
    /// The size of the database file in bytes; of the pages in use for a store in memory.
    public let fileSize: Int
    /// The size of the write-ahead log in bytes.
    public let logSize: Int
    /// The size of a page in bytes.
    public let pageSize: Int
    /// How many pages hold nothing and will be used again.
    public let freePages: Int
    /// How many values are in files of their own.
    public let externalCount: Int
    /// The size of these files in bytes.
    public let externalSize: Int
    /// The version of the SQLite library that read the store.
    public let engineVersion: String
    /// The steps of migrations that are still to be done, in their order.
    public let deferredMigrationSteps: [DeferredMigrationStep]
}

/// Whether a store is sound.
public struct IntegrityReport: Sendable, Hashable {
    /// What SQLite's `PRAGMA integrity_check` finds; empty if all is well.
    public let problems: [String]
    /// References that lead nowhere, as `table row -> table`.
    public let danglingReferences: [String]
    /// Whether nothing is wrong.
    public var isSound: Bool { problems.isEmpty && danglingReferences.isEmpty }
}

extension SQLiteStore {
    /// What is in the store.
    public func storeInfo() throws(StoreError) -> StoreInfo {
        try pool.read { (connection) throws(StoreError) in
            try StoreInfo.read(from: connection, path: location.isFile ? path : nil)
        }
    }

    /// Checks the whole store. This reads every page, so it takes as long as reading the file.
    public func integrityReport() throws(StoreError) -> IntegrityReport {
        try pool.read { (connection) throws(StoreError) in try IntegrityReport.read(from: connection) }
    }

    /// What is in the store of a file, without its model. The file is opened only for reading.
    public static func storeInfo(at path: String) throws(StoreError) -> StoreInfo {
        try inspect(path) { (connection, path) throws(StoreError) in try StoreInfo.read(from: connection, path: path) }
    }

    /// Checks the store of a file, without its model. The file is opened only for reading.
    public static func integrityReport(at path: String) throws(StoreError) -> IntegrityReport {
        try inspect(path) { (connection, _) throws(StoreError) in try IntegrityReport.read(from: connection) }
    }

    /// Reads the file of a store without its model.
    static func inspect<T>(
        _ path: String, _ body: (Connection, String) throws(StoreError) -> T
    ) throws(StoreError) -> T {
        var options = Options()
        options.isReadOnly = true
        let place = try ResolvedLocation(.file(path: path), options: options)
        let connection = try Connection(
            filename: place.filename, path: place.path, readOnly: true, create: false, options: options)
        defer { connection.close() }
        return try body(connection, place.path)
    }
}

extension SQLiteStore.Location {
    var isFile: Bool {
        if case .file = self { true } else { false }
    }
}

extension StoreInfo {
    static func read(from connection: Connection, path: String?) throws(StoreError) -> StoreInfo {
        guard let metadata = try StoreMetadata.read(from: connection) else {
            throw .notAStore(path: connection.path, reason: "the file is empty")
        }
        var entities: [EntityInfo] = []
        for (name, properties) in metadata.entities.sorted(by: { $0.key < $1.key }) {
            let table = properties["_table"] ?? ""
            let isAbstract = properties["_abstract"] != nil
            let condition = properties["_entity"] == nil ? "" : " WHERE _entity = \(Identifiers.literal(name))"
            let count =
                isAbstract
                ? 0 : try connection.integer("SELECT count(*) FROM \(Identifiers.quote(table))\(condition)") ?? 0
            entities.append(
                EntityInfo(
                    name: name, parent: properties["_parent"], isAbstract: isAbstract, table: table, count: Int(count)))
        }
        let pageSize = Int(try connection.integer("PRAGMA page_size") ?? 0)
        let pageCount = Int(try connection.integer("PRAGMA page_count") ?? 0)
        let files = path.map { BlobFolder(storePath: $0) }
        let external = files?.names(olderThan: 0) ?? []
        return StoreInfo(
            metadata: metadata, entities: entities,
            fileSize: path.map(size(of:)) ?? pageSize * pageCount, logSize: path.map { size(of: $0 + "-wal") } ?? 0,
            pageSize: pageSize, freePages: Int(try connection.integer("PRAGMA freelist_count") ?? 0),
            externalCount: external.count,
            externalSize: external.reduce(0) { $0 + size(of: (files?.path ?? "") + "/" + $1) },
            engineVersion: try connection.texts("SELECT sqlite_version()").first ?? "",
            deferredMigrationSteps: try DeferredSteps.read(in: FileNotes(connection: connection)))
    }

    static func size(of path: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.intValue ?? 0
    }
}

extension IntegrityReport {
    static func read(from connection: Connection) throws(StoreError) -> IntegrityReport {
        let problems = try connection.texts("PRAGMA integrity_check").filter { $0 != "ok" }
        let statement = try connection.prepare("PRAGMA foreign_key_check", persistent: false)
        var dangling: [String] = []
        while try statement.step() {
            dangling.append("\(statement.text(0)) \(statement.text(1)) -> \(statement.text(2))")
        }
        return IntegrityReport(problems: problems, danglingReferences: dangling)
    }
}
