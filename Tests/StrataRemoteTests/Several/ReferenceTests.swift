import Foundation
import Strata
import StrataRemote
import StrataRemoteTesting
import Testing

/// Weak references that lead into a remote store.
///
/// | what happens to the object | the reference |
/// |---|---|
/// | the server gives it another primary key | leads to it |
/// | it was here twice, and the two become one | both references lead to it |
/// | its answer is lost, and the save is repeated | leads to it |
/// | others change it | leads to it |
/// | the mirror knows only its key | leads to it, by a request |
/// | it is purged, and the server has it | leads to it, by a request |
/// | a pull or a fetch deletes it | nil |
/// | this or another context deletes it | nil |
/// | the creation is dropped, or rolled back | nil |
/// | `reset` | nil; a fetched property by primary key finds it after the next pull |
/// | the app starts again | as before |
@Suite struct RemoteReferenceTests {
    private func name(of order: Order) -> RemoteIdentity {
        RemoteIdentity(entity: "Order", id: order.orderId ?? "")
    }

    @Test("A reference follows an object to which the server gives another primary key", arguments: [true, false])
    func renaming(isOnline: Bool) async throws {
        let files = try ShopFiles(features: MemoryBackend.allFeatures.union(.assignsIDs)) {
            $0.savePolicy = isOnline ? .networkThenCache : .cacheOnly
        }
        let context = files.context()
        let order = Order(context, "tea")
        let draft = Draft(context, "draft", order)
        try await context.save()
        try await files.remote().sync.synchronize()
        context.processPendingChanges()
        #expect(order.orderId == "1" && files.titles == ["tea"])
        #expect(try context.resolve(draft.order) === order)
        #expect(
            try await context.fetch(FetchRequest<Draft>(where: ObjectKeys<Draft>().order == ObjectReference(order)))
                == [draft])
        try files.open()
        let fresh = files.context()
        let again = try #require(try await fresh.fetchFirst(FetchRequest<Draft>()))
        #expect(try fresh.resolve(again.order)?.orderId == "1")
    }

    @Test("An object that was here twice becomes one, and references to either lead to it")
    func doubles() async throws {
        let files = try ShopFiles(features: MemoryBackend.allFeatures.union(.assignsIDs))
        let context = files.context()
        let order = Order(context, "tea")
        let draft = Draft(context, "mine", order)
        files.orders.trouble = .losesAnswers
        await #expect(throws: PersistenceError.self) { try await context.save() }
        files.orders.trouble = .none
        // The server's copy comes under its own name, and somebody refers to it.
        try await files.remote().sync.pull()
        let other = files.context()
        let copies = try await other.fetch(FetchRequest<Order>())
        if let copy = copies.first { _ = Draft(other, "theirs", copy) }
        try await other.save()
        try await context.save()
        try await files.remote().sync.synchronize()
        #expect(files.titles == ["tea"])
        let fresh = files.context()
        let drafts = try await fresh.fetch(FetchRequest<Draft>(sortedBy: [FetchSort("text")]))
        #expect(try await fresh.count(FetchRequest<Order>()) == 1)
        #expect(drafts.map(\.text) == (copies.isEmpty ? ["mine"] : ["mine", "theirs"]))
        let found = try fresh.resolve(drafts.compactMap(\.order))
        for one in drafts {
            #expect(try fresh.resolve(one.order)?.title == "tea")
            #expect(one.order.flatMap { found[$0] }?.title == "tea")
            #expect(try await fresh.resolve(one.order, options: nil)?.title == "tea")
            let child = fresh.makeChild()
            #expect(try child.resolve(one.order)?.title == "tea")
        }
        #expect(try context.resolve(draft.order) === order && !copies.isEmpty)
        try files.open()
        let later = files.context()
        for one in try await later.fetch(FetchRequest<Draft>()) {
            #expect(try later.resolve(one.order)?.title == "tea")
        }
        // Once it is deleted, neither leads anywhere.
        later.delete(try #require(try await later.fetchFirst(FetchRequest<Order>())))
        try await later.save()
        for one in try await later.fetch(FetchRequest<Draft>()) { #expect(try later.resolve(one.order) == nil) }
    }

    @Test("A reference to an object whose answer was lost leads to it once the save is repeated")
    func lostAnswer() async throws {
        let files = try ShopFiles(["Default", "Orders", "Memos", "Catalogue"])
        let context = files.context()
        let order = Order(context, "tea")
        let draft = Draft(context, "draft", order)
        files.orders.trouble = .losesAnswers
        await #expect(throws: PersistenceError.self) { try await context.save() }
        #expect(!draft.hasChanges && order.isInserted)
        // The draft is saved; the order is not here for others.
        let other = files.context()
        let theirs = try #require(try await other.fetchFirst(FetchRequest<Draft>()))
        #expect(try other.resolve(theirs.order) == nil)
        files.orders.trouble = .none
        try await context.save()
        #expect(try other.resolve(theirs.order)?.title == "tea")
        #expect(files.titles == ["tea"])
    }

    @Test("Deletions by a pull, a fetch and contexts lead nowhere, and tell contexts and lists", arguments: [0, 1, 2])
    func deletions(way: Int) async throws {
        let files = try ShopFiles()
        let context = files.context()
        let order = Order(context, "tea")
        let draft = Draft(context, "draft", order)
        try await context.save()
        let watcher = files.context()
        let watched = try #require(try await watcher.fetchFirst(FetchRequest<Order>()))
        let list = try watcher.live(FetchRequest<Order>())
        #expect(watched.title == "tea" && list.count == 1)
        if way < 2 {
            let (_, there) = try files.otherDevice()
            there.delete(try #require(try await there.fetchFirst(FetchRequest<Order>())))
            try await there.save(options: nil)
            if way == 0 {
                try await files.remote().sync.pull()
            } else {
                let request = FetchRequest<Order>().options(RemoteOptions(fetchPolicy: .networkOnly))
                #expect(try await context.fetch(request).isEmpty)
            }
        } else {
            let other = files.context()
            other.delete(try #require(try await other.fetchFirst(FetchRequest<Order>())))
            try await other.save()
        }
        for one in [context, watcher, files.context()] {
            one.processPendingChanges()
            let same = try #require(try await one.fetchFirst(FetchRequest<Draft>()))
            #expect(same.order == draft.order && same.order != nil)
            #expect(try one.resolve(same.order) == nil)
            #expect(try one.resolve([same.order].compactMap(\.self)).isEmpty)
            #expect(try await one.resolve(same.order, options: nil) == nil)
        }
        #expect(watched.isMissing && order.isMissing && list.isEmpty)
    }

    @Test("An object of which the mirror has only the key is read: by the server, or not at all")
    func placeholders() async throws {
        let files = try ShopFiles()
        let context = files.context()
        let order = RushOrder(context, "tea")
        let plain = Order(context, "coffee")
        _ = Draft(context, "draft", order)
        _ = Draft(context, "other", plain)
        try await context.save()
        let store = try files.remote()
        try store.sync.purge([name(of: order), name(of: plain)])
        for isOnline in [false, true] {
            let fresh = files.context()
            let drafts = try await fresh.fetch(FetchRequest<Draft>(sortedBy: [FetchSort("text")]))
            let references = drafts.compactMap(\.order)
            store.fetchPolicy = isOnline ? .networkElseCache : .cacheOnly
            // The mirror cannot tell, and nobody may wait.
            for _ in 0..<2 {
                #expect { _ = try fresh.resolve(references[0]) } throws: { isNeedsNetwork($0) }
                #expect { _ = try fresh.resolve(references) } throws: { isNeedsNetwork($0) }
            }
            if !isOnline {
                await #expect { _ = try await fresh.resolve(references, options: nil) } throws: { isNeedsNetwork($0) }
                continue
            }
            files.orders.trouble = .unreachable
            await #expect(throws: PersistenceError.self) { _ = try await fresh.resolve(references, options: nil) }
            files.orders.trouble = .none
            let reads = files.orders.reads
            let found = try await fresh.resolve(references, options: nil)
            #expect(references.map { found[$0]?.title } == ["tea", "coffee"])
            #expect(found[references[0]] is RushOrder)
            #expect(files.orders.reads <= reads + 2)
            // From now on, it is here.
            #expect(try fresh.resolve(references).count == 2)
            #expect(try files.context().resolve(references).count == 2)
        }
        // A new object with the primary key takes the place of the one that was purged.
        try store.sync.purge([name(of: plain)])
        let maker = files.context()
        let again = Order(maker, "espresso")
        again.orderId = plain.orderId
        try await maker.save(options: RemoteOptions(savePolicy: .cacheOnly))
        let reference = ObjectReference<Order>(plain.objectID)
        #expect(try maker.resolve(reference) === again)
        try store.sync.purge([name(of: again)])
        // What the server no longer has is gone.
        try store.sync.purge([name(of: plain)])
        let (_, there) = try files.otherDevice()
        for one in try await there.fetch(FetchRequest<Order>()) where one.title == "coffee" { there.delete(one) }
        try await there.save(options: nil)
        let fresh = files.context()
        #expect(try await fresh.resolve(ObjectReference(plain.objectID) as ObjectReference<Order>, options: nil) == nil)
    }

    @Test(
        "A creation that is dropped or rolled back leaves references that lead nowhere, and its key is not used again")
    func dropped() async throws {
        let files = try ShopFiles(["Default", "Orders", "Memos", "Catalogue"])
        let context = files.context()
        let order = Order(context, "tea")
        let id = order.objectID
        let draft = Draft(context, "draft", order)
        files.orders.trouble = .broken
        await #expect(throws: PersistenceError.self) { try await context.save() }
        context.rollback()
        files.orders.trouble = .none
        #expect(try context.resolve(draft.order) == nil)
        for number in 0..<20 { #expect(Order(context, "\(number)").objectID != id) }
        try await context.save()
        #expect(try context.resolve(draft.order) == nil)
        // Queued, refused, and given up.
        let queued = Order(context, "bad")
        draft.order = ObjectReference(queued)
        files.orders.trouble = .refuses
        try await context.save(options: RemoteOptions(savePolicy: .cacheOnly))
        let store = try files.remote()
        let report = try await store.sync.push()
        #expect(report.failures.count == 1 && draft.order != nil)
        #expect(try context.resolve(draft.order) === queued)
        try store.sync.drop(try store.sync.failedChanges())
        context.processPendingChanges()
        #expect(try context.resolve(draft.order) == nil)
    }

    @Test(
        "A reference to an object that the mirror does not keep leads to it, also after the next start",
        arguments: [true, false])
    func passing(saves: Bool) async throws {
        let files = try ShopFiles { $0.cachesResults = false }
        let context = files.context()
        if saves {
            _ = Draft(context, "draft", Order(context, "tea"))
            try await context.save(options: RemoteOptions(savePolicy: .networkOnly))
        } else {
            let (_, there) = try files.otherDevice()
            _ = Order(there, "tea")
            try await there.save(options: nil)
            let request = FetchRequest<Order>().options(RemoteOptions(fetchPolicy: .networkOnly))
            _ = Draft(context, "draft", try await context.fetch(request).first)
            try await context.save()
        }
        func title(_ context: ManagedObjectContext) async throws -> String? {
            let draft = try #require(try await context.fetchFirst(FetchRequest<Draft>()))
            return try await context.resolve(draft.order, options: RemoteOptions(fetchPolicy: .networkOnly))?.title
        }
        #expect(try await title(files.context()) == "tea")
        try files.open { $0.cachesResults = false }
        #expect(try await files.context().count(FetchRequest<Order>()) == 0)
        #expect(try await title(files.context()) == "tea")
    }

    @Test("After a reset, references lead nowhere; a fetched property by primary key works again after a pull")
    func reset() async throws {
        let files = try ShopFiles()
        let context = files.context()
        let order = Order(context, "tea")
        order.orderId = "o1"
        let draft = Draft(context, "draft", order)
        draft.orderId = "o1"
        let memo = Memo(context, "call")
        try await context.save()
        #expect(order.drafts == [draft])
        try files.remote().sync.reset()
        context.processPendingChanges()
        #expect(order.isMissing && !memo.isMissing && !draft.isMissing)
        #expect(try context.resolve(draft.order) == nil)
        #expect(try await context.count(FetchRequest<Order>()) == 0)
        #expect(try await context.count(FetchRequest<Memo>()) == 1)
        #expect(try await context.count(FetchRequest<Draft>()) == 1)
        // Another user of the app has other objects.
        let other = Order(context, "coffee")
        try await context.save()
        #expect(try context.resolve(draft.order) == nil && other.objectID != order.objectID)
        try await files.remote().sync.pull()
        context.processPendingChanges()
        let again = try #require(try await context.find(Order.self, "o1"))
        #expect(again.drafts == [draft])
        #expect(try context.resolve(draft.order) == nil)
        draft.order = ObjectReference(again)
        try await context.save()
        #expect(try context.resolve(draft.order) === again)
    }

    @Test("Another account has another mirror: references into the first lead nowhere until that is open again")
    func accounts() async throws {
        let files = try ShopFiles()
        let context = files.context()
        let draft = Draft(context, "draft", Order(context, "tea"))
        try await context.save()
        #expect(try context.resolve(draft.order)?.title == "tea")
        files.container.close()
        let theirs = PersistentStoreDescription(configuration: "Orders") { (model) throws(StoreError) in
            try RemoteStore.open(model: model, backend: MemoryBackend(), location: .memory(name: nil))
        }
        let others = files.descriptions(["Catalogue", "Memos", "Default"])
        let container = try PersistentContainer(Shop.self, stores: [theirs] + others)
        let second = container.newContext()
        let same = try #require(try await second.fetchFirst(FetchRequest<Draft>()))
        _ = Order(second, "coffee")
        try await second.save()
        #expect(same.order != nil)
        #expect(try second.resolve(same.order) == nil)
        #expect(try await second.resolve(same.order, options: nil) == nil)
        container.close()
        try files.open()
        let third = files.context()
        let again = try #require(try await third.fetchFirst(FetchRequest<Draft>()))
        #expect(try third.resolve(again.order)?.title == "tea")
        #expect(files.titles == ["tea"])
    }

    @Test("A reference from the remote store into a file that all devices have leads to the same object on each")
    func fromTheServer() async throws {
        let files = try ShopFiles()
        let context = files.context()
        let order = Order(context, "tea")
        order.product = ObjectReference(
            try #require(
                try await context.fetchFirst(FetchRequest<Product>(where: FetchPredicate(format: "code == 'tea'")))))
        try await context.save()
        let (_, there) = try files.otherDevice()
        let same = try #require(try await there.fetchFirst(FetchRequest<Order>()))
        #expect(try context.resolve(same.product)?.code == "tea")
        // The device that has only the orders does not find it.
        #expect(try there.resolve(same.product) == nil)
    }
}
