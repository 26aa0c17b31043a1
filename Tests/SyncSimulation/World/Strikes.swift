import StrataRemote
import StrataStore

extension SimulationWorld {
    /// A kind of fault besides those of a bad network, or an event that must come besides them.
    public enum Fault: String, Sendable, CaseIterable {
        case portal, swallowedAnswer, endedSession, expiredCursor, refusedGroup, proxy404, refusal
        case reset, purgedEntity, purgedObject, drop
        /// Bytes that are cut off, garbled, missing, called by another name, or lead elsewhere.
        case truncated, garbled, emptyAnswer, wrongType, redirect
        /// The server goes back to what it had some time ago, and has forgotten whom it answered.
        case restore
        /// A context fetched, and saved, while others synchronized; a save of it failed; it met what others had saved.
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
        /// A repeated write was answered with what the object was before others changed it.
        case oldAnswer
        /// The weather got bad again after a calm.
        case nextStorm

        /// Whether some 200 simulations of all servers meet it.
        public var isCommon: Bool {
            switch self {
            // A file is rare, and an update of the app with changes that wait even more so; others need what a few seeds have.
            case .update, .secondProcess, .drop, .contextConflict, .marked, .renamed, .reusedKey, .refusedGroup,
                .oldAnswer:
                false
            default: !isOfHTTP
            }
        }

        /// Whether only servers that are known by HTTP bring it.
        public var isOfHTTP: Bool {
            switch self {
            case .truncated, .garbled, .emptyAnswer, .wrongType, .redirect: true
            default: false
            }
        }
    }
}

/// Counts by kind of fault, over all simulations of a process.
public final class Strikes: Sendable {
    /// What happened with one kind of fault.
    public struct Count: Sendable {
        /// How many simulations could have it.
        public var armed = 0
        /// How often it met a request or a client that it mattered to.
        public var struck = 0
        /// How many simulations had it and ended well.
        public var recovered = 0

        /// Nothing.
        public init() {}
    }

    private let counts = Guarded<[SimulationWorld.Fault: Count]>([:])

    func add(_ fault: SimulationWorld.Fault) { counts.withLock { $0[fault, default: Count()].struck += 1 } }

    /// A simulation has ended.
    func end(armed: Set<SimulationWorld.Fault>, struck: Set<SimulationWorld.Fault>, endedWell: Bool) {
        counts.withLock { counts in
            for fault in armed.union(struck) { counts[fault, default: Count()].armed += 1 }
            if !endedWell { return }
            for fault in struck { counts[fault, default: Count()].recovered += 1 }
        }
    }

    /// What happened with each kind of fault.
    public var all: [SimulationWorld.Fault: Count] { counts.withLock { $0 } }
}

extension SimulationWorld {
    /// The faults that some weather may bring.
    func armedFaults(_ weather: Weather) -> Set<Fault> {
        var result: Set<Fault> = [.reusedKey]
        func arm(_ condition: Bool, _ faults: Fault...) { if condition { result.formUnion(faults) } }
        arm(weather.portals > 0, .portal, .swallowedAnswer)
        arm(weather.portals > 0 && variant.isHTTP, .truncated, .garbled, .emptyAnswer, .wrongType, .redirect)
        arm(weather.endedSessions > 0, .endedSession)
        arm(weather.expiredCursors > 0 && variant.tellsNews, .expiredCursor)
        arm(weather.refusedGroups > 0 && variant.sendsGroups, .refusedGroup)
        arm(weather.proxies404 > 0, .proxy404)
        arm(weather.refusals > 0, .refusal)
        arm(weather.forgetting > 0, .reset, .purgedEntity, .purgedObject)
        arm(weather.forgetting > 0 && weather.refusals > 0, .drop)
        arm(
            clients.contains(where: \.habits.usesContext), .onlineFetch, .onlineSave, .failedSave, .contextConflict,
            .arranged)
        arm(clients.contains(where: \.habits.usesFile), .update, .secondProcess)
        arm(server.marksTexts, .marked)
        arm(server.renamesFolders, .renamed)
        arm(server.repeatsAnswers, .oldAnswer)
        return result
    }
}
