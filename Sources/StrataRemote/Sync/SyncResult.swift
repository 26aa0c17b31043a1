import Foundation
import StrataSQLite

/// What a synchronisation did with one object.
public struct SyncResult: Sendable, Hashable {
    /// What was done.
    public enum Action: Sendable, Hashable {
        /// It was made at the server.
        case created
        /// It was changed at the server.
        case updated
        /// It was deleted at the server.
        case deleted
        /// The server's state replaced the local change.
        case serverWon
        /// The server's state and the local change were merged; these properties were changed on both sides and have
        /// the server's values.
        case merged(overridden: [String])
        /// It was deleted here, because the server has deleted it. That includes a new object whose creation got no answer, if the
        /// server then reports that an object of its primary key was deleted.
        case deletedHere
        /// The server refused it. The change waits until it is retried or dropped.
        case failed(RemoteError)
    }

    /// The object.
    public var identity: RemoteIdentity
    /// What was to be done.
    public var kind: ChangeKind
    /// What was done.
    public var action: Action

    /// Describes a result.
    public init(identity: RemoteIdentity, kind: ChangeKind, action: Action) {
        self.identity = identity
        self.kind = kind
        self.action = action
    }
}

/// What a synchronisation did.
public struct SyncReport: Sendable, Hashable {
    /// The outcome of each change that was sent, and of those that what was read has settled.
    public var results: [SyncResult] = []
    /// How many objects the server told.
    public var received = 0
    /// How many deleted objects the server reported.
    public var removed = 0
    /// Records that could not be applied, and were set aside. Each pull asks for them again.
    public var unreadable: [UnreadableRecord] = []

    /// Nothing was done.
    public init() {}

    /// Those of ``results`` that failed.
    public var failures: [SyncResult] {
        results.filter { if case .failed = $0.action { true } else { false } }
    }
}

/// What a synchronisation is doing.
public struct SyncStatus: Sendable, Hashable {
    /// The parts of a synchronisation.
    public enum Phase: Sendable, Hashable {
        /// Nothing.
        case idle
        /// Changes are sent.
        case pushing
        /// News are read, of this entity.
        case pulling(String)
        /// A request failed for a passing reason, and is sent again at this time.
        case waiting(until: Date)
    }

    /// What is being done.
    public var phase = Phase.idle
    /// How many changes or objects of the phase are done.
    public var done = 0
    /// How many changes the phase began with; nil if it is not known.
    public var total: Int?
    /// Why the last synchronisation ended early.
    public var error: SyncError?
    /// When the last complete push ended.
    public var lastPush: Date?
    /// When the last complete pull ended.
    public var lastPull: Date?

    /// Nothing has been done.
    public init() {}
}

/// Why a synchronisation ended early. Completed work is kept; the next synchronisation does the rest.
public enum SyncError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The server could not be reached, or refused all requests.
    case remote(RemoteError)
    /// The mirror failed.
    case store(StoreError)

    /// What happened.
    public var description: String {
        switch self {
        case .remote(let error): "the synchronisation stopped: \(error)"
        case .store(let error): "the synchronisation stopped: \(error)"
        }
    }
}

/// A change that the server refused.
public struct FailedChange: Sendable {
    /// The object.
    public var identity: RemoteIdentity { RemoteIdentity(entity: entityName, id: entry.id) }
    /// What was to be done.
    public var kind: ChangeKind { entry.kind }
    /// Why the server refused it.
    public var error: RemoteError {
        entry.error ?? RemoteError(.rejected, domain: "Strata", message: "the server gave no reason")
    }
    /// How often it was sent.
    public var attempts: Int { entry.attempts }
    let entry: OutboxEntry
    let entityName: String
}
