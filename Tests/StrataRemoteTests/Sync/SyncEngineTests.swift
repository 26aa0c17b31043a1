import Foundation
import Strata
import StrataRemote
import StrataStore
import Testing

/// What a user sees of synchronization: contexts on one side, a back end on the other.
@Suite struct SyncEngineTests {
    private func make(_ entity: String, _ values: [String: (any Sendable)?], _ context: ManagedObjectContext) throws
        -> ManagedObject
    {
        let object = try context.insert(entityNamed: entity)
        for (name, value) in values { object[name] = value }
        return object
    }

    private func text(_ record: RemoteRecord?, _ name: String) -> String? {
        guard case .value(.string(let text)) = record?.values[name] else { return nil }
        return text
    }

    private func writes(_ backend: ShelfBackend) -> [String] {
        backend.takeLog().flatMap { operation -> [String] in
            switch operation {
            case .create(let entity, let list): list.map { "create \(entity.name) \($0.id)" }
            case .update(_, let write): ["update \(write.id) \(write.values.keys.sorted().joined(separator: " "))"]
            case .delete(_, let write): ["delete \(write.id)"]
            case .relate(_, let relation): ["relate \(relation.id) +\(relation.added) -\(relation.removed)"]
            default: []
            }
        }
    }

    @Test("Changes of one object that wait become one request, or none")
    func changesCollapse() async throws {
        let backend = ShelfBackend.conditional()
        let (store, context) = try Atlas.openOffline(backend)
        let lima = try make("City", ["cityId": "1", "name": "Lima"], context)
        let gone = try make("City", ["cityId": "2", "name": "Nowhere"], context)
        try await context.save()
        lima["name"] = "Lima, Peru"
        context.delete(gone)
        try await context.save()
        #expect(try store.sync.pendingCount() == 1)
        try await store.sync.push()
        #expect(writes(backend) == ["create City 1"])
        #expect(text(backend.record("City", "1"), "name") == "Lima, Peru")
        lima["name"] = "Ciudad de los Reyes"
        lima["population"] = Int64(10)
        try await context.save()
        lima["population"] = Int64(11)
        try await context.save()
        try await store.sync.push()
        #expect(writes(backend) == ["update 1 name population"])
        context.delete(lima)
        try await context.save()
        try await store.sync.push()
        #expect(writes(backend) == ["delete 1"])
        #expect(backend.count("City") == 0)
        #expect(try store.sync.pendingCount() == 0)
    }

    @Test func parentsGoFirst() async throws {
        let backend = ShelfBackend.conditional()
        let (store, context) = try Atlas.openOffline(backend)
        let city = try make("City", ["cityId": "1", "name": "Lima"], context)
        try await context.save()
        city["country"] = try make("Country", ["countryId": "pe", "name": "Peru"], context)
        try await context.save()
        try await store.sync.push()
        #expect(writes(backend) == ["create Country pe", "create City 1"])
    }

    @Test func objectsThatDoNotReferToEachOtherAreMadeAtOnce() async throws {
        let backend = ShelfBackend {
            $0.features.insert(.conditionalWrites)
            $0.maximumBatch = 1
        }
        let (store, context) = try Atlas.openOffline(backend)
        for number in 0..<10 { _ = try make("City", ["cityId": "\(number)"], context) }
        try await context.save()
        backend.close()
        backend.refuse("City", "3", RemoteError(.rejected, message: "not this one"))
        let push = Task { try await store.sync.push() }
        while backend.waitingCount < store.sync.options.requestsAtOnce { try await Task.sleep(for: .milliseconds(2)) }
        backend.open()
        let results = try await push.value.results
        #expect(Set(results.map(\.identity.id)).count == 10)
        #expect(results.filter { $0.action == .created }.count == 9)
        #expect(backend.count("City") == 9)
        #expect(try store.sync.pendingCount() == 0)
        #expect(try store.sync.failedChanges().map(\.identity.id) == ["3"])
    }

    @Test func bothSidesAreMergedByProperty() async throws {
        let backend = ShelfBackend.conditional()
        backend.putCity("1", "Lima", population: 1)
        let (store, context) = try Atlas.openOffline(backend)
        try await store.sync.pull()
        let city = try #require(try await context.fetch(cities()).first)
        city["name"] = "Here"
        try await context.save()
        backend.put("City", "1", ["population": .value(.integer(2))])
        let report = try await store.sync.synchronize()
        context.processPendingChanges()
        #expect(report.results.map(\.action) == [.updated])
        #expect(city["population"] as? Int64 == 2)
        #expect(text(backend.record("City", "1"), "name") == "Here")
        city["name"] = "Here again"
        try await context.save()
        backend.put("City", "1", ["name": .value(.string("There"))])
        let second = try await store.sync.synchronize()
        context.processPendingChanges()
        #expect(second.results.map(\.action) == [.merged(overridden: ["name"])])
        #expect(city.name == "There")
        #expect(try store.sync.pendingCount() == 0)
    }

    @Test(arguments: [true, false])
    func theClientWins(isConditional: Bool) async throws {
        let backend = isConditional ? ShelfBackend.conditional() : ShelfBackend()
        backend.putCity("1", "Lima")
        let (store, context) = try Atlas.openOffline(backend) { $0.policies = ConflictPolicies(update: .clientWins) }
        try await store.sync.pull()
        let city = try #require(try await context.fetch(cities()).first)
        city["name"] = "Here"
        try await context.save()
        backend.put("City", "1", ["name": .value(.string("There"))])
        try await store.sync.push()
        #expect(text(backend.record("City", "1"), "name") == "Here")
    }

    @Test(arguments: [true, false])
    func theServerWins(isConditional: Bool) async throws {
        let backend = isConditional ? ShelfBackend.conditional() : ShelfBackend()
        backend.putCity("1", "Lima")
        let (store, context) = try Atlas.openOffline(backend) { $0.policies = ConflictPolicies(.serverModifiedWins) }
        try await store.sync.pull()
        let city = try #require(try await context.fetch(cities()).first)
        city["name"] = "Here"
        city["population"] = Int64(7)
        try await context.save()
        backend.put("City", "1", ["name": .value(.string("There"))])
        let report = try await store.sync.push()
        context.processPendingChanges()
        #expect(report.results.map(\.action) == [.serverWon])
        #expect(city.name == "There")
        #expect(city["population"] as? Int64 == 0)
    }

    @Test func aClosureDecides() async throws {
        let backend = ShelfBackend.conditional()
        backend.putCity("1", "Lima")
        let policy = ConflictPolicy.decide { conflict in
            conflict.kind == .update && conflict.client.values["name"] == .value(.string("Here")) ? .client : .server
        }
        let (store, context) = try Atlas.openOffline(backend) { $0.policies = ConflictPolicies(policy) }
        try await store.sync.pull()
        let city = try #require(try await context.fetch(cities()).first)
        city["name"] = "Here"
        try await context.save()
        backend.put("City", "1", ["name": .value(.string("There"))])
        try await store.sync.push()
        #expect(text(backend.record("City", "1"), "name") == "Here")
    }

    @Test func whatTheServerDeletedGoes() async throws {
        let backend = ShelfBackend.conditional()
        backend.putCity("1", "Lima")
        backend.putCity("2", "Quito")
        let (store, context) = try Atlas.openOffline(backend)
        try await store.sync.pull()
        let changed = try #require(try await context.fetch(cities("name = 'Quito'")).first)
        changed["name"] = "Here"
        try await context.save()
        backend.take("City", "1")
        backend.take("City", "2")
        let report = try await store.sync.synchronize()
        #expect(report.results.map(\.action) == [.deletedHere])
        #expect(try await context.fetch(cities()).isEmpty)
    }

    @Test func whatIsRefusedCanBeRetriedAndDropped() async throws {
        let backend = ShelfBackend.conditional()
        let (store, context) = try Atlas.openOffline(backend)
        let city = try make("City", ["cityId": "1", "name": "Lima"], context)
        try await context.save()
        backend.refuse("City", "1", RemoteError(.rejected, message: "no", status: 400))
        let report = try await store.sync.push()
        #expect(report.failures.count == 1)
        #expect(try store.sync.pendingCount() == 0)
        let failed = try store.sync.failedChanges()
        #expect(failed.map(\.identity) == [RemoteIdentity(entity: "City", id: "1")])
        #expect(failed.map(\.error.message) == ["no"])
        #expect(failed.map(\.attempts) == [1])
        try store.sync.retry(failed)
        #expect(try await store.sync.push().failures.count == 1)
        try store.sync.drop(try store.sync.failedChanges())
        #expect(try store.sync.failedChanges().isEmpty)
        context.processPendingChanges()
        #expect(city.isMissing)
        #expect(try await context.fetch(cities()).isEmpty)
    }

    @Test func whatIsDroppedIsAsTheServerToldIt() async throws {
        let backend = ShelfBackend.conditional()
        backend.putCity("1", "Lima")
        let (store, context) = try Atlas.openOffline(backend)
        try await store.sync.pull()
        let city = try #require(try await context.fetch(cities()).first)
        city["name"] = "Here"
        try await context.save()
        backend.refuse("City", "1", RemoteError(.forbidden, message: "no", status: 403))
        try await store.sync.push()
        try store.sync.drop(try store.sync.failedChanges())
        context.processPendingChanges()
        #expect(city.name == "Lima")
    }

    @Test func offlineNothingIsLost() async throws {
        let backend = ShelfBackend.conditional()
        let (store, context) = try Atlas.openOffline(backend)
        _ = try make("City", ["cityId": "1", "name": "Lima"], context)
        try await context.save()
        backend.down = unreachable
        await #expect(throws: SyncError.remote(unreachable)) { try await store.sync.push() }
        #expect(store.sync.status.error == .remote(unreachable))
        #expect(try store.sync.pendingCount() == 1)
        backend.down = nil
        try await store.sync.push()
        #expect(backend.count("City") == 1)
        #expect(store.sync.status.error == nil)
    }

    @Test func aSecondPushJoins() async throws {
        let backend = ShelfBackend.conditional()
        let (store, context) = try Atlas.openOffline(backend)
        _ = try make("City", ["cityId": "1", "name": "Lima"], context)
        try await context.save()
        backend.close()
        async let first = store.sync.push()
        while !backend.isWaitedFor { await Task.yield() }
        async let second = store.sync.push()
        backend.open()
        #expect(try await first.results.map(\.action) == [.created])
        _ = try await second
        #expect(writes(backend) == ["create City 1"])
    }

    @Test func resultsAndStatesCanBeFollowed() async throws {
        let backend = ShelfBackend.conditional()
        let (store, context) = try Atlas.openOffline(backend)
        _ = try make("City", ["cityId": "1", "name": "Lima"], context)
        try await context.save()
        let results = store.sync.results
        let statuses = store.sync.statuses
        try await store.sync.push()
        var iterator = results.makeAsyncIterator()
        #expect(
            await iterator.next()
                == SyncResult(identity: RemoteIdentity(entity: "City", id: "1"), kind: .insert, action: .created))
        var phases: [SyncStatus.Phase] = []
        for await status in statuses {
            if phases.last != status.phase { phases.append(status.phase) }
            if phases.count == 3 { break }
        }
        #expect(phases == [.idle, .pushing, .idle])
    }

    @Test func purgedObjectsComeBackWithThePull() async throws {
        let backend = ShelfBackend.conditional()
        backend.putCountry("pe", "Peru")
        backend.putCity("1", "Lima", country: "pe")
        let (store, context) = try Atlas.openOffline(backend)
        try await store.sync.pull()
        try store.sync.purge([RemoteIdentity(entity: "City", id: "1")])
        #expect(try await context.count(cities()) == 0)
        try await store.sync.pull()
        #expect(try await context.count(cities("country.name = 'Peru'")) == 1)
        try store.sync.reset()
        #expect(try await context.count(cities()) == 0)
        try await store.sync.pull()
        #expect(try await context.count(cities("country.name = 'Peru'")) == 1)
    }

    @Test("A new object that is purged before its creation is answered comes back with what refers to it")
    func purgedBirth() async throws {
        let backend = Interceptor { $0.features.formUnion([.incrementalPull, .deletions]) }
        let (store, context) = try Atlas.offline(backend)
        _ = try make("Tag", ["tagId": "t", "label": "new"], context)
        try await context.save()
        backend.loseAnswers(throwing: RemoteError(.timeout, message: "no answer"))
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        backend.shelf.putCity("1", "Lima", tags: ["t"])
        // Each change is told once.
        let isTold = Guarded(false)
        backend.intercept { [shelf = backend.shelf] (operation) throws(RemoteError) in
            guard case .pull(let pull) = operation else { return nil }
            let isNew = pull.entity.name == "City" && isTold.withLock { !$0 }
            if isNew { isTold.withLock { $0 = true } }
            let records = isNew ? [shelf.record("City", "1")].compactMap(\.self) : []
            return .page(RemotePage(records: records, next: "1"))
        }
        try await store.sync.pull()
        #expect(try await context.count(cities("tags.label CONTAINS 'new'")) == 1)
        try store.sync.purge([RemoteIdentity(entity: "Tag", id: "t")])
        #expect(try await context.count(cities("tags.@count = 0")) == 1)
        try await store.sync.synchronize()
        #expect(try await context.count(cities("tags.@count = 1")) == 1)
    }

    @Test func membersAreToldOneByOne() async throws {
        let backend = ShelfBackend.conditional()
        backend.putCity("1", "Lima", tags: [])
        let (store, context) = try Atlas.openOffline(backend)
        try await store.sync.pull()
        let city = try #require(try await context.fetch(cities()).first)
        let tag = try make("Tag", ["tagId": "t", "label": "old"], context)
        city["tags"] = Set([tag])
        try await context.save()
        try await store.sync.push()
        #expect(writes(backend) == ["create Tag t", "relate 1 +[\"t\"] -[]"])
        #expect(backend.record("City", "1")?.values["tags"] == .references(["t"]))
    }
}
