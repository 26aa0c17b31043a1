import Foundation
import StrataCSQLite
import StrataSQL
import StrataStore

/// The files of external values that rows no longer refer to.
///
/// A context, in this process or another, may still hold a row with the name of such a file: to read it, or to write it
/// back when the row is created again or overwritten. So a commit only lists the file, in its own transaction, and a
/// sweep removes it later: once nobody else has the store open, or after ``SQLiteStore/Options/externalRetention``.
enum DroppedFiles {
    static let table = "_dropped_files"

    static let creation =
        "CREATE TABLE IF NOT EXISTS \(table) (\n    name TEXT PRIMARY KEY,\n    dropped_at REAL NOT NULL\n) WITHOUT ROWID"

    /// Lists files as dropped now.
    static func add(_ names: some Sequence<String>, on connection: Connection) throws(StoreError) {
        let statement = try connection.statement("INSERT OR REPLACE INTO \(table)(name, dropped_at) VALUES(?, ?)")
        for name in names {
            statement.bind(name, at: 1)
            statement.bind(Date().timeIntervalSinceReferenceDate, at: 2)
            try statement.run()
        }
    }

    /// Takes files off the list, because rows refer to them again or because they are gone.
    static func remove(_ names: some Sequence<String>, on connection: Connection) throws(StoreError) {
        let statement = try connection.statement("DELETE FROM \(table) WHERE name = ?")
        for name in names {
            statement.bind(name, at: 1)
            try statement.run()
        }
    }

    /// The files that were dropped at least this many seconds ago.
    static func names(olderThan age: Double, on connection: Connection) throws(StoreError) -> [String] {
        let statement = try connection.prepare("SELECT name FROM \(table) WHERE dropped_at <= ?", persistent: false)
        statement.bind(Date().timeIntervalSinceReferenceDate - age, at: 1)
        var result: [String] = []
        while try statement.step() { result.append(statement.text(0)) }
        return result
    }
}

extension SQLiteStore {
    /// Removes the files of external values that were replaced or deleted at least this many seconds ago.
    ///
    /// A store does this by itself; see ``Options/externalRetention``. Call it if you know that no context, of any
    /// process, holds rows that are older.
    /// - Parameter age: The minimum age in seconds. 0 removes all such files.
    /// - Returns: How many files were removed.
    /// - Throws: ``StoreError/readOnly(path:)``, ``StoreError/locked(path:)`` and other failures of a write.
    @discardableResult
    public func removeDroppedFiles(olderThan age: Double = 0) throws(StoreError) -> Int {
        guard !options.isReadOnly else { throw .readOnly(path: path) }
        return try pool.write { (connection) throws(StoreError) in
            try sweep(droppedFor: age, leftFor: .infinity, on: connection)
        }
    }

    /// Takes part in the lock of the folder, and sweeps. Files that a crash has left behind go, too: those that are
    /// neither referred to nor listed, and too old to belong to a commit that another process is about to make.
    func sweepAtOpening() throws(StoreError) {
        let isAlone = !options.isReadOnly && filesLock?.tryExclusive() == true
        // Nothing has been read yet, so that nothing is lost if another store sweeps before the lock is shared.
        defer { filesLock?.share() }
        if options.isReadOnly { return }
        do throws(StoreError) {
            try pool.write { (connection) throws(StoreError) in
                _ = try sweep(
                    droppedFor: isAlone ? 0 : options.externalRetention, leftFor: options.sweepAge, on: connection)
            }
        } catch {
            // Where somebody works with the store for long, the files can wait for another opening.
            if case .locked = error { return }
            throw error
        }
    }

    /// Sweeps if no other store has the file open, and leaves the lock of the folder.
    func sweepAtClosing() {
        guard let filesLock else { return }
        defer { filesLock.release() }
        guard !options.isReadOnly, filesLock.tryExclusive() else { return }
        // Files that cannot be removed now are removed at the next opening.
        _ = try? removeDroppedFiles()
    }

    /// Sweeps from time to time while the store is open, after a commit that has dropped files.
    func sweepAfterCommit(on connection: Connection) {
        let now = ContinuousClock.now
        let isDue = nextSweep.withLock { next in
            if now < next { return false }
            next = now + .seconds(max(60, min(options.externalRetention, 86_400) / 8))
            return true
        }
        // The commit is permanent; a sweep that fails is made up for by the next one.
        if isDue { _ = try? sweep(droppedFor: options.externalRetention, leftFor: .infinity, on: connection) }
    }

    /// - Parameters:
    ///   - age: How long ago, in seconds, files must have been dropped.
    ///   - leftAge: How old, in seconds, files must be that nothing knows of.
    /// - Returns: How many files were removed.
    private func sweep(
        droppedFor age: Double, leftFor leftAge: Double, on connection: Connection
    ) throws(StoreError) -> Int {
        guard let files, layout.hasExternalColumns else { return 0 }
        let old = leftAge.isFinite ? files.names(olderThan: leftAge) : []
        if old.isEmpty, try DroppedFiles.names(olderThan: age, on: connection).isEmpty { return 0 }
        // Files are removed within the transaction: a commit that is about to refer to one of them finds it there, or
        // finds it gone. After a crash before the end, the list still has those that are gone.
        try connection.begin()
        defer { connection.rollback() }
        let due = try DroppedFiles.names(olderThan: age, on: connection)
        let listed = Set(try connection.texts("SELECT name FROM \(DroppedFiles.table)"))
        let used = try filesInUse(on: connection)
        let removed = (due + old.filter { !listed.contains($0) }).filter { !used.contains($0) }
        files.remove(removed)
        try DroppedFiles.remove(due, on: connection)
        try connection.commit()
        return removed.count
    }

    /// The files that rows refer to.
    private func filesInUse(on connection: Connection) throws(StoreError) -> Set<String> {
        var used: Set<String> = []
        for table in layout.tables {
            for column in table.columns where column.allowsExternal {
                used.formUnion(
                    try connection.texts(
                        "SELECT \(column.quoted) FROM \(table.quoted) WHERE typeof(\(column.quoted)) = 'text'"))
            }
        }
        return used
    }
}
