import Foundation
import Strata
import StrataRemote
import Testing

/// Nobody is in conflict with earlier changes of their own, whatever became of those on the way.
@Suite struct OwnChangesTests {
    private let lost = RemoteError(.unreachable, message: "lost")

    /// What follows a creation of which no answer came.
    enum Next: CaseIterable { case change, deletion }

    @Test(
        "What follows a creation without an answer reaches a server that compares times", arguments: Next.allCases,
        [true, false])
    func behindCreation(next: Next, wasDone: Bool) async throws {
        let backend = Interceptor(ShelfBackend())
        let (store, context) = try Atlas.offline(backend)
        let lima = try Atlas.city("1", "Lima", context)
        try await context.save()
        let (shelf, lost) = (backend.shelf, lost)
        backend.intercept { (operation) async throws(RemoteError) in
            guard operation.written != nil else { return nil }
            if wasDone { _ = try await shelf.perform(operation, options: RequestOptions()) }
            throw lost
        }
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        backend.intercept(nil)
        #expect(shelf.count("City") == (wasDone ? 1 : 0))
        switch next {
        case .change: lima["name"] = "Callao"
        case .deletion: context.delete(lima)
        }
        try await context.save()
        let report = try await store.sync.synchronize()
        #expect(report.failures.isEmpty && !report.results.contains { $0.action == .serverWon }, "\(report.results)")
        #expect(shelf.record("City", "1")?.values["name"] == (next == .change ? .value(.string("Callao")) : nil))
        #expect(try await context.count(cities()) == (next == .change ? 1 : 0))
        #expect(try store.sync.pendingCount() == 0)
    }

    @Test("A change behind one that the server answers with no more than a time goes on from there")
    func answersOfTimes() async throws {
        let backend = Interceptor(ShelfBackend())
        let (store, context) = try Atlas.offline(backend)
        try Atlas.city("1", "Lima", context)
        try await context.save()
        let edits = Guarded(["Callao", "Miraflores"])
        @Sendable func rename(_ name: String) async throws {
            let other = try PersistentContainer(store: store).newContext()
            try #require(try await other.fetch(cities()).first)["name"] = name
            try await other.save()
        }
        backend.alter { (operation, answer) async throws(RemoteError) in
            guard operation.written != nil, case .outcomes(let list) = answer else { return answer }
            // It is edited while the request is under way.
            if let name = edits.withLock({ $0.popLast() }) {
                do { try await rename(name) } catch { Issue.record(error) }
            }
            return .outcomes(
                list.map { outcome in
                    guard case .done(var record?) = outcome else { return outcome }
                    record.values = [:]
                    return .done(record)
                })
        }
        for _ in 0..<2 { try await store.sync.push() }
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string("Callao")))
    }

    @Test("The change of a new object that waits for a refused one waits with it")
    func heldBack() async throws {
        let backend = ShelfBackend.conditional()
        let (store, context) = try Atlas.openOffline(backend)
        let peru = try context.insert(entityNamed: "Country")
        peru["countryId"] = "pe"
        let lima = try Atlas.city("1", "Lima", context)
        lima["country"] = peru
        try await context.save()
        backend.down = lost
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        backend.down = nil
        // The city was sent once, with an unknown outcome.
        backend.refuse("Country", "pe", RemoteError(.rejected, message: "no such country"))
        lima["name"] = "Ciudad de los Reyes"
        try await context.save()
        for _ in 0..<3 { _ = try? await store.sync.synchronize() }
        #expect(try await context.count(cities()) == 1)
        #expect(try store.sync.failedChanges().map(\.identity.id) == ["pe"])
        backend.refuse("Country", "pe", nil)
        try store.sync.retry(try store.sync.failedChanges())
        try await store.sync.synchronize()
        #expect(backend.record("City", "1")?.values["name"] == .value(.string("Ciudad de los Reyes")))
        #expect(backend.record("City", "1")?.values["country"] == .reference("pe"))
    }

    @Test("The answer to a repeated write that the server remembers does not set the object back")
    func rememberedAnswers() async throws {
        let backend = Interceptor { $0.features.insert(.idempotencyTokens) }
        let (store, context) = try Atlas.offline(backend)
        let lima = try Atlas.city("1", "Lima", context)
        try await context.save()
        try await store.sync.push()
        lima["name"] = "Callao"
        try await context.save()
        let (shelf, lost) = (backend.shelf, lost)
        let remembered = Guarded<RemoteAnswer?>(nil)
        backend.intercept { (operation) async throws(RemoteError) in
            guard operation.written != nil else { return nil }
            if let answer = remembered.withLock({ $0 }) { return answer }
            let answer = try await shelf.perform(operation, options: RequestOptions())
            remembered.withLock { $0 = answer }
            throw lost
        }
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        shelf.put("City", "1", ["name": .value(.string("Callao")), "population": .value(.integer(7))])
        try await store.sync.push()
        context.processPendingChanges()
        #expect(lima["population"] as? Int64 == 7)
        #expect(try store.sync.pendingCount() == 0)
    }

    @Test("A deletion that the server has carried out takes a refused change of the object along")
    func deletionOfRefused() async throws {
        let backend = ShelfBackend.conditional()
        backend.putCity("1", "Lima")
        let (store, context) = try Atlas.openOffline(backend)
        try await store.sync.pull()
        let lima = try #require(try await context.fetch(cities()).first)
        lima["name"] = "Callao"
        try await context.save()
        backend.refuse("City", "1", RemoteError(.rejected, message: "no"))
        try await store.sync.push()
        #expect(try store.sync.failedChanges().count == 1)
        backend.refuse("City", "1", nil)
        context.delete(lima)
        try await context.save(options: RemoteOptions(savePolicy: .networkThenCache))
        #expect(backend.count("City") == 0)
        let failed = try store.sync.failedChanges()
        #expect(failed.isEmpty)
        try store.sync.drop(failed)
        try await store.sync.synchronize()
        #expect(try await context.count(cities()) == 0)
    }
}
