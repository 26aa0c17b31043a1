import Foundation
import Strata
import StrataRemote
import StrataRemoteTesting
import Testing

/// A context saves an object online, and while that is under way, another context of the store saves it to the mirror.
@Suite struct UnderWayTests {
    typealias Kind = OperationOutboxTests.Kind

    private typealias World = UnderWayWorld

    @MainActor
    @Test(
        "A value that waits stays on top of one that an answer brings, and the conflict policy decides when it is sent",
        arguments: Kind.allCases, [true, false])
    func sameValue(kind: Kind, clientWins: Bool) async throws {
        let world = try await World(kind, clientWins ? .clientWins : .decide { _ in .server })
        try await world.save(online: { $0["name"] = "first" }, here: { $0["name"] = "second" })
        #expect(world.server.value("name") == .string("first"))
        #expect(try world.tally()?["name"] as? String == "second")
        let report = try await world.client.store.sync.push()
        #expect(report.results.map(\.action) == [clientWins ? .updated : .serverWon])
        try await world.settle()
        let expected = clientWins ? "second" : "first"
        #expect(world.server.value("name") == .string(expected))
        #expect(try world.tally()?["name"] as? String == expected)
        #expect(try world.client.store.sync.pendingCount() == 0)
    }

    @MainActor
    @Test("Changes of different properties come together", arguments: Kind.allCases)
    func otherValue(kind: Kind) async throws {
        let world = try await World(kind, .merge)
        try await world.save(online: { $0["name"] = "first" }, here: { $0["amount"] = Decimal(2) })
        #expect(try world.tally()?["name"] as? String == "first")
        #expect(try world.tally()?["amount"] as? Decimal == 2)
        try await world.settle()
        #expect(world.server.value("name") == .string("first"))
        #expect(try world.tally()?["name"] as? String == "first")
        if kind.features.contains(.conditionalWrites) { #expect(world.server.value("amount") == .decimal(2)) }
    }

    @MainActor
    @Test("Operations come together", arguments: Kind.allCases)
    func operations(kind: Kind) async throws {
        let world = try await World(kind)
        try await world.save(
            online: { try $0.increment("count", by: 10) }, here: { try $0.increment("count", by: 100) })
        #expect(try world.tally()?["count"] as? Int64 == 110)
        try await world.settle()
        #expect(world.server.value("count") == .integer(110))
        #expect(try world.tally()?["count"] as? Int64 == 110)
    }

    @MainActor
    @Test(
        "An object that is deleted online while its change waits is decided about when that is sent",
        arguments: Kind.allCases, [true, false])
    func deletedOnline(kind: Kind, clientWins: Bool) async throws {
        let world = try await World(kind, clientWins ? .clientWins : .decide { _ in .server })
        // It is in conflict with the change, which its merge policy would decide about.
        await #expect(throws: PersistenceError.self) {
            try await world.save(
                online: { tally in tally.context?.delete(tally) }, here: { $0["name"] = "second" })
        }
        world.online.rollback()
        #expect(world.server.value("count") == nil)
        #expect(try world.tally()?["name"] as? String == "second")
        try await world.settle()
        let expected: Value? = clientWins ? .string("second") : nil
        #expect(world.server.value("name") == expected)
        #expect(try world.tally()?["name"] as? String == (clientWins ? "second" : nil))
        #expect(try world.client.store.sync.pendingCount() == 0)
    }

    @MainActor
    @Test("A change is not lost while a save takes an earlier one along that was refused", arguments: Kind.allCases)
    func refused(kind: Kind) async throws {
        for fails in [false, true] {
            let world = try await World(kind)
            let tally = try #require(try world.tally())
            tally["name"] = "refused"
            try tally.increment("count", by: 1)
            try world.client.save()
            world.server.refusals = 1
            try await world.client.store.sync.push()
            #expect(try world.client.store.sync.failedChanges().count == 1)
            if fails { world.server.refusedID = "1" }
            try? await world.save(
                online: { $0["amount"] = Decimal(2) },
                here: { tally in
                    tally["name"] = "second"
                    try tally.increment("count", by: 10)
                })
            world.server.refusedID = nil
            #expect(try world.client.store.sync.failedChanges().isEmpty)
            try await world.settle()
            #expect(world.server.value("name") == .string("second"), "fails: \(fails)")
            #expect(world.server.value("count") == .integer(11), "fails: \(fails)")
            #expect(world.server.value("amount") == (fails ? .null : .decimal(2)))
            #expect(try world.tally()?["name"] as? String == "second")
            #expect(try world.tally()?["count"] as? Int64 == 11)
            #expect(try world.client.store.sync.pendingCount() == 0)
        }
    }

    @MainActor
    @Test("An object that is deleted here while its change is saved online is gone", arguments: Kind.allCases)
    func deletedHere(kind: Kind) async throws {
        let world = try await World(kind)
        try await world.save(
            online: { $0["name"] = "first" }, here: { tally in tally.context?.delete(tally) })
        #expect(try world.tally() == nil)
        try await world.settle()
        #expect(world.server.value("count") == nil)
        #expect(try world.tally() == nil)
        #expect(try world.client.store.sync.pendingCount() == 0)
    }
}
