import Foundation
import Strata
import StrataCSQLite

/// A store in a file of its own, which goes with this object.
final class MagazineFile {
    let container: PersistentContainer
    private let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "magazine-\(UUID().uuidString).sqlite").path
        container = try PersistentContainer(MagazineModel.self, at: .file(path: path))
    }

    deinit {
        // In the system's temporary folder; a failure leaves litter there, no wrong result.
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    /// What another program finds or changes in the file: the rows with their columns separated by `|`.
    @discardableResult
    func shell(_ sql: String) throws -> [String] { try Self.shell(path, sql) }

    @discardableResult
    static func shell(_ path: String, _ sql: String) throws -> [String] {
        var handle: OpaquePointer?
        defer { sqlite3_close_v2(handle) }
        guard sqlite3_open(path, &handle) == SQLITE_OK else { throw ShellError(message: path) }
        sqlite3_busy_timeout(handle, 2000)
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else {
            throw ShellError(message: String(cString: sqlite3_errmsg(handle)))
        }
        var rows: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            rows.append(
                (0..<sqlite3_column_count(statement)).map { column in
                    sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
                }.joined(separator: "|"))
        }
        return rows
    }
}

struct ShellError: Error { let message: String }
