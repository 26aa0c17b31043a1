import Foundation
import StrataCSQLite
import Synchronization

/// One connection with its three statements, used by one thread at a time.
final class Connection {
    private let handle: OpaquePointer
    private let one: OpaquePointer
    private let page: OpaquePointer
    private let insertion: OpaquePointer
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    init(path: String) {
        var handle: OpaquePointer?
        precondition(sqlite3_open(path, &handle) == SQLITE_OK)
        self.handle = handle!
        for sql in [
            "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA busy_timeout = 10000",
            "CREATE TABLE IF NOT EXISTS item (item_id TEXT PRIMARY KEY, title TEXT, n INTEGER, done INTEGER, changed INTEGER)",
        ] { precondition(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK) }
        one = Self.prepare(handle!, "SELECT item_id, title, n, done, changed FROM item WHERE item_id = ?")
        page = Self.prepare(handle!, "SELECT item_id, title, n, done, changed FROM item ORDER BY item_id LIMIT ?")
        insertion = Self.prepare(handle!, "INSERT INTO item VALUES (?, ?, ?, ?, ?)")
    }

    private static func prepare(_ handle: OpaquePointer, _ sql: String) -> OpaquePointer {
        var statement: OpaquePointer?
        precondition(sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK)
        return statement!
    }

    func object(_ id: String) -> String? {
        defer { sqlite3_reset(one) }
        sqlite3_bind_text(one, 1, id, -1, Self.transient)
        return sqlite3_step(one) == SQLITE_ROW ? Self.json(one) : nil
    }

    func objects(_ count: Int) -> String {
        defer { sqlite3_reset(page) }
        sqlite3_bind_int64(page, 1, Int64(count))
        var parts: [String] = []
        while sqlite3_step(page) == SQLITE_ROW { parts.append(Self.json(page)) }
        return "[" + parts.joined(separator: ",") + "]"
    }

    func insert(_ item: Item) -> Bool {
        defer { sqlite3_reset(insertion) }
        sqlite3_bind_text(insertion, 1, item.itemID ?? UUID().uuidString, -1, Self.transient)
        sqlite3_bind_text(insertion, 2, item.title, -1, Self.transient)
        sqlite3_bind_int64(insertion, 3, item.n)
        sqlite3_bind_int64(insertion, 4, item.done ? 1 : 0)
        sqlite3_bind_int64(insertion, 5, Int64(Date().timeIntervalSince1970 * 1000))
        return sqlite3_step(insertion) == SQLITE_DONE
    }

    func transaction(_ body: () -> Void) {
        sqlite3_exec(handle, "BEGIN", nil, nil, nil)
        body()
        sqlite3_exec(handle, "COMMIT", nil, nil, nil)
    }

    private static func text(_ statement: OpaquePointer, _ column: Int32) -> String {
        String(cString: sqlite3_column_text(statement, column))
            .replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }

    private static func json(_ row: OpaquePointer) -> String {
        "{\"item_id\":\"\(text(row, 0))\",\"title\":\"\(text(row, 1))\",\"n\":\(sqlite3_column_int64(row, 2)),"
            + "\"done\":\(sqlite3_column_int64(row, 3) == 1),\"lastmoddate\":\(sqlite3_column_int64(row, 4))}"
    }
}

struct Item: Decodable {
    var itemID: String?
    var title: String
    var n: Int64
    var done: Bool

    enum CodingKeys: String, CodingKey {
        case itemID = "item_id"
        case title, n, done
    }
}

/// Connections that wait to be used.
///
/// `@unchecked Sendable`: a connection is out of the list while somebody uses it.
final class Table: @unchecked Sendable {
    private let path: String
    private let idle = Mutex<[Unchecked]>([])

    private struct Unchecked: @unchecked Sendable { var connection: Connection }

    init(path: String) { self.path = path }

    func use<T>(_ body: (Connection) -> T) -> T {
        let connection = idle.withLock { $0.popLast() }?.connection ?? Connection(path: path)
        let result = body(connection)
        let unchecked = Unchecked(connection: connection)
        idle.withLock { $0.append(unchecked) }
        return result
    }
}
