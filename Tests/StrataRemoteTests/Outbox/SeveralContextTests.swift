import Foundation
import Strata
import StrataRemote
import StrataRemoteTesting
import Testing

/// Two contexts of one store change the same object, and a save of one of them gets no answer.
@Suite struct SeveralContextTests {
    typealias Kind = OperationOutboxTests.Kind

    /// What the second context does then.
    enum Second: CaseIterable {
        case savesOnline, savesOnlineWithoutAnswer, savesHere, pushes, pushesWithoutAnswer
        /// It has saved to the mirror before, and the push got no answer.
        case hasPushedWithoutAnswer
    }

    /// What the first context does at last.
    enum First: CaseIterable { case savesOnline, savesHere, isGone }

    /// A client and two contexts of its store that have read the tally.
    private func open(
        _ server: TallyServer, merging: Bool = false
    ) async throws -> (client: TallyClient, contexts: [ManagedObjectContext], tallies: [ManagedObject]) {
        let client = try TallyClient(server)
        try await client.create()
        let container = try PersistentContainer(store: client.store)
        var contexts: [ManagedObjectContext] = []
        var tallies: [ManagedObject] = []
        for _ in 0..<2 {
            let context = container.newContext(automaticallyMergesChanges: merging)
            context.mergePolicy = .objectWinsByProperty
            contexts.append(context)
            tallies.append(try #require(try await context.find(entity: "Tally", "1")))
        }
        return (client, contexts, tallies)
    }

    private let online = RemoteOptions(savePolicy: .networkThenCache)

    private func saveHere(_ context: ManagedObjectContext) throws { try context.save() }

    /// Saves online, and gets no answer.
    private func saveOnline(
        _ context: ManagedObjectContext, to server: TallyServer, with trouble: WritableKeyPath<TallyTrouble, Bool>,
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) async {
        server[dynamicMember: trouble] = true
        await #expect(throws: PersistenceError.self, sourceLocation: sourceLocation) {
            try await context.save(options: online)
        }
        server[dynamicMember: trouble] = false
    }

    private func saveOnline(_ context: ManagedObjectContext) async throws {
        for _ in 0..<5 where context.hasChanges { try? await context.save(options: online) }
        #expect(!context.hasChanges)
    }

    @Test(
        "An increment without an answer is done once, and not lost, whatever another context does meanwhile",
        arguments: PassedOperationTests.kinds, [false, true])
    func increments(kind: Kind, isCarriedOut: Bool) async throws {
        for merging in [false, true] {
            for second in Second.allCases {
                for first in First.allCases {
                    try await increments(kind, isCarriedOut, merging, second, first)
                }
            }
        }
    }

    private func increments(
        _ kind: Kind, _ isCarriedOut: Bool, _ merging: Bool, _ second: Second, _ first: First
    ) async throws {
        let server = TallyServer(kind.features)
        var (client, contexts, tallies) = try await open(server, merging: merging)
        let loss = isCarriedOut ? \TallyTrouble.losesAnswers : \.losesRequests
        if second == .hasPushedWithoutAnswer {
            try tallies[1].increment("count", by: 100)
            try saveHere(contexts[1])
            await client.push(to: server, with: loss)
        }
        try tallies[0].increment("count", by: 10)
        await saveOnline(contexts[0], to: server, with: loss)
        if second != .hasPushedWithoutAnswer { try tallies[1].increment("count", by: 100) }
        switch second {
        case .savesOnline: try await saveOnline(contexts[1])
        case .savesOnlineWithoutAnswer:
            server[dynamicMember: loss] = true
            try? await contexts[1].save(options: online)
            server[dynamicMember: loss] = false
        case .savesHere, .pushes, .pushesWithoutAnswer:
            try saveHere(contexts[1])
            if second == .pushes { try await client.store.sync.push() }
            if second == .pushesWithoutAnswer { await client.push(to: server, with: loss) }
        default: break
        }
        switch first {
        case .savesOnline: try await saveOnline(contexts[0])
        case .savesHere: try saveHere(contexts[0])
        case .isGone:
            contexts.removeFirst()
            tallies.removeFirst()
        }
        for context in contexts where context.hasChanges { try await saveOnline(context) }
        try await client.settle()
        // A context that is gone has given its change up, which may have been carried out all the same.
        let expected: [Int64] = first == .isGone ? [100, 110] : [110]
        let label = Comment("\(second), \(first), merging: \(merging)")
        guard case .integer(let count)? = server.value("count") else { return #expect(Bool(false), label) }
        #expect(expected.contains(count), label)
        #expect(try client.store.sync.pendingCount() == 0, label)
        #expect(try client.tally()["count"] as? Int64 == count, label)
        for (context, tally) in zip(contexts, tallies) {
            try context.refresh(tally)
            #expect(tally["count"] as? Int64 == count, label)
        }
    }

    @Test(
        "An increment without an answer that is given up does not count when another context does it again",
        arguments: PassedOperationTests.kinds, [false, true])
    func tryingAgain(kind: Kind, isCarriedOut: Bool) async throws {
        for isReleased in [false, true] {
            for isOnline in [false, true] {
                let server = TallyServer(kind.features)
                var (client, contexts, tallies) = try await open(server)
                try tallies[0].increment("count", by: 10)
                let loss = isCarriedOut ? \TallyTrouble.losesAnswers : \.losesRequests
                await saveOnline(contexts[0], to: server, with: loss)
                if isReleased {
                    contexts.removeFirst()
                    tallies.removeFirst()
                } else {
                    contexts[0].rollback()
                }
                let last = contexts.count - 1
                try tallies[last].increment("count", by: 10)
                if isOnline { try await saveOnline(contexts[last]) } else { try saveHere(contexts[last]) }
                try await client.settle()
                let label = Comment("released: \(isReleased), online: \(isOnline)")
                #expect(server.value("count") == .integer(10), label)
                #expect(try client.tally()["count"] as? Int64 == 10, label)
            }
        }
    }

    @Test(
        "A value without an answer is a change by others to another context, whose merge policy decides",
        arguments: PassedOperationTests.kinds, [false, true])
    func values(kind: Kind, isCarriedOut: Bool) async throws {
        let server = TallyServer(kind.features)
        let (client, contexts, tallies) = try await open(server)
        contexts[1].mergePolicy = .error
        tallies[0]["name"] = "first"
        let loss = isCarriedOut ? \TallyTrouble.losesAnswers : \.losesRequests
        await saveOnline(contexts[0], to: server, with: loss)
        tallies[1]["name"] = "second"
        // It is sent once more, so that it is carried out by now in any case.
        await #expect(throws: PersistenceError.self) { try await contexts[1].save(options: online) }
        #expect(server.value("name") == .string("first"))
        contexts[1].mergePolicy = .objectWinsByProperty
        try await saveOnline(contexts[1])
        #expect(server.value("name") == .string("second"))
        // The first context has not seen that.
        contexts[0].mergePolicy = .error
        await #expect(throws: PersistenceError.self) { try await contexts[0].save(options: online) }
        contexts[0].mergePolicy = .storeWinsByProperty
        try await contexts[0].save(options: online)
        #expect(!contexts[0].hasChanges)
        #expect(tallies[0]["name"] as? String == "second")
        try await client.settle()
        #expect(server.value("name") == .string("second"))
    }

    @Test(
        "A deletion by another context does not take a value along that got no answer",
        arguments: PassedOperationTests.kinds)
    func deletion(kind: Kind) async throws {
        let server = TallyServer(kind.features)
        let (_, contexts, tallies) = try await open(server)
        contexts[1].mergePolicy = .error
        tallies[0]["name"] = "first"
        await saveOnline(contexts[0], to: server, with: \.losesAnswers)
        contexts[1].delete(tallies[1])
        await #expect(throws: PersistenceError.self) { try await contexts[1].save(options: online) }
        #expect(server.value("name") == .string("first"))
        contexts[1].mergePolicy = .objectWinsByProperty
        try await saveOnline(contexts[1])
        #expect(server.value("name") == nil)
    }

    @Test(
        "A save that is repeated after a pull has brought its result is not in conflict with itself",
        arguments: PassedOperationTests.kinds, Third.allCases)
    func pulledResult(kind: Kind, next: Third) async throws {
        let server = TallyServer(kind.features)
        let (client, contexts, tallies) = try await open(server)
        contexts[0].mergePolicy = .error
        tallies[0]["name"] = "first"
        try tallies[0].increment("count", by: 10)
        await saveOnline(contexts[0], to: server, with: \.losesAnswers)
        switch next {
        case .savesOnline, .savesHere, .deletes: try await client.store.sync.pull()
        case .savesOnlineAfterAnother:
            // That save finds out what the other one has done, and is in conflict with it.
            contexts[1].mergePolicy = .error
            tallies[1]["amount"] = Decimal(1)
            await #expect(throws: PersistenceError.self) { try await contexts[1].save(options: online) }
            contexts[1].rollback()
        }
        switch next {
        case .savesOnline, .savesOnlineAfterAnother: try await contexts[0].save(options: online)
        case .savesHere:
            try saveHere(contexts[0])
            try await client.settle()
        case .deletes:
            contexts[0].delete(tallies[0])
            try await contexts[0].save(options: online)
            return #expect(server.value("count") == nil)
        }
        #expect(!contexts[0].hasChanges)
        #expect(server.value("name") == .string("first"))
        #expect(server.value("count") == .integer(10))
        try contexts[0].refresh(tallies[0])
        #expect(tallies[0]["count"] as? Int64 == 10)
    }

    @Test(
        "A save whose repetition was answered, and whose rest was not, is not in conflict with what a pull has brought of it",
        arguments: PassedOperationTests.kinds, [1, 2])
    func pulledPart(kind: Kind, times: Int) async throws {
        let server = TallyServer(kind.features)
        let (client, contexts, tallies) = try await open(server)
        contexts[0].mergePolicy = .error
        tallies[0]["name"] = "first"
        tallies[0]["amount"] = Decimal(1)
        try tallies[0].increment("count", by: 10)
        await saveOnline(contexts[0], to: server, with: \.losesRequests)
        for number in 1...times {
            tallies[0]["name"] = "again \(number)"
            server.requestsUntilLoss = 1
            await #expect(throws: PersistenceError.self) { try await contexts[0].save(options: online) }
            server.requestsUntilLoss = nil
            server.losesRequests = false
        }
        try await client.store.sync.pull()
        try await contexts[0].save(options: online)
        #expect(server.value("name") == .string("again \(times)"))
        #expect(server.value("amount") == .decimal(1))
        #expect(server.value("count") == .integer(10))
        try contexts[0].refresh(tallies[0])
        #expect(tallies[0]["name"] as? String == "again \(times)")
        #expect(tallies[0]["count"] as? Int64 == 10)
    }

    /// A client and one more context of its store that has read the tally.
    @MainActor
    private func openOne(
        _ server: TallyServer
    ) async throws -> (client: TallyClient, context: ManagedObjectContext, tally: ManagedObject) {
        let client = try TallyClient(server)
        try await client.create()
        let context = try PersistentContainer(store: client.store).newContext()
        return (client, context, try #require(try await context.find(entity: "Tally", "1")))
    }

    /// Saves online, and pulls after the first request has arrived and before it is answered. The save fails.
    @MainActor
    private func pull(
        _ store: RemoteStore, from server: TallyServer, whileSaving context: ManagedObjectContext
    ) async throws {
        let gate = Gate()
        server.answerGate = gate
        let save = Task { @MainActor [online] in try await context.save(options: online) }
        await gate.reached()
        server.answerGate = nil
        try await store.sync.pull()
        gate.open()
        await #expect(throws: PersistenceError.self) { try await save.value }
    }

    @MainActor
    @Test(
        "A save is not in conflict with what a pull has brought of it while it was repeated",
        arguments: PassedOperationTests.kinds)
    func pulledMeanwhile(kind: Kind) async throws {
        let server = TallyServer(kind.features)
        let (client, context, tally) = try await openOne(server)
        tally["name"] = "first"
        server.losesAnswers = true
        await #expect(throws: PersistenceError.self) { try await context.save(options: online) }
        server.losesAnswers = false
        tally["amount"] = Decimal(1)
        // The repetition is answered, and the rest does not arrive.
        server.requestsUntilLoss = 1
        try await pull(client.store, from: server, whileSaving: context)
        server.requestsUntilLoss = nil
        server.losesRequests = false
        try await context.save(options: online)
        #expect(server.value("name") == .string("first"))
        #expect(server.value("amount") == .decimal(1))
    }

    @MainActor
    @Test(
        "A save without an answer is not in conflict with what a pull has brought of it while it was under way",
        arguments: PassedOperationTests.kinds, [true, false])
    func pulledUnderWay(kind: Kind, isOnline: Bool) async throws {
        let server = TallyServer(kind.features)
        let (client, context, tally) = try await openOne(server)
        tally["name"] = "first"
        try tally.increment("count", by: 10)
        server.losesAnswers = true
        try await pull(client.store, from: server, whileSaving: context)
        server.losesAnswers = false
        tally["name"] = "second"
        if isOnline {
            try await context.save(options: online)
        } else {
            try saveHere(context)
            try await client.store.sync.synchronize()
        }
        #expect(server.value("name") == .string("second"))
        #expect(server.value("count") == .integer(10))
        try context.refresh(tally)
        #expect(tally["count"] as? Int64 == 10)
    }

    @Test(
        "A save that is repeated is in conflict with what others have changed since",
        arguments: PassedOperationTests.kinds, [false, true])
    func pulledChange(kind: Kind, isDeletion: Bool) async throws {
        let server = TallyServer(kind.features)
        let (client, contexts, tallies) = try await open(server)
        contexts[0].mergePolicy = .error
        tallies[0]["name"] = "first"
        await saveOnline(contexts[0], to: server, with: \.losesAnswers)
        let other = try TallyClient(server)
        try await other.change { $0["amount"] = Decimal(1) }
        try await client.store.sync.pull()
        if isDeletion { contexts[0].delete(tallies[0]) }
        await #expect(throws: PersistenceError.self) { try await contexts[0].save(options: online) }
        #expect(server.value("amount") == .decimal(1))
    }

    @Test(
        "A deletion without an answer that a pull has told is not in conflict with itself",
        arguments: PassedOperationTests.kinds, [false, true])
    func pulledDeletion(kind: Kind, isOnline: Bool) async throws {
        let server = TallyServer(kind.features)
        let (client, contexts, tallies) = try await open(server)
        contexts[0].mergePolicy = .error
        contexts[0].delete(tallies[0])
        await saveOnline(contexts[0], to: server, with: \.losesAnswers)
        try await client.store.sync.pull()
        if isOnline { try await contexts[0].save(options: online) } else { try saveHere(contexts[0]) }
        try await client.settle()
        #expect(!contexts[0].hasChanges)
        #expect(server.value("count") == nil)
        #expect(try client.store.sync.pendingCount() == 0)
    }

    @MainActor
    @Test(
        "Of two contexts that count, one alone goes on from a count that the first of them has given up",
        arguments: PassedOperationTests.kinds)
    func givenUp(kind: Kind) async throws {
        let server = TallyServer(kind.features)
        let (client, contexts, tallies) = try await open(server)
        try tallies[0].increment("count")
        await saveOnline(contexts[0], to: server, with: \.losesAnswers)
        contexts[0].rollback()
        try tallies[1].increment("count")
        let gate = Gate()
        server.answerGate = gate
        let save = Task { @MainActor in try await contexts[1].save(options: online) }
        await gate.reached()
        try tallies[0].increment("count")
        try saveHere(contexts[0])
        gate.open()
        _ = await save.result
        try await saveOnline(contexts[1])
        try await client.settle()
        #expect(server.value("count") == .integer(2))
        #expect(try client.store.sync.pendingCount() == 0)
    }

    /// What the first context does after an answer has told what its save has done.
    enum Third: CaseIterable { case savesOnline, savesOnlineAfterAnother, savesHere, deletes }
}
