import Foundation
import Strata
import StrataRemote
import StrataRemoteTesting
import Testing

/// Operations in the outbox that the server has refused, while a save of the same object goes past them to the server.
@Suite struct PassedOperationTests {
    typealias Kind = OperationOutboxTests.Kind

    /// Servers at which an operation is exact as long as nobody else changes the same.
    static let kinds: [Kind] = [.operations, .operationsAndVersions, .versionsAndTokens, .versions]

    /// What happens after a save that got no answer.
    enum Next: CaseIterable {
        case savesHere, savesOnline, restarts
    }

    @Test("A save without an answer that goes past a refused operation is done once", arguments: kinds, Next.allCases)
    func lostAnswer(kind: Kind, next: Next) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "strata-tally-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let location = SQLiteStore.Location.file(path: folder.appending(path: "mirror").path)
        let server = TallyServer(kind.features)
        var client = try TallyClient(server, location: location)
        try await client.create()
        try client.tally().add(["a"], to: "tags")
        try client.tally().increment("count", by: 10)
        try client.save()
        server.refusals = 1
        try await client.store.sync.push()
        #expect(try client.store.sync.failedChanges().count == 1)
        try client.tally().increment("count")
        await client.saveOnline(to: server, with: \.losesAnswers)
        switch next {
        case .savesHere:
            try client.tally().add(["b"], to: "tags")
            try client.save()
        case .savesOnline:
            try client.tally().add(["b"], to: "tags")
            for _ in 0..<2 where client.context.hasChanges { try? await client.saveOnline() }
            #expect(!client.context.hasChanges)
        case .restarts:
            client.store.close()
            client = try TallyClient(server, location: location)
        }
        try await client.settle()
        #expect(server.value("count") == .integer(11))
        #expect(server.tags == (next == .restarts ? ["a"] : ["a", "b"]))
        #expect(try client.tally()["count"] as? Int64 == 11)
        #expect(try client.store.sync.pendingCount() == 0)
        client.store.close()
    }

    @Test(
        "A save without an answer that is queued after a refused change is done once", arguments: kinds,
        [(true, false), (true, true), (false, false), (false, true)])
    func queued(kind: Kind, _ way: (isCarriedOut: Bool, isCreation: Bool)) async throws {
        let server = TallyServer(kind.features)
        let client = try TallyClient(server)
        if way.isCreation {
            let tally = try client.context.insert(entityNamed: "Tally")
            tally["tallyId"] = "1"
        } else {
            try await client.create()
        }
        try client.tally().add(["a"], to: "tags")
        try client.save()
        server.refusals = 1
        try await client.store.sync.push()
        #expect(try client.store.sync.failedChanges().count == 1)
        try client.tally().add(["b"], to: "tags")
        try client.tally().increment("count")
        server.losesAnswers = way.isCarriedOut
        server.losesRequests = !way.isCarriedOut
        try await client.context.save(options: RemoteOptions(savePolicy: .networkElseQueue))
        server.losesAnswers = false
        server.losesRequests = false
        #expect(try client.store.sync.pendingCount() > 0)
        try await client.settle()
        #expect(server.value("count") == .integer(1))
        #expect(server.tags == ["a", "b"])
        #expect(try client.tally()["count"] as? Int64 == 1)
        #expect(try client.store.sync.pendingCount() == 0)
        #expect(try client.store.sync.failedChanges().isEmpty)
    }

    @Test(
        "An operation that was carried out without an answer, and refused when it was repeated, is done once",
        arguments: kinds)
    func carriedOutAndRefused(kind: Kind) async throws {
        let server = TallyServer(kind.features)
        let client = try TallyClient(server)
        try await client.create()
        try client.tally().increment("count", by: 10)
        try client.save()
        await client.push(to: server, with: \.losesAnswers)
        server.refusals = 1
        try await client.store.sync.push()
        #expect(try client.store.sync.failedChanges().count == 1)
        // The save asks once more, and gets no answer itself.
        try client.tally().increment("count")
        server.refusals = 1
        await client.saveOnline(to: server, with: \.losesAnswers)
        try client.tally().increment("count", by: 100)
        try client.save()
        try await client.settle()
        #expect(server.value("count") == .integer(111))
        #expect(try client.tally()["count"] as? Int64 == 111)
        #expect(try client.store.sync.pendingCount() == 0)
    }

    @Test("An element that never arrived is added although others have changed the array since")
    func neverArrived() async throws {
        let server = TallyServer(Kind.operationsAndVersions.features)
        let (client, other) = (try TallyClient(server), try TallyClient(server))
        try await client.create()
        try await other.store.sync.synchronize()
        try client.tally().add(["a"], to: "tags")
        try client.save()
        await client.push(to: server, with: \.losesRequests)
        server.refusals = 1
        try await client.store.sync.push()
        try other.tally().add(["b"], to: "tags")
        try other.save()
        try await other.store.sync.push()
        try client.tally().increment("count")
        for _ in 0..<3 where client.context.hasChanges { try? await client.saveOnline() }
        try await client.settle()
        #expect(server.tags == ["a", "b"])
        #expect(server.value("count") == .integer(1))
    }

    @Test("An element that never arrived is added although others have come to the same number as its save")
    func neverArrivedWithNumber() async throws {
        let features = Kind.operationsAndVersions.features.subtracting(.arrayOperations)
        let server = TallyServer(features)
        let (client, other) = (try TallyClient(server), try TallyClient(server))
        try await client.create()
        try await other.store.sync.synchronize()
        let tally = try client.tally()
        try tally.add(["a"], to: "tags")
        try tally.increment("count")
        try client.save()
        await client.push(to: server, with: \.losesRequests)
        server.refusals = 1
        try await client.store.sync.push()
        try other.tally().increment("count")
        try other.save()
        try await other.store.sync.push()
        try tally.add(["b"], to: "tags")
        for _ in 0..<3 where client.context.hasChanges { try? await client.saveOnline() }
        try await client.settle()
        #expect(server.tags == ["a", "b"])
        // Nobody can say who has counted. It is not done twice.
        #expect(server.value("count") == .integer(1))
    }

    @Test(
        "Of a save that is refused in part, nothing is left to save of the other part, though operations were pushed before it",
        arguments: [Kind.operationsAlone, .operationsAndVersions, .versionsAndTokens, .versions])
    func partlyRefused(kind: Kind) async throws {
        let server = TallyServer(kind.features)
        let (client, other) = (try TallyClient(server), try TallyClient(server))
        try await client.create()
        let closed = try client.context.insert(entityNamed: "Tally")
        closed["tallyId"] = "2"
        try client.save()
        try await client.store.sync.synchronize()
        try await other.store.sync.synchronize()
        let tally = try #require(try await client.context.find(entity: "Tally", "1"))
        try tally.add(["a"], to: "tags")
        try tally.increment("count", by: 2)
        try client.save()
        let theirs = try #require(try await other.context.find(entity: "Tally", "1"))
        try theirs.add(["b"], to: "tags")
        try theirs.increment("count", by: 10)
        try other.save()
        try await other.store.sync.push()
        // The push that comes first brings what the other client has done, and the save goes on top of it.
        server.refusedID = "2"
        closed["name"] = "closed"
        try tally.remove(["a"], from: "tags")
        await #expect(throws: PersistenceError.self) { try await client.saveOnline() }
        #expect(!tally.hasChanges && closed.hasChanges)
        client.context.rollback()
        try tally.increment("count", by: 100)
        try client.save()
        try await client.settle()
        #expect(tally["count"] as? Int64 == 112)
        #expect(tally["tags"] as? [String] == ["b"])
        try await other.settle()
        #expect(theirs["count"] as? Int64 == 112)
        #expect(theirs["tags"] as? [String] == ["b"])
    }

    @Test("What waits after a refused attempt is not part of a save that goes past it", arguments: kinds)
    func behind(kind: Kind) async throws {
        let server = TallyServer(kind.features)
        let client = try TallyClient(server)
        try await client.create()
        try client.tally().add(["a"], to: "tags")
        try client.tally().increment("count")
        try client.save()
        await client.push(to: server, with: \.losesRequests)
        try client.tally().add(["b"], to: "tags")
        try client.tally().increment("count", by: 10)
        try client.save()
        server.refusals = 1
        try await client.store.sync.push()
        try client.tally().add(["c"], to: "tags")
        try client.tally().increment("count", by: 100)
        try await client.saveOnline()
        try await client.settle()
        #expect(server.value("count") == .integer(111))
        #expect(server.tags == ["a", "b", "c"])
        #expect(try client.tally()["count"] as? Int64 == 111)
        #expect(try client.store.sync.pendingCount() == 0)
    }

    @Test(
        "The save is repeated, and what was refused comes once, too",
        arguments: kinds.filter { !$0.features.contains(.idempotencyTokens) })
    func refusedRepetition(kind: Kind) async throws {
        let server = TallyServer(kind.features)
        let client = try TallyClient(server)
        try await client.create()
        try client.tally().add(["a"], to: "tags")
        try client.save()
        await client.push(to: server, with: \.losesRequests)
        server.refusals = 1
        try await client.store.sync.push()
        // The attempt is refused once more, and the answer to the save is lost.
        try client.tally().increment("count")
        server.refusals = 1
        await client.saveOnline(to: server, with: \.losesAnswers)
        try client.tally().increment("count", by: 10)
        try client.save()
        try await client.settle()
        #expect(server.value("count") == .integer(11))
        #expect(server.tags == ["a"])
        #expect(try client.store.sync.pendingCount() == 0)
    }

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
        await client.push(to: server, with: \.losesAnswers)
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
        await client.saveOnline(to: server, with: \.losesAnswers)
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

    @Test("A save that takes back what a refused operation does is not undone by it", arguments: kinds, [false, true])
    func takenBack(kind: Kind, isBehind: Bool) async throws {
        let server = TallyServer(kind.features)
        let client = try TallyClient(server)
        try await client.create()
        try client.tally().increment("count")
        if !isBehind { try client.tally().add(["a", "b"], to: "tags") }
        try client.save()
        if isBehind {
            await client.push(to: server, with: \.losesRequests)
            try client.tally().add(["a", "b"], to: "tags")
            try client.save()
        }
        server.refusals = 1
        try await client.store.sync.push()
        try client.tally().remove(["a"], from: "tags")
        try await client.saveOnline()
        try await client.settle()
        #expect(server.value("count") == .integer(1))
        #expect(server.tags == ["b"])
        #expect(try client.tally()["tags"] as? [String] == ["b"])
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
        await client.saveOnline(to: server, with: \.losesRequests)
        try other.tally().increment("count")
        try other.save()
        try await other.store.sync.push()
        try client.tally().increment("count")
        for _ in 0..<3 where client.context.hasChanges { try? await client.saveOnline() }
        #expect(!client.context.hasChanges)
        #expect(server.value("count") == .integer(3))
    }

    @Test("A value that a save assigns takes the place of refused operations", arguments: kinds, [false, true])
    func assigned(kind: Kind, isBehind: Bool) async throws {
        let server = TallyServer(kind.features)
        let client = try TallyClient(server)
        try await client.create()
        try client.tally().add(["a"], to: "tags")
        if !isBehind { try client.tally().increment("count") }
        try client.save()
        if isBehind {
            await client.push(to: server, with: \.losesRequests)
            try client.tally().increment("count")
            try client.save()
        }
        server.refusals = 1
        try await client.store.sync.push()
        try client.tally()["count"] = Int64(50)
        // Later entries make the result of an attempt look like that of another client: the first save may meet that.
        for _ in 0..<(isBehind ? 3 : 1) where client.context.hasChanges { try? await client.saveOnline() }
        #expect(!client.context.hasChanges)
        try await client.settle()
        #expect(server.value("count") == .integer(50))
        #expect(server.tags == ["a"])
        #expect(try client.tally()["count"] as? Int64 == 50)
        #expect(try client.store.sync.pendingCount() == 0)
    }
}

extension TallyServer {
    /// The tags in the order of their names: operations that wait may come in another one.
    var tags: [String] {
        guard case .list(let values)? = value("tags") else { return [] }
        return values.compactMap(String.init).sorted()
    }
}
