import StrataCSQLite
import Testing

/// What somebody does to a file with a SQLite shell: a connection that has none of Strata's functions.
final class SQLiteShell {
    private var handle: OpaquePointer?

    init(_ path: String) throws { try #require(sqlite3_open(path, &handle) == SQLITE_OK) }

    deinit { sqlite3_close_v2(handle) }

    func run(_ sql: String) throws { _ = try lines(sql) }

    /// The first column of all rows.
    func lines(_ sql: String) throws -> [String] {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        try #require(sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK)
        var result: [String] = []
        var code = sqlite3_step(statement)
        while code == SQLITE_ROW {
            result.append(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "NULL")
            code = sqlite3_step(statement)
        }
        try #require(code == SQLITE_DONE)
        return result
    }
}
