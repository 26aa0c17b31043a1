import Foundation
import Strata
import StrataRemote
import StrataStore
import StrataRemoteTesting
import Testing

/// What an online save sends once more says little about the first attempt, and nothing about what others did since.
@Suite struct RepetitionTests {
    private let unanswered = RemoteError(.timeout, domain: "test", message: "no answer")

    /// A back end that names new objects itself.
    private static func renaming(_ writes: [RemoteWrite]) -> [RemoteWrite] {
        writes.map { write in
            var write = write
            write.id += "~"
            return write
        }
    }

    /// A store that has the server's city "1", Lima, and a context on it.
    private func openWithCity(
        _ backend: Interceptor, _ savePolicy: SavePolicy
    ) async throws -> (store: RemoteStore, context: ManagedObjectContext, city: ManagedObject) {
        backend.shelf.putCity("1", "Lima")
        let (store, context) = try Atlas.offline(backend) { $0.savePolicy = savePolicy }
        try await store.sync.pull()
        return (store, context, try #require(try await context.fetch(cities()).first))
    }

    /// What a creation that is sent once more is answered with, after a server made the object under another key.
    enum Answer: CaseIterable { case proxy, duplicate }

    @Test(
        "A new object that the server has named itself is found, whatever stands in the way of the repetition",
        arguments: Answer.allCases)
    func renamed(answer: Answer) async throws {
        let backend = Interceptor()
        let (_, context) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        let city = try Atlas.city("1", "Lima", context)
        let attempts = Guarded(0)
        let unanswered = unanswered
        backend.intercept { [shelf = backend.shelf] operation throws(RemoteError) in
            guard case .create(let entity, let writes) = operation else { return nil }
            let attempt = attempts.withLock { count in
                count += 1
                return count
            }
            if attempt == 1 {
                _ = try await shelf.perform(
                    .create(entity: entity, Self.renaming(writes)), options: RequestOptions())
                throw unanswered
            }
            let record = shelf.record(entity.name, "1~")
            switch answer {
            case .proxy where attempt == 2:
                throw RemoteError(.notFound, domain: "test", message: "a proxy", status: 404)
            case .proxy: return .outcomes([.done(record)])
            case .duplicate:
                return .outcomes([
                    .failed(RemoteError(.duplicate, domain: "test", message: "is there already", serverRecord: record))
                ])
            }
        }
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        if answer == .proxy {
            await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        }
        try await context.save(options: nil)
        #expect(!context.hasChanges)
        #expect(city["cityId"] as? String == "1~")
        #expect(backend.shelf.count("City") == 1)
    }

    @Test(
        "A change that the server has carried out is not in conflict with what follows, though its repetition is refused",
        arguments: [true, false])
    func refusedRepetition(hasTokens: Bool) async throws {
        let backend = Interceptor { if hasTokens { $0.features.insert(.idempotencyTokens) } }
        let (_, context, city) = try await openWithCity(backend, .networkThenCache)
        city["name"] = "Callao"
        backend.loseAnswers(throwing: unanswered)
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        city["name"] = "Miraflores"
        let refusal = Guarded<RemoteError?>(RemoteError(.rejected, domain: "test", message: "a proxy", status: 400))
        backend.intercept { operation throws(RemoteError) in
            guard operation.written != nil, let error = refusal.withLock({ $0 }) else { return nil }
            refusal.withLock { $0 = nil }
            throw error
        }
        try await context.save(options: nil)
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string("Miraflores")))
    }

    @Test("A change of members that never arrived does not count as carried out, though its repetition is refused")
    func refusedMembers() async throws {
        let backend = Interceptor { $0.features.insert(.relating) }
        let (_, context, city) = try await openWithCity(backend, .networkThenCache)
        let tag = try context.insert(entityNamed: "Tag")
        tag["tagId"] = "t"
        try await context.save(options: nil)
        city["tags"] = [tag]
        let unanswered = unanswered
        backend.intercept { operation throws(RemoteError) in
            if operation.written != nil { throw unanswered }
            return nil
        }
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.refuseWrites()
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.intercept(nil)
        try await context.save(options: nil)
        #expect(backend.shelf.record("City", "1")?.values["tags"] == .references(["t"]))
    }

    @Test("What others have made of an object since the first attempt is there after the repetition")
    func remembered() async throws {
        let backend = Interceptor { $0.features.insert(.idempotencyTokens) }
        let (store, context, city) = try await openWithCity(backend, .networkThenCache)
        city["name"] = "Callao"
        let answer = backend.loseAnswers(throwing: unanswered)
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.shelf.putCity("1", "Miraflores")
        try await store.sync.pull()
        backend.intercept { operation throws(RemoteError) in
            // The server carries out a write once, and remembers what it said.
            if case .update = operation { answer.withLock { $0 } } else { nil }
        }
        try await context.save(options: nil)
        context.processPendingChanges()
        #expect(city["name"] as? String == "Miraflores")
        let other = try PersistentContainer(store: store).newContext()
        #expect(try await other.fetch(cities()).first?["name"] as? String == "Miraflores")
    }

    @Test("What the server remembers of a creation does not set back what a pull told of the object since")
    func rememberedCreation() async throws {
        let backend = Interceptor { $0.features.insert(.idempotencyTokens) }
        let (store, context) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        let city = try Atlas.city("1", "Lima", context)
        let (made, unanswered) = (Guarded<RemoteRecord?>(nil), unanswered)
        backend.intercept { [shelf = backend.shelf] operation throws(RemoteError) in
            switch operation {
            case .create(let entity, let writes):
                if let record = made.withLock({ $0 }) { return .outcomes([.done(record)]) }
                _ = try await shelf.perform(.create(entity: entity, Self.renaming(writes)), options: RequestOptions())
                made.withLock { $0 = shelf.record("City", "1~") }
                throw unanswered
            case .update: throw RemoteError(.rejected, domain: "test", message: "no", status: 400)
            default: return nil
            }
        }
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.shelf.putCity("1~", "Callao")
        try await store.sync.pull()
        city["population"] = Int64(5)
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        let other = try PersistentContainer(store: store).newContext()
        #expect(try await other.fetch(cities()).map(\.name) == ["Callao"])
    }

    /// The first save learns what others have made of the city, and the next one is in conflict with that.
    private func meetConflict(_ context: ManagedObjectContext, _ backend: Interceptor) async throws {
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        await #expect {
            try await context.save(options: nil)
        } throws: {
            if case PersistenceError.conflicts = $0 { true } else { false }
        }
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string("Quito")))
    }

    @Test("What others change of a new object before its creation is known is in conflict with what is changed here")
    func changedByOthers() async throws {
        let backend = Interceptor { $0.features.insert(.idempotencyTokens) }
        let (_, context) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        let city = try Atlas.city("1", "Lima", context)
        _ = backend.loseAnswers(throwing: unanswered)
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.shelf.putCity("1", "Quito")
        city["name"] = "Callao"
        backend.intercept { [shelf = backend.shelf] operation throws(RemoteError) in
            // The server has carried out the creation, and answers the repetition with what it has by now.
            if case .create = operation { .outcomes([.done(shelf.record("City", "1"))]) } else { nil }
        }
        try await meetConflict(context, backend)
    }

    @Test("What others change after a change whose answer was lost is in conflict with what is changed here next")
    func changedBehindLostAnswer() async throws {
        let backend = Interceptor {
            $0.features.insert(.idempotencyTokens)
            $0.features.insert(.conditionalWrites)
        }
        backend.shelf.putCity("1", "Lima")
        let (store, _) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        try await store.sync.pull()
        let context = try PersistentContainer(store: store).newContext()
        let city = try #require(try await context.fetch(cities()).first)
        city["population"] = Int64(5)
        _ = backend.loseAnswers(throwing: unanswered)
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.shelf.putCity("1", "Quito", population: 5)
        city["name"] = "Callao"
        backend.intercept { [shelf = backend.shelf] operation throws(RemoteError) in
            guard case .update(_, let write) = operation, write.values["population"] != nil else { return nil }
            return .outcomes([.done(shelf.record("City", "1"))])
        }
        try await meetConflict(context, backend)
    }

    @Test(
        "An object that others change after a change whose answer was lost is not deleted without a word",
        arguments: [false, true], [false, true])
    func changedBehindDeletion(hasTokens: Bool, isSame: Bool) async throws {
        let backend = Interceptor { if hasTokens { $0.features.insert(.idempotencyTokens) } }
        let (_, context, city) = try await openWithCity(backend, .networkThenCache)
        city["name"] = "Callao"
        backend.loseAnswers(throwing: unanswered)
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        if isSame { backend.shelf.putCity("1", "Quito") } else { backend.shelf.putCity("1", "Callao", population: 3) }
        // The population equals the version now, but did not before.
        #expect(backend.shelf.record("City", "1")?.version == "3")
        backend.intercept { [shelf = backend.shelf] operation throws(RemoteError) in
            // A server that recognizes the write answers with what it has by now.
            guard hasTokens, case .update = operation else { return nil }
            return .outcomes([.done(shelf.record("City", "1"))])
        }
        context.delete(city)
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        #expect(backend.shelf.count("City") == 1)
        // By now the context knows what it deletes.
        try await context.save(options: nil)
        #expect(backend.shelf.count("City") == 0)
    }

    @Test(
        "A deletion is not in conflict with a change before it whose answer was lost, though the server computes a value",
        arguments: [false, true], [SavePolicy.cacheOnly, .networkThenCache])
    func deletedBehindOwnChange(hasTokens: Bool, policy: SavePolicy) async throws {
        let backend = Interceptor { if hasTokens { $0.features.insert(.idempotencyTokens) } }
        let (store, context, city) = try await openWithCity(backend, policy)
        city["name"] = "Callao"
        let answer = backend.loseAnswers(throwing: unanswered)
        if policy == .cacheOnly {
            try await context.save()
            await #expect(throws: SyncError.self) { try await store.sync.push() }
        } else {
            await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        }
        backend.intercept { operation throws(RemoteError) in
            if hasTokens, case .update = operation { answer.withLock { $0 } } else { nil }
        }
        context.delete(city)
        try await context.save(options: nil)
        try await store.sync.push()
        #expect(backend.shelf.count("City") == 0)
    }

    @Test("An object that is deleted while a change is told again is not deleted if others have changed it")
    func deletedWhileRepeated() async throws {
        let backend = Interceptor { $0.features.insert(.idempotencyTokens) }
        let (store, context, city) = try await openWithCity(backend, .cacheOnly)
        city["name"] = "Callao"
        try await context.save()
        let answer = backend.loseAnswers(throwing: unanswered)
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        backend.shelf.putCity("1", "Callao", population: 5)
        let (gate, other) = (Gate(), try PersistentContainer(store: store).newContext())
        backend.intercept { operation throws(RemoteError) in
            guard case .update = operation else { return nil }
            await gate.pass()
            return answer.withLock { $0 }
        }
        let push = Task { try await store.sync.push() }
        await gate.reached()
        other.delete(try #require(try await other.fetch(cities()).first))
        try await other.save()
        gate.open()
        let report = try await push.value
        #expect(report.results.map(\.action) == [.updated, .serverWon])
        #expect(backend.shelf.count("City") == 1)
        #expect(try await other.fetch(cities()).first?["population"] as? Int64 == 5)
    }

    @Test("An object that others delete after members were sent without an answer is read again")
    func deletedBehindLostMembers() async throws {
        let backend = Interceptor {
            $0.features.insert(.idempotencyTokens)
            $0.features.insert(.conditionalWrites)
            $0.features.insert(.relating)
        }
        let (store, context, city) = try await openWithCity(backend, .cacheOnly)
        let tag = try context.insert(entityNamed: "Tag")
        tag["tagId"] = "t"
        city["tags"] = [tag]
        try await context.save()
        let unanswered = unanswered
        let answer = Guarded<RemoteAnswer?>(nil)
        backend.intercept { [shelf = backend.shelf] operation throws(RemoteError) in
            guard case .relate = operation else { return nil }
            if let answer = answer.withLock({ $0 }) { return answer }
            let first = try await shelf.perform(operation, options: RequestOptions())
            answer.withLock { $0 = first }
            throw unanswered
        }
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        backend.shelf.take("City", "1")
        try await store.sync.push()
        #expect(try store.sync.pendingCount() == 0)
        #expect(try store.mirror.staleIdentities().map(\.id) == ["1"])
        try await store.sync.pull()
        #expect(try await context.fetch(cities()).isEmpty)
    }

    @Test("An object that others delete before it is read after a change without an answer goes, too")
    func deletedBehindSilentAnswer() async throws {
        let backend = Interceptor()
        let (store, context, city) = try await openWithCity(backend, .cacheOnly)
        city["name"] = "Callao"
        try await context.save()
        backend.alter { [shelf = backend.shelf] (operation, answer) async throws(RemoteError) in
            guard case .update = operation else { return answer }
            shelf.take("City", "1")
            return .outcomes([.done(nil)])
        }
        try await store.sync.push()
        #expect(try store.sync.pendingCount() == 0)
        #expect(try store.mirror.staleIdentities().map(\.id) == ["1"])
        try await store.sync.pull()
        #expect(try await context.fetch(cities()).isEmpty)
    }

    @Test(
        "An object that others make again after a deletion without an answer is there after the repetition",
        arguments: [["1"], ["1", "2", "3"]])
    func madeAgain(ids: [String]) async throws {
        let backend = Interceptor {
            $0.features.formUnion([.idempotencyTokens, .batches])
            $0.maximumBatch = 10
        }
        for id in ids { backend.shelf.putCity(id, "Lima") }
        let (store, context) = try Atlas.offline(backend)
        try await store.sync.pull()
        for city in try await context.fetch(cities()) { context.delete(city) }
        try await context.save()
        let unanswered = unanswered
        backend.intercept { [shelf = backend.shelf] operation throws(RemoteError) in
            guard operation.written != nil else { return nil }
            let parts = if case .batch(let parts) = operation { parts } else { [operation] }
            for part in parts { _ = try await shelf.perform(part, options: RequestOptions()) }
            throw unanswered
        }
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        #expect(backend.shelf.count("City") == 0)
        backend.shelf.putCity("1", "Quito")
        // The changes that still wait hide what this tells.
        try await store.sync.pull()
        backend.intercept { operation throws(RemoteError) in
            // The server carries out a write once, and remembers what it said.
            operation.written.map { .outcomes($0.map { _ in .done(nil) }) }
        }
        try await store.sync.push()
        #expect(try store.sync.pendingCount() == 0)
        try await store.sync.pull()
        #expect(try await context.fetch(cities()).map(\.name) == ["Quito"])
    }

    @Test("An object whose key another client has taken is there once the new one of the same key is deleted")
    func takenKey() async throws {
        let backend = MemoryBackend()
        let (store, context) = try Atlas.offline(backend)
        let (other, others) = try Atlas.offline(backend)
        let city = try Atlas.city("1", "Lima", context)
        try await context.save()
        try Atlas.city("1", "Quito", others)
        try await others.save()
        try await other.sync.push()
        try await store.sync.pull()
        #expect(try await context.fetch(cities()).map(\.name) == ["Lima"])
        context.delete(city)
        try await context.save()
        try await store.sync.synchronize()
        context.processPendingChanges()
        #expect(try await context.fetch(cities()).map(\.name) == ["Quito"])
        #expect(backend.records.count == 1)
    }

    @Test(
        "A fetch from the network hides no conflict from a context that does not merge", arguments: [false, true])
    func fetchedConflict(isSame: Bool) async throws {
        let backend = ShelfBackend.conditional()
        let (_, container) = try Atlas.open(backend)
        backend.putCity("1", "Lima")
        let context = container.newContext()
        let city = try #require(try await context.fetch(cities()).first)
        if isSame { city["name"] = "Callao" } else { city["population"] = Int64(5) }
        backend.putCity("1", "Quito")
        #expect(try await context.fetch(cities()) == [city])
        #expect(city["name"] as? String == (isSame ? "Callao" : "Quito"))
        // What nobody has changed here is as the server says in any case.
        #expect(city["revision"] as? Int64 == 2)
        if isSame {
            await #expect {
                try await context.save(options: nil)
            } throws: {
                if case PersistenceError.conflicts = $0 { true } else { false }
            }
            #expect(backend.record("City", "1")?.values["name"] == .value(.string("Quito")))
        } else {
            try await context.save(options: nil)
            #expect(backend.record("City", "1")?.values["population"] == .value(.integer(5)))
        }
    }

    /// A store that waits with a city of a country that the server has refused.
    private func openWithRefusedCountry(
        _ backend: Interceptor
    ) async throws -> (store: RemoteStore, context: ManagedObjectContext, country: ManagedObject) {
        let (store, context) = try Atlas.offline(backend)
        let country = try context.insert(entityNamed: "Country")
        country["countryId"] = "pe"
        try await context.save()
        backend.shelf.refuse("Country", "pe", RemoteError(.rejected, domain: "test", message: "no"))
        try await store.sync.push()
        #expect(try store.sync.failedChanges().count == 1)
        return (store, context, country)
    }

    /// Changes an object that another client has there meanwhile: the first save meets the conflict, the second one is done.
    private func saveOverOthers(
        _ city: ManagedObject, _ context: ManagedObjectContext, _ backend: Interceptor
    ) async throws {
        backend.shelf.putCity("1", "Quito")
        city["population"] = Int64(5)
        let online = RemoteOptions(savePolicy: .networkThenCache)
        await #expect(throws: PersistenceError.self) { try await context.save(options: online) }
        try await context.save(options: online)
        #expect(backend.shelf.record("City", "1")?.values["population"] == .value(.integer(5)))
    }

    @Test("A new object of a taken key is decided by the conflict policy, even if it refers to a refused one")
    func takenWithRefused() async throws {
        let backend = Interceptor()
        let (store, context, country) = try await openWithRefusedCountry(backend)
        let city = try Atlas.city("1", "Lima", context)
        city["country"] = country
        try await context.save()
        try await store.sync.push()
        try await saveOverOthers(city, context, backend)
    }

    @Test("A conflict of a change that waits for a refused object is decided when the object is saved")
    func conflictWithRefused() async throws {
        let backend = Interceptor()
        backend.shelf.putCity("1", "Lima")
        let (store, context, country) = try await openWithRefusedCountry(backend)
        try await store.sync.pull()
        context.processPendingChanges()
        let city = try #require(try await context.fetch(cities()).first)
        city["name"] = "Callao"
        city["country"] = country
        try await context.save()
        try await store.sync.push()
        #expect(try store.sync.pendingCount() == 1)
        try await saveOverOthers(city, context, backend)
    }

    @Test("References to an object that the server names after a refusal follow its new key")
    func renamedAfterRefusal() async throws {
        let backend = Interceptor()
        let (store, context, country) = try await openWithRefusedCountry(backend)
        let city = try Atlas.city("1", "Lima", context)
        city["country"] = country
        try await context.save(options: RemoteOptions(savePolicy: .networkThenCache))
        #expect(backend.shelf.record("City", "1")?.values["country"] == .reference("pe"))
        backend.shelf.refuse("Country", "pe", nil)
        backend.intercept { [shelf = backend.shelf] operation throws(RemoteError) in
            guard case .create(let entity, let writes) = operation else { return nil }
            return try await shelf.perform(.create(entity: entity, Self.renaming(writes)), options: RequestOptions())
        }
        try store.sync.retry(store.sync.failedChanges())
        try await store.sync.synchronize()
        #expect(backend.shelf.record("City", "1")?.values["country"] == .reference("pe~"))
        context.processPendingChanges()
        #expect((city["country"] as? ManagedObject) == country && country["countryId"] as? String == "pe~")
    }
}
