import Foundation
import StrataCSQLite
import StrataCoreDataModel

/// A store in Core Data's format, written by hand: table by table, as the format's description says.
final class AppleStore {
    let path: String
    private let handle: OpaquePointer

    struct Failure: Error { var message: String }

    init(
        metadata: PropertyList? = .dictionary([:]),
        uuid: String = "6F1A8E3C-2B4D-4C5E-9F70-112233445566"
    ) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appendingPathComponent("Zoo.sqlite").path
        var handle: OpaquePointer?
        guard sqlite3_open(path, &handle) == SQLITE_OK, let handle else {
            throw Failure(message: "open")
        }
        self.handle = handle
        try run("PRAGMA auto_vacuum = 2")
        try run(
            "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)")
        try run(
            "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)"
        )
        try run("INSERT INTO Z_METADATA VALUES(1, ?, ?)", uuid, metadata?.binary())
    }

    private init(existing path: String) throws {
        self.path = path
        var handle: OpaquePointer?
        guard sqlite3_open(path, &handle) == SQLITE_OK, let handle else {
            throw Failure(message: "open")
        }
        self.handle = handle
    }

    /// Opens a store that there is; it is removed with this object.
    static func existing(_ path: String) throws -> AppleStore { try AppleStore(existing: path) }

    deinit {
        sqlite3_close_v2(handle)
        try? FileManager.default.removeItem(at: URL(fileURLWithPath: path).deletingLastPathComponent())
    }

    /// Runs a statement with values: nil, whole numbers, floating-point numbers, texts, bytes.
    func run(_ sql: String, _ values: Any?...) throws { try run(sql, list: values) }

    func run(_ sql: String, list values: [Any?]) throws {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else {
            throw Failure(message: String(cString: sqlite3_errmsg(handle)) + " in " + sql)
        }
        defer { sqlite3_finalize(statement) }
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        for (index, value) in values.enumerated() {
            let position = Int32(index + 1)
            switch value {
            case let number as Int: sqlite3_bind_int64(statement, position, Int64(number))
            case let number as Double: sqlite3_bind_double(statement, position, number)
            case let text as String: sqlite3_bind_text(statement, position, text, -1, transient)
            case let data as Data:
                _ = data.withUnsafeBytes {
                    sqlite3_bind_blob(statement, position, $0.baseAddress, Int32($0.count), transient)
                }
            default: sqlite3_bind_null(statement, position)
            }
        }
        let code = sqlite3_step(statement)
        guard code == SQLITE_DONE || code == SQLITE_ROW else {
            throw Failure(message: String(cString: sqlite3_errmsg(handle)) + " in " + sql)
        }
    }

    /// The first column of the rows of a query on a file, sorted.
    static func rows(_ path: String, _ sql: String) throws -> [String] {
        var handle: OpaquePointer?
        defer { sqlite3_close_v2(handle) }
        guard sqlite3_open(path, &handle) == SQLITE_OK else { throw Failure(message: "open") }
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else {
            throw Failure(message: String(cString: sqlite3_errmsg(handle)) + " in " + sql)
        }
        defer { sqlite3_finalize(statement) }
        var result: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            result.append(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "NULL")
        }
        return result.sorted()
    }

    /// Runs a statement on a file, as another program would.
    static func execute(_ path: String, _ sql: String) throws {
        var handle: OpaquePointer?
        defer { sqlite3_close_v2(handle) }
        guard sqlite3_open(path, &handle) == SQLITE_OK else { throw Failure(message: "open") }
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
            throw Failure(message: String(cString: sqlite3_errmsg(handle)) + " in " + sql)
        }
    }

    func entity(_ number: Int, _ name: String, parent: Int = 0, maximum: Int = 0) throws {
        try run("INSERT INTO Z_PRIMARYKEY VALUES(?, ?, ?, ?)", number, name, parent, maximum)
    }

    /// The folder with external values; it is made.
    func externalFolder() throws -> URL {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
            .appendingPathComponent(".Zoo_SUPPORT/_EXTERNAL_DATA")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }
}

/// An archive of `NSKeyedArchiver`, written by Foundation.
func archive(_ value: Any) throws -> Data {
    try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: false)
}

/// A keyed archive of an object of an unknown class.
func archiveOfUnknownClass(_ name: String) -> Data {
    PropertyList.dictionary([
        "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
        "$top": .dictionary(["root": .uid(1)]),
        "$objects": .array([
            .string("$null"),
            .dictionary(["$class": .uid(2), "hue": .real(0.5)]),
            .dictionary([
                "$classname": .string(name), "$classes": .array([.string(name), .string("NSObject")]),
            ]),
        ]),
    ]).binary()
}
