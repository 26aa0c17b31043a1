import Foundation
import StrataSQL
import StrataStore

/// The entities, object counts, sizes and versions of a store.
///
///     let info = try SQLiteStore.storeInfo(at: "cities.sqlite")
///     for entity in info.entities { print(entity.name, entity.count) }
///     print(info.fileSize + info.logSize + info.externalSize, "bytes")
///     print(info.freePages * info.pageSize, "of them free")
///
/// Use it for a screen with the space that the app takes, for a bug report, or to check a file that you do not have the model
/// for: ``SQLiteStore/storeInfo(at:)`` reads the model's description from the file. `strata store info` prints the same.
///
/// Counting reads an index or table of each entity, so the time grows with the number of objects. To check whether the file is
/// damaged, use ``IntegrityReport``.
public struct StoreInfo: Sendable, Hashable {
    /// An entity of a store.
    public typealias EntityInfo = StoreEntityInfo

    /// The store's identifier, the version of its format, and the name and hash of its model.
    public let metadata: StoreMetadata
    /// The entities in alphabetical order.
    public let entities: [EntityInfo]
    /// The size of the database file in bytes; of the pages in use for a store in memory.
    public let fileSize: Int
    /// The size of the write-ahead log in bytes; 0 for a store in memory.
    public let logSize: Int
    /// The size of a page in bytes.
    public let pageSize: Int
    /// How many pages hold nothing and will be used again.
    public let freePages: Int
    /// How many files hold external values. Those of replaced values that are still kept count, too.
    public let externalCount: Int
    /// The size of these files in bytes.
    public let externalSize: Int
    /// The version of the SQLite library that read the store.
    public let engineVersion: String
    /// The steps of migrations that are still to be done, in their order.
    public let deferredMigrationSteps: [DeferredMigrationStep]
}

/// The result of a check of a store's file: damaged pages, and references that lead nowhere.
///
///     let report = try SQLiteStore.integrityReport(at: "cities.sqlite")
///     if !report.isSound {
///         for problem in report.problems + report.danglingReferences { print(problem) }
///     }
///
/// Check a file after ``StoreError/corrupt(path:reason:)``, after a crash of the device, or before you keep it as a backup. The
/// check reads every page and takes as long as reading the file; other connections can read and write meanwhile.
///
/// A report only describes the file. If it is not sound, restore a backup. It does not look at single values: a value that does
/// not fit its attribute is reported as ``DamagedValue`` when it is read. `strata doctor` prints this report with advice.
public struct IntegrityReport: Sendable, Hashable {
    /// What SQLite's `PRAGMA integrity_check` finds; empty if all is well.
    public let problems: [String]
    /// References that lead to no row, each as the table, the row and the table that it refers to: `city 42 -> country`.
    public let danglingReferences: [String]
    /// Whether nothing is wrong.
    public var isSound: Bool { problems.isEmpty && danglingReferences.isEmpty }
}

extension SQLiteStore {
    /// Reads what is in the store: entities, counts, sizes.
    /// - Throws: ``StoreError`` if the store cannot be read.
    public func storeInfo() throws(StoreError) -> StoreInfo {
        try pool.read { (connection) throws(StoreError) in
            try StoreInfo.read(from: connection, path: location.isFile ? path : nil)
        }
    }

    /// Checks the whole store. This reads every page, so it takes as long as reading the file.
    /// - Throws: ``StoreError`` if the store cannot be read at all. Damage that SQLite can describe is in the report.
    public func integrityReport() throws(StoreError) -> IntegrityReport {
        try pool.read { (connection) throws(StoreError) in try IntegrityReport.read(from: connection) }
    }

    /// Reads what is in the store of a file, without its model. The file is opened only for reading.
    /// - Throws: ``StoreError/notFound(path:)`` if there is no file; ``StoreError/notAStore(path:reason:)`` if it is empty or
    ///   another program's; another ``StoreError`` if it cannot be read.
    public static func storeInfo(at path: String) throws(StoreError) -> StoreInfo {
        try inspect(path) { (connection, path) throws(StoreError) in try StoreInfo.read(from: connection, path: path) }
    }

    /// Checks the store of a file, without its model. The file is opened only for reading.
    /// - Throws: As ``storeInfo(at:)``.
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
