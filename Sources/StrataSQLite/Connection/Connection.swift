import Foundation
import StrataCSQLite
import StrataSQL
import StrataStore

/// A connection to the database with its prepared statements. One thread at a time. Other targets of the package get
/// one from ``SQLiteStore/reading(_:)`` and ``SQLiteStore/transaction(_:)``.
package final class Connection {
    /// SQLite's own object, for those who register functions.
    package let handle: OpaquePointer
    /// The path for messages.
    let path: String
    /// The observers of statements. Connections open when they are first needed; their set-up is not reported, so that counts
    /// of statements do not depend on it.
    private var observers: StatementObservers?
    private var statements: [String: Statement] = [:]
    /// Counts the uses of kept statements, to tell those that were last used.
    private var useCount = 0
    /// The fetches that were made before.
    var fetches = PreparedFetches()
    let rows = RowCollector()
    private let calls = SQLCalls()
    var nesting = Nesting()
    var version = FileVersion()

    /// Bounds the statements that are kept, for programs that generate many distinct requests.
    private static let cacheLimit = 512

    /// A commit that leaves at least this many pages (16 MiB) in the write-ahead log copies them to the file. SQLite has 1,000 by
    /// default. In a longer log, more commits change the same pages, and each page is copied only once.
    private static let checkpointPages: Int32 = 4_000

    /// Opens a connection.
    /// - Parameters:
    ///   - filename: What SQLite opens: a path or a `file:` URI.
    ///   - path: The name for messages.
    ///   - readOnly: Whether the connection may only read.
    init(
        filename: String, path: String, readOnly: Bool, create: Bool, options: SQLiteStore.Options
    ) throws(StoreError) {
        var handle: OpaquePointer?
        let flags =
            (readOnly
                ? SQLITE_OPEN_READONLY : create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE)
            | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(filename, &handle, flags, nil)
        guard let handle, code == SQLITE_OK else {
            let reason = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(handle)
            throw .cannotOpen(path: path, reason: reason)
        }
        self.handle = handle
        self.path = path
        sqlite3_busy_timeout(handle, SQLiteStore.Options.milliseconds(options.busyTimeout))
        SQLFunctions.register(on: handle)
        JSONFunctions.register(on: handle)
        ValueListModule.register(on: handle)
        rows.register(on: handle)
        calls.register(on: handle)
        WordTokenizer.register(on: handle)
        try execute("PRAGMA foreign_keys = ON")
        if let size = options.cacheSize { try execute("PRAGMA cache_size = \(-size)") }
        if !readOnly {
            try execute("PRAGMA synchronous = \(options.synchronous.rawValue.uppercased())")
            sqlite3_wal_autocheckpoint(handle, Self.checkpointPages)
            if let pages = options.maximumPageCount { try execute("PRAGMA max_page_count = \(pages)") }
        }
        observers = options.observers ?? StatementObservers(options.trace)
    }

    deinit { close() }

    private var isClosed = false

    /// Finalizes all statements and closes. Later calls do nothing.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        statements.removeAll()
        version.query = nil
        version.commits = nil
        fetches = PreparedFetches()
        // _v2: a statement that is still in use keeps the connection open until it is finalized, instead of leaking it.
        sqlite3_close_v2(handle)
    }

    /// The prepared statement for some SQL, from the cache if it has been used before.
    package func statement(_ sql: String) throws(StoreError) -> Statement {
        useCount &+= 1
        if let known = statements[sql] {
            known.lastUse = useCount
            return known
        }
        let statement = try prepare(sql)
        statement.lastUse = useCount
        if statements.count >= Self.cacheLimit { forgetOldStatements() }
        statements[sql] = statement
        return statement
    }

    /// Forgets the half of the statements that has not been used for longest.
    private func forgetOldStatements() {
        let middle = statements.values.map(\.lastUse).sorted()[statements.count / 2]
        statements = statements.filter { $0.value.lastUse > middle }
    }

    /// Whether the statement for some SQL is kept.
    func keepsStatement(_ sql: String) -> Bool { statements[sql] != nil }

    /// A new prepared statement that is not kept.
    /// - Parameters:
    ///   - persistent: Whether it is used more than once.
    ///   - isTraced: Whether its runs are reported to observers.
    package func prepare(
        _ sql: String, persistent: Bool = true, isTraced: Bool = true
    ) throws(StoreError) -> Statement {
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v3(
            handle, sql, -1, persistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0, &prepared, nil)
        guard code == SQLITE_OK, let prepared else {
            let error = failure(code)
            guard case .io(_, _, let reason) = error else { throw error }
            if reason.hasPrefix("too many columns on") {
                throw .unsupported(
                    store: "SQLite",
                    feature: "so many attributes and to-one relationships in one hierarchy of entities (\(reason)); "
                        + "SQLite allows 2,000 columns in a table")
            }
            if Self.isTooLarge(reason) {
                throw .unsupported(store: "SQLite", feature: "so large or so deeply nested a condition (\(reason))")
            }
            throw error
        }
        return Statement(handle: prepared, sql: sql, connection: self, observers: isTraced ? observers : nil)
    }

    /// How many steps SQLite's virtual machine takes between two looks at a cancellation: a few microseconds.
    private static let stepsBetweenLooks: Int32 = 1000

    /// Runs a read that may be cancelled from elsewhere while SQLite works on it.
    ///
    /// A handler looks at the flag, instead of the canceller interrupting the connection: an interrupt that comes late
    /// would hit whatever the connection does next.
    package func read<T>(
        _ cancellation: ReadCancellation?, _ body: (Connection) throws(StoreError) -> T
    ) throws(StoreError) -> T {
        guard let cancellation else { return try body(self) }
        guard !cancellation.isCancelled else { throw .cancelled }
        sqlite3_progress_handler(
            handle, Self.stepsBetweenLooks,
            { data in
                let cancellation = data.map { Unmanaged<ReadCancellation>.fromOpaque($0).takeUnretainedValue() }
                return cancellation?.isCancelled == true ? 1 : 0
            },
            // The caller holds it for as long as the handler is there.
            Unmanaged.passUnretained(cancellation).toOpaque())
        defer { sqlite3_progress_handler(handle, 0, nil, nil) }
        return try body(self)
    }

    /// Whether a statement is beyond the limits that SQLite is built with.
    private static func isTooLarge(_ reason: String) -> Bool {
        ["Expression tree is too large", "parser stack overflow", "too many", "variable number must be"].contains {
            reason.hasPrefix($0)
        }
    }

    /// Runs statements that read each page once, such as the creation of an index, with a page cache of 250 KiB in place of
    /// SQLite's 2 MB. SQLite sorts in as much memory as the cache may take, but at least in 250 pages.
    /// - Parameter chosen: The size that the application asked for, which stays.
    func withSmallCache(unless chosen: Int?, _ body: () throws(StoreError) -> Void) throws(StoreError) {
        guard chosen == nil, let size = try integer("PRAGMA cache_size") else { return try body() }
        try execute("PRAGMA cache_size = -250")
        defer { try? execute("PRAGMA cache_size = \(size)") }
        try body()
    }

    /// Runs a statement once.
    package func execute(_ sql: String) throws(StoreError) {
        try prepare(sql, persistent: false).run()
    }

    /// The first column of the first row as a whole number; nil if there is no row or it is NULL.
    package func integer(_ sql: String) throws(StoreError) -> Int64? {
        let statement = try prepare(sql, persistent: false)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return statement.type(0) == SQLITE_NULL ? nil : statement.integer(0)
    }

    /// The first column of all rows as text.
    package func texts(_ sql: String) throws(StoreError) -> [String] {
        let statement = try prepare(sql, persistent: false)
        var result: [String] = []
        while try statement.step() { result.append(statement.text(0)) }
        return result
    }

    /// How many rows the last statement changed itself, without triggers and foreign keys.
    package var changes: Int { Int(sqlite3_changes(handle)) }

    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// How transactions of stores end while a transaction of a migration is open.
    struct Nesting {
        /// Whether they are savepoints within it.
        var usesSavepoints = false
        /// Whether one is open.
        var hasSavepoint = false
    }

    /// The version of the file that the owner of the connection works with.
    struct FileVersion {
        /// The fingerprint of the model that the statements of the connection are made for; nil while it is not known.
        var fingerprint: String?
        /// Whether the file records history, so that transactions must be ended there.
        var recordsHistory = false
        /// SQLite's number for the tables of the file when the fingerprint was last looked at.
        var schema: Int64?
        /// Reads that number. It is not traced: it is not work that the application asked for.
        var query: Statement?
        /// Reads SQLite's number for commits of other connections. It is not traced either.
        var commits: Statement?
    }

    package func begin() throws(StoreError) {
        try statement(nesting.usesSavepoints ? "SAVEPOINT strata" : "BEGIN IMMEDIATE").run()
        nesting.hasSavepoint = nesting.usesSavepoints
    }

    package func commit() throws(StoreError) {
        try statement(commitSQL).run()
        nesting.hasSavepoint = false
    }

    /// The statement that makes the open transaction permanent.
    var commitSQL: String { nesting.hasSavepoint ? "RELEASE strata" : "COMMIT" }

    /// Takes note that ``commitSQL`` has run.
    func noteCommit() { nesting.hasSavepoint = false }

    /// SQLite's number for commits to the file by other connections: it differs after each.
    func dataVersion() throws(StoreError) -> Int64 {
        if let known = version.commits { return try Self.number(known) }
        let query = try prepare("PRAGMA data_version", isTraced: false)
        version.commits = query
        return try Self.number(query)
    }

    private static func number(_ query: Statement) throws(StoreError) -> Int64 {
        defer { query.reset() }
        return try query.step() ? query.integer(0) : 0
    }

    /// SQLite's number for the tables of the file, which each change of a table or an index changes.
    func schemaNumber() throws(StoreError) -> Int64 {
        if let known = version.query { return try Self.number(known) }
        let query = try prepare("PRAGMA schema_version", isTraced: false)
        version.query = query
        return try Self.number(query)
    }

    /// Runs a closure that reads. All its statements see one state of the file, whatever others commit meanwhile.
    package func readingOneState<T>(_ body: () throws(StoreError) -> T) throws(StoreError) -> T {
        guard !isInTransaction else { return try body() }
        try execute("BEGIN")
        defer { rollback() }
        return try body()
    }

    /// Rolls back the open transaction. After some errors, SQLite has already rolled it back.
    package func rollback() {
        guard isInTransaction else { return }
        if nesting.usesSavepoints {
            guard nesting.hasSavepoint else { return }
            nesting.hasSavepoint = false
            try? statement("ROLLBACK TO strata").run()
            try? statement("RELEASE strata").run()
            return
        }
        // A rollback fails only where SQLite has rolled back already; then there is nothing to do.
        try? statement("ROLLBACK").run()
    }

    /// Whether a statement names what has gone with a migration by somebody else.
    private func isOutdated(_ reason: String) -> Bool {
        guard reason.hasPrefix("no such column") || reason.hasPrefix("no such table"),
            let expected = version.fingerprint
        else { return false }
        version.fingerprint = nil
        defer { version.fingerprint = expected }
        return (try? StoredModel.fingerprint(on: self)).map { $0 != expected } ?? false
    }

    /// The error for a result code of the last call.
    func failure(_ code: Int32) -> StoreError {
        if let failure = calls.takeFailure() { return failure }
        let reason = String(cString: sqlite3_errmsg(handle))
        switch code & 0xff {
        case SQLITE_INTERRUPT: return .cancelled
        case SQLITE_FULL: return .diskFull(path: path)
        case SQLITE_BUSY, SQLITE_LOCKED: return .locked(path: path)
        case SQLITE_CORRUPT: return .corrupt(path: path, reason: reason)
        case SQLITE_NOTADB: return .notAStore(path: path, reason: reason)
        case SQLITE_READONLY: return .readOnly(path: path)
        case SQLITE_CANTOPEN: return .cannotOpen(path: path, reason: reason)
        case SQLITE_CONSTRAINT: return .constraint(entity: path, reason: reason)
        case SQLITE_IOERR:
            // SQLite tells only ENOSPC from other failed writes; quotas and limits on the size of files mean the same
            // to a user.
            let cause = sqlite3_system_errno(handle)
            if cause == ENOSPC || cause == EFBIG || cause == EDQUOT { return .diskFull(path: path) }
            return .io(path: path, code: Int(code), reason: reason)
        case SQLITE_ERROR where isOutdated(reason): return .migratedElsewhere(path: path)
        default: return .io(path: path, code: Int(code), reason: reason)
        }
    }
}
