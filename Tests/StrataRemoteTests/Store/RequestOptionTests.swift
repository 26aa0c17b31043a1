import Foundation
import Strata
import StrataSQLite
import Testing

@testable import StrataRemote

@Suite struct RequestOptionTests {
    @Test func optionsReachTheBackEnd() async throws {
        let backend = ShelfBackend()
        let (_, container) = try Atlas.open(backend) { $0.request.timeout = 7 }
        let context = container.newContext()
        _ = try await context.fetch(cities())
        #expect(backend.lastOptions?.timeout == 7)
        var request = RequestOptions()
        request.isSecure = true
        request.headers = ["X-Test": "1"]
        request.retries = 9
        _ = try await context.fetch(cities(nil, RemoteOptions(request: request)))
        #expect(backend.lastOptions == request)
        _ = try context.insert(entityNamed: "City")
        try await context.save(options: RemoteOptions(request: request))
        #expect(backend.lastOptions == request)
        #expect(backend.lastOptions?.isSecure == true)
    }

    @Test func resultsThatAreNotKept() async throws {
        let backend = ShelfBackend()
        backend.putCity("1", "Lima")
        let (_, container) = try Atlas.open(backend)
        let context = container.newContext()
        _ = try await context.fetch(cities())
        backend.putCity("2", "Quito")
        let found = try await context.fetch(cities(nil, RemoteOptions(cachesResults: false)))
        #expect(found.map(\.name) == ["Lima", "Quito"])
        let other = container.newContext()
        #expect(try await other.fetch(cities(nil, .cache)).map(\.name) == ["Lima"])
        #expect(try await other.count(cities(nil, .cache)) == 1)
        // A later fetch that keeps its results makes them a part of the mirror.
        _ = try await other.fetch(cities("name == 'Quito'"))
        #expect(try await other.fetch(cities(nil, .cache)).map(\.name) == ["Lima", "Quito"])
    }

    @Test func policiesOfTheStoreCanChange() async throws {
        let backend = ShelfBackend()
        backend.putCity("1", "Lima")
        let (store, container) = try Atlas.open(backend)
        let context = container.newContext()
        store.fetchPolicy = .cacheOnly
        #expect(try await context.fetch(cities()).isEmpty)
        store.fetchPolicy = .networkOnly
        #expect(try await context.fetch(cities()).count == 1)
        store.savePolicy = .cacheOnly
        _ = try context.insert(entityNamed: "City")
        try await context.save()
        #expect(backend.count("City") == 1)
    }

    @Test func secretsGoAlongAndAreNotKept() async throws {
        let backend = ShelfBackend()
        let (store, container) = try Atlas.open(backend)
        let context = container.newContext()
        let city = try context.insert(entityNamed: "City")
        store.setPassword("sesame", for: city.objectID)
        try await context.save(options: nil)
        city["name"] = "Lima"
        try await context.save(options: nil)
        let secrets = backend.takeLog().compactMap { operation -> [String: String]? in
            switch operation {
            case .create(_, let writes): writes.first?.secrets
            case .update(_, let write): write.secrets
            default: nil
            }
        }
        #expect(secrets == [["password": "sesame"], [:]])
    }

    @Test func whatWaitsIsSentWithItsSecrets() async throws {
        let backend = ShelfBackend()
        let (store, container) = try Atlas.open(backend) { $0.savePolicy = .cacheOnly }
        let context = container.newContext()
        let city = try context.insert(entityNamed: "City")
        store.setPassword("sesame", for: city.objectID)
        try await context.save(options: nil)
        #expect(try store.sync.pendingCount() == 1)
        #expect(backend.takeLog().isEmpty)
        try await store.sync.push()
        let secrets = backend.takeLog().compactMap { operation -> [String: String]? in
            if case .create(_, let writes) = operation { writes.first?.secrets } else { nil }
        }
        #expect(secrets == [["password": "sesame"]])
        #expect(try store.sync.pendingCount() == 0)
    }

    @Test("Tools can count what waits in the file of a mirror, and other files have no outbox")
    func outboxOfAFile() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "strata-outbox-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "mirror.sqlite").path
        let (store, context) = try Atlas.openOffline(ShelfBackend(), location: .file(path: path))
        #expect(try MirrorCondition.read(at: path)?.waiting == 0)
        for name in ["Lima", "Oslo"] { try context.insert(entityNamed: "City")["name"] = name }
        try await context.save()
        let found = try #require(try MirrorCondition.read(at: path))
        #expect(found.waiting == 2 && found.sent == 0 && found.failed == 0)
        let age = Date().timeIntervalSinceReferenceDate - (found.oldest ?? 0)
        #expect(abs(age) < 600)
        store.close()
        let plain = folder.appending(path: "plain.sqlite").path
        try SQLiteStore.open(model: Atlas.model, location: .file(path: plain)).close()
        #expect(try MirrorCondition.read(at: plain) == nil)
    }

    @Test func savesToTheMirrorAreSentBySelf() async throws {
        let backend = ShelfBackend()
        let (store, container) = try Atlas.open(backend) {
            $0.savePolicy = .cacheOnly
            $0.pushesAutomatically = true
        }
        let context = container.newContext()
        _ = try context.insert(entityNamed: "City")
        try await context.save(options: nil)
        while try store.sync.pendingCount() > 0 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(backend.count("City") == 1)
    }

    @Test func aModelThatCannotBeKeptIsRefused() throws {
        let nameless = try ManagedObjectModel(name: "Nameless") {
            Entity("Thing") { Attribute("name", .string, default: .value("")) }
        }
        let unkept = try ManagedObjectModel(name: "Unkept") {
            Entity("Unkept") { Attribute("unkeptId", .string, optional: true) }
        }
        #expect {
            _ = try RemoteStore.open(model: nameless, backend: ShelfBackend(), location: .memory(name: nil))
        } throws: {
            "\($0)".contains("Thing")
        }
        #expect {
            _ = try RemoteStore.open(model: unkept, backend: ShelfBackend(), location: .memory(name: nil))
        } throws: {
            "\($0)".contains("Unkept.thing") && "\($0)".contains("Shelf")
        }
    }
}
