import Foundation
import Strata
import Testing

@testable import StrataRemote

@Suite struct PolicyTests {
    private enum Outcome: Equatable {
        case names([String])
        case failure(String)
    }

    /// Two cities at the server, one of them here.
    private func makeStore() async throws -> (ShelfBackend, RemoteStore, PersistentContainer) {
        let backend = ShelfBackend()
        backend.putCity("1", "Lima")
        let (store, container) = try Atlas.open(backend)
        let context = container.newContext()
        _ = try await context.fetch(cities())
        backend.putCity("2", "Quito")
        _ = backend.takeLog()
        return (backend, store, container)
    }

    private func outcome(
        _ format: String?, _ policy: FetchPolicy, _ container: PersistentContainer
    ) async throws -> Outcome {
        let context = container.newContext()
        do {
            return .names(
                try await context.fetch(cities(format, RemoteOptions(fetchPolicy: policy))).map(\.name))
        } catch {
            return .failure(failure(in: error)?.kind ?? "\(error)")
        }
    }

    @Test(
        "Each fetch policy decides where a fetch looks, online, offline and when the server refuses",
        arguments: FetchPolicy.allCases)
    func fetches(_ policy: FetchPolicy) async throws {
        let (backend, _, container) = try await makeStore()
        let here = Outcome.names(["Lima"])
        let there = Outcome.names(["Lima", "Quito"])
        backend.down = unreachable
        let offline = try await outcome(nil, policy, container)
        backend.down = broken
        let refused = try await outcome(nil, policy, container)
        backend.down = nil
        let online = try await outcome(nil, policy, container)
        switch policy {
        case .networkOnly, .cacheThenNetwork:
            #expect(offline == .failure("unreachable"))
            #expect(refused == .failure("unavailable"))
            #expect(online == there)
        case .cacheOnly:
            #expect([offline, refused, online] == [here, here, here])
            #expect(backend.takeLog().isEmpty)
        case .networkElseCache:
            #expect(offline == here)
            #expect(refused == .failure("unavailable"))
            #expect(online == there)
        case .cacheElseNetwork:
            #expect([offline, refused, online] == [here, here, here])
            #expect(backend.takeLog().isEmpty)
            #expect(try await outcome("name == 'Quito'", policy, container) == .names(["Quito"]))
            backend.down = unreachable
            #expect(try await outcome("name == 'Cusco'", policy, container) == .failure("unreachable"))
        }
    }

    @Test("Each fetch policy decides whether a count asks the server", arguments: FetchPolicy.allCases)
    func counts(_ policy: FetchPolicy) async throws {
        let (backend, _, container) = try await makeStore()
        let context = container.newContext()
        let request = try cities(nil, RemoteOptions(fetchPolicy: policy))
        let isHere = policy == .cacheOnly || policy == .cacheElseNetwork
        #expect(try await context.count(request) == (isHere ? 1 : 2))
        let log = backend.takeLog()
        #expect(log.count == (isHere ? 0 : 1))
        #expect(log.allSatisfy { if case .count = $0 { true } else { false } })
        #expect(try await context.fetchIDs(request).count == (isHere ? 1 : 2))
    }

    @Test func valuesAreThoseOfTheNetwork() async throws {
        let (_, _, container) = try await makeStore()
        let context = container.newContext()
        let rows = try await context.fetchValues(try cities().select(FetchColumn("name", .keyPath(["name"]))))
        #expect(rows.map { $0["name"].value } == [.string("Lima"), .string("Quito")])
    }

    @Test func firstTheMirrorThenTheNetwork() async throws {
        let (backend, _, container) = try await makeStore()
        let context = container.newContext()
        let request = try cities(nil, RemoteOptions(fetchPolicy: .cacheThenNetwork))
        var results: [[String]] = []
        for try await objects in context.results(of: request) { results.append(objects.map(\.name)) }
        #expect(results == [["Lima"], ["Lima", "Quito"]])
        backend.down = unreachable
        results = []
        do {
            for try await objects in context.results(of: request) { results.append(objects.map(\.name)) }
            Issue.record("the second result has no error")
        } catch {
            #expect(failure(in: error)?.remoteKind == .unreachable)
        }
        #expect(results == [["Lima", "Quito"]])
        var single = 0
        for try await _ in context.results(of: try cities(nil, .cache)) { single += 1 }
        #expect(single == 1)
    }

    @Test(
        "Each save policy decides where a save writes, online and offline", arguments: SavePolicy.allCases,
        [nil, unreachable, broken])
    func saves(_ policy: SavePolicy, _ down: RemoteError?) async throws {
        let backend = ShelfBackend()
        let (store, container) = try Atlas.open(backend)
        let context = container.newContext(automaticallyMergesChanges: true)
        let city = try context.insert(entityNamed: "City")
        city["name"] = "Lima"
        backend.down = down
        var caught: RemoteFailure?
        do {
            try await context.save(options: RemoteOptions(savePolicy: policy))
        } catch {
            caught = failure(in: error)
        }
        let isSent = down == nil && policy != .cacheOnly
        let isQueued = policy == .cacheOnly || (policy == .networkElseQueue && down == unreachable)
        let isSaved = down == nil || isQueued
        #expect(backend.count("City") == (isSent ? 1 : 0))
        #expect((caught == nil) == isSaved)
        if !isSaved { #expect(caught?.kind == down?.kind.rawValue) }
        #expect(context.hasChanges == !isSaved)
        #expect(city.name == "Lima")
        let inMirror = try await container.newContext().fetch(cities(nil, .cache)).count
        #expect(inMirror == (isSaved && policy != .networkOnly ? 1 : 0))
        #expect(try store.mirror.entryCount() == (isQueued ? 1 : 0))
        // The object can be changed and saved further.
        backend.down = nil
        city["name"] = "Cusco"
        try await context.save(options: RemoteOptions(savePolicy: policy))
        #expect(!context.hasChanges)
        if policy != .cacheOnly {
            let id = try #require(city["cityId"] as? String)
            #expect(backend.record("City", id)?.values["name"] == .value(.string("Cusco")))
        }
    }

    @Test func whatTheServerFillsInIsThere() async throws {
        let backend = ShelfBackend()
        let (_, container) = try Atlas.open(backend)
        let context = container.newContext()
        let city = try context.insert(entityNamed: "City")
        city["name"] = "Lima"
        try await context.save(options: nil)
        #expect(city["revision"] as? Int64 == 1)
        #expect((city["cityId"] as? String)?.count == 36)
        // The version here is that of the store: the next save meets no conflict.
        city["population"] = Int64(5)
        try await context.save(options: nil)
        #expect(city["revision"] as? Int64 == 2)
    }
}
