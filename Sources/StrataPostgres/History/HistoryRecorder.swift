#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    /// What a store adds to the transactions that the triggers record: who makes them, and a purge from time to time.
    final class HistoryRecorder: Sendable {
        /// Whether the database recorded history when the store was opened.
        let isRecording: Bool
        /// What tells the transactions of this instance of the store from those of others.
        let origin = Int64.random(in: 1...Int64.max)
        private let upkeep = HistoryUpkeep()

        init(isRecording: Bool) { self.isRecording = isRecording }

        private struct Origin: Encodable {
            let author: String?
            let context: String?
            let process: String
            let processID: Int32
            let origin: Int64
        }

        /// Who makes a transaction, as the triggers read it: JSON.
        func text(of origin: ChangeOrigin) -> String {
            // PostgreSQL has no text with the character U+0000.
            func plain(_ text: String) -> String { text.replacing("\u{0}", with: "") }
            let value = Origin(
                author: origin.author.map(plain), context: origin.contextName.map(plain),
                process: plain(ProcessInfo.processInfo.processName),
                processID: ProcessInfo.processInfo.processIdentifier, origin: self.origin)
            return (try? JSONEncoder().encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        }

        /// Purges if it is time for that. The commit before is permanent; a purge that fails is made up for by the next one.
        func keepUp(_ store: PostgresStore) {
            guard isRecording, store.pool.makesConnections else { return }
            if upkeep.isDue() { _ = try? store.history?.purge() }
        }
    }
#endif
