import Foundation
import StrataSQL
import StrataStore

extension SQLiteStore {
    /// Where a store is.
    public enum Location: Sendable, Hashable {
        /// A file. A relative path counts from the current folder.
        case file(path: String)
        /// Memory, with the same behavior as a file. Stores of the same name in one process share their content as
        /// long as one of them is open; without a name the store is not shared.
        case memory(name: String?)
    }

    /// How a store is opened. It has one of the stored properties for each option.
    ///
    ///     var options = SQLiteStore.Options()
    ///     options.synchronous = .full  // commits survive a power failure
    ///     options.trace = { print($0.sql) }
    ///     let container = try PersistentContainer(GazetteerModel.self, at: .file(path: "cities.sqlite"), options: options)
    public struct Options: Sendable {
        /// How long a commit is safe once it has returned.
        public enum Synchronous: String, Sendable, Hashable, CaseIterable {
            /// A commit survives a crash of the process; a power failure may lose the last commits, but never damages
            /// the file.
            case normal
            /// A commit survives a power failure.
            case full
        }

        /// How long to wait for another process that holds the store, in seconds: 0 or more. Above 24 days, and with
        /// `.infinity`, it is about 24 days.
        public var busyTimeout: Double = 5
        /// The maximum number of connections that read at the same time, 1 to 1,000.
        public var readerCount = 4
        /// Binary values of attributes that allow it are kept in files of their own above this size in bytes, 0 or more.
        public var externalStorageThreshold = 128 * 1024
        /// How long, in seconds, the file of a replaced or deleted external value is kept while several stores have the
        /// database open, for contexts that still hold the old row. 0 or more; the default is a day. A store that opens
        /// or closes the database while no other has it open removes such files immediately.
        public var externalRetention: Double = 86_400
        /// Whether nothing may be written.
        public var isReadOnly = false
        /// Whether a store is made where there is none.
        public var createIfMissing = true
        /// How long a commit is safe once it has returned.
        public var synchronous = Synchronous.normal
        /// The size of the page cache of each connection in KiB, 0 to 2,147,483,647; nil leaves it to SQLite
        /// (2,000 KiB).
        public var cacheSize: Int?
        /// Whether the file records who changed what; see ``PersistentStore/history``.
        public var history = HistoryRecording.asInFile
        /// What happens to a file that was made with another version of the model.
        public var migration = MigrationOptions()
        /// Called with each statement after it has run, on the thread that ran it and while that thread holds the
        /// connection: it must not use the store.
        public var trace: (@Sendable (StatementTrace) -> Void)?
        /// The observers of the statements of one store; created when that is opened.
        var observers: StatementObservers?

        /// Whether the store mirrors a server: fetches, counts and values leave out rows of version 0, of which only the
        /// key is known, and unique constraints are left to the server, since parts of its state come one by one.
        package var isMirror = false

        /// The maximum number of pages of the file; nil for no limit. For tests of a full disk.
        var maximumPageCount: Int?
        /// Files of external values that nothing refers to are removed at opening when they are older than this, in
        /// seconds.
        var sweepAge: Double = 600

        /// The defaults.
        public init() {}
    }
}

extension SQLiteStore.Options {
    /// The options of a store that is being opened, with observers of its own.
    func withObservers() -> Self {
        var options = self
        options.observers = StatementObservers(trace)
        return options
    }

    /// Refuses values that mean nothing.
    func check() throws(StoreError) {
        func refuse(_ name: String, _ value: some CustomStringConvertible, _ range: String) -> StoreError {
            .invalidOption(name: name, value: value.description, reason: "it must be \(range)")
        }
        guard busyTimeout >= 0 else { throw refuse("busyTimeout", busyTimeout, "0 or more, in seconds") }
        guard (1...1000).contains(readerCount) else { throw refuse("readerCount", readerCount, "1 to 1,000") }
        guard externalStorageThreshold >= 0 else {
            throw refuse("externalStorageThreshold", externalStorageThreshold, "0 or more, in bytes")
        }
        guard externalRetention >= 0 else {
            throw refuse("externalRetention", externalRetention, "0 or more, in seconds")
        }
        if case .on(let retention) = history {
            let times = [retention.age ?? 0, retention.patience]
            guard times.allSatisfy({ $0 >= 0 && $0.isFinite }) else {
                throw refuse("history", "\(retention)", "given in finite seconds, 0 or more")
            }
            guard retention.changes ?? 1 >= 1 else { throw refuse("history", "\(retention)", "for 1 or more changes") }
        }
        if let cacheSize, !(0...Int(Int32.max)).contains(cacheSize) {
            throw refuse("cacheSize", cacheSize, "0 to \(Int32.max), in KiB")
        }
    }

    /// A time in seconds as milliseconds that SQLite takes.
    static func milliseconds(_ seconds: Double) -> Int32 {
        seconds >= 2_147_483 ? .max : Int32((max(0, seconds) * 1000).rounded())
    }
}
