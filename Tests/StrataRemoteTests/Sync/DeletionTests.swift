import Foundation
import Strata
import StrataRemote
import Testing

/// Objects that end, here or at the server, while what is known of them is not the latest.
@Suite struct DeletionTests {
    // MARK: Answers that got lost

    @Test("A deletion holds although the answer to the change before it was lost", arguments: [true, false])
    func ownChanges(isNew: Bool) async throws {
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
        backend.losesAnswers = true
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        #expect(backend.record("Tag", "1")?.values["label"] == .value(.string(isNew ? "first" : "second")))
        backend.losesAnswers = false
        context.delete(tag)
        try await context.save()
        let report = try await store.sync.synchronize()
        #expect(report.results.map(\.action) == [.deleted])
        #expect(backend.count("Tag") == 0)
        #expect(try await context.count(FetchRequest<ManagedObject>(entity: "Tag")) == 0)
        #expect(try store.sync.pendingCount() == 0)
    }

    @Test("A deletion does not take along a change of others that followed a lost answer")
    func changesOfOthers() async throws {
        let backend = ShelfBackend.conditional()
        let (store, context) = try Atlas.openOffline(backend)
        let lima = try context.insert(entityNamed: "City")
        lima["cityId"] = "1"
        lima["name"] = "Lima"
        try await context.save()
        try await store.sync.push()
        lima["name"] = "Ciudad de los Reyes"
        try await context.save()
        backend.losesAnswers = true
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        backend.losesAnswers = false
        backend.put("City", "1", ["population": .value(.integer(10))])
        context.delete(lima)
        try await context.save()
        let report = try await store.sync.synchronize()
        #expect(report.results.map(\.action) == [.serverWon])
        #expect(try await context.fetch(cities()).map(\.name) == ["Ciudad de los Reyes"])
    }

    // MARK: Objects that come back

    private func page(tags: [String]?, _ version: Int) -> RemotePage {
        var records = [RemoteRecord(entity: "Tag", id: "t", values: ["label": .value(.string("old"))])]
        if let tags {
            records = [
                RemoteRecord(
                    entity: "City", id: "1",
                    values: [
                        "name": .value(.string("Lima")), "country": .reference(nil), "tags": .references(tags),
                    ], version: "\(version)")
            ]
        }
        return RemotePage(records: records)
    }

    @Test("What referred to an object that the server deleted is asked for again when the object is back")
    func references() throws {
        let (store, context) = try Atlas.openOffline(ShelfBackend.conditional())
        let mirror = store.mirror
        let tag = RemoteIdentity(entity: "Tag", id: "t")
        _ = try mirror.apply(page(tags: nil, 1))
        _ = try mirror.apply(page(tags: ["t"], 1))
        _ = try mirror.apply(RemotePage(deleted: [tag]))
        let lima = try #require(try context.fetch(cities(nil, nil)).first)
        #expect((lima["tags"] as? Set<ManagedObject>)?.isEmpty == true)
        #expect(try mirror.staleIdentities().isEmpty)
        _ = try mirror.apply(page(tags: nil, 2))
        #expect(try mirror.staleIdentities() == [RemoteIdentity(entity: "City", id: "1")])
    }

    @Test("An answer that was overtaken is asked for again, also if a pull that starts over told it")
    func overtaken() throws {
        let (store, context) = try Atlas.openOffline(ShelfBackend.conditional())
        let mirror = store.mirror
        let city = try #require(store.model.entity(named: "City"))
        let first = mirror.ticket()
        let second = mirror.ticket()
        _ = try mirror.apply(page(tags: [], 1), ticket: second)
        // It was asked for earlier, and reached the server later.
        _ = try mirror.apply(page(tags: nil, 1))
        _ = try mirror.apply(page(tags: ["t"], 2), ticket: first, told: city)
        #expect(try mirror.staleIdentities() == [RemoteIdentity(entity: "City", id: "1")])
        withExtendedLifetime((first, second)) {}
        _ = try mirror.apply(
            page(tags: ["t"], 2), ticket: mirror.ticket(), fresh: [RemoteIdentity(entity: "City", id: "1")])
        #expect(try mirror.staleIdentities().isEmpty)
        let lima = try #require(try context.fetch(cities(nil, nil)).first)
        #expect((lima["tags"] as? Set<ManagedObject>)?.count == 1)
    }

    @Test("What has been told anew since does not refer to the object any more")
    func newerReferences() throws {
        let (store, _) = try Atlas.openOffline(ShelfBackend.conditional())
        let mirror = store.mirror
        _ = try mirror.apply(page(tags: nil, 1))
        _ = try mirror.apply(page(tags: ["t"], 1))
        _ = try mirror.apply(RemotePage(deleted: [RemoteIdentity(entity: "Tag", id: "t")]))
        _ = try mirror.apply(page(tags: [], 2))
        _ = try mirror.apply(page(tags: nil, 2))
        #expect(try mirror.staleIdentities().isEmpty)
    }

    @Test("References that the server leaves to what it has deleted lead nowhere, whoever reads them and when")
    func leftReferences() async throws {
        let backend = ShelfBackend()
        backend.put("City", "1", ["name": .value(.string("Lima")), "tags": .references(["t", "never"])])
        let (store, context) = try Atlas.openOffline(backend)
        func tags() async throws -> Int {
            let lima = try #require(try await context.fetch(FetchRequest<ManagedObject>(entity: "City")).first)
            return (lima["tags"] as? Set<ManagedObject>)?.count ?? 0
        }
        // Neither is there yet.
        try await store.sync.pull()
        #expect(try await tags() == 0)
        backend.put("Tag", "t", ["label": .value(.string("coast"))])
        try await store.sync.pull()
        #expect(try await tags() == 1)
        backend.take("Tag", "t")
        try await store.sync.pull()
        #expect(try await tags() == 0)
        backend.put("City", "1", ["name": .value(.string("Ciudad de los Reyes"))])
        try await store.sync.pull()
        #expect(try await tags() == 0)
        _ = backend.takeLog()
        try await store.sync.pull()
        let asked = backend.takeLog().filter { if case .read = $0 { true } else { false } }
        #expect(asked.isEmpty, "nobody asks twice for what is not there: \(asked)")
    }
}
