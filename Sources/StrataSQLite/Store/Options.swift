import Foundation

extension SQLiteStore {
    /// Where a store is.
    public enum Location: Sendable, Hashable {
        /// A file. A relative path counts from the current folder.
        case file(path: String)
        /// Memory, with the same behaviour as a file. Stores of the same name in one process share their content as
        /// long as one of them is open; without a name the store is alone.
        case memory(name: String?)
    }

    /// How a store is opened.
    public struct Options: Sendable {
        /// How long a commit is safe once it has returned.
        public enum Synchronous: String, Sendable, Hashable, CaseIterable {
            /// A commit survives a crash of the process; a power failure may lose the last commits, but never damages
            /// the file.
            case normal
            /// A commit survives a power failure.
            case full
        }

        /// How long to wait for another process that holds the store, in seconds.
        public var busyTimeout: Double = 5
        /// The greatest number of connections that read at the same time. At least 1.
        public var readerCount = 4
        /// Binary values of attributes that allow it stand in files of their own above this size, in bytes.
        public var externalStorageThreshold = 128 * 1024
        /// Whether nothing may be written.
        public var isReadOnly = false
        /// Whether a store is made where there is none.
        public var createIfMissing = true
        /// How long a commit is safe once it has returned.
        public var synchronous = Synchronous.normal
        /// The size of the page cache of each connection in KiB; nil leaves it to SQLite (2,000 KiB).
        public var cacheSize: Int?
        /// Called with each statement after it has run, on the thread that ran it and while that thread holds the
        /// connection: it must not use the store.
        public var trace: (@Sendable (StatementTrace) -> Void)?

        /// Whether the store mirrors a server: fetches, counts and values leave out rows of version 0, of which only the
        /// key is known, and unique constraints are left to the server, since parts of its state come one by one.
        package var isMirror = false

        /// The greatest number of pages of the file; nil for no limit. For tests of a full disk.
        var maximumPageCount: Int?
        /// Files of external values that nothing refers to are removed at opening when they are older than this, in
        /// seconds.
        var sweepAge: Double = 600

        /// The defaults.
        public init() {}
    }
}
