import Foundation
import StrataRemote
import Testing

/// The rules for back ends without versions; times are small numbers.
@Suite struct SyncDecisionTests {
    private func time(_ seconds: Double?) -> Date? { seconds.map { Date(timeIntervalSince1970: $0) } }

    private func decide(
        _ kind: ChangeKind, _ policy: ConflictPolicy, client: Double?, server: Double?, base: Double?
    ) -> (decision: SyncDecision, policyCalled: Bool) {
        let identity = RemoteIdentity(entity: "Todo", id: "1")
        let conflict = SyncConflict(
            kind: kind, identity: identity,
            client: RemoteRecord(entity: "Todo", id: "1", modified: time(client)), server: nil,
            baseModified: time(base))
        let record = time(server).map { RemoteRecord(entity: "Todo", id: "1", modified: $0) }
        return SyncDecision.decide(conflict, record.map(SyncDecision.Answer.found) ?? .missing, policy: policy)
    }

    @Test(arguments: [ConflictPolicy.clientWins, .lastModifiedWins, .serverModifiedWins])
    func withoutConflictNobodyIsAsked(_ policy: ConflictPolicy) {
        #expect(decide(.insert, policy, client: 20, server: nil, base: nil) == (.create, false))
        #expect(decide(.update, policy, client: 20, server: 10, base: 10) == (.replace, false))
        #expect(decide(.delete, policy, client: 20, server: 10, base: 10) == (.delete, false))
        #expect(decide(.delete, policy, client: 20, server: nil, base: 10) == (.drop, false))
    }

    @Test("Each conflict policy decides between two updates by their times")
    func updates() {
        #expect(decide(.update, .clientWins, client: 20, server: 30, base: 10) == (.replace, true))
        #expect(decide(.update, .lastModifiedWins, client: 20, server: 30, base: 10) == (.takeServer, true))
        #expect(decide(.update, .lastModifiedWins, client: 30, server: 20, base: 10) == (.replace, true))
        #expect(decide(.update, .lastModifiedWins, client: 20, server: 20, base: 10) == (.takeServer, true))
        #expect(decide(.update, .serverModifiedWins, client: 30, server: 20, base: 10) == (.takeServer, true))
        #expect(decide(.update, .clientWins, client: 20, server: nil, base: 10) == (.create, true))
        #expect(decide(.update, .lastModifiedWins, client: 20, server: nil, base: 10) == (.create, true))
        #expect(decide(.update, .serverModifiedWins, client: 20, server: nil, base: 10) == (.deleteHere, true))
        #expect(decide(.update, .merge, client: 30, server: 20, base: 10) == (.takeServer, true))
    }

    @Test("Each conflict policy decides between two objects with one key")
    func inserts() {
        #expect(decide(.insert, .clientWins, client: 30, server: 20, base: nil) == (.replace, true))
        #expect(decide(.insert, .lastModifiedWins, client: 30, server: 20, base: nil) == (.replace, true))
        #expect(decide(.insert, .lastModifiedWins, client: 20, server: 30, base: nil) == (.takeServer, true))
        #expect(decide(.insert, .serverModifiedWins, client: 30, server: 20, base: nil) == (.takeServer, true))
    }

    @Test("Each conflict policy decides between a delete and an update")
    func deletes() {
        #expect(decide(.delete, .clientWins, client: 20, server: 30, base: 10) == (.delete, true))
        #expect(decide(.delete, .lastModifiedWins, client: 20, server: 30, base: 10) == (.takeServer, true))
        #expect(decide(.delete, .lastModifiedWins, client: 30, server: 20, base: 10) == (.delete, true))
        #expect(decide(.delete, .serverModifiedWins, client: 30, server: 20, base: 10) == (.takeServer, true))
    }

    @Test func errorsAreKept() {
        let conflict = SyncConflict(
            kind: .insert, identity: RemoteIdentity(entity: "Todo", id: "1"),
            client: RemoteRecord(entity: "Todo", id: "1"), server: nil, baseModified: nil)
        #expect(SyncDecision.decide(conflict, .failed, policy: .clientWins) == (.fail, false))
    }

    @Test func theQueueCollapses() {
        #expect(ChangeKind.insert.followed(by: .update) == .insert)
        #expect(ChangeKind.insert.followed(by: .delete) == nil)
        #expect(ChangeKind.update.followed(by: .update) == .update)
        #expect(ChangeKind.update.followed(by: .delete) == .delete)
        #expect(ChangeKind.delete.followed(by: .insert) == .update)
    }
}
