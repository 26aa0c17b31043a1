public import Foundation
import StrataCSQLite
public import StrataCoreDataModel
import StrataSQLite

extension CoreDataStore {
    /// The version of Core Data that new stores name as theirs: that of macOS 14 and iOS 17.
    public static let writtenFrameworkVersion = 1344

    /// Creates an empty store in Core Data's format: tables and indexes, version hashes, digest, checksum, and a copy of the
    /// model.
    ///
    ///     try CoreDataStore.create(path: "Notes.sqlite", model: try .read(path: "Notes.xcdatamodeld"))
    ///
    /// Names of tables, columns and indexes, and all that identifies the version, are those of stores that Core Data itself
    /// made for the same models. Whether Core Data opens such a file has not been tested.
    /// - Parameters:
    ///   - path: The file, which must not exist.
    ///   - model: The model.
    ///   - identifier: The identity of the store.
    /// - Returns: A warning for everything in the model that the copy of it in the store lacks, by name: fetch requests,
    ///   configurations, composite types, fetched properties, validation rules, and indexes with a condition or without a name.
    ///   The tables and the version hashes are complete.
    /// - Throws: ``StoreError/unsupported(store:feature:)`` if the model has something of which it is not known how Core Data
    ///   stores it: derived and composite attributes, and a few rare settings. ``StoreError/cannotOpen(path:reason:)`` if the
    ///   file exists or cannot be made.
    @discardableResult
    public static func create(
        path: String, model: CoreDataModelFile, identifier: UUID = UUID()
    ) throws(StoreError) -> [CoreDataModelWarning] {
        let hashes = CoreDataVersionHashes(model.model)
        if let (entity, reason) = hashes.unknown.min(by: { $0.key < $1.key }) {
            throw .unsupported(store: "Core Data", feature: "a new store with the entity \(entity), because \(reason)")
        }
        guard let digest = hashes.digest, let checksum = hashes.checksum, !hashes.hashes.isEmpty else {
            throw .unsupported(store: "Core Data", feature: "a new store of a model without entities")
        }
        guard !FileManager.default.fileExists(atPath: path) else {
            throw .cannotOpen(path: path, reason: "it exists already")
        }
        let metadata = PropertyList.dictionary([
            "NSStoreType": .string("SQLite"), "_NSAutoVacuumLevel": .string("2"),
            "NSPersistenceFrameworkVersion": .integer(Int64(writtenFrameworkVersion)),
            "NSStoreModelVersionIdentifiers": .array(model.model.versionIdentifiers.map { .string($0) }),
            "NSStoreModelVersionHashesVersion": .integer(3),
            "NSStoreModelVersionHashes": .dictionary(hashes.hashes.mapValues { .data($0) }),
            "NSStoreModelVersionHashesDigest": .string(digest), "NSStoreModelVersionChecksumKey": .string(checksum),
        ])
        let copy = model.model.compiled(file: model.path)
        let file = try NewFile(path: path)
        do throws(StoreError) {
            // The mode of the vacuum counts only before there is a table.
            for pragma in ["page_size = 4096", "auto_vacuum = 2", "journal_mode = WAL"] {
                try file.run("PRAGMA \(pragma)")
            }
            try file.run("BEGIN")
            for statement in NewStoreSchema(model: model.model).statements { try file.run(statement) }
            try file.run("INSERT INTO Z_METADATA VALUES(1, '\(identifier.uuidString)', ?)", metadata.binary())
            try file.run("INSERT INTO Z_MODELCACHE VALUES(?)", Deflater.stored(copy.data))
            try file.run("COMMIT")
        } catch {
            file.close()
            for ending in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + ending) }
            throw error
        }
        file.close()
        return copy.warnings
    }
}

/// DEFLATE streams of blocks that are not compressed, which every reader takes.
enum Deflater {
    static func stored(_ data: Data) -> Data {
        let bytes = [UInt8](data)
        var result = Data()
        var start = 0
        repeat {
            let end = min(start + 0xffff, bytes.count)
            let length = UInt16(end - start)
            result.append(end == bytes.count ? 1 : 0)
            for word in [length, ~length] { result.append(contentsOf: [UInt8(word & 255), UInt8(word >> 8)]) }
            result.append(contentsOf: bytes[start..<end])
            start = end
        } while start < bytes.count
        return result
    }
}

/// A database that is being made.
private final class NewFile {
    private let path: String
    private let handle: OpaquePointer

    init(path: String) throws(StoreError) {
        self.path = path
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
        guard code == SQLITE_OK, let handle else {
            let reason = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(handle)
            throw .cannotOpen(path: path, reason: reason)
        }
        self.handle = handle
    }

    func run(_ sql: String, _ bytes: Data? = nil) throws(StoreError) {
        var statement: OpaquePointer?
        var code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
        defer { sqlite3_finalize(statement) }
        if code == SQLITE_OK {
            if let bytes {
                // Tells SQLite to copy.
                let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
                _ = bytes.withUnsafeBytes {
                    sqlite3_bind_blob64(statement, 1, $0.baseAddress, UInt64($0.count), transient)
                }
            }
            code = sqlite3_step(statement)
        }
        guard code == SQLITE_DONE || code == SQLITE_ROW else {
            if code & 255 == SQLITE_FULL { throw .diskFull(path: path) }
            throw .io(path: path, code: Int(code), reason: String(cString: sqlite3_errmsg(handle)))
        }
    }

    func close() { sqlite3_close_v2(handle) }
}
