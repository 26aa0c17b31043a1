/// Whether a store records who changed what.
///
///     var options = SQLiteStore.Options()
///     options.history = .on(keeping: .days(30))
///     let container = try PersistentContainer(GazetteerModel.self, at: .file(path: "cities.sqlite"), options: options)
///
/// The setting belongs to the file: once it is on, every process that opens the file records, even with the default
/// ``asInFile``, so that history has no gaps. Only ``off`` ends that. Recording starts with the first change after the opening
/// that turned it on; earlier changes are not known.
///
/// Triggers write the history in the transaction of the change, one short row for each object and one for the transaction. A
/// store that does not record pays nothing. See ``HistoryRetention`` for how much is kept.
public enum HistoryRecording: Sendable, Hashable {
    /// Keeps the setting of the file: a file that records history goes on recording, whichever process opens it.
    case asInFile
    /// From now on, in every process that opens the file.
    case on(keeping: HistoryRetention)
    /// Stops recording and removes the history that the file has.
    case off
}

/// How much history a store keeps: by age, by number of changes, and how long it waits for consumers.
///
///     var options = SQLiteStore.Options()
///     options.history = .on(keeping: HistoryRetention(age: 14 * 86_400, changes: 200_000, patience: 7 * 86_400))
///
/// Older transactions are removed when the store is opened and from time to time after commits. A transaction is removed if it
/// is too old or if there are too many changes; the most recent one always stays. Transactions that a consumer has not read are
/// kept until that consumer has not moved for ``patience``.
///
/// Choose a duration that is longer than the time for which your readers may be away, such as a widget or a search index. A
/// reader that comes too late gets ``HistoryError/expired(token:)``. To remove history yourself, call
/// `PersistentContainer.purgeHistory(before:)`.
public struct HistoryRetention: Sendable, Hashable, Codable {
    /// How long a transaction is kept, in seconds; nil for no limit.
    public var age: Double?
    /// The maximum number of changed objects that are kept in all, 1 or more; nil for no limit.
    public var changes: Int?
    /// For how long, in seconds, history waits for a consumer that does not read it. What a registered consumer has not read
    /// is kept until then, even beyond ``age`` and ``changes``.
    public var patience: Double

    /// Keeps history for this long, but no more than this many changes.
    public init(age: Double?, changes: Int? = 1_000_000, patience: Double = 30 * 86_400) {
        self.age = age
        self.changes = changes
        self.patience = patience
    }

    /// Keeps history for this many days, but no more than 1,000,000 changes.
    public static func days(_ days: Double) -> HistoryRetention { HistoryRetention(age: days * 86_400) }
    /// Keeps history until you purge it.
    public static let forever = HistoryRetention(age: nil, changes: nil, patience: .greatestFiniteMagnitude)
}
