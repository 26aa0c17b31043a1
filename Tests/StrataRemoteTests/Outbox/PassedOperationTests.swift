import Foundation
import Strata
import StrataRemote
import StrataTesting
import Testing

/// Operations in the outbox that the server has refused, while a save of the same object goes past them to the server.
@Suite struct PassedOperationTests {
    typealias Kind = OperationOutboxTests.Kind

    /// Servers at which an operation is exact as long as nobody else changes the same.
    static let kinds: [Kind] = [.operations, .operationsAndVersions, .versionsAndTokens, .versions]

    @Test("An operation that met a conflict without an answer does not count as done", arguments: kinds)
    func conflictWithoutAnswer(kind: Kind) async throws {
        let server = TallyServer(kind.features)
        let (client, other) = (try TallyClient(server), try TallyClient(server))
        try await client.create()
        try await other.store.sync.synchronize()
        try other.tally().increment("count")
        try other.save()
        try await other.store.sync.push()
        try client.tally().addUnique(["a"], to: "tags")
        try client.save()
        server.losesAnswers = true
        await #expect(throws: SyncError.self) { try await client.store.sync.push() }
        server.losesAnswers = false
        server.refusals = 1
        try await client.store.sync.push()
        #expect(try client.store.sync.failedChanges().count == 1)
        try client.tally().increment("count", by: 10)
        for _ in 0..<3 where client.context.hasChanges {
            try? await client.saveOnline()
            try await client.settle()
        }
        #expect(!client.context.hasChanges)
        #expect(server.value("count") == .integer(11))
        #expect(server.tags == ["a"])
        #expect(try client.tally()["tags"] as? [String] == ["a"])
        #expect(try client.store.sync.pendingCount() == 0)
    }

    @Test("What has been told since a save without an answer does not make it look undone", arguments: kinds)
    func toldSince(kind: Kind) async throws {
        let server = TallyServer(kind.features)
        let (client, other) = (try TallyClient(server), try TallyClient(server))
        try await client.create()
        try client.tally().increment("count")
        try client.tally().add(["a"], to: "tags")
        server.losesAnswers = true
        await #expect(throws: PersistenceError.self) { try await client.saveOnline() }
        server.losesAnswers = false
        try await other.store.sync.synchronize()
        try other.tally().add(["b"], to: "tags")
        try other.save()
        try await other.store.sync.push()
        try await client.store.sync.pull()
        try client.tally().increment("count", by: 10)
        try client.save()
        try other.tally().remove(["b"], from: "tags")
        try other.save()
        try await other.store.sync.push()
        try await client.settle()
        #expect(server.value("count") == .integer(11))
        #expect(server.tags == ["a"])
        #expect(try client.store.sync.pendingCount() == 0)
    }

    @Test(
        "A result that others have come to, too, does not count as that of a save that never arrived",
        arguments: kinds.filter { $0.features.contains(.idempotencyTokens) })
    func sameResult(kind: Kind) async throws {
        let server = TallyServer(kind.features)
        let (client, other) = (try TallyClient(server), try TallyClient(server))
        try await client.create()
        try await other.store.sync.synchronize()
        try client.tally().increment("count")
        server.losesRequests = true
        await #expect(throws: PersistenceError.self) { try await client.saveOnline() }
        server.losesRequests = false
        try other.tally().increment("count")
        try other.save()
        try await other.store.sync.push()
        try client.tally().increment("count")
        for _ in 0..<3 where client.context.hasChanges { try? await client.saveOnline() }
        #expect(!client.context.hasChanges)
        #expect(server.value("count") == .integer(3))
    }
}

extension TallyServer {
    /// The tags in the order of their names: operations that wait may come in another one.
    fileprivate var tags: [String] {
        guard case .list(let values)? = value("tags") else { return [] }
        return values.compactMap(String.init).sorted()
    }
}
