import Foundation
import Strata
import StrataRemote
import StrataRemoteTesting
import Testing

/// The examples of the guide to several stores, over a server in memory.
@Suite struct SeveralStoresRunTests {
    @Test("Orders of a server, a delivered catalogue and drafts work in one container")
    func examples() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "strata-shop-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = MemoryBackend()
        let (container, orders) = try SeveralStoresGuide.open(server, folder.path, delivered: SQLiteStore.Options())
        defer { container.close() }
        let context = container.newContext()
        let order = Order(context: context, title: "tea")
        #expect(try await SeveralStoresGuide.refer(order, in: context) === order)
        #expect(server.records.count == 1)
        order.amount = 2
        try await SeveralStoresGuide.save(context)
        let store = try #require(orders)
        #expect(try store.sync.pendingCount() == 1)
        try await store.sync.push()
        #expect(server.records.map { $0.values["amount"] } == [.value(.integer(2))])
        #expect(try await container.newContext().count(FetchRequest<Draft>()) == 1)
    }
}
