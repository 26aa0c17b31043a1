import StrataSQL
import StrataStore

/// What waits in the file of a mirror: for tools that examine a file without the remote store that it belongs to.
package struct MirrorCondition: Sendable, Hashable {
    /// How many changes have not been sent.
    package let waiting: Int
    /// How many changes were sent without an answer.
    package let sent: Int
    /// How many changes the server has refused.
    package let failed: Int
    /// When the oldest change that still waits was made, in seconds since 2001-01-01; nil if none waits.
    package let oldest: Double?

    /// Reads the outbox of a file. The file is opened only for reading.
    /// - Returns: nil if the file is not a mirror.
    /// - Throws: ``StoreError`` if the file cannot be read.
    package static func read(at path: String) throws(StoreError) -> MirrorCondition? {
        try SQLiteStore.inspect(path) { (connection, _) throws(StoreError) in
            guard try connection.integer("SELECT count(*) FROM sqlite_master WHERE name = '_outbox'") == 1 else {
                return nil
            }
            var counts: [Int64: Int] = [:]
            let states = try connection.prepare(
                "SELECT state, count(*) FROM _outbox GROUP BY state", persistent: false)
            while try states.step() { counts[states.integer(0)] = Int(states.integer(1)) }
            let first = try connection.prepare("SELECT min(changed) FROM _outbox WHERE state < 2", persistent: false)
            let oldest: Double? = try first.step() && !first.isNull(0) ? first.double(0) : nil
            return MirrorCondition(
                waiting: counts[0] ?? 0, sent: counts[1] ?? 0, failed: counts[2] ?? 0, oldest: oldest)
        }
    }
}
