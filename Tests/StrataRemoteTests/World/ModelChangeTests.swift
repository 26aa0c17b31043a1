import Foundation
import Strata
import StrataRemote
import Testing

/// Queued changes and the mirror survive updates of the app.
@Suite struct ModelChangeTests {
    private static func model(_ attributes: [Attribute], others: [Entity] = []) throws -> ManagedObjectModel {
        var city = Entity(name: "City", location: nil)
        city.attributes = attributes
        return try ManagedObjectModel(name: "Growing", entities: others + [city])
    }

    private let id = Attribute("cityId", .string)
    private let title = Attribute("name", .string, optional: true)
    private let note = Attribute("note", .string, optional: true)
    private let size = Attribute("size", .integer64, optional: true)

    private func store(
        _ model: ManagedObjectModel, _ backend: ShelfBackend, _ folder: ScratchFolder
    ) throws -> (RemoteStore, ManagedObjectContext) {
        try Atlas.offline(backend, location: folder.file(), model: model)
    }

    private func start(_ backend: ShelfBackend, _ folder: ScratchFolder) async throws {
        backend.put(
            "City", "1",
            ["name": .value(.string("old")), "note": .value(.string("untouched")), "size": .value(.integer(5))])
        let (store, context) = try store(try Self.model([id, title, note, size]), backend, folder)
        try await store.sync.pull()
        try #require(try await context.fetch(cities()).first)["name"] = "edited offline"
        try Atlas.city("2", "made offline", context)
        try await context.save()
        store.close()
    }

    @Test("Properties and entities that are declared in another order do not change what waits to be sent")
    func reordered() async throws {
        let folder = try ScratchFolder()
        let backend = ShelfBackend.conditional()
        try await start(backend, folder)
        var other = Entity(name: "Aardvark", location: nil)
        other.attributes = [Attribute("aardvarkId", .string)]
        let (store, context) = try store(try Self.model([size, note, title, id], others: [other]), backend, folder)
        #expect(try store.sync.pendingCount() == 2)
        try await store.sync.synchronize()
        #expect(backend.record("City", "1")?.values["name"] == .value(.string("edited offline")))
        #expect(backend.record("City", "1")?.values["note"] == .value(.string("untouched")))
        #expect(backend.record("City", "2")?.values["name"] == .value(.string("made offline")))
        #expect(try await context.fetch(cities()).map(\.name) == ["edited offline", "made offline"])
        store.close()
    }

    @Test("A model with more opens the mirror, and what is new is read")
    func grown() async throws {
        let folder = try ScratchFolder()
        let backend = ShelfBackend.conditional()
        try await start(backend, folder)
        backend.put("City", "1", ["code": .value(.string("LIM"))])
        let code = Attribute("code", .string, optional: true)
        let (store, context) = try store(try Self.model([code, id, title, note, size]), backend, folder)
        #expect(try store.sync.pendingCount() == 2)
        try await store.sync.synchronize()
        #expect(backend.record("City", "1")?.values["name"] == .value(.string("edited offline")))
        let city = try #require(try await context.fetch(cities("cityId = '1'")).first)
        #expect(city["code"] as? String == "LIM")
        store.close()
    }

    @Test("A change of a property that the model has no more is set aside and told")
    func removed() async throws {
        let folder = try ScratchFolder()
        let backend = ShelfBackend.conditional()
        try await start(backend, folder)
        let (store, context) = try store(try Self.model([id, note, size]), backend, folder)
        try await store.sync.synchronize()
        let failed = try store.sync.failedChanges()
        #expect(failed.map(\.identity.id) == ["1"])
        #expect(failed.first?.error.message.contains("City.name") == true)
        #expect(backend.record("City", "2") != nil)
        #expect(try await context.count(FetchRequest<ManagedObject>(entity: "City")) == 2)
        store.close()
    }

    @Test("A change that was queued before two renames is sent under the name that the property has now")
    func renamedTwice() async throws {
        let folder = try ScratchFolder()
        let backend = ShelfBackend.conditional()
        try await start(backend, folder)
        func town(_ names: [String], former: [String], past: [String]) throws -> ManagedObjectModel {
            var town = Entity(name: names[0], location: nil)
            town.formerNames = past
            var title = Attribute(names[1], .string, optional: true)
            title.formerNames = former
            town.attributes = [note, title, size, Attribute("cityId", .string)]
            town.primaryKey = "cityId"
            return try ManagedObjectModel(name: "Growing", entities: [town])
        }
        let second = try town(["Town", "label"], former: ["name"], past: ["City"])
        let (between, _) = try store(second, backend, folder)
        #expect(try between.sync.pendingCount() == 2)
        between.close()
        // The server knows cities, so they are called that again.
        let third = try town(["City", "heading"], former: ["label", "name"], past: ["Town"])
        let (store, context) = try store(third, backend, folder)
        #expect(try store.sync.pendingCount() == 2)
        let titles = try await context.fetch(FetchRequest<ManagedObject>(entity: "City")).map {
            $0["heading"] as? String ?? ""
        }
        #expect(titles.sorted() == ["edited offline", "made offline"])
        try await store.sync.push()
        #expect(backend.record("City", "1")?.values["heading"] == .value(.string("edited offline")))
        #expect(backend.record("City", "2")?.values["heading"] == .value(.string("made offline")))
        #expect(try store.sync.failedChanges().isEmpty && store.sync.pendingCount() == 0)
        store.close()
    }

    @Test("What was sent without an answer is sent again as it was by an app with another model")
    func sentBefore() async throws {
        let folder = try ScratchFolder()
        let backend = ShelfBackend.conditional()
        try await start(backend, folder)
        do {
            let (store, _) = try store(try Self.model([id, title, note, size]), backend, folder)
            backend.losesAnswers = true
            await #expect(throws: SyncError.self) { try await store.sync.push() }
            backend.losesAnswers = false
            store.close()
        }
        let (store, _) = try store(try Self.model([size, title, note, id]), backend, folder)
        try await store.sync.synchronize()
        #expect(backend.record("City", "1")?.values["name"] == .value(.string("edited offline")))
        #expect(try store.sync.pendingCount() == 0)
        #expect(try store.sync.failedChanges().isEmpty)
        store.close()
    }
}

/// The file of a mirror belongs to one store.
@Suite struct MirrorFileTests {
    @Test("A second store on the same mirror is refused until the first is closed")
    func oneOwner() throws {
        let folder = try ScratchFolder()
        let backend = ShelfBackend.conditional()
        let (store, _) = try Atlas.offline(backend, location: folder.file())
        #expect(throws: StoreError.locked(path: folder.url.appending(path: "mirror").path)) {
            try RemoteStore.open(model: Atlas.model, backend: backend, location: folder.file())
        }
        store.close()
        let (second, _) = try Atlas.offline(backend, location: folder.file())
        second.close()
    }

    @Test("Only its owner can read a mirror")
    func permissions() async throws {
        let folder = try ScratchFolder()
        let (store, context) = try Atlas.offline(ShelfBackend.conditional(), location: folder.file())
        try Atlas.city("1", "Lima", context)
        try await context.save()
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.url.appending(path: name).path)
            let mode = try #require(attributes[.posixPermissions] as? Int)
            #expect(mode & 0o077 == 0, "\(name) has the mode \(String(mode, radix: 8))")
        }
        store.close()
    }
}

/// Saves that go to the network, or wait for it.
@Suite struct QueueTests {
    @Test("A save that cannot reach the server waits in the outbox, and is sent once", arguments: [true, false])
    func networkElseQueue(wasDone: Bool) async throws {
        let backend = ShelfBackend.conditional()
        let (store, context) = try Atlas.offline(backend) { $0.savePolicy = .networkElseQueue }
        if wasDone { backend.losesAnswers = true } else { backend.down = unreachable }
        try Atlas.city("1", "Lima", context)
        try await context.save(options: nil)
        #expect(!context.hasChanges)
        #expect(try store.sync.pendingCount() == 1)
        backend.losesAnswers = false
        backend.down = nil
        try await store.sync.synchronize()
        #expect(backend.count("City") == 1)
        #expect(try store.sync.pendingCount() == 0)
        #expect(try store.sync.failedChanges().isEmpty)
        #expect(try await context.fetch(cities()).map(\.name) == ["Lima"])
    }
}
