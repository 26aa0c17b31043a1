import StrataRemote

extension SimulationWorld {
    /// A kind of fault beside those of a bad network, or an event that must come beside them.
    public enum Fault: String, Sendable, CaseIterable {
        case portal, swallowedAnswer, endedSession, expiredCursor, refusedGroup, proxy404, refusal
        case reset, purgedEntity, purgedObject, drop
        /// The server goes back to what it had some time ago, and has forgotten whom it answered.
        case restore
        /// A context fetched, and saved, while others synchronised; a save of it failed; it met what others had saved.
        case onlineFetch, onlineSave, failedSave, contextConflict
        /// Members were put into another order.
        case arranged
        /// An object was made with the primary key of one that had been deleted.
        case reusedKey
        /// The app was updated, with changes that waited to be sent.
        case update
        /// A second process tried to open the mirror.
        case secondProcess
        /// A clock was set.
        case clockStep
        /// The server kept another value, or made an object under another primary key, than it was sent.
        case marked, renamed
        /// The weather got bad again after a calm.
        case nextStorm
    }
}

/// Counts by kind of fault.
public final class Strikes: Sendable {
    private let counts = Guarded<[SimulationWorld.Fault: Int]>([:])

    func add(_ fault: SimulationWorld.Fault) { counts.withLock { $0[fault, default: 0] += 1 } }

    /// How often each fault struck.
    public var all: [SimulationWorld.Fault: Int] { counts.withLock { $0 } }
}
