import Foundation
import StrataSQLite

/// What a synchronization did with one change that waited in the mirror.
///
///     for await result in store.sync.results {
///         if case .merged(let properties) = result.action, !properties.isEmpty {
///             print(result.identity, "has the server's", properties)
///         }
///     }
///
/// ``SyncEngine/results`` gives results as they come, and ``SyncReport/results`` all of a synchronization. Look at ``action``
/// for the cases that a user may care about: ``Action/failed(_:)``, and ``Action/merged(overridden:)`` or ``Action/serverWon``,
/// in which a value of this device was replaced. Objects that only the server has changed have no result.
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

/// The outcome of a push, a pull or both.
///
///     let report = try await store.sync.synchronize()
///     print("\(report.results.count) sent, \(report.received) received, \(report.removed) removed")
///     for record in report.unreadable { print(record.error) }
///
/// You get a report if the synchronization has come to its last step, even if the server has refused single changes: these are
/// in ``failures``. If it ends early, it throws a ``SyncError`` instead, and completed work is kept.
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

/// What a synchronization is doing, and when the last one was complete.
///
///     let status = store.sync.status
///     switch status.phase {
///     case .idle: print("last pull:", status.lastPull ?? .distantPast)
///     case .pushing: print(status.done, "of", status.total ?? 0)
///     case .pulling(let entity): print("reading", entity, status.done)
///     case .waiting(let date): print("next attempt at", date)
///     }
///
/// Read ``SyncEngine/status`` for the present state, or follow ``SyncEngine/statuses`` in a view. ``error`` is nil again once a
/// synchronization has succeeded. ``lastPush`` and ``lastPull`` are by the server's clock as far as it is known; they are nil
/// until the first complete push and pull of this process.
public struct SyncStatus: Sendable, Hashable {
    /// The parts of a synchronization.
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
    /// Why the last synchronization ended early.
    public var error: SyncError?
    /// When the last complete push ended.
    public var lastPush: Date?
    /// When the last complete pull ended.
    public var lastPull: Date?

    /// Nothing has been done.
    public init() {}
}

/// Why a synchronization ended early. Completed work is kept; the next synchronization does the rest.
///
///     do throws(SyncError) {
///         try await store.sync.synchronize()
///     } catch {
///         switch error {
///         case .remote(let failure) where failure.kind == .unauthorized: print("log in again")
///         case .remote(let failure) where failure.isTransient: print("offline; the next synchronization continues")
///         default: throw error
///         }
///     }
///
/// Errors of single objects do not end it: these changes are set aside, and ``SyncReport/failures`` lists them. It ends if the
/// server cannot be reached after all retries, if there is no session, if every request is refused, or if the mirror cannot be
/// read or written.
public enum SyncError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The server could not be reached, or refused all requests.
    case remote(RemoteError)
    /// The mirror failed.
    case store(StoreError)

    /// What happened.
    public var description: String {
        switch self {
        case .remote(let error): "the synchronization stopped: \(error)"
        case .store(let error): "the synchronization stopped: \(error)"
        }
    }
}

/// A change that the server refused, and that waits for a decision.
///
///     for change in try store.sync.failedChanges() {
///         print(change.identity, change.kind, change.error.message)
///         if change.error.kind == .missingSecret {
///             try store.sync.retry([change])
///         } else {
///             try store.sync.drop([change])
///         }
///     }
///
/// ``SyncEngine/failedChanges()`` lists them, across launches. Decide by ``error``: ``SyncEngine/retry(_:)`` sends the change
/// again, ``SyncEngine/drop(_:)`` gives it up. If you change the object and save, it is also sent again. Changes of other
/// objects that refer to a refused new object wait for it. Until you decide, the mirror keeps the refused values.
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
