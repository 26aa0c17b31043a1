import Foundation
import Strata
import StrataRemote
import StrataRemoteTesting
import Testing

/// Operations in online saves that get no answer, while others change the same object.
@Suite struct OnlineOperationTests {
    typealias Kind = OperationOutboxTests.Kind

    /// A client whose save of an increment by 10 was carried out without an answer, and one that knows nothing of it.
    private func open(_ kind: Kind) async throws -> (server: TallyServer, client: TallyClient, other: TallyClient) {
        let server = TallyServer(kind.features)
        let (client, other) = (try TallyClient(server), try TallyClient(server))
        client.context.mergePolicy = .objectWinsByProperty
        other.context.mergePolicy = .objectWinsByProperty
        try await client.create()
        try await client.store.sync.synchronize()
        try await other.store.sync.synchronize()
        try client.tally().increment("count", by: 10)
        await client.saveOnline(to: server, with: \.losesAnswers)
        return (server, client, other)
    }

    /// Saves until the merge policy has settled all conflicts.
    private func save(_ client: TallyClient) async throws {
        for _ in 0..<4 where client.context.hasChanges { try? await client.saveOnline() }
        #expect(!client.context.hasChanges)
        try await client.settle()
    }

    @Test(
        "An increment is done once though others have changed another attribute", arguments: PassedOperationTests.kinds)
    func otherAttribute(kind: Kind) async throws {
        let (server, client, other) = try await open(kind)
        try await other.change { $0["name"] = "theirs" }
        let tally = try client.tally()
        tally["name"] = "mine"
        try tally.increment("count")
        try await save(client)
        #expect(server.value("count") == .integer(11))
        #expect(server.value("name") == .string("mine"))
        #expect(tally["count"] as? Int64 == 11)
    }

    @Test(
        "An increment that the server has carried out stays when its context discards it",
        arguments: PassedOperationTests.kinds)
    func discarded(kind: Kind) async throws {
        let (server, client, other) = try await open(kind)
        try await other.change { $0["name"] = "theirs" }
        client.context.mergePolicy = .error
        let tally = try client.tally()
        tally["name"] = "mine"
        await #expect(throws: PersistenceError.self) { try await client.saveOnline() }
        client.context.rollback()
        try await client.store.sync.pull()
        client.context.processPendingChanges()
        #expect(tally["count"] as? Int64 == 10)
        #expect(tally["name"] as? String == "theirs")
        tally["name"] = "mine"
        try await save(client)
        #expect(server.value("count") == .integer(10))
        #expect(server.value("name") == .string("mine"))
    }

    /// How a context gives up an increment.
    enum GivingUp: CaseIterable { case rollback, reset, refresh }

    /// When it does so.
    enum Moment: CaseIterable { case beforePull, afterPull, afterConflict }

    @Test(
        "What a context counts after it has given up an increment comes on top of what it shows",
        arguments: PassedOperationTests.kinds)
    func countsOn(kind: Kind) async throws {
        for way in GivingUp.allCases {
            for moment in Moment.allCases {
                for isOnline in [true, false] { try await countsOn(kind, way, moment, isOnline) }
                for isOnline in [true, false] { try await countsOn(kind, way, moment, isOnline, others: 100) }
            }
        }
    }

    /// - Parameter others: What others count meanwhile.
    private func countsOn(
        _ kind: Kind, _ way: GivingUp, _ moment: Moment, _ isOnline: Bool, others: Int64 = 0
    ) async throws {
        let (server, client, other) = try await open(kind)
        if moment == .afterConflict {
            try await other.change { $0["name"] = "theirs" }
            client.context.mergePolicy = .error
            try client.tally()["name"] = "mine"
            await #expect(throws: PersistenceError.self) { try await client.saveOnline() }
        }
        if others > 0 { try await other.change { try $0.increment("count", by: Int(others)) } }
        if moment == .afterPull { try await client.store.sync.pull() }
        client.context.processPendingChanges()
        switch way {
        case .rollback: client.context.rollback()
        case .reset: client.context.reset()
        case .refresh: try client.context.refresh(try client.tally(), mergingChanges: false)
        }
        try await client.store.sync.pull()
        client.context.processPendingChanges()
        let tally = try client.tally()
        let label = Comment("\(way), \(moment), online: \(isOnline), others: \(others)")
        #expect(tally["count"] as? Int64 == 10 + others, label)
        try tally.increment("count")
        #expect(tally["count"] as? Int64 == 11 + others, label)
        if isOnline { try await save(client) } else { try client.save() }
        try await client.settle()
        #expect(server.value("count") == .integer(11 + others), label)
        #expect(try client.tally()["count"] as? Int64 == 11 + others, label)
    }

    @Test("An increment is done once though others have counted since", arguments: PassedOperationTests.kinds)
    func countedSince(kind: Kind) async throws {
        let (server, client, other) = try await open(kind)
        try await other.change { try $0.increment("count", by: 100) }
        let tally = try client.tally()
        try tally.increment("count")
        try await save(client)
        #expect(server.value("count") == .integer(111))
        #expect(tally["count"] as? Int64 == 111)
    }

    @Test(
        "An increment is done once though others have changed all that it was sent with",
        arguments: PassedOperationTests.kinds)
    func changedSince(kind: Kind) async throws {
        let (server, client, other) = try await open(kind)
        try await save(client)
        let tally = try client.tally()
        tally["name"] = "mine"
        try tally.increment("count", by: 5)
        await client.saveOnline(to: server, with: \.losesAnswers)
        try await other.change { tally in
            tally["name"] = "theirs"
            try tally.increment("count", by: 100)
        }
        try tally.increment("count")
        try await save(client)
        #expect(server.value("count") == .integer(116))
        #expect(tally["count"] as? Int64 == 116)
    }

    @Test(
        "An object that others have counted on is not deleted without a word behind an increment without an answer",
        arguments: PassedOperationTests.kinds)
    func deletedBehindIncrement(kind: Kind) async throws {
        let (server, client, other) = try await open(kind)
        try await other.change { try $0.increment("count", by: 100) }
        client.context.mergePolicy = .error
        client.context.delete(try client.tally())
        await #expect(throws: PersistenceError.self) { try await client.saveOnline() }
        #expect(server.value("count") == .integer(110))
        try await client.saveOnline()
        #expect(server.value("count") == nil)
    }

    @Test("An increment is done once though a proxy does not find its object", arguments: PassedOperationTests.kinds)
    func notFound(kind: Kind) async throws {
        let (server, client, _) = try await open(kind)
        let tally = try client.tally()
        tally["name"] = "mine"
        server.refusalKind = .notFound
        server.refusals = 1
        try? await client.saveOnline()
        try await save(client)
        #expect(server.value("count") == .integer(10))
        #expect(server.value("name") == .string("mine"))
    }

    @Test(
        "A save whose outcome cannot be read leaves the mirror as it is",
        arguments: [Kind.versionsAndTokens, .operations])
    func unreadable(kind: Kind) async throws {
        let (server, client, other) = try await open(kind)
        try await other.change { try $0.increment("count", by: 100) }
        try await client.store.sync.pull()
        await client.saveOnline(to: server, with: \.losesReads)
        let reader = try PersistentContainer(store: client.store).newContext()
        #expect(try await reader.find(entity: "Tally", "1")?["count"] as? Int64 == 110)
        try await save(client)
        #expect(server.value("count") == .integer(110))
        #expect(try client.tally()["count"] as? Int64 == 110)
    }

    @Test("An element is added once though others have added another one since", arguments: PassedOperationTests.kinds)
    func otherElement(kind: Kind) async throws {
        let (server, client, other) = try await open(kind)
        try await save(client)
        let tally = try client.tally()
        try tally.add(["a"], to: "tags")
        try tally.increment("count")
        await client.saveOnline(to: server, with: \.losesAnswers)
        try await other.change { tally in
            try tally.add(["b"], to: "tags")
            try tally.increment("count", by: 100)
        }
        try await save(client)
        #expect(server.tags == ["a", "b"])
        #expect(server.value("count") == .integer(111))
    }

    @Test(
        "An increment is done once though another context saves the object here in between",
        arguments: PassedOperationTests.kinds)
    func otherContext(kind: Kind) async throws {
        let (server, client, _) = try await open(kind)
        let other = try PersistentContainer(store: client.store).newContext()
        try #require(try await other.find(entity: "Tally", "1")).increment("count")
        try await other.save()
        try await client.store.sync.push()
        try await save(client)
        #expect(server.value("count") == .integer(11))
        #expect(try client.tally()["count"] as? Int64 == 11)
    }

    @Test("An increment is done once though others count between its repetition and the reading of the object")
    func changedBeforeReading() async throws {
        let (server, client, _) = try await open(.versions)
        let tally = try client.tally()
        try tally.increment("count")
        server.countBeforeRead = 110
        try await save(client)
        #expect(server.value("count") == .integer(111))
    }

    @Test(
        "An increment is done once though the save after it was lost, and others have counted since",
        arguments: PassedOperationTests.kinds)
    func lostAfterwards(kind: Kind) async throws {
        let (server, client, other) = try await open(kind)
        // The first part of the second save repeats the increment; the rest never arrives.
        try client.tally().add(["a"], to: "tags")
        server.requestsUntilLoss = 1
        await #expect(throws: PersistenceError.self) { try await client.saveOnline() }
        server.losesRequests = false
        try await other.change { tally in
            try tally.increment("count", by: 100)
            try tally.add(["b"], to: "tags")
        }
        try await save(client)
        #expect(server.value("count") == .integer(110))
        #expect(Set(server.tags) == ["a", "b"])
        #expect(try client.tally()["count"] as? Int64 == 110)
    }

    /// What a client does after a conflict, and before it saves to its mirror.
    enum AfterConflict: CaseIterable { case nothing, countsAgain, givesUpItsName }

    @Test(
        "An increment is done once though its object is saved here after a conflict",
        arguments: PassedOperationTests.kinds, AfterConflict.allCases)
    func savedHereAfterConflict(kind: Kind, next: AfterConflict) async throws {
        let (server, client, other) = try await open(kind)
        try await other.change { $0["name"] = "theirs" }
        try client.tally()["name"] = "mine"
        try? await client.saveOnline()
        switch next {
        case .nothing: break
        case .countsAgain: try client.tally().increment("count")
        case .givesUpItsName: try client.tally()["name"] = "theirs"
        }
        try client.save()
        let count: Int64 = next == .countsAgain ? 11 : 10
        #expect(try client.tally()["count"] as? Int64 == count)
        try await client.settle()
        #expect(server.value("count") == .integer(count))
        #expect(server.value("name") == .string(next == .givesUpItsName ? "theirs" : "mine"))
        #expect(try client.tally()["count"] as? Int64 == count)
    }

    @Test(
        "An increment is done once though a pull told it before its object is saved here",
        arguments: PassedOperationTests.kinds, [false, true])
    func savedHereAfterPull(kind: Kind, isKnown: Bool) async throws {
        let (server, client, _) = try await open(kind)
        // The save learns that the increment was carried out, if it can, and not what the object is now.
        if isKnown { await client.saveOnline(to: server, with: \.losesReads) }
        try await client.store.sync.pull()
        try client.tally().increment("count")
        try client.save()
        try await client.settle()
        #expect(server.value("count") == .integer(11))
        #expect(try client.tally()["count"] as? Int64 == 11)
    }

    @MainActor
    @Test(
        "What is done while a save is under way that is refused in part is done once",
        arguments: [Kind.operationsAndVersions, .operationsAlone, .versionsAndTokens, .versions], [false, true])
    func meanwhile(kind: Kind, isRead: Bool) async throws {
        let server = TallyServer(kind.features)
        let client = try TallyClient(server)
        try await client.create()
        let context = try PersistentContainer(store: client.store).viewContext
        let closed = try context.insert(entityNamed: "Tally")
        closed["tallyId"] = "2"
        try await context.save()
        try await client.store.sync.synchronize()
        let tally = try #require(try await context.find(entity: "Tally", "1"))
        try tally.add(["a"], to: "tags")
        try closed.increment("count")
        server.refusedID = "2"
        let gate = Gate()
        server.gate = gate
        let online = RemoteOptions(savePolicy: .networkThenCache)
        let save = Task { @MainActor in try await context.save(options: online) }
        await gate.reached()
        if isRead {
            // The context reads what the save has done before the save ends.
            try await client.store.sync.pull()
            let request = FetchRequest<ManagedObject>(entity: "Tally").options(RemoteOptions(fetchPolicy: .cacheOnly))
            _ = try await context.fetch(request)
        }
        try tally.increment("count")
        gate.open()
        await #expect(throws: PersistenceError.self) { try await save.value }
        try tally.add(["b"], to: "tags")
        #expect(tally.hasChanges && closed.hasChanges)
        server.refusedID = nil
        try await context.save(options: online)
        #expect(server.tags == ["a", "b"])
        #expect(server.value("count") == .integer(1))
        #expect(tally["tags"] as? [String] == ["a", "b"])
    }

    /// Two contexts with increments by 10 and 100, on one store, and a gate that the first answer waits for.
    @MainActor
    private func openTwo(_ server: TallyServer) async throws -> (contexts: [ManagedObjectContext], gate: Gate) {
        let client = try TallyClient(server)
        try await client.create()
        let container = try PersistentContainer(store: client.store)
        let contexts = [container.newContext(), container.newContext()]
        for (context, amount) in zip(contexts, [10, 100]) {
            context.mergePolicy = .objectWinsByProperty
            try #require(try await context.find(entity: "Tally", "1")).increment("count", by: amount)
        }
        let gate = Gate()
        server.answerGate = gate
        return (contexts, gate)
    }

    @MainActor
    @Test(
        "Increments of two contexts that save at the same time are done once",
        arguments: PassedOperationTests.kinds, [false, true])
    func atTheSameTime(kind: Kind, losesAnswers: Bool) async throws {
        let server = TallyServer(kind.features)
        let (contexts, gate) = try await openTwo(server)
        server.losesAnswers = losesAnswers
        let online = RemoteOptions(savePolicy: .networkThenCache)
        let first = Task { @MainActor in try await contexts[0].save(options: online) }
        await gate.reached()
        let second = Task { @MainActor in try await contexts[1].save(options: online) }
        try await Task.sleep(for: .milliseconds(20))
        gate.open()
        for save in [first, second] {
            guard case .failure = await save.result else { continue }
            #expect(losesAnswers)
        }
        server.losesAnswers = false
        for context in contexts.reversed() {
            for _ in 0..<4 where context.hasChanges { try? await context.save(options: online) }
            #expect(!context.hasChanges)
        }
        #expect(server.value("count") == .integer(110))
    }

    @MainActor
    @Test("A save that is cancelled while another one of the same object is under way ends, and the next one does it")
    func cancelledBehindAnother() async throws {
        let server = TallyServer(Kind.operations.features)
        let (contexts, gate) = try await openTwo(server)
        let online = RemoteOptions(savePolicy: .networkThenCache)
        let first = Task { @MainActor in try await contexts[0].save(options: online) }
        await gate.reached()
        let second = Task { @MainActor in try await contexts[1].save(options: online) }
        try await Task.sleep(for: .milliseconds(20))
        second.cancel()
        await #expect(throws: PersistenceError.self) { try await second.value }
        #expect(contexts[1].hasChanges)
        #expect(server.updates.count == 1)
        gate.open()
        try await first.value
        try await contexts[1].save(options: online)
        #expect(server.value("count") == .integer(110))
    }

    @Test(
        "A removal after a save without an answer is queued, though its result looks like that of the save",
        arguments: [Kind.operations, .operationsAndVersions, .versionsAndTokens, .versions])
    func sameResult(kind: Kind) async throws {
        let server = TallyServer(kind.features)
        let (client, other) = (try TallyClient(server), try TallyClient(server))
        try await client.create()
        try await other.store.sync.synchronize()
        try client.tally().add(["a"], to: "tags")
        await client.saveOnline(to: server, with: \.losesRequests)
        try await other.change { try $0.add(["b"], to: "tags") }
        try await client.store.sync.pull()
        try client.tally().remove(["b"], from: "tags")
        try client.save()
        try await client.settle()
        #expect(server.tags == ["a"])
        #expect(try client.tally()["tags"] as? [String] == ["a"])
        #expect(try client.store.sync.pendingCount() == 0)
    }

    @Test(
        "A context is not in conflict with its own save after others have changed and restored the object",
        arguments: [Kind.operations, .operationsAndVersions, .versionsAndTokens, .versions])
    func restored(kind: Kind) async throws {
        let server = TallyServer(kind.features)
        let (client, other) = (try TallyClient(server), try TallyClient(server))
        try await client.create()
        let context = try PersistentContainer(store: client.store).newContext()
        context.mergePolicy = .error
        let tally = try #require(try await context.find(entity: "Tally", "1"))
        tally["name"] = "mine"
        server.losesAnswers = true
        await #expect(throws: PersistenceError.self) { try await context.save(options: RemoteOptions.network) }
        server.losesAnswers = false
        try await other.change { $0["amount"] = Decimal(1) }
        try await other.change { $0["amount"] = nil }
        tally["count"] = Int64(5)
        for _ in 0..<2 where context.hasChanges { try? await context.save(options: RemoteOptions.network) }
        #expect(!context.hasChanges)
        #expect(server.value("name") == .string("mine"))
        #expect(server.value("count") == .integer(5))
    }

    @MainActor
    @Test(
        "A pull that ends before an earlier save is not set back by it",
        arguments: [Kind.operationsAndVersions, .versionsAndTokens, .versions])
    func pulledMeanwhile(kind: Kind) async throws {
        let server = TallyServer(kind.features)
        let (client, other) = (try TallyClient(server), try TallyClient(server))
        try await client.create()
        try client.tally().add(["a"], to: "tags")
        let (gate, context) = (Gate(), client.context)
        server.answerGate = gate
        let online = RemoteOptions(savePolicy: .networkThenCache)
        let save = Task { @MainActor in try await context.save(options: online) }
        await gate.reached()
        server.answerGate = nil
        try await other.store.sync.pull()
        try other.tally().add(["b"], to: "tags")
        try other.save()
        try await other.store.sync.push()
        try await client.store.sync.pull()
        gate.open()
        try await save.value
        #expect(try client.tally()["tags"] as? [String] == ["a", "b"])
        try client.tally().add(["c"], to: "tags")
        try await client.saveOnline()
        #expect(server.tags == ["a", "b", "c"])
    }

    @Test(
        "A count that was given up, and never arrived, is not taken back from others",
        arguments: [Kind.operations, .operationsAndVersions, .versionsAndTokens, .versions])
    func givenUp(kind: Kind) async throws {
        let server = TallyServer(kind.features)
        let (client, other) = (try TallyClient(server), try TallyClient(server))
        try await client.create()
        try await other.store.sync.synchronize()
        try client.tally().increment("count", by: 2)
        await client.saveOnline(to: server, with: \.losesRequests)
        client.context.rollback()
        try client.tally().add(["a"], to: "tags")
        try client.save()
        try await other.change { try $0.increment("count") }
        try await client.settle()
        #expect(server.value("count") == .integer(1))
        #expect(server.tags == ["a"])
        #expect(try client.store.sync.pendingCount() == 0)
    }
}
