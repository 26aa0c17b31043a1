import Foundation
import Strata
import StrataRemote
import Testing

/// What synchronization does with times, with servers that ask to wait, and with changes that were refused.
@Suite struct SyncFailureTests {
    private func city(_ id: String, _ name: String, _ context: ManagedObjectContext) throws -> ManagedObject {
        let city = try context.insert(entityNamed: "City")
        city["cityId"] = id
        city["name"] = name
        return city
    }

    private func name(_ backend: ShelfBackend, _ id: String) -> RemoteValue? {
        backend.record("City", id)?.values["name"]
    }

    // MARK: Times

    @Test(arguments: [true, false], [true, false])
    func theLaterChangeWins(isConditional: Bool, serverIsLater: Bool) async throws {
        let backend = isConditional ? ShelfBackend.conditional() : ShelfBackend()
        backend.putCity("1", "Lima")
        let (store, context) = try Atlas.openOffline(backend) { $0.policies = ConflictPolicies(.lastModifiedWins) }
        try await store.sync.pull()
        let city = try #require(try await context.fetch(cities()).first)
        city["name"] = "Here"
        try await context.save()
        backend.now = Date().addingTimeInterval(serverIsLater ? 3600 : -3600)
        backend.put("City", "1", ["name": .value(.string("There"))])
        let report = try await store.sync.push()
        context.processPendingChanges()
        #expect(report.results.map(\.action) == [serverIsLater ? .serverWon : .updated])
        #expect(city.name == (serverIsLater ? "There" : "Here"))
        #expect(name(backend, "1") == .value(.string(serverIsLater ? "There" : "Here")))
        #expect(try store.sync.pendingCount() == 0)
    }

    @Test(arguments: [true, false])
    func theLaterOfDeletesAndChangesWins(serverIsLater: Bool) async throws {
        let backend = ShelfBackend.conditional()
        backend.putCity("1", "Lima")
        let (store, context) = try Atlas.openOffline(backend) { $0.policies = ConflictPolicies(.lastModifiedWins) }
        try await store.sync.pull()
        context.delete(try #require(try await context.fetch(cities()).first))
        try await context.save()
        backend.now = Date().addingTimeInterval(serverIsLater ? 3600 : -3600)
        backend.put("City", "1", ["name": .value(.string("There"))])
        try await store.sync.push()
        #expect(backend.count("City") == (serverIsLater ? 1 : 0))
        #expect(try await context.count(cities()) == (serverIsLater ? 1 : 0))
    }

    // MARK: Attempts of which nothing is known

    @Test(
        "Changes after one whose outcome is not known are not in conflict with it", arguments: [true, false],
        [true, false])
    func nobodyIsInConflictWithHimself(wasDone: Bool, isNew: Bool) async throws {
        let backend = ShelfBackend.conditional()
        let (store, context) = try Atlas.openOffline(backend)
        let tag = try context.insert(entityNamed: "Tag")
        tag["tagId"] = "1"
        tag["label"] = "first"
        try await context.save()
        if !isNew {
            try await store.sync.push()
            tag["label"] = "second"
            try await context.save()
        }
        if wasDone { backend.losesAnswers = true } else { backend.down = unreachable }
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        for label in ["third", "fourth"] {
            tag["label"] = label
            try await context.save()
        }
        backend.losesAnswers = false
        backend.down = nil
        _ = backend.takeLog()
        let report = try await store.sync.synchronize()
        #expect(report.results.map(\.action) == [isNew ? .created : .updated, .updated])
        #expect(backend.record("Tag", "1")?.values["label"] == .value(.string("fourth")))
        #expect(tag["label"] as? String == "fourth")
        // Each attempt says the same, whatever came after it.
        let told = backend.takeLog().compactMap { operation -> RemoteValue? in
            switch operation {
            case .create(_, let writes): writes[0].values["label"]
            case .update(_, let write): write.values["label"]
            default: nil
            }
        }
        #expect(told == [.value(.string(isNew ? "first" : "second")), .value(.string("fourth"))])
    }

    @Test("What joins a change after one under way was made to what is here, whatever the server said meanwhile")
    func joinsBehind() async throws {
        let backend = ShelfBackend.conditional()
        let (store, context) = try Atlas.openOffline(backend)
        let lima = try context.insert(entityNamed: "City")
        lima["cityId"] = "1"
        lima["name"] = "first"
        try await context.save()
        try await store.sync.push()
        lima["name"] = "second"
        try await context.save()
        backend.down = unreachable
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        backend.down = nil
        lima["population"] = Int64(10)
        try await context.save()
        // The request has not arrived: the server tells the name that it had before.
        try await store.sync.pull()
        backend.losesAnswers = true
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        backend.losesAnswers = false
        lima["name"] = "third"
        try await context.save()
        let report = try await store.sync.push()
        #expect(report.results.map(\.action) == [.updated, .updated])
        #expect(backend.record("City", "1")?.values["name"] == .value(.string("third")))
    }

    // MARK: Waiting

    /// A clock whose time passes at once. The first wait ends an outage.
    private final class PatientClock: RemoteClock, @unchecked Sendable {
        // Sendable because all state is reached only with the lock held.
        private let lock = NSLock()
        private var waits: [Double] = []
        private let onWait: @Sendable () -> Void

        init(_ onWait: @escaping @Sendable () -> Void) { self.onWait = onWait }

        var seconds: [Double] { lock.withLock { waits } }
        var now: Date { Date(timeIntervalSinceReferenceDate: lock.withLock { waits.reduce(0, +) }) }

        func sleep(seconds: Double) async throws(RemoteError) {
            lock.withLock { waits.append(seconds) }
            onWait()
        }
    }

    @Test(arguments: [RemoteError.Kind.throttled, .unavailable])
    func aPushWaitsAsLongAsTheServerAsks(kind: RemoteError.Kind) async throws {
        let backend = ShelfBackend.conditional()
        let clock = PatientClock { backend.down = nil }
        let (store, context) = try Atlas.openOffline(backend)
        _ = try city("1", "Lima", context)
        try await context.save()
        var options = SyncOptions()
        options.firstDelay = 2
        let engine = SyncEngine(
            mirror: store.mirror, backend: backend, options: options, clock: clock, random: { 0.5 })
        backend.down = RemoteError(kind, message: "later", status: 503, retryAfter: 17)
        #expect(try await engine.push().results.map(\.action) == [.created])
        #expect(clock.seconds == [17])
        backend.down = RemoteError(kind, message: "later", status: 503, retryAfter: 0.1)
        let lima = try #require(try await context.fetch(cities()).first)
        lima["name"] = "Ciudad de los Reyes"
        try await context.save()
        try await engine.push()
        // The server asks for less than the engine would wait by itself: two seconds, shortened by a quarter.
        #expect(clock.seconds == [17, 1.5])
        #expect(name(backend, "1") == .value(.string("Ciudad de los Reyes")))
    }

    @Test func aPushGivesUpAfterItsRetries() async throws {
        let backend = ShelfBackend.conditional()
        let clock = PatientClock {}
        let (store, context) = try Atlas.openOffline(backend)
        _ = try city("1", "Lima", context)
        try await context.save()
        var options = SyncOptions()
        options.retries = 3
        options.firstDelay = 1
        options.longestDelay = 3
        let engine = SyncEngine(mirror: store.mirror, backend: backend, options: options, clock: clock, random: { 0 })
        backend.down = unreachable
        await #expect(throws: SyncError.remote(unreachable)) { try await engine.push() }
        #expect(clock.seconds == [1, 2, 3])
        #expect(try engine.pendingCount() == 1)
    }

    // MARK: Refused changes

    private let refusal = RemoteError(.rejected, message: "no", status: 400)

    @Test func aRefusedChangeStopsNoOther() async throws {
        let backend = ShelfBackend.conditional()
        let (store, context) = try Atlas.openOffline(backend)
        _ = try city("1", "Lima", context)
        _ = try city("2", "Quito", context)
        try await context.save()
        backend.refuse("City", "1", refusal)
        try await store.sync.push()
        #expect(backend.record("City", "2") != nil)
        let failed = try store.sync.failedChanges()
        #expect(failed.map(\.identity) == [RemoteIdentity(entity: "City", id: "1")])
        // It is not sent again by itself.
        #expect(try await store.sync.push().results.isEmpty)
        backend.refuse("City", "1", nil)
        try store.sync.retry(failed)
        #expect(try await store.sync.push().results.map(\.action) == [.created])
        #expect(try store.sync.failedChanges().isEmpty)
    }

    @Test func aLaterChangeIsAnotherAttempt() async throws {
        let backend = ShelfBackend.conditional()
        let (store, context) = try Atlas.openOffline(backend)
        let lima = try city("1", "", context)
        try await context.save()
        backend.refuse("City", "1", refusal)
        try await store.sync.push()
        backend.refuse("City", "1", nil)
        lima["name"] = "Lima"
        try await context.save()
        #expect(try store.sync.failedChanges().isEmpty)
        #expect(try await store.sync.push().results.map(\.action) == [.created])
        #expect(name(backend, "1") == .value(.string("Lima")))
    }

    @Test func aDroppedDeleteBringsTheObjectBack() async throws {
        let backend = ShelfBackend.conditional()
        backend.putCity("1", "Lima", population: 7)
        let (store, context) = try Atlas.openOffline(backend)
        try await store.sync.pull()
        context.delete(try #require(try await context.fetch(cities()).first))
        try await context.save()
        backend.refuse("City", "1", RemoteError(.forbidden, message: "no", status: 403))
        try await store.sync.push()
        let failed = try store.sync.failedChanges()
        #expect(failed.map(\.kind) == [.delete])
        #expect(failed.map(\.error.kind) == [.forbidden])
        try store.sync.drop(failed)
        let back = try #require(try await context.fetch(cities()).first)
        #expect(back.name == "Lima")
        #expect(back["population"] as? Int64 == 7)
        #expect(try store.sync.failedChanges().isEmpty)
        #expect(backend.count("City") == 1)
    }

    // MARK: Secrets

    @Test func aPasswordThatWasLostIsAskedFor() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let location = SQLiteStore.Location.file(path: folder.appending(path: "mirror").path)
        let backend = ShelfBackend.conditional()
        do {
            let (store, context) = try Atlas.openOffline(backend, location: location)
            store.setPassword("sesame", for: try city("1", "Ann", context).objectID)
            _ = try city("2", "Bea", context)
            try await context.save()
            store.close()
        }
        // The next process.
        let (store, context) = try Atlas.openOffline(backend, location: location)
        let report = try await store.sync.push()
        #expect(report.failures.map(\.identity.id) == ["1"])
        #expect(backend.record("City", "1") == nil)
        #expect(backend.record("City", "2") != nil)
        let failed = try store.sync.failedChanges()
        #expect(failed.map(\.error.kind) == [.missingSecret])
        #expect(failed.map(\.error.message).first?.contains("set \"password\" of City 1 again") == true)
        _ = backend.takeLog()
        // Without it a retry is not a use.
        try store.sync.retry(failed)
        #expect(try await store.sync.push().failures.count == 1)
        #expect(backend.takeLog().isEmpty)
        let ann = try #require(try await context.fetch(cities("cityId = '1'")).first)
        store.setPassword("open", for: ann.objectID)
        try store.sync.retry(try store.sync.failedChanges())
        #expect(try await store.sync.push().results.map(\.action) == [.created])
        let secrets = backend.takeLog().flatMap { operation in
            if case .create(_, let writes) = operation { writes.map(\.secrets) } else { [[String: String]]() }
        }
        #expect(secrets == [["password": "open"]])
        ann["name"] = "Anna"
        try await context.save()
        #expect(try await store.sync.push().results.map(\.action) == [.updated])
        store.close()
    }
}
