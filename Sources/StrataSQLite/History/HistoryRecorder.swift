import Foundation
import StrataSQL
import StrataStore

/// Ends the transactions of history, and purges from time to time.
final class HistoryRecorder: Sendable {
    /// What tells the transactions of this instance of the store from those of others.
    let origin = Int64.random(in: 1...Int64.max)
    private let upkeep = HistoryUpkeep()

    private static let processName = ProcessInfo.processInfo.processName

    /// Ends what the open transaction has changed, if it has changed anything.
    func end(_ origin: ChangeOrigin, on connection: Connection) throws(StoreError) {
        let statement = try connection.statement(
            """
            INSERT INTO \(HistoryTables.changes)(kind, key, date, author, context, process, process_id, origin) \
            SELECT \(HistoryKind.end), ?1, ?2, ?3, ?4, ?5, ?6, ?7 \
            WHERE (SELECT kind FROM \(HistoryTables.changes) ORDER BY position DESC LIMIT 1) >= 0
            """)
        statement.bind(HistoryTables.newTag(), at: 1)
        statement.bind(Date().timeIntervalSinceReferenceDate, at: 2)
        if let author = origin.author { statement.bind(author, at: 3) } else { statement.bindNull(at: 3) }
        if let name = origin.contextName { statement.bind(name, at: 4) } else { statement.bindNull(at: 4) }
        statement.bind(Self.processName, at: 5)
        statement.bind(Int64(ProcessInfo.processInfo.processIdentifier), at: 6)
        statement.bind(self.origin, at: 7)
        try statement.run()
    }

    /// Purges if it is time for that. The commit before is permanent; a purge that fails is made up for by the next one.
    func keepUp(on connection: Connection) {
        if upkeep.isDue() { _ = try? HistoryPurge(connection: connection).run() }
    }
}
