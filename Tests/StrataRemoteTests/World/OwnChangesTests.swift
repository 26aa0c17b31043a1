import Foundation
import Strata
import StrataRemote
import StrataStore
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

    @Test("A change after one that the server answers with only a time goes on from there")
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

    @Test(
        "What is done to an object that a pull has told before its creation was answered stays",
        arguments: [true, false])
    func doubles(isEditedToo: Bool) async throws {
        let backend = Interceptor { $0.features.insert(.idempotencyTokens) }
        let (shelf, failure) = (backend.shelf, Guarded<RemoteError?>(lost))
        backend.nameObjects(of: "City", failingWith: failure)
        shelf.put("Tag", "t", ["label": .value(.string("coast"))])
        let (store, context) = try Atlas.offline(backend)
        let lima = try Atlas.city("1", "Lima", context)
        try await context.save()
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        try await store.sync.pull()
        let double = try #require(try await context.fetch(cities()).first { $0["cityId"] as? String == "server-1" })
        let tag = try #require(try await context.fetch(FetchRequest<ManagedObject>(entity: "Tag")).first)
        if isEditedToo { lima["name"] = "Callao" }
        try await context.save()
        double["population"] = 3
        double["tags"] = Set([tag])
        try await context.save()
        failure.withLock { $0 = nil }
        for _ in 0..<2 { try await store.sync.synchronize() }
        let record = try #require(shelf.record("City", "server-1"))
        #expect(record.values["name"] == .value(.string(isEditedToo ? "Callao" : "Lima")))
        #expect(record.values["population"] == .value(.integer(3)))
        #expect(record.values["tags"] == .references(["t"]))
        try context.refreshAllObjects()
        #expect(try await context.fetch(cities()).map { $0["population"] as? Int64 } == [3])
        #expect(lima["population"] as? Int64 == 3 && (lima["tags"] as? Set<ManagedObject>)?.count == 1)
        #expect(try store.sync.pendingCount() == 0)
    }

    @Test("What refers to the double of a new object refers to the object once it is known to be the same")
    func referencesToDoubles() async throws {
        let backend = Interceptor { $0.features.insert(.idempotencyTokens) }
        let (shelf, failure) = (backend.shelf, Guarded<RemoteError?>(lost))
        backend.nameObjects(of: "Country", failingWith: failure)
        let (store, context) = try Atlas.offline(backend)
        let peru = try context.insert(entityNamed: "Country")
        peru["countryId"] = "pe"
        try await context.save()
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        try await store.sync.pull()
        let countries = FetchRequest<ManagedObject>(entity: "Country")
        let double = try #require(
            try await context.fetch(countries).first { $0["countryId"] as? String == "server-pe" })
        let lima = try Atlas.city("1", "Lima", context)
        lima["country"] = double
        try await context.save()
        failure.withLock { $0 = nil }
        for _ in 0..<2 { try await store.sync.synchronize() }
        #expect(shelf.record("City", "1")?.values["country"] == .reference("server-pe"))
        try context.refreshAllObjects()
        #expect(lima["country"] as? ManagedObject === peru)
        #expect(try await context.count(countries) == 1)
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

    @Test(
        "An online save whose answer is lost meets the merge policy if others have changed the object since",
        arguments: [true, false], [MergePolicy.error, .objectWinsByProperty])
    func overtakenOnline(isNew: Bool, policy: MergePolicy) async throws {
        let backend = Interceptor { $0.features.insert(.idempotencyTokens) }
        let shelf = backend.shelf
        let (store, context) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        context.mergePolicy = policy
        let lima = try Atlas.city("1", "Lima", context)
        if !isNew {
            try await context.save(options: nil)
            lima["name"] = "Callao"
        }
        // The server remembers its first answer.
        let remembered = backend.loseAnswers(throwing: lost)
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        shelf.put("City", "1", ["name": .value(.string("theirs")), "population": .value(.integer(7))])
        let (first, isAnswered) = (remembered.withLock { $0 }, Guarded(false))
        backend.intercept { (operation) async throws(RemoteError) in
            guard operation.written != nil else { return nil }
            return isAnswered.withLock { isAnswered in
                defer { isAnswered = true }
                return isAnswered ? nil : first
            }
        }
        lima["name"] = "Ciudad de los Reyes"
        // The first attempt is refused; the second one can compare with what the server has.
        for _ in 0..<2 where context.hasChanges { try? await context.save(options: nil) }
        // An object that the context knows merges the state of the server, and keeps its changes on top.
        let isRefused = isNew && policy == .error
        let name = shelf.record("City", "1")?.values["name"]
        #expect(name == .value(.string(isRefused ? "theirs" : "Ciudad de los Reyes")))
        #expect(shelf.record("City", "1")?.values["population"] == .value(.integer(7)))
        #expect(context.hasChanges == isRefused)
        context.rollback()
        try await store.sync.synchronize()
        #expect(try await context.fetch(cities()).map { $0["population"] as? Int64 } == [7])
    }

    @Test("An increment that was refused after an attempt without an answer is not done twice by a pull in between")
    func refusedIncrement() async throws {
        let backend = Interceptor()
        backend.shelf.putCity("1", "Lima", population: 1)
        let shelf = backend.shelf
        let (store, context) = try Atlas.offline(backend)
        try await store.sync.pull()
        let lima = try #require(try await context.fetch(cities()).first)
        try lima.increment("population")
        try await context.save()
        backend.loseAnswers(throwing: lost)
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        backend.refuseWrites()
        try await store.sync.push()
        try await store.sync.pull()
        backend.intercept(nil)
        try store.sync.retry(try store.sync.failedChanges())
        try await store.sync.synchronize()
        #expect(shelf.record("City", "1")?.values["population"] == .value(.integer(2)))
        context.processPendingChanges()
        #expect(lima["population"] as? Int64 == 2)
        #expect(try store.sync.pendingCount() == 0)
    }

    @Test("A refused creation whose key the server has by now can be saved online")
    func refusedDuplicate() async throws {
        let backend = Interceptor()
        let shelf = backend.shelf
        let (store, context) = try Atlas.offline(backend)
        let lima = try Atlas.city("1", "Lima", context)
        try await context.save()
        backend.loseAnswers(throwing: lost)
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        backend.refuseWrites()
        try await store.sync.push()
        #expect(try store.sync.failedChanges().count == 1)
        backend.intercept(nil)
        // The server has made something else of what it was given.
        shelf.put("City", "1", ["name": .value(.string("LIMA")), "population": .value(.integer(0))])
        lima["population"] = 5
        for _ in 0..<2 where context.hasChanges {
            try? await context.save(options: RemoteOptions(savePolicy: .networkThenCache))
        }
        #expect(!context.hasChanges)
        #expect(shelf.record("City", "1")?.values["population"] == .value(.integer(5)))
        #expect(try store.sync.failedChanges().isEmpty)
        #expect(try store.sync.pendingCount() == 0)
    }

    @Test("A new object that is held back by a refused one can be saved online without it")
    func withoutRefused() async throws {
        let backend = ShelfBackend.conditional()
        let (store, context) = try Atlas.openOffline(backend)
        let peru = try context.insert(entityNamed: "Country")
        peru["countryId"] = "pe"
        let lima = try Atlas.city("1", "Lima", context)
        lima["country"] = peru
        try await context.save()
        backend.refuse("Country", "pe", RemoteError(.rejected, message: "no such country"))
        try await store.sync.push()
        #expect(backend.count("City") == 0)
        lima["country"] = nil
        lima["name"] = "Ciudad de los Reyes"
        try await context.save(options: RemoteOptions(savePolicy: .networkThenCache))
        #expect(backend.record("City", "1")?.values["name"] == .value(.string("Ciudad de los Reyes")))
        try await store.sync.synchronize()
        #expect(backend.count("City") == 1)
        #expect(try store.sync.pendingCount() == 0)
    }

    @Test("A deletion follows a change that was refused after an attempt without an answer")
    func deletionBehindRefused() async throws {
        let backend = Interceptor { $0.features.insert(.idempotencyTokens) }
        backend.shelf.putCity("1", "Lima")
        let shelf = backend.shelf
        let (store, context) = try Atlas.offline(backend)
        try await store.sync.pull()
        let lima = try #require(try await context.fetch(cities()).first)
        lima["name"] = "Callao"
        try await context.save()
        let first = backend.loseAnswers(throwing: lost)
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        backend.refuseWrites()
        try await store.sync.push()
        // The server knows the change that it has carried out.
        backend.intercept { (operation) async throws(RemoteError) in
            if case .update = operation { return first.withLock { $0 } }
            return nil
        }
        context.delete(lima)
        try await context.save(options: RemoteOptions(savePolicy: .networkThenCache))
        #expect(shelf.count("City") == 0)
        try await store.sync.synchronize()
        #expect(try await context.count(cities()) == 0)
        #expect(try store.sync.failedChanges().isEmpty)
    }

    @Test("A new object under the primary key of one that is deleted here is saved online after that deletion")
    func reusedKey() async throws {
        let backend = ShelfBackend.conditional()
        backend.putCity("1", "Lima")
        let (store, context) = try Atlas.openOffline(backend)
        try await store.sync.pull()
        context.delete(try #require(try await context.fetch(cities()).first))
        try await context.save()
        try Atlas.city("1", "Callao", context)
        try await context.save(options: RemoteOptions(savePolicy: .networkThenCache))
        #expect(backend.record("City", "1")?.values["name"] == .value(.string("Callao")))
        try await store.sync.synchronize()
        #expect(try await context.fetch(cities()).map(\.name) == ["Callao"])
        #expect(try store.sync.pendingCount() == 0)
    }

    @Test("An object that the server keeps is another one for a context that has deleted it, too")
    func deletedByTwo() async throws {
        let backend = Interceptor()
        backend.shelf.putCity("1", "Lima")
        let (store, first) = try Atlas.offline(backend)
        try await store.sync.pull()
        let second = try PersistentContainer(store: store).newContext()
        second.mergePolicy = .error
        let city = try #require(try await second.fetch(cities()).first)
        first.delete(try #require(try await first.fetch(cities()).first))
        try await first.save()
        backend.shelf.putCity("1", "Changed")
        second.delete(city)
        // The first deletion is sent before, and the server wins.
        let error = await #expect(throws: PersistenceError.self) {
            try await second.save(options: RemoteOptions.network)
        }
        guard case .conflicts? = error else { throw try #require(error) }
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string("Changed")))
        #expect(try await first.fetch(cities()).map(\.name) == ["Changed"])
    }

    @Test(
        "The members that others have given a new object stay when its creation is repeated, with other members",
        arguments: [false, true], [false, true])
    func membersOfOthers(relates: Bool, recognizesWrites: Bool) async throws {
        let backend = Interceptor {
            if !relates { $0.features.remove(.relating) }
            if recognizesWrites { $0.features.insert(.idempotencyTokens) }
        }
        for tag in ["theirs", "mine"] { backend.shelf.put("Tag", tag, ["label": .value(.string(tag))]) }
        let (store, context) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        try await store.sync.pull()
        let city = try Atlas.city("1", "Lima", context)
        backend.loseAnswers(throwing: RemoteError(.timeout, message: "no answer"))
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        // A server that recognizes writes answers what it has.
        backend.intercept { [shelf = backend.shelf] (operation) throws(RemoteError) in
            guard recognizesWrites, case .create = operation else { return nil }
            return .outcomes([.done(shelf.record("City", "1"))])
        }
        backend.shelf.putCity("1", "Lima", tags: ["theirs"])
        city["tags"] = Set([try #require(try await context.find(entity: "Tag", "mine"))])
        for _ in 0..<3 where context.hasChanges { try? await context.save(options: nil) }
        #expect(!context.hasChanges)
        var tags: Set<String> = []
        if case .references(let list)? = backend.shelf.record("City", "1")?.values["tags"] { tags = Set(list) }
        #expect(tags == ["theirs", "mine"])
    }
}
