import Foundation
import StrataSQLite

/// The decision about one waiting change with a back end that cannot compare versions itself.
///
///     let (decision, _) = SyncDecision.decide(conflict, .missing, policy: .clientWins)
///     switch decision {
///     case .create, .replace, .delete: print("send it")
///     case .takeServer, .deleteHere: print("apply the server's state")
///     case .drop, .fail: print("nothing to send")
///     }
///
/// ``SyncEngine`` reads the object first, compares the times of the last change, and then writes it. Dates of last modification
/// stand for versions. The rule is a pure function, so that you can test a policy, or use it in an engine of your own. If the
/// object has not changed since it was read, the change is sent without asking the policy.
///
/// Somebody else may write between the read and the write. Only a back end with
/// ``RemoteCapabilities/Features/conditionalWrites`` prevents that; the engine does not need this decision then.
public enum SyncDecision: String, Sendable, Hashable, CaseIterable {
    /// Make the object at the server.
    case create
    /// Write the whole object to the server.
    case replace
    /// Delete the object at the server.
    case delete
    /// Take the server's object, even in place of one that was deleted here.
    case takeServer
    /// The server has deleted the object: delete it here.
    case deleteHere
    /// Nothing is left to do.
    case drop
    /// Keep the change, and report it as failed.
    case fail

    /// What reading the object gave.
    public enum Answer: Sendable {
        /// The object, last changed at a given time.
        case found(RemoteRecord)
        /// There is no such object.
        case missing
        /// Nothing can be said.
        case failed
    }

    /// Decides.
    /// - Parameters:
    ///   - conflict: The change; its ``SyncConflict/server`` is filled in here.
    ///   - answer: What reading the object gave.
    ///   - policy: What wins. ``ConflictPolicy/merge`` needs back ends that compare versions, and stands for
    ///     ``ConflictPolicy/serverModifiedWins`` here.
    /// - Returns: What to do, and whether the policy was asked.
    public static func decide(
        _ conflict: SyncConflict, _ answer: Answer, policy: ConflictPolicy
    ) -> (decision: SyncDecision, policyCalled: Bool) {
        var conflict = conflict
        let server: RemoteRecord?
        switch answer {
        case .failed: return (.fail, false)
        case .found(let record): server = record
        case .missing: server = nil
        }
        conflict.server = server
        let isUnchanged = conflict.baseModified != nil && conflict.baseModified == server?.modified
        switch (conflict.kind, server) {
        case (.insert, nil): return (.create, false)
        case (.delete, nil): return (.drop, false)
        case (.update, .some) where isUnchanged: return (.replace, false)
        case (.delete, .some) where isUnchanged: return (.delete, false)
        default: break
        }
        let isOurs: Bool
        switch policy.choice(conflict) {
        case .client: isOurs = true
        case .server: isOurs = false
        case .merge: isOurs = ConflictPolicy.serverModifiedWins.choice(conflict) == .client
        }
        switch (conflict.kind, server) {
        case (_, nil): return (isOurs ? .create : .deleteHere, true)
        case (.delete, .some): return (isOurs ? .delete : .takeServer, true)
        case (_, .some): return (isOurs ? .replace : .takeServer, true)
        }
    }
}

extension ChangeKind {
    /// What is left to tell the server of a change of which it has not heard, once the object is changed again: a new
    /// object that is changed is still a new one; one that is deleted again was never there.
    /// - Returns: nil if there is nothing left to tell.
    public func followed(by later: ChangeKind) -> ChangeKind? {
        switch (self, later) {
        case (.insert, .delete): nil
        case (.insert, _): .insert
        case (_, .delete): .delete
        // Deleted and made again: the server has it, with other values.
        case (.delete, _), (.update, _): .update
        }
    }
}
