import Foundation
import Strata
import StrataRemote
import Testing

/// One save that touches a local store and a remote one.
///
/// | | the local store is written | it fails |
/// |---|---|---|
/// | the server takes the changes, or they are queued | saved | local pending |
/// | the server cannot be asked, or its answer is lost | remote pending | the first of the two is the error |
/// | the server refuses one order | accepted ones saved, refused ones pending | as above, accepted ones saved if the server is first |
///
/// A store after the one that failed is not written. Whatever happened, saving again until it succeeds gives every object
/// once.
@Suite struct SavingRemotelyTests {
    private enum Outcome: Equatable {
        case saved
        case failed(committed: [String], pending: [String])
    }

    struct Case: Sendable, CustomStringConvertible {
        let remoteFirst: Bool
        let policy: SavePolicy
        let trouble: Gateway.Trouble
        let localFails: Bool

        static let all: [Case] = [true, false].flatMap { first in
            SavePolicy.allCases.flatMap { policy in
                Gateway.Trouble.allCases.flatMap { trouble in
                    [true, false].map { Case(remoteFirst: first, policy: policy, trouble: trouble, localFails: $0) }
                }
            }
        }

        var description: String {
            "\(remoteFirst ? "server first" : "server last"), \(policy), \(trouble), \(localFails)"
        }

        /// Whether the store of orders has taken everything, as far as its own caller can tell.
        var remoteIsSaved: Bool {
            switch (policy, trouble) {
            case (.cacheOnly, _), (_, .none): true
            case (.networkElseQueue, .unreachable), (.networkElseQueue, .losesAnswers): true
            default: false
            }
        }
    }

    private func save(_ context: ManagedObjectContext, _ policy: SavePolicy) async -> Outcome {
        do throws(PersistenceError) {
            try await context.save(options: RemoteOptions(savePolicy: policy))
            return .saved
        } catch {
            guard case .partlySaved(let committed, let pending, _) = error else {
                return .failed(committed: [], pending: [])
            }
            return .failed(committed: committed, pending: pending)
        }
    }

    private func expected(_ test: Case) -> Outcome {
        let stores =
            test.remoteFirst
            ? [("Orders", test.remoteIsSaved), ("Default", !test.localFails)]
            : [("Default", !test.localFails), ("Orders", test.remoteIsSaved)]
        guard let failed = stores.firstIndex(where: { !$0.1 }) else { return .saved }
        if failed == 0 { return .failed(committed: [], pending: []) }
        return .failed(committed: [stores[0].0], pending: [stores[1].0])
    }

    @Test("A save of a local and a remote store, by policy, order and failure", arguments: Case.all)
    func table(_ test: Case) async throws {
        let order =
            test.remoteFirst
            ? ["Orders", "Memos", "Catalogue", "Default"] : ["Default", "Catalogue", "Orders", "Memos"]
        let files = try ShopFiles(order)
        let context = files.context()
        let old = Order(context, "old")
        let oldDraft = Draft(context, "old draft", old)
        try await context.save()
        // New, changed and deleted objects on both sides.
        let ann = Customer(context, "Ann")
        let good = Order(context, "good", ann)
        let bad = Order(context, "bad", ann)
        old.amount = 7
        let draft = Draft(context, "new draft", good)
        oldDraft.text = "changed draft"
        let (orderSaves, draftSaves) = (good.saves, draft.saves)
        files.orders.trouble = test.trouble
        if test.localFails { try files.drafts.fail([.commit], with: .locked(path: "drafts.sqlite")) }
        let outcome = await save(context, test.policy)
        #expect(outcome == expected(test))
        let comesFirst: (Bool, Bool) = test.remoteFirst ? (true, false) : (false, true)
        // What was not even tried keeps its changes; what was saved is clean.
        let localIsSaved = !test.localFails && (comesFirst.1 || test.remoteIsSaved)
        #expect(draft.isInserted == !localIsSaved && oldDraft.hasChanges == !localIsSaved)
        #expect(draft.saves == draftSaves + (localIsSaved ? 1 : 0))
        let remoteIsTried = comesFirst.0 || !test.localFails
        let goodIsSaved = remoteIsTried && (test.remoteIsSaved || test.trouble == .refuses)
        #expect(good.isInserted == !goodIsSaved)
        #expect(good.saves == orderSaves + (goodIsSaved ? 1 : 0))
        #expect(bad.isInserted == !(remoteIsTried && test.remoteIsSaved))
        #expect(try await files.container.newContext().count(FetchRequest<Draft>()) == (localIsSaved ? 2 : 1))
        // Everything works again.
        files.orders.trouble = .none
        try files.drafts.recover()
        var outcomes: [Outcome] = []
        while outcomes.last != .saved, outcomes.count < 4 { outcomes.append(await save(context, test.policy)) }
        #expect(outcomes.last == .saved && !context.hasChanges)
        try await files.remote().sync.push()
        #expect(try files.remote().sync.pendingCount() == 0)
        #expect(files.titles == ["bad", "good", "old"])
        let (_, there) = try files.otherDevice()
        let amounts = try await there.fetch(FetchRequest<Order>(sortedBy: [FetchSort("title")])).map(\.amount)
        #expect(amounts == [0, 0, 7])
        let fresh = files.context()
        let drafts = try await fresh.fetch(FetchRequest<Draft>(sortedBy: [FetchSort("text")]))
        #expect(drafts.map(\.text) == ["changed draft", "new draft"])
        if test.policy != .networkOnly {
            let found = try await fresh.resolve(drafts.compactMap(\.order), options: nil)
            #expect(drafts.map { $0.order.flatMap { found[$0] }?.title } == ["old", "good"])
        }
    }

    @Test("A blocking save asks whether the remote store may be written before it writes any store")
    func blocking() throws {
        let files = try ShopFiles(["Default", "Catalogue", "Orders", "Memos"])
        let context = files.context()
        let draft = Draft(context, "draft", Order(context, "tea"))
        #expect {
            try context.save()
        } throws: { error in
            isNeedsNetwork(error)
        }
        #expect(draft.isInserted && context.insertedObjects.count == 2)
        #expect(try files.container.newContext().count(FetchRequest<Draft>()) == 0)
        // Saves to the mirror do not need it, and local stores never do.
        try files.remote().savePolicy = .cacheOnly
        try context.save()
        #expect(try files.remote().sync.pendingCount() == 1 && !context.hasChanges)
        try files.remote().savePolicy = .networkThenCache
        draft.text = "changed"
        try context.save()
        #expect(!context.hasChanges)
    }

    @Test("A blocking save waits for the server where the store was told to")
    func waiting() throws {
        let files = try ShopFiles { $0.waitsForNetwork = true }
        let context = files.context()
        let draft = Draft(context, "draft", Order(context, "tea"))
        files.orders.trouble = .unreachable
        #expect(throws: PersistenceError.self) { try context.save() }
        #expect(draft.isInserted && files.titles.isEmpty)
        files.orders.trouble = .none
        try context.save()
        #expect(!context.hasChanges && files.titles == ["tea"])
        #expect(try files.container.newContext().count(FetchRequest<Draft>()) == 1)
    }

    @Test("Two remote stores: each gets its own changes and options, and the second may fail")
    func twoServers() async throws {
        let files = try ShopFiles()
        let context = files.context()
        let order = Order(context, "tea")
        let memo = Memo(context, "call")
        let draft = Draft(context, "draft", order)
        files.memos.trouble = .broken
        await #expect {
            try await context.save()
        } throws: { error in
            guard
                case PersistenceError.partlySaved(["Orders"], ["Memos", "Default"], .store(.remote(let failure))) =
                    error
            else { return false }
            return failure.kind == RemoteError.Kind.unavailable.rawValue
        }
        #expect(!order.hasChanges && memo.isInserted && draft.isInserted)
        try await context.save(options: OptionsByConfiguration(["Memos": RemoteOptions(savePolicy: .cacheOnly)]))
        #expect(!context.hasChanges && files.orders.writes == 1)
        #expect(try files.remote("Memos").sync.pendingCount() == 1)
        // The orders have the options of their store, not those of the memos.
        order.amount = 2
        memo.text = "write"
        try await context.save(options: OptionsByConfiguration(["Memos": RemoteOptions(savePolicy: .cacheOnly)]))
        #expect(files.orders.writes == 2)
        files.memos.trouble = .none
        try await files.remote("Memos").sync.push()
        #expect(files.memos.server.records.map { $0.values["text"] } == [.value(.string("write"))])
        #expect(memo.memoId != nil && order.orderId != nil)
        #expect(try draft.value(forKey: "orderId") == nil)
    }

    @Test("What changes while the server is asked is not part of the save, in any store")
    @MainActor func meanwhile() async throws {
        let files = try ShopFiles()
        let context = files.context()
        let order = Order(context, "tea")
        let draft = Draft(context, "draft", order)
        files.orders.close()
        let saving = Task { try await context.save() }
        while !files.orders.isWaitedFor { await Task.yield() }
        #expect(throws: PersistenceError.self) { try context.save() }
        order.amount = 3
        draft.text = "changed"
        let other = Draft(context, "other")
        files.orders.open()
        try await saving.value
        #expect(order.hasChanges && draft.hasChanges && other.isInserted)
        let fresh = files.container.newContext()
        #expect(try await fresh.fetch(FetchRequest<Draft>()).map(\.text) == ["draft"])
        #expect(try await fresh.fetch(FetchRequest<Order>()).map(\.amount) == [0])
        try await context.save()
        #expect(try await files.container.newContext().count(FetchRequest<Draft>()) == 2)
    }

    @Test(
        "Others who save a local store while the server is asked are a conflict of that store, which its policy decides"
    )
    @MainActor func conflictMeanwhile() async throws {
        let files = try ShopFiles()
        let context = files.container.newContext()
        context.mergePolicy = .objectWinsByProperty
        let draft = Draft(context, "draft")
        try await context.save()
        let order = Order(context, "tea")
        draft.orderId = "mine"
        files.orders.close()
        let saving = Task { try await context.save() }
        while !files.orders.isWaitedFor { await Task.yield() }
        let other = files.container.newContext()
        let same = try #require(try await other.fetchFirst(FetchRequest<Draft>()))
        same.text = "theirs"
        try await other.save()
        files.orders.open()
        try await saving.value
        #expect(!context.hasChanges && !order.hasChanges)
        let saved = try #require(try await files.container.newContext().fetchFirst(FetchRequest<Draft>()))
        #expect(saved.text == "theirs" && saved.orderId == "mine")
        #expect(files.titles == ["tea"] && files.orders.writes == 1)
    }

    @Test(
        "A conflict at the server is met by the merge policy, and no other store is written twice",
        arguments: [true, false])
    func conflicts(remoteFirst: Bool) async throws {
        let files = try ShopFiles(
            remoteFirst ? ["Orders", "Default", "Catalogue", "Memos"] : ["Default", "Orders", "Catalogue", "Memos"])
        let context = files.container.newContext()
        context.mergePolicy = .objectWinsByProperty
        let order = Order(context, "tea")
        let draft = Draft(context, "draft", order)
        try await context.save()
        let (_, there) = try files.otherDevice()
        let theirs = try #require(try await there.fetchFirst(FetchRequest<Order>()))
        theirs.title = "green tea"
        try await there.save(options: nil)
        order.amount = 5
        draft.text = "changed"
        let commits = try files.drafts.calls(.commit)
        do throws(PersistenceError) {
            try await context.save()
            Issue.record("the server must refuse the change")
        } catch {
            // The mirror has the server's state now.
            if remoteFirst {
                #expect(
                    failure(in: error)?.kind == RemoteError.Kind.conflict.rawValue
                        || failure(in: error)?.objects.count == 1)
            } else if case .partlySaved(["Default"], ["Orders"], _) = error {
            } else {
                Issue.record("\(error)")
            }
        }
        #expect(draft.hasChanges == remoteFirst && order.hasChanges)
        try await context.save()
        #expect(!context.hasChanges && order.title == "green tea" && order.amount == 5)
        #expect(try files.drafts.calls(.commit) == commits + 1)
        #expect(files.titles == ["green tea"])
    }

    @Test("An object of one store that must not have changed is compared before the other store is written")
    func checks() async throws {
        let files = try ShopFiles()
        let context = files.container.newContext()
        let order = Order(context, "tea")
        let draft = Draft(context, "draft", order)
        try await context.save()
        let other = files.container.newContext()
        // The draft has changed: the order is not sent.
        try #require(try await other.fetchFirst(FetchRequest<Draft>())).text = "theirs"
        try await other.save()
        try context.detectConflicts(for: draft)
        order.amount = 1
        let writes = files.orders.writes
        await #expect {
            try await context.save()
        } throws: { error in
            if case PersistenceError.conflicts = error { true } else { false }
        }
        #expect(files.orders.writes == writes && order.hasChanges)
        context.rollback()
        try context.refreshAllObjects()
        #expect(order.amount == 0)
        // The order has changed: neither is written, whether the save sends something or not.
        try #require(try await other.fetchFirst(FetchRequest<Order>())).amount = 9
        try await other.save()
        let now = files.orders.writes
        for sends in [false, true] {
            try context.detectConflicts(for: order)
            draft.text = "mine"
            if sends { _ = Customer(context, "Ann") }
            await #expect {
                try await context.save()
            } throws: { error in
                if case PersistenceError.conflicts = error { true } else { false }
            }
            #expect(files.orders.writes == now && draft.hasChanges)
        }
        context.rollback()
        try context.refreshAllObjects()
        try context.detectConflicts(for: order)
        draft.text = "mine"
        _ = Customer(context, "Ann")
        try await context.save()
        #expect(!context.hasChanges)
    }

    @Test("A save that has begun goes on through all stores, even if its task is cancelled while the server is asked")
    @MainActor func cancelling() async throws {
        let files = try ShopFiles()
        let context = files.context()
        let draft = Draft(context, "draft", Order(context, "tea"))
        files.orders.close()
        let saving = Task { try await context.save() }
        while !files.orders.isWaitedFor { await Task.yield() }
        saving.cancel()
        files.orders.open()
        try await saving.value
        #expect(!context.hasChanges && draft.saves == 1 && files.titles == ["tea"])
        #expect(try await files.container.newContext().count(FetchRequest<Draft>()) == 1)
    }

    @Test("Writes of a container block: they take the stores that need no network, and mirrors that are saved to")
    func writes() async throws {
        let files = try ShopFiles()
        func write() async throws {
            try await files.container.write { context in
                let order = Order(context, "tea")
                _ = Draft(context, "draft", order)
            }
        }
        await #expect { try await write() } throws: { isNeedsNetwork($0) }
        #expect(try await files.context().count(FetchRequest<Draft>()) == 0)
        try files.remote().savePolicy = .cacheOnly
        try await write()
        let context = files.context()
        let draft = try #require(try await context.fetchFirst(FetchRequest<Draft>()))
        #expect(try context.resolve(draft.order)?.title == "tea")
        #expect(try files.remote().sync.pendingCount() == 1)
    }

    @Test("Objects that a child changes in two stores are saved by its parent")
    func children() async throws {
        let files = try ShopFiles()
        let context = files.context()
        let order = Order(context, "tea")
        let draft = Draft(context, "draft", order)
        try await context.save()
        let child = context.makeChild()
        let mine = try child.existingObject(Draft.self, with: draft.objectID)
        #expect(try child.resolve(mine.order)?.title == "tea")
        mine.text = "changed"
        try child.resolve(mine.order)?.amount = 8
        let other = Order(child, "coffee")
        mine.order = ObjectReference(other)
        try await child.save()
        #expect(files.titles == ["tea"] && order.amount == 8 && draft.text == "changed")
        #expect(try context.resolve(draft.order)?.title == "coffee")
        try await context.save()
        #expect(files.titles == ["coffee", "tea"] && !context.hasChanges)
    }

    @Test("A change for a read-only store is refused before the server is asked")
    func readOnly() async throws {
        let files = try ShopFiles(["Orders", "Memos", "Default", "Catalogue"])
        let context = files.context()
        let order = Order(context, "tea")
        try #require(try await context.fetchFirst(FetchRequest<Product>())).code = "mate"
        await #expect {
            try await context.save()
        } throws: { error in
            guard case PersistenceError.store(.readOnly(let path)) = error else { return false }
            return path.contains("Catalogue") && path.contains("catalogue.sqlite")
        }
        #expect(order.isInserted && files.orders.writes == 0)
    }
}
