import Foundation

/// Taken before something is read from the server, and handed in with the answer: what was deleted in between is not
/// brought back by an answer that was under way.
package final class ReadTicket: Sendable {
    let number: Int
    private let tombstones: Tombstones

    init(number: Int, tombstones: Tombstones) {
        self.number = number
        self.tombstones = tombstones
    }

    deinit { tombstones.end(number) }
}

/// What was deleted while answers were under way. Kept in memory: no answer outlives the process.
///
/// `@unchecked Sendable`: all state is reached with the lock held alone.
final class Tombstones: @unchecked Sendable {
    private let lock = NSLock()
    private var number = 0
    private var open: Set<Int> = []
    private var deleted: [RemoteIdentity: Int] = [:]

    func ticket() -> ReadTicket {
        lock.withLock {
            number += 1
            open.insert(number)
            return ReadTicket(number: number, tombstones: self)
        }
    }

    func end(_ number: Int) {
        lock.withLock {
            open.remove(number)
            if open.isEmpty { deleted.removeAll() }
        }
    }

    /// - Parameter identity: Named by the topmost entity of the hierarchy.
    func add(_ identity: RemoteIdentity) {
        lock.withLock {
            guard !open.isEmpty else { return }
            number += 1
            deleted[identity] = number
        }
    }

    /// Whether an object has been deleted since a ticket was taken.
    func covers(_ identity: RemoteIdentity, _ ticket: ReadTicket?) -> Bool {
        guard let ticket else { return false }
        return lock.withLock { deleted[identity].map { $0 > ticket.number } ?? false }
    }
}

extension Mirror {
    /// To be taken before something is read from the server.
    package func ticket() -> ReadTicket { tombstones.ticket() }
}
