import Foundation
import StrataSQLite

/// Which side wins if an object was changed here and at the server.
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
    /// What a closure says.
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

/// An object that was changed here and at the server.
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

/// What was done to an object.
public enum ChangeKind: String, Sendable, Hashable, CaseIterable {
    /// It was made.
    case insert
    /// It was changed.
    case update
    /// It was deleted.
    case delete
}

/// The conflict policies of a store, by kind of local change.
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
