import Foundation
import Strata
import StrataRemote
import StrataRemoteTesting
import Testing

/// Operations on attributes on their way to a server: queued, merged, repeated.
@Suite struct OperationOutboxTests {
    /// Kinds of servers: what they can do in addition to what all of them can.
    enum Kind: String, CaseIterable {
        case operations, operationsAndVersions, versionsAndTokens, versions, operationsAlone, plain

        var features: RemoteCapabilities.Features {
            let basic: RemoteCapabilities.Features = [.readingMany, .incrementalPull, .deletions]
            return switch self {
            case .operations: MemoryBackend.allFeatures
            case .operationsAndVersions: basic.union([.conditionalWrites, .increments, .arrayOperations])
            case .versionsAndTokens: basic.union([.conditionalWrites, .idempotencyTokens])
            case .versions: basic.union([.conditionalWrites])
            case .operationsAlone: basic.union([.increments, .arrayOperations])
            case .plain: basic
            }
        }
    }

    @Test("Two clients that count and collect offline come to the sum of both", arguments: Kind.allCases)
    func sums(kind: Kind) async throws {
        let server = TallyServer(kind.features)
        let clients = [try TallyClient(server), try TallyClient(server)]
        try await clients[0].create()
        try await clients[1].store.sync.synchronize()
        for (number, client) in clients.enumerated() {
            let tally = try client.tally()
            try tally.increment("count", by: number + 1)
            try client.save()
            try tally.increment("count", by: 10)
            try tally.increment("amount", by: Decimal(string: "0.1") ?? 0)
            try tally.addUnique(["both", "\(number)"], to: "tags")
            try client.save()
        }
        for _ in 0..<3 {
            for client in clients { try await client.store.sync.synchronize() }
        }
        #expect(server.value("count") == .integer(23))
        #expect(server.value("amount") == .decimal(Decimal(string: "0.2") ?? 0))
        #expect(server.value("tags") == ["both", "0", "1"])
        for client in clients {
            #expect(try client.store.sync.pendingCount() == 0)
            let tally = try client.tally()
            #expect(tally["count"] as? Int64 == 23)
            #expect(tally["tags"] as? [String] == ["both", "0", "1"])
        }
    }

    @Test("What waits is merged into one request, and said as an operation")
    func merging() async throws {
        let server = TallyServer(MemoryBackend.allFeatures)
        let client = try TallyClient(server)
        try await client.create()
        let tally = try client.tally()
        func saved(_ body: () throws -> Void) throws {
            try body()
            try client.save()
        }
        for _ in 0..<3 { try saved { try tally.increment("count") } }
        try saved { try tally.add(["a"], to: "tags") }
        try saved { try tally.add(["b"], to: "tags") }
        try await client.store.sync.push()
        #expect(server.updates.count == 1)
        #expect(server.updates.last?.operations == ["count": .increment(3), "tags": .append(["a", "b"])])
        #expect(server.updates.last?.values == [:])
        // An assigned value replaces earlier operations, and later ones are part of it.
        try saved { try tally.increment("count") }
        try saved { tally["count"] = Int64(50) }
        try saved { try tally.increment("count", by: 2) }
        // Of two kinds of operations the result is told.
        try saved { try tally.remove(["a"], from: "tags") }
        try saved { try tally.addUnique(["c"], to: "tags") }
        try await client.store.sync.push()
        #expect(server.updates.count == 2)
        #expect(server.updates.last?.operations == [:])
        #expect(server.updates.last?.values == ["count": .value(52), "tags": .value(["b", "c"])])
        // Operations that take each other back are not sent.
        try saved { try tally.increment("count") }
        try saved { try tally.increment("count", by: -1) }
        try await client.store.sync.push()
        #expect(server.value("count") == .integer(52))
    }

    @Test("A lost answer counts nothing twice, whatever is done meanwhile", arguments: Kind.allCases, [true, false])
    func lostAnswer(kind: Kind, continues: Bool) async throws {
        let server = TallyServer(kind.features)
        let client = try TallyClient(server)
        try await client.create()
        let tally = try client.tally()
        try tally.increment("count")
        try tally.add(["a"], to: "tags")
        try client.save()
        await client.push(to: server, with: \.losesAnswers)
        #expect(server.value("count") == .integer(1))
        if continues {
            try tally.increment("count", by: 10)
            try tally.add(["b"], to: "tags")
            try client.save()
        }
        for _ in 0..<2 { try await client.store.sync.synchronize() }
        #expect(server.value("count") == .integer(continues ? 11 : 1))
        #expect(server.value("tags") == (continues ? ["a", "b"] : ["a"]))
        #expect(try client.tally()["count"] as? Int64 == (continues ? 11 : 1))
        #expect(try client.store.sync.pendingCount() == 0)
    }

    @Test("A lost answer counts nothing twice when others set another property back", arguments: Kind.allCases)
    func lostAnswerSetBack(kind: Kind) async throws {
        let server = TallyServer(kind.features)
        let (client, other) = (try TallyClient(server), try TallyClient(server))
        try await client.create()
        try client.tally().add(["z"], to: "tags")
        try client.save()
        try await client.store.sync.push()
        try client.tally().increment("count", by: 3)
        try client.tally().add(["a"], to: "tags")
        try client.save()
        await client.push(to: server, with: \.losesAnswers)
        try await other.store.sync.synchronize()
        try other.tally().remove(["a"], from: "tags")
        try other.save()
        try await other.store.sync.push()
        #expect(server.value("tags") == ["z"])
        for _ in 0..<2 { try await client.store.sync.synchronize() }
        #expect(server.value("count") == .integer(3))
        // The tag looks as if it had never been added, but to a server that knows the request again.
        #expect(server.value("tags") == (kind.features.contains(.idempotencyTokens) ? ["z"] : ["z", "a"]))
    }

    @Test("A request that never arrived is made up for", arguments: Kind.allCases)
    func lostRequest(kind: Kind) async throws {
        let server = TallyServer(kind.features)
        let client = try TallyClient(server)
        try await client.create()
        try client.tally().increment("count")
        try client.save()
        await client.push(to: server, with: \.losesRequests)
        try await client.store.sync.synchronize()
        #expect(server.value("count") == .integer(1))
    }

    @Test(
        "The server's values win over assigned ones, and operations are done to them",
        arguments: Kind.allCases.filter { $0.features.contains(.conditionalWrites) })
    func serverWins(kind: Kind) async throws {
        let server = TallyServer(kind.features)
        var policies = RemoteStore.Options()
        policies.sync.policies = ConflictPolicies(.decide { _ in .server })
        let clients = [try TallyClient(server), try TallyClient(server, policies)]
        try await clients[0].create()
        try await clients[1].store.sync.synchronize()
        for (number, client) in clients.enumerated() {
            let tally = try client.tally()
            tally["name"] = "of \(number)"
            try tally.increment("count", by: number + 1)
            try client.save()
            try await client.store.sync.push()
        }
        for client in clients { try await client.store.sync.synchronize() }
        #expect(server.value("count") == .integer(3))
        #expect(server.value("name") == "of 0")
        #expect(try clients[1].tally()["count"] as? Int64 == 3)
    }

    @Test(
        "What waits outlives the process and a model whose attributes are declared in another order")
    func persistence() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "strata-tally-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let location = SQLiteStore.Location.file(path: folder.appending(path: "mirror").path)
        let server = TallyServer(MemoryBackend.allFeatures)
        let other = try TallyClient(server)
        try await other.create()
        let client = try TallyClient(server, location: location)
        try await client.store.sync.synchronize()
        try client.tally().increment("count", by: 5)
        try client.tally().addUnique(["x"], to: "tags")
        try client.save()
        client.store.close()
        try other.tally().increment("count", by: 100)
        try other.save()
        try await other.store.sync.push()
        let again = try TallyClient(server, location: location, model: TallyServer.model(reversed: true))
        #expect(try again.store.sync.pendingCount() == 1)
        try await again.store.sync.synchronize()
        #expect(server.value("count") == .integer(105))
        #expect(server.value("tags") == ["x"])
        #expect(server.updates.last?.operations["count"] == .increment(5))
        again.store.close()
    }

    @Test("What others did shows below what waits here, before that is sent")
    func pulling() async throws {
        let server = TallyServer(MemoryBackend.allFeatures)
        let clients = [try TallyClient(server), try TallyClient(server)]
        try await clients[0].create()
        try await clients[1].store.sync.synchronize()
        try clients[1].tally().increment("count")
        try clients[1].save()
        try clients[0].tally().increment("count", by: 10)
        try clients[0].save()
        try await clients[0].store.sync.push()
        try await clients[1].store.sync.pull()
        #expect(try clients[1].tally()["count"] as? Int64 == 11)
        #expect(server.value("count") == .integer(10))
        // A context that has an older value, with an operation of its own.
        let waiting = try clients[1].tally()
        try waiting.increment("count", by: 100)
        waiting["name"] = "named"
        try await clients[1].store.sync.synchronize()
        try clients[1].save()
        try await clients[1].store.sync.synchronize()
        #expect(server.value("count") == .integer(111))
        #expect(server.value("name") == "named")
    }
}
