import Foundation
import Strata
import StrataRemote
import StrataStore
import StrataRemoteTesting
import Testing

/// What a server tells a container with several stores, and what each store keeps to itself.
@Suite struct SeveralChangeTests {
    @Test("A pull tells contexts, change streams and live results, with the IDs of the store")
    func pulls() async throws {
        let files = try ShopFiles()
        let context = files.context()
        let order = Order(context, "tea", Customer(context, "Ann"))
        _ = Draft(context, "draft", order)
        try await context.save()
        let list = try context.live(FetchRequest<Order>(sortedBy: [FetchSort("title")]))
        var stream = files.container.changes.makeAsyncIterator()
        let (_, there) = try files.otherDevice()
        let theirs = try #require(try await there.fetchFirst(FetchRequest<Order>()))
        theirs.amount = 4
        _ = RushOrder(there, "coffee")
        try await there.save(options: nil)
        try await files.remote().sync.pull()
        var change = try #require(await stream.next())
        while change.inserted.isEmpty || change.updated.isEmpty {
            let next = try #require(await stream.next())
            #expect(next.isFromElsewhere)
            change = next.inserted.isEmpty ? change : next
            if next.updated.keys.contains(order.objectID) { break }
        }
        context.processPendingChanges()
        #expect(order.amount == 4)
        #expect(try context.makeChild().existingObject(Order.self, with: order.objectID).amount == 4)
        #expect(list.map(\.title) == ["coffee", "tea"] && list[0] is RushOrder)
        #expect(list.snapshot.ids.allSatisfy { $0.storeIdentifier == (try? files.remote().identifier) })
        there.delete(theirs)
        try await there.save(options: nil)
        try await files.remote().sync.pull()
        let last = try #require(await stream.next())
        #expect(last.deleted == [order.objectID])
        context.processPendingChanges()
        #expect(list.map(\.title) == ["coffee"] && order.isMissing)
    }

    @Test(
        "A property that a server and the context have changed is decided by the merge policy",
        arguments: [
            MergePolicy.error, .objectWinsByProperty, .storeWinsByProperty,
        ])
    func merging(_ policy: MergePolicy) async throws {
        let files = try ShopFiles { $0.savePolicy = .cacheOnly }
        let context = files.container.newContext()
        context.mergePolicy = policy
        let order = Order(context, "tea")
        let draft = Draft(context, "draft", order)
        try await context.save()
        try await files.remote().sync.push()
        try context.refreshAllObjects()
        let (_, there) = try files.otherDevice()
        try #require(try await there.fetchFirst(FetchRequest<Order>())).title = "theirs"
        try await there.save(options: nil)
        #expect(order.title == "tea")
        order.title = "mine"
        draft.text = "changed"
        try await files.remote().sync.pull()
        if policy == .error {
            await #expect {
                try await context.save()
            } throws: { error in
                guard case PersistenceError.conflicts(let list) = error else { return false }
                return list.map(\.objectID) == [order.objectID]
            }
            #expect(draft.hasChanges)
            return
        }
        try await context.save()
        let winner = policy == .objectWinsByProperty ? "mine" : "theirs"
        #expect(order.title == winner && !context.hasChanges)
        try await files.remote().sync.push()
        #expect(files.titles == [winner])
        #expect(try await files.container.newContext().fetch(FetchRequest<Draft>()).map(\.text) == ["changed"])
    }

    @Test("Each store has its own history, the remote one with what the server told")
    func history() async throws {
        let files = try ShopFiles()
        let context = files.context()
        context.author = "Ann"
        let order = Order(context, "tea")
        let draft = Draft(context, "draft", order)
        try await context.save()
        let (_, there) = try files.otherDevice()
        try #require(try await there.fetchFirst(FetchRequest<Order>())).amount = 2
        try await there.save(options: nil)
        try await files.remote().sync.pull()
        #expect(throws: HistoryError.self) { try files.container.history(after: nil) }
        let history = try #require(files.container.store(forConfiguration: "Orders")?.history)
        let transactions = try history.transactions(after: nil, where: .all, limit: nil).transactions
        #expect(transactions.contains { $0.author == "Ann" })
        #expect(transactions.last?.author == RemoteStore.historyAuthor)
        let id = try #require(transactions.last?.changes.first?.objectID)
        #expect(try context.existingObject(with: id) === order)
        _ = draft
    }

    @Test("Undo goes over the local and the remote store, also after a save")
    func undo() async throws {
        let files = try ShopFiles()
        let context = files.context()
        let history = UndoHistory()
        context.undoManager = history
        let order = Order(context, "tea")
        let draft = Draft(context, "draft", order)
        context.processPendingChanges()
        try await context.save()
        draft.text = "changed"
        order.amount = 3
        context.processPendingChanges()
        try await context.save()
        try history.undo()
        try await context.save()
        #expect(draft.text == "draft" && order.amount == 0)
        let (_, there) = try files.otherDevice()
        #expect(try await there.fetch(FetchRequest<Order>()).map(\.amount) == [0])
    }

    @Test("Each remote store synchronizes by itself, and a failing one keeps no other back")
    func syncing() async throws {
        let files = try ShopFiles { $0.savePolicy = .cacheOnly }
        let context = files.context()
        let order = Order(context, "tea")
        _ = Memo(context, "call")
        try await context.save()
        files.memos.trouble = .unreachable
        let (orders, memos) = try (files.remote(), files.remote("Memos"))
        let report = try await orders.sync.synchronize()
        #expect(report.results.count == 1 && report.failures.isEmpty)
        await #expect(throws: SyncError.self) { try await memos.sync.synchronize() }
        #expect(try orders.sync.pendingCount() == 0 && memos.sync.pendingCount() == 1)
        #expect(files.titles == ["tea"] && !order.hasChanges)
        // The queue outlives the app.
        try files.open()
        files.memos.trouble = .none
        try await files.remote("Memos").sync.synchronize()
        #expect(files.memos.server.records.count == 1)
    }

    @Test("Purges and secrets go by the entity's name, whatever position it has in the container's model")
    func positions() async throws {
        let files = try ShopFiles()
        let context = files.context()
        let order = RushOrder(context, "tea", Customer(context, "Ann"))
        try files.remote().setSecret("swordfish", named: "word", for: order.objectID)
        try await context.save(options: RemoteOptions(savePolicy: .cacheOnly))
        try await files.remote().sync.push()
        #expect(files.orders.secrets == ["word": "swordfish"])
        let store = try files.remote()
        try store.sync.purge(try #require(Shop.model.entity(named: "Customer")))
        context.processPendingChanges()
        #expect(try await context.count(FetchRequest<Customer>()) == 0)
        #expect(try await context.count(FetchRequest<Order>()) == 1)
        #expect(throws: StoreError.self) { try store.sync.purge(#require(Shop.model.entity(named: "Draft"))) }
        try await store.sync.pull()
        #expect(try await files.context().count(FetchRequest<Customer>()) == 1)
    }

    @Test("A remote store whose model has more than its configuration tells the container only what belongs to it")
    func widerModel() async throws {
        let files = try ShopFiles()
        files.container.close()
        let model = try Shop.model.restricted(to: ["Order", "RushOrder", "Customer", "Memo"])
        let gateway = files.orders
        let path = files.folder.path + "/wide.sqlite"
        let opened = Guarded<RemoteStore?>(nil)
        let wide = PersistentStoreDescription(configuration: "Orders") { (_) throws(StoreError) in
            let store = try RemoteStore.open(model: model, backend: gateway, location: .file(path: path))
            opened.withLock { $0 = store }
            return store
        }
        let others = files.descriptions(["Memos", "Default", "Catalogue"])
        let container = try PersistentContainer(Shop.self, stores: [wide] + others)
        defer { container.close() }
        let result = opened.withLock(\.self)
        let store = try #require(result)
        var stream = container.changes.makeAsyncIterator()
        let there = try PersistentContainer(
            store: try RemoteStore.open(
                model: model, backend: gateway.server, location: .memory(name: nil)),
            classes: [Memo.self, Order.self, RushOrder.self, Customer.self]
        ).newContext()
        _ = Memo(there, "not mine")
        try await there.save(options: nil)
        try await store.sync.pull()
        _ = Order(there, "tea")
        try await there.save(options: nil)
        try await store.sync.pull()
        let change = try #require(await stream.next())
        #expect(change.inserted.map(\.entity.name) == ["Order"])
        let context = container.newContext()
        #expect(try await context.count(FetchRequest<Memo>()) == 0)
    }

    @Test("Diagnostics, capabilities and what only one store can do name the store")
    func refusals() async throws {
        let files = try ShopFiles()
        let context = files.context()
        _ = Order(context, "tea")
        try await context.save()
        let name = try files.remote().name
        func isRefused(_ error: any Error) -> Bool {
            guard case PersistenceError.store(.unsupported(let store, _)) = error else { return false }
            return store == name
        }
        #expect { try context.update(FetchRequest<Order>()) { $0.amount += 1 } } throws: { isRefused($0) }
        #expect { try context.deleteAll(FetchRequest<Order>()) } throws: { isRefused($0) }
        await #expect {
            try await files.container.backUp(to: files.folder.path + "/copy.sqlite", configuration: "Orders")
        } throws: { isRefused($0) }
        #expect(files.container.store.capabilities.isDisjoint(with: [.multiProcess, .heldVersions]))
        #expect(files.container.store.capabilities.contains(.persistent))
        #expect(files.container.store.name.contains(name))
        let statements = Guarded(0)
        let observation = files.container.store.observeStatements { _ in statements.withLock { $0 += 1 } }
        _ = try await context.fetch(FetchRequest<Order>())
        _ = try await context.fetch(FetchRequest<Product>())
        #expect(statements.withLock(\.self) >= 2)
        withExtendedLifetime(observation) {}
        let store = try files.remote()
        var plan = FetchPlan(entityIndex: try #require(store.model.entity(named: "Customer")).index)
        plan.predicate = try FetchPredicate(format: "customerId == 'c'")
        #expect(try store.explain(plan).sql.contains("customer"))
        // Other stores go on.
        #expect(try context.update(FetchRequest<Draft>()) { $0.text = .value("x") } == 0)
    }

    @Test("A mirror belongs to one store of one container")
    func owners() throws {
        let files = try ShopFiles()
        let stores = files.descriptions(["Catalogue", "Orders", "Memos", "Default"])
        #expect { try PersistentContainer(Shop.self, stores: stores) } throws: { error in
            guard case PersistenceError.store(.locked(let path)) = error else { return false }
            return path.contains("Orders.sqlite")
        }
        files.container.close()
        let model = try Shop.model.restricted(to: ["Order", "RushOrder", "Customer", "Memo"])
        let store = try RemoteStore.open(model: model, backend: files.orders, location: .memory(name: nil))
        let both = ["Orders", "Memos"].map { name in
            PersistentStoreDescription(configuration: name) { (_) throws(StoreError) in store }
        }
        #expect {
            try PersistentContainer(Shop.self, stores: both + files.descriptions(["Catalogue", "Default"]))
        } throws: { error in
            "\(error)".contains("the stores of Orders and Memos are the same")
        }
        // Entities without a primary key cannot be kept by a server, and the error names the first.
        let keyless = PersistentStoreDescription { (model) throws(StoreError) in
            try RemoteStore.open(model: model, backend: MemoryBackend(), location: .memory(name: nil))
        }
        #expect {
            try PersistentContainer(
                Shop.self, stores: [keyless] + files.descriptions(["Catalogue", "Orders", "Memos"]))
        } throws: { error in
            "\(error)".contains("Draft, which has no primary key")
        }
    }
}
