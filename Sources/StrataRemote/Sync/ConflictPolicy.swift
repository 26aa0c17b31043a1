import Foundation
import StrataSQLite

/// Which side wins if an object was changed here and at the server.
///
///     var options = RemoteStore.Options()
///     options.sync.policies.standard = .decide { conflict in
///         conflict.identity.entity == "Note" ? .client : .merge
///     }
///
/// A synchronization applies it to changes that wait in the mirror. Set it for all changes, or for one kind, in
/// ``ConflictPolicies``. ``merge`` keeps the changes of both sides where it can. It needs a back end that can refuse a write
/// for its version, and is the default there; with all others it means ``serverModifiedWins``.
///
/// Operations such as `increment` are not in conflict. A save that goes to the server directly does not use the policy: a
/// conflict fails the save, and the context's merge policy resolves it.
public enum ConflictPolicy: Sendable {
    /// The local change is sent, whatever the server has.
    case clientWins
    /// The server's state replaces the local change if it differs from the state that the change was made to.
    case serverModifiedWins
    /// The later change wins. An unknown time counts as 1970; if the times are equal, the server wins.
    case lastModifiedWins
    /// Merges property by property: a property changed on only one side takes that side's value, and a property changed
    /// on both sides takes the server's value. If one side changed the object and the other deleted it, the server's
    /// state wins.
    case merge
    /// The answer of a closure. It is called on any thread, possibly several times for one change, and must not use a context.
    case decide(@Sendable (SyncConflict) -> Choice)

    /// Which side wins.
    public enum Choice: String, Sendable, Hashable, CaseIterable {
        /// This one.
        case client
        /// The server.
        case server
        /// Both; see ``ConflictPolicy/merge``.
        case merge
    }

    /// What the policy makes of a conflict.
    public func choice(_ conflict: SyncConflict) -> Choice {
        switch self {
        case .clientWins: .client
        case .merge: .merge
        case .decide(let body): body(conflict)
        case .serverModifiedWins:
            conflict.baseModified == nil || conflict.baseModified != conflict.serverModified ? .server : .client
        case .lastModifiedWins:
            if let client = conflict.clientModified, client > conflict.serverModified ?? Self.longAgo {
                .client
            } else {
                conflict.serverModified == nil ? .client : .server
            }
        }
    }

    private static let longAgo = Date(timeIntervalSince1970: 0)
}

/// An object that was changed here and at the server, with the values of both sides.
///
///     let policy = ConflictPolicy.decide { conflict in
///         guard let server = conflict.server else { return .server }  // deleted there
///         return conflict.client.values["name"] == server.values["name"] ? .merge : .client
///     }
///
/// The closure of ``ConflictPolicy/decide(_:)`` receives it. ``client`` is the object with the values that wait here, and
/// ``server`` what the server has now: nil if it has deleted the object. Values are by property name. ``clientModified`` and
/// ``serverModified`` are by the server's clock, as far as it is known from its answers.
public struct SyncConflict: Sendable {
    /// What was done here.
    public var kind: ChangeKind
    /// The object.
    public var identity: RemoteIdentity
    /// The object as it is here; without values if it was deleted.
    public var client: RemoteRecord
    /// The object as the server has it; nil if it has none.
    public var server: RemoteRecord?
    /// When the server had changed the object that the change here was made to; nil for a new one.
    public var baseModified: Date?

    /// When the object was changed or deleted here, by the server's clock as far as it is known.
    public var clientModified: Date? { client.modified }
    /// When the server changed the object last.
    public var serverModified: Date? { server?.modified }

    /// Describes a conflict.
    public init(
        kind: ChangeKind, identity: RemoteIdentity, client: RemoteRecord, server: RemoteRecord?, baseModified: Date?
    ) {
        self.kind = kind
        self.identity = identity
        self.client = client
        self.server = server
        self.baseModified = baseModified
    }
}

/// The kind of a change of an object: insert, update or delete.
///
///     let changes = try store.sync.failedChanges().filter { $0.kind == .delete }
///     print(changes.count, "deletes were refused")
///
/// Waiting changes, results and conflicts have one. An object has one entry in the outbox, so further changes are combined with
/// it: a new object that is changed stays an insert, and the entry of one that is deleted again disappears. See
/// ``followed(by:)``.
public enum ChangeKind: String, Sendable, Hashable, CaseIterable {
    /// It was made.
    case insert
    /// It was changed.
    case update
    /// It was deleted.
    case delete
}

/// The conflict policies of a store, by kind of local change.
///
///     var options = RemoteStore.Options()
///     options.sync.policies = ConflictPolicies(.clientWins, delete: .serverModifiedWins)
///
/// Here, this device wins if it has changed an object, but does not delete an object that others have changed. A kind without a
/// policy of its own uses ``standard``. If that is nil, too, the back end decides: ``ConflictPolicy/merge`` if it can refuse a
/// write for its base version, otherwise ``ConflictPolicy/serverModifiedWins``.
public struct ConflictPolicies: Sendable {
    /// The default; nil for ``ConflictPolicy/merge`` with back ends that can refuse a write for its base version, and
    /// ``ConflictPolicy/serverModifiedWins`` with others.
    public var standard: ConflictPolicy?
    /// For new objects.
    public var insert: ConflictPolicy?
    /// For changed objects.
    public var update: ConflictPolicy?
    /// For deleted objects.
    public var delete: ConflictPolicy?

    /// Chooses policies.
    public init(
        _ standard: ConflictPolicy? = nil, insert: ConflictPolicy? = nil, update: ConflictPolicy? = nil,
        delete: ConflictPolicy? = nil
    ) {
        self.standard = standard
        self.insert = insert
        self.update = update
        self.delete = delete
    }

    /// The policy for a kind of change.
    public func policy(_ kind: ChangeKind, capabilities: RemoteCapabilities) -> ConflictPolicy {
        let own =
            switch kind {
            case .insert: insert
            case .update: update
            case .delete: delete
            }
        return own ?? standard
            ?? (capabilities.features.contains(.conditionalWrites) ? .merge : .serverModifiedWins)
    }
}
