import Foundation
import Strata
import StrataRemote
import StrataRemoteTesting
import Testing

/// Objects that contexts need and the mirror does not keep.
@Suite struct PassingObjectTests {
    /// Makes a list that the mirror does not keep, and changes its members in the mirror.
    private func change(_ folder: ScratchFolder, _ server: TallyServer) async throws {
        let client = try TallyClient(server, location: folder.file(), model: UnderWayMemberTests.model(isShared: true))
        let list = try client.context.insert(entityNamed: "List")
        list["listId"] = "1"
        let item = try client.context.insert(entityNamed: "Item")
        item["itemId"] = "a"
        try await client.context.save(options: RemoteOptions(savePolicy: .networkOnly))
        list["items"] = [item]
        try client.save()
        #expect(try client.store.sync.pendingCount() == 1)
        let reader = try PersistentContainer(store: client.store).newContext()
        #expect(try await reader.count(FetchRequest<ManagedObject>(entity: "List")) == 1)
    }

    @Test("A change of members waits for the next process, although the object was not part of the mirror")
    func members() async throws {
        let folder = try ScratchFolder()
        let server = TallyServer(MemoryBackend.allFeatures)
        try await change(folder, server)
        let client = try TallyClient(server, location: folder.file(), model: UnderWayMemberTests.model(isShared: true))
        #expect(try client.store.sync.pendingCount() == 1)
        try await client.store.sync.synchronize()
        let other = try TallyClient(server, model: UnderWayMemberTests.model(isShared: true))
        try await other.store.sync.pull()
        let list = try #require(try await other.context.fetch(FetchRequest<ManagedObject>(entity: "List")).first)
        #expect((list["items"] as? [ManagedObject])?.map { $0["itemId"] as? String } == ["a"])
    }
}
