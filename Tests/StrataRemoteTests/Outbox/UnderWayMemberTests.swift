import Foundation
import Strata
import StrataRemote
import StrataRemoteTesting
import Testing

/// Members of a relationship are changed online, and to the mirror while that is under way.
@Suite struct UnderWayMemberTests {
    typealias Kind = OperationOutboxTests.Kind

    static func model(isShared: Bool) throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Lists") {
            Entity("List", primaryKey: "listId") {
                Attribute("listId", .string)
                Relationship("items", to: "Item", .orderedToMany, inverse: "lists")
            }
            Entity("Item", primaryKey: "itemId") {
                Attribute("itemId", .string)
                Relationship("lists", to: "List", isShared ? .toMany : .optionalToOne, inverse: "items")
            }
        }
    }

    /// A list, and the items a to e, of which it has three.
    @MainActor
    private func open(_ kind: Kind, isShared: Bool) async throws -> UnderWayWorld {
        let world = try await UnderWayWorld(kind, .clientWins, Self.model(isShared: isShared))
        try fill(world.client.context)
        try await world.settle()
        return world
    }

    private func fill(_ context: ManagedObjectContext) throws {
        let list = try context.insert(entityNamed: "List")
        list["listId"] = "1"
        var items: [ManagedObject] = []
        for name in ["a", "b", "c", "d", "e"] {
            let item = try context.insert(entityNamed: "Item")
            item["itemId"] = name
            items.append(item)
        }
        list["items"] = Array(items.prefix(3))
        try context.save()
    }

    /// Makes some items the members of a list.
    private func arrange(_ names: String) -> (ManagedObject) throws -> Void {
        { list in
            let context = try #require(list.context)
            let items = try context.fetch(FetchRequest<ManagedObject>(entity: "Item"))
            list["items"] = names.compactMap { name in items.first { $0["itemId"] as? String == String(name) } }
        }
    }

    private func names(_ store: RemoteStore) throws -> String {
        try names(PersistentContainer(store: store).newContext())
    }

    private func names(_ context: ManagedObjectContext) throws -> String {
        context.processPendingChanges()
        let list = try #require(try context.fetch(FetchRequest<ManagedObject>(entity: "List")).first)
        return (list["items"] as? [ManagedObject] ?? []).compactMap { $0["itemId"] as? String }.joined()
    }

    private func serverNames(_ world: UnderWayWorld, isShared: Bool) async throws -> String {
        let other = try TallyClient(world.server, model: Self.model(isShared: isShared))
        try await other.store.sync.pull()
        return try names(other.store)
    }

    @MainActor
    @Test(
        "An order and members that wait stay on top of those that an answer brings", arguments: Kind.allCases,
        [true, false])
    func members(kind: Kind, isShared: Bool) async throws {
        for (online, here, expected) in [
            ("bac", "cba", "cba"), ("bacd", "cba", "cbad"), ("bac", "cbae", "cbae"), ("ab", "bca", "ba"),
            ("abcd", "abce", "abced"), ("bcad", "abe", "abed"), ("bca", "ab", "ba"),
        ] {
            // An item that leaves tells that itself, and this server does not take it out of the list.
            if !isShared, here == "ab" { continue }
            let world = try await open(kind, isShared: isShared)
            try await world.save("List", online: arrange(online), here: arrange(here))
            let label = Comment("\(online), \(here)")
            #expect(try names(world.client.store) == expected, label)
            #expect(try names(world.online) == expected, label)
            #expect(try names(world.here) == expected, label)
            try await world.settle()
            #expect(try names(world.client.store) == expected, label)
            #expect(try await serverNames(world, isShared: isShared) == expected, label)
            #expect(try world.client.store.sync.pendingCount() == 0, label)
        }
    }
}
