import Foundation
import StrataSQLite

/// Taken before something is read from the server, and handed in with the answer. If another answer about an object was
/// applied in the meantime, this one may be the older of the two: it neither sets the object back nor brings it back.
package final class ReadTicket: Sendable {
    let number: Int
    private let order: AnswerOrder

    init(number: Int, order: AnswerOrder) {
        self.number = number
        self.order = order
    }

    deinit { order.end(number) }
}

/// Which answers came in while others were under way. Which of two such answers is the newer one is not known: requests
/// overtake each other, and a retried request may be answered much later than it was first sent. Clocks do not help: those of
/// servers step back, and many servers tell no time. Kept in memory: no answer outlives the process.
///
/// `@unchecked Sendable`: all state is reached only while the lock is held.
final class AnswerOrder: @unchecked Sendable {
    /// What the last answer about an object was.
    private struct Told {
        /// When it was applied.
        var moment: Int
        /// The object as the answer described it; nil for the answer to a write.
        var record: RemoteRecord?
    }

    private let lock = NSLock()
    private var number = 0
    private var open: Set<Int> = []
    private var deleted: [RemoteIdentity: Int] = [:]
    private var told: [RemoteIdentity: Told] = [:]
    /// When pulls of entities began that had to find out what is gone, by the entity's name.
    private var begun: [String: Int] = [:]
    /// When objects were forgotten here that pulls have passed.
    private var purged = 0
    /// How many objects may be noted until those are looked for that no open request asks about any more.
    private var limit = AnswerOrder.leastLimit
    private static let leastLimit = 10_000

    /// How many objects are noted.
    var count: Int { lock.withLock { told.count + deleted.count } }

    /// Forgets what was noted before the oldest open request: where requests overlap all the time, there is always one. Only while
    /// the lock is held.
    private func sweep() {
        guard told.count + deleted.count > limit else { return }
        let oldest = open.min() ?? number
        told = told.filter { $0.value.moment > oldest }
        deleted = deleted.filter { $0.value > oldest }
        limit = max(Self.leastLimit, 2 * (told.count + deleted.count))
    }

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
            sweep()
        }
    }

    /// Answers to reads were applied.
    /// - Parameter records: By the name of the object, with the topmost entity of the hierarchy.
    func noteRead(_ records: some Sequence<(RemoteIdentity, RemoteRecord)>) {
        lock.withLock {
            // Nobody can overtake anybody while only one is under way.
            guard open.count > 1 else { return }
            number += 1
            for (identity, record) in records { told[identity] = Told(moment: number, record: record) }
            sweep()
        }
    }

    /// The server has carried out writes: whatever was asked for until now may be from before.
    func noteWritten(_ identities: some Sequence<RemoteIdentity>) {
        lock.withLock {
            guard !open.isEmpty else { return }
            note(identities)
        }
    }

    /// Notes writes, while the lock is held.
    private func note(_ identities: some Sequence<RemoteIdentity>) {
        number += 1
        for identity in identities { told[identity] = Told(moment: number) }
        sweep()
    }

    /// The server has carried out the writes of a save.
    /// - Returns: Those of the objects that answers have told meanwhile, which may be later than what the server answered.
    func noteWritten(_ identities: Set<RemoteIdentity>, since ticket: ReadTicket) -> Set<RemoteIdentity> {
        lock.withLock {
            let overtaken = identities.filter { isTold($0, since: ticket) }
            note(identities)
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

    /// Whether an answer about an object was applied since a ticket was taken. Only while the lock is held.
    private func isTold(_ identity: RemoteIdentity, since ticket: ReadTicket) -> Bool {
        told[identity].map { $0.moment > ticket.number } ?? false
    }

    /// The object as the last answer described it that was applied since a ticket was taken; nil if there is none, or if it was
    /// the answer to a write.
    func record(of identity: RemoteIdentity, since ticket: ReadTicket) -> RemoteRecord? {
        lock.withLock { isTold(identity, since: ticket) ? told[identity]?.record : nil }
    }

    /// Whether another answer about an object was applied since a ticket was taken, so that it may be newer.
    /// - Parameter record: What the answer tells. If it describes the state that the other one described, it does not matter
    ///   which is newer.
    func isOvertaken(_ identity: RemoteIdentity, _ ticket: ReadTicket?, _ record: RemoteRecord? = nil) -> Bool {
        guard let ticket else { return false }
        return lock.withLock {
            guard isTold(identity, since: ticket) else { return false }
            guard let record, let other = told[identity]?.record else { return true }
            return record.version == nil ? record != other : record.version != other.version
        }
    }
}

extension Mirror {
    /// To be taken before something is read from the server.
    package func ticket() -> ReadTicket { order.ticket() }

    /// Whether what the server has answered to a write may be older than the object as other answers describe it.
    /// - Parameter ticket: Taken before the write was sent.
    func isWriteOvertaken(_ identity: RemoteIdentity, _ ticket: ReadTicket) -> Bool {
        guard let entity = model.entity(named: identity.entity) else { return false }
        return order.isOvertaken(RemoteIdentity(entity: entity.rootName, id: identity.id), ticket)
    }
}
