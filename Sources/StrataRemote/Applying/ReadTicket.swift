import Foundation
import StrataSQLite

/// Taken before something is read from the server, and handed in with the answer. It puts answers in the order in which
/// they were asked for: an answer that was overtaken by a later one neither sets an object back nor brings it back.
package final class ReadTicket: Sendable {
    let number: Int
    private let order: AnswerOrder

    init(number: Int, order: AnswerOrder) {
        self.number = number
        self.order = order
    }

    deinit { order.end(number) }
}

/// Which answers came in while others were under way. Clocks say nothing about that: those of servers step back, and many
/// servers tell no time. Kept in memory: no answer outlives the process.
///
/// `@unchecked Sendable`: all state is reached only while the lock is held.
final class AnswerOrder: @unchecked Sendable {
    private let lock = NSLock()
    private var number = 0
    private var open: Set<Int> = []
    private var deleted: [RemoteIdentity: Int] = [:]
    /// The ticket of the latest answer that told an object. Of a write it is a number later than all tickets until then.
    private var told: [RemoteIdentity: Int] = [:]
    /// When the last answer to a read that told an object was applied, whenever it was asked for.
    private var applied: [RemoteIdentity: Int] = [:]
    /// When pulls of entities began that had to find out what is gone, by the entity's name.
    private var begun: [String: Int] = [:]
    /// When objects were forgotten here that pulls have passed.
    private var purged = 0

    func ticket() -> ReadTicket {
        lock.withLock {
            number += 1
            open.insert(number)
            return ReadTicket(number: number, order: self)
        }
    }

    func end(_ number: Int) {
        lock.withLock {
            open.remove(number)
            if open.isEmpty {
                deleted.removeAll()
                told.removeAll()
                applied.removeAll()
                begun.removeAll()
            }
        }
    }

    /// An object is gone on both sides.
    /// - Parameter identity: Named by the topmost entity of the hierarchy.
    func noteDeleted(_ identity: RemoteIdentity) {
        lock.withLock {
            guard !open.isEmpty else { return }
            number += 1
            deleted[identity] = number
        }
    }

    /// Answers to reads were applied.
    func noteRead(_ identities: some Sequence<RemoteIdentity>, _ ticket: ReadTicket) {
        lock.withLock {
            // Nobody can overtake anybody while only one is under way.
            guard open.count > 1 else { return }
            number += 1
            for identity in identities {
                told[identity] = max(told[identity] ?? 0, ticket.number)
                applied[identity] = number
            }
        }
    }

    /// The server has carried out writes: whatever was asked for until now may be from before.
    func noteWritten(_ identities: some Sequence<RemoteIdentity>) {
        lock.withLock {
            guard !open.isEmpty else { return }
            number += 1
            for identity in identities { told[identity] = number }
        }
    }

    /// The server has carried out the writes of a save.
    /// - Returns: Those of the objects that answers have told meanwhile, which may be later than what the server answered.
    func noteWritten(_ identities: Set<RemoteIdentity>, since ticket: ReadTicket) -> Set<RemoteIdentity> {
        lock.withLock {
            number += 1
            let overtaken = identities.filter { hasTold($0, since: ticket) }
            for identity in identities { told[identity] = number }
            return overtaken
        }
    }

    /// A pull of an entity begins that finds out what is gone of what is here.
    func noteBegun(_ entity: String) {
        lock.withLock {
            guard !open.isEmpty else { return }
            number += 1
            begun[entity] = number
        }
    }

    /// Whether such a pull has begun since a ticket was taken: what the answer tells may be gone, and the pull does not find out.
    func hasBegun(_ entity: String, since ticket: ReadTicket?) -> Bool {
        guard let ticket else { return false }
        return lock.withLock { begun[entity].map { $0 > ticket.number } ?? false }
    }

    /// Objects are forgotten here that pulls have passed: how far those came that are under way means nothing any more.
    func notePurged() {
        lock.withLock {
            number += 1
            purged = number
        }
    }

    /// The present place in the order.
    var moment: Int { lock.withLock { number } }

    /// Whether objects have been forgotten since a moment.
    func isPurged(since moment: Int) -> Bool { lock.withLock { purged > moment } }

    /// Whether an object has been deleted since a ticket was taken.
    func isDeleted(_ identity: RemoteIdentity, since ticket: ReadTicket?) -> Bool {
        guard let ticket else { return false }
        return lock.withLock { deleted[identity].map { $0 > ticket.number } ?? false }
    }

    /// Whether an answer has told an object since the request of a write was sent. A read that was asked for before may have been
    /// answered after the write.
    private func hasTold(_ identity: RemoteIdentity, since ticket: ReadTicket) -> Bool {
        max(told[identity] ?? 0, applied[identity] ?? 0) > ticket.number
    }

    /// Whether what the server has answered to a write may be older than the object as other answers describe it.
    func isWriteOvertaken(_ identity: RemoteIdentity, _ ticket: ReadTicket) -> Bool {
        lock.withLock { hasTold(identity, since: ticket) }
    }

    /// Whether a later answer has told an object already.
    func isOvertaken(_ identity: RemoteIdentity, _ ticket: ReadTicket?) -> Bool {
        guard let ticket else { return false }
        return lock.withLock { told[identity].map { $0 > ticket.number } ?? false }
    }
}

extension Mirror {
    /// To be taken before something is read from the server.
    package func ticket() -> ReadTicket { order.ticket() }

    /// Whether what the server has answered to a write may be older than the object as other answers describe it.
    /// - Parameter ticket: Taken before the write was sent.
    func isWriteOvertaken(_ identity: RemoteIdentity, _ ticket: ReadTicket) -> Bool {
        guard let entity = model.entity(named: identity.entity) else { return false }
        return order.isWriteOvertaken(RemoteIdentity(entity: entity.rootName, id: identity.id), ticket)
    }
}
