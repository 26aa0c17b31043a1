import Foundation
import Strata
import StrataRemote
import StrataStore
import Testing

/// Objects that others delete while a save that refers to them is on its way.
@Suite struct VanishedTargetTests {
    /// A store that has a country and a tag of the server. The server carries out the first write of a city; before its answer
    /// arrives, others delete both, and the store learns about that.
    private func open(
        _ policy: MergePolicy
    ) async throws -> (backend: Interceptor, context: ManagedObjectContext, requests: Guarded<Int>) {
        let backend = Interceptor()
        backend.shelf.put("Country", "pe", ["name": .value(.string("Peru"))])
        backend.shelf.put("Tag", "old", ["label": .value(.string("old"))])
        backend.shelf.putCity("1", "Lima")
        let (store, context) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        context.mergePolicy = policy
        try await store.sync.pull()
        let requests = Guarded(0)
        backend.alter { [shelf = backend.shelf] (operation, answer) async throws(RemoteError) in
            guard operation.written != nil else { return answer }
            requests.withLock { $0 += 1 }
            shelf.take("Country", "pe")
            shelf.take("Tag", "old")
            _ = try? await store.sync.pull()
            return answer
        }
        return (backend, context, requests)
    }

    private func first(_ entity: String, _ context: ManagedObjectContext) async throws -> ManagedObject {
        try #require(try await context.fetch(FetchRequest<ManagedObject>(entity: entity)).first)
    }

    @Test(
        "A new object that the server has is saved without them", arguments: [MergePolicy.error, .objectWinsByProperty])
    func created(policy: MergePolicy) async throws {
        let (backend, context, requests) = try await open(policy)
        let city = try Atlas.city("2", "Callao", context)
        city["country"] = try await first("Country", context)
        city["tags"] = [try await first("Tag", context)]
        try await context.save(options: nil)
        #expect(requests.withLock { $0 } == 1)
        #expect(!context.hasChanges)
        #expect(city["country"] == nil)
        #expect(try await context.count(FetchRequest<ManagedObject>(entity: "Tag")) == 0)
        #expect((city["tags"] as? Set<ManagedObject>)?.isEmpty == true)
        #expect(backend.shelf.count("City") == 2)
        // Nothing of it is left for the next save.
        city["name"] = "Bellavista"
        try await context.save(options: nil)
        #expect(backend.shelf.record("City", "2")?.values["name"] == .value(.string("Bellavista")))
        #expect(try await context.count(FetchRequest<ManagedObject>(entity: "Country")) == 0)
    }

    @Test(
        "A changed object that the server has is saved without them",
        arguments: [MergePolicy.error, .objectWinsByProperty])
    func changed(policy: MergePolicy) async throws {
        let (backend, context, _) = try await open(policy)
        let city = try await first("City", context)
        city["name"] = "Callao"
        city["country"] = try await first("Country", context)
        city["tags"] = [try await first("Tag", context)]
        try await context.save(options: nil)
        #expect(!context.hasChanges)
        #expect(city["name"] as? String == "Callao")
        #expect(city["country"] == nil)
        #expect(try await context.count(FetchRequest<ManagedObject>(entity: "Tag")) == 0)
        #expect((city["tags"] as? Set<ManagedObject>)?.isEmpty == true)
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string("Callao")))
    }
}
