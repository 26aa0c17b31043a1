/// Whether a store records history.
///
///     var options = SQLiteStore.Options()
///     options.history = .on(keeping: .days(30))
///     let container = try PersistentContainer(GazetteerModel.self, at: .file(path: "cities.sqlite"), options: options)
public enum HistoryRecording: Sendable, Hashable {
    /// Keeps the setting of the file: a file that records history goes on recording, whichever process opens it.
    case asInFile
    /// From now on, in every process that opens the file.
    case on(keeping: HistoryRetention)
    /// Stops recording and removes the history that the file has.
    case off
}

/// How much history is kept. Older parts are removed from time to time, when the store is opened and after commits. The most
/// recent transaction always stays.
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
