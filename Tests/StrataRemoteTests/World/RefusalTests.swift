import Foundation
import Strata
import StrataRemote
import Testing

/// What a server may answer to a write, and what becomes of the change that waits.
@Suite struct RefusalTests {
    private let notFound = RemoteError(.notFound, message: "no such schema", status: 404)
    private let portal = RemoteError(.invalidAnswer, message: "the answer is HTML", status: 200)

    @Test(
        "A creation that meets 404 stays, and is reported; the server is not asked without end",
        arguments: [ConflictPolicy.merge, .clientWins, .lastModifiedWins])
    func creationNotFound(policy: ConflictPolicy) async throws {
        let backend = Interceptor()
        let refusal = notFound
        backend.intercept { operation throws(RemoteError) in
            guard let ids = operation.written else { throw refusal }
            return .outcomes(
                ids.map { id in
                    var error = refusal
                    error.identity = RemoteIdentity(entity: "City", id: id)
                    return .failed(error)
                })
        }
        let (store, context) = try Atlas.offline(backend) { $0.sync.policies = ConflictPolicies(policy) }
        try Atlas.city("1", "Lima", context)
        try Atlas.city("2", "Quito", context)
        try await context.save()
        // Every change meets the same: nothing is set aside, and the push says so.
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        #expect(backend.count < 10)
        #expect(try store.sync.pendingCount() == 2)
        #expect(try await context.count(cities()) == 2)
        // They are deleted with the schema.
        backend.intercept(nil)
        try await store.sync.push()
        #expect(backend.shelf.count("City") == 2)
    }

    @Test("Of several creations the one that meets 404 is set aside, and the others are made")
    func oneCreationNotFound() async throws {
        let backend = ShelfBackend.conditional()
        backend.refuse("City", "1", notFound)
        let (store, context) = try Atlas.openOffline(backend)
        try Atlas.city("1", "Lima", context)
        try Atlas.city("2", "Quito", context)
        try await context.save()
        let report = try await store.sync.push()
        #expect(report.failures.map(\.identity.id) == ["1"])
        #expect(try await context.count(cities()) == 2)
        #expect(backend.count("City") == 1)
    }

    @Test("A 404 to an update is believed only if the server does not have the object")
    func updateNotFound() async throws {
        let backend = ShelfBackend.conditional()
        backend.putCity("1", "Lima")
        backend.putCity("2", "Quito")
        let (store, context) = try Atlas.openOffline(backend)
        try await store.sync.pull()
        for city in try await context.fetch(cities()) { city["population"] = Int64(9) }
        try await context.save()
        // A proxy answers for one, the other is gone.
        backend.refuse("City", "1", notFound)
        backend.take("City", "2")
        let report = try await store.sync.push()
        #expect(Set(report.results.map(\.identity.id)) == ["1", "2"])
        #expect(report.results.first { $0.identity.id == "2" }?.action == .deletedHere)
        #expect(try await context.fetch(cities()).map(\.name) == ["Lima"])
        #expect(try store.sync.failedChanges().map(\.identity.id) == ["1"])
    }

    @Test("The server reports a new object again that is dropped after an online save of it got no answer")
    func droppedUnanswered() async throws {
        let backend = Interceptor()
        let (store, context) = try Atlas.offline(backend)
        let city = try Atlas.city("1", "Lima", context)
        try await context.save()
        backend.refuseWrites()
        try await store.sync.push()
        let failed = try store.sync.failedChanges()
        #expect(failed.count == 1)
        backend.loseAnswers(throwing: RemoteError(.timeout, domain: "Test", message: "no answer"))
        city["population"] = Int64(9)
        await #expect(throws: PersistenceError.self) {
            try await context.save(options: RemoteOptions(savePolicy: .networkOnly))
        }
        #expect(backend.shelf.count("City") == 1)
        backend.intercept(nil)
        try store.sync.drop(failed)
        try await store.sync.pull()
        let other = try PersistentContainer(store: store).newContext()
        #expect(try await other.fetch(cities()).map(\.name) == ["Lima"])
    }

    @Test("A server without any of the objects that it had deletes nothing here, and the rest of the work goes on")
    func emptyServer() async throws {
        let backend = ShelfBackend.conditional()
        for number in 0..<20 { backend.putCity("\(number)", "City \(number)") }
        let (store, context) = try Atlas.openOffline(backend)
        try await store.sync.pull()
        let city = try #require(try await context.fetch(cities("cityId = '7'")).first)
        city["name"] = "Edited"
        try Atlas.city("new", "New", context)
        try await context.save()
        for number in 0..<20 { backend.take("City", "\(number)") }
        await #expect(throws: SyncError.self) { try await store.sync.synchronize() }
        #expect(try await context.count(cities()) == 21)
        #expect(try store.sync.pendingCount() == 1)
        #expect(backend.record("City", "new") != nil)
    }

    @Test(
        "A request that is refused as a whole is split until the culprit stands alone",
        arguments: [RemoteError.Kind.rejected, .invalidRequest, .forbidden])
    func split(kind: RemoteError.Kind) async throws {
        let backend = Interceptor { $0.features.insert(.batches) }
        backend.intercept { operation throws(RemoteError) in
            if operation.written?.contains("13") == true {
                throw RemoteError(kind, message: "the request is refused", status: 400)
            }
            return nil
        }
        let (store, context) = try Atlas.offline(backend)
        for number in 0..<40 { try Atlas.city("\(number)", "City", context) }
        try await context.save()
        let report = try await store.sync.push()
        #expect(report.failures.map(\.identity.id) == ["13"])
        #expect(backend.shelf.count("City") == 39)
        #expect(try store.sync.pendingCount() == 0)
        #expect(backend.count < 20)
    }

    @Test("Requests that are too large get smaller, and stay so")
    func tooLarge() async throws {
        let backend = Interceptor { $0.features.insert(.batches) }
        backend.intercept { operation throws(RemoteError) in
            if (operation.written?.count ?? 0) > 8 { throw RemoteError(.rejected, message: "too large", status: 413) }
            return nil
        }
        let (store, context) = try Atlas.offline(backend)
        for number in 0..<64 { try Atlas.city("\(number)", "City", context) }
        try await context.save()
        try await store.sync.push()
        #expect(backend.shelf.count("City") == 64)
        #expect(try store.sync.failedChanges().isEmpty)
    }

    @Test("An online save whose request is refused as a whole saves all but the culprit")
    func splitOnline() async throws {
        let backend = Interceptor { $0.features.insert(.batches) }
        backend.intercept { operation throws(RemoteError) in
            if operation.written?.contains("3") == true { throw RemoteError(.invalidRequest, message: "no password") }
            return nil
        }
        let (_, context) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        for number in 0..<10 { try Atlas.city("\(number)", "City", context) }
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        #expect(backend.shelf.count("City") == 9)
        #expect(context.insertedObjects.count == 1)
    }

    @Test("A portal neither sets changes aside nor swallows them", arguments: [true, false])
    func captivePortal(isConditional: Bool) async throws {
        let backend = Interceptor(isConditional ? .conditional() : ShelfBackend())
        backend.shelf.putCity("1", "Lima")
        let (store, context) = try Atlas.offline(backend)
        try await store.sync.pull()
        context.delete(try #require(try await context.fetch(cities()).first))
        try Atlas.city("2", "Quito", context)
        try Atlas.city("3", "Cusco", context)
        try await context.save()
        let portal = portal
        backend.intercept { _ throws(RemoteError) in throw portal }
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        #expect(try store.sync.pendingCount() == 3)
        #expect(try store.sync.failedChanges().isEmpty)
        backend.intercept(nil)
        try await store.sync.push()
        #expect(backend.shelf.record("City", "1") == nil)
        #expect(backend.shelf.count("City") == 2)
    }

    @Test("An ended session leaves a change as it was sent if an earlier attempt may have been carried out")
    func sessionEnds() async throws {
        let backend = Interceptor()
        let (store, context) = try Atlas.offline(backend)
        let city = try Atlas.city("1", "Lima", context)
        try await context.save()
        backend.shelf.losesAnswers = true
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        backend.shelf.losesAnswers = false
        city["name"] = "Edited"
        try await context.save()
        backend.intercept { _ throws(RemoteError) in
            .outcomes([.failed(RemoteError(.unauthorized, message: "log in", status: 401))])
        }
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        backend.intercept(nil)
        try await store.sync.synchronize()
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string("Edited")))
        #expect(city.name == "Edited")
    }

    @Test("A server that asks to wait for hours ends the push with its error")
    func waitForHours() async throws {
        let backend = ShelfBackend.conditional()
        let (store, context) = try Atlas.offline(backend) { $0.sync.retries = 5 }
        try Atlas.city("1", "Lima", context)
        try await context.save()
        let later = RemoteError(.throttled, message: "maintenance", status: 503, retryAfter: 86_400)
        backend.down = later
        await #expect(throws: SyncError.remote(later)) { try await store.sync.push() }
        #expect(try store.sync.pendingCount() == 1)
    }

    @Test("A change at which the server breaks each time keeps no other back")
    func poison() async throws {
        let backend = Interceptor { $0.features.insert(.batches) }
        backend.intercept { operation throws(RemoteError) in
            if operation.written?.contains("4") == true { throw broken }
            return nil
        }
        let (store, context) = try Atlas.offline(backend)
        for number in 0..<10 { try Atlas.city("\(number)", "City", context) }
        try await context.save()
        await #expect(throws: SyncError.remote(broken)) { try await store.sync.push() }
        #expect(backend.shelf.count("City") == 9)
        #expect(try store.sync.pendingCount() == 1)
    }

    @Test("What refers to a new object that was refused waits for it; the rest goes on")
    func dependants() async throws {
        let backend = ShelfBackend.conditional()
        backend.refuse("Country", "pe", RemoteError(.rejected, message: "no", status: 400))
        let (store, context) = try Atlas.openOffline(backend)
        let country = try context.insert(entityNamed: "Country")
        country["countryId"] = "pe"
        try Atlas.city("1", "Lima", context)["country"] = country
        try Atlas.city("2", "Quito", context)
        try await context.save()
        try await store.sync.push()
        try await store.sync.push()
        #expect(try store.sync.failedChanges().map(\.identity.id) == ["pe"])
        #expect(backend.record("City", "2") != nil)
        backend.refuse("Country", "pe", nil)
        try store.sync.retry(try store.sync.failedChanges())
        try await store.sync.push()
        #expect(backend.record("City", "1")?.values["country"] == .reference("pe"))
        #expect(try store.sync.pendingCount() == 0)
    }
}
