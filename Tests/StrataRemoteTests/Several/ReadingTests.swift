import Foundation
import Strata
import StrataRemote
import StrataRemoteTesting
import Testing

/// Reading from containers with remote stores among several: every kind of fetch, under every policy.
@Suite struct ReadingSeveralTests {
    /// Orders at the server: three of Ann, one of them a rush order, and one of nobody. The mirror has those whose titles it is
    /// given.
    private func fill(_ files: ShopFiles) async throws {
        let (_, there) = try files.otherDevice()
        let ann = Customer(there, "Ann")
        for title in ["coffee", "tea"] { Order(there, title, ann).amount = 2 }
        RushOrder(there, "milk", ann).hours = 5
        _ = Order(there, "water")
        try await there.save(options: nil)
    }

    private func request(_ format: String? = nil, _ policy: FetchPolicy? = nil) throws -> FetchRequest<Order> {
        FetchRequest<Order>(
            where: try format.map { try FetchPredicate(format: $0) }, sortedBy: [FetchSort("title")]
        ).options(policy.map { RemoteOptions(fetchPolicy: $0) })
    }

    @Test(
        "Fetches, IDs, counts, values and results by policy, with and without the server",
        arguments: FetchPolicy.allCases)
    func policies(_ policy: FetchPolicy) async throws {
        let files = try ShopFiles { $0.finishesLocally = true }
        try await fill(files)
        let context = files.context()
        // Only one order is here.
        _ = try await context.fetch(try request("title == 'tea'", .networkOnly))
        let all = ["coffee", "milk", "tea", "water"]
        for isUp in [false, true] {
            files.orders.trouble = isUp ? .none : .unreachable
            let fails = !isUp && (policy == .networkOnly || policy == .cacheThenNetwork)
            let expected = policy == .cacheOnly || policy == .cacheElseNetwork || !isUp ? ["tea"] : all
            let wanted = try request(nil, policy)
            let fresh = files.context()
            if fails {
                await #expect(throws: PersistenceError.self) { _ = try await fresh.fetch(wanted) }
                await #expect(throws: PersistenceError.self) { try await fresh.count(wanted) }
                await #expect(throws: PersistenceError.self) { try await fresh.fetchIDs(wanted) }
                continue
            }
            #expect(try await fresh.count(wanted) == expected.count)
            #expect(try await fresh.fetch(wanted).map(\.title) == expected)
            #expect(try await fresh.fetchIDs(wanted).count == expected.count)
            #expect(try await fresh.fetchLazily(wanted).map(\.title) == expected)
            let values = try await fresh.fetchValues(wanted.select(FetchColumn("title", .keyPath(["title"]))))
            #expect(values.map { $0["title"].value } == expected.map(Value.string))
            let named = wanted.options(OptionsByConfiguration(["Orders": RemoteOptions(fetchPolicy: policy)]))
            #expect(try await fresh.fetch(named).map(\.title) == expected)
            let forOthers = wanted.options(OptionsByConfiguration(["Memos": RemoteOptions(fetchPolicy: .networkOnly)]))
            #expect(try await fresh.fetch(forOthers).count == files.mirrored())
            var results: [[String]] = []
            for try await orders in fresh.results(of: wanted) { results.append(orders.map(\.title)) }
            var stages = 0
            for try await _ in fresh.results(of: named) { stages += 1 }
            #expect(stages == results.count)
            #expect(results.last == expected && results.count == (policy == .cacheThenNetwork ? 2 : 1))
        }
    }

    @Test("Unsaved changes of the context count in what the server answers, in children, too")
    func pending() async throws {
        let files = try ShopFiles()
        try await fill(files)
        let context = files.context()
        _ = Order(context, "zucchini")
        let tea = try #require(try await context.fetch(try request("title == 'tea'", .networkOnly)).first)
        tea.title = "black tea"
        let wanted = try request("title != 'water'", .networkOnly)
        #expect(try await context.fetch(wanted).map(\.title) == ["black tea", "coffee", "milk", "zucchini"])
        #expect(try await context.count(wanted) == 4)
        let child = context.makeChild()
        #expect(try await child.fetch(wanted).map(\.title) == ["black tea", "coffee", "milk", "zucchini"])
        let milk = try #require(try await child.fetch(try request("title == 'milk'", .cacheOnly)).first)
        #expect(milk is RushOrder && milk.customer?.name == "?")
        try await child.load([milk.customer].compactMap(\.self), options: RemoteOptions(fetchPolicy: .networkOnly))
        #expect(milk.customer?.name == "Ann")
        milk.amount = 9
        try await child.save()
        try await context.save()
        #expect(files.titles == ["black tea", "coffee", "milk", "water", "zucchini"])
    }

    @Test(
        "Blocking methods refuse the network for the remote store alone, or wait where it was told to",
        arguments: [false, true])
    func blocking(waits: Bool) async throws {
        let files = try ShopFiles {
            $0.fetchPolicy = .networkElseCache
            $0.waitsForNetwork = waits
        }
        try await fill(files)
        let context = files.context()
        func read() throws -> [String] { try context.fetch(try request()).map(\.title) }
        func number() throws -> Int { try context.count(try request()) }
        func local() throws -> [Int] {
            [try context.count(FetchRequest<Product>()), try context.fetch(FetchRequest<Draft>()).count]
        }
        func here() throws -> [Order] { try context.fetch(try request(nil, .cacheOnly)) }
        #expect(try local() == [2, 0])
        if waits {
            #expect(try number() == 4)
            #expect(try read().count == 4)
        } else {
            #expect { try number() } throws: { error in
                isNeedsNetwork(error) && "\(error)".contains("Memory")
            }
            #expect { try read() } throws: { isNeedsNetwork($0) }
            #expect(try here().isEmpty)
        }
    }

    @Test("Faults and members of the remote store are brought in batches, and never those of local stores")
    func faults() async throws {
        let files = try ShopFiles()
        try await fill(files)
        let context = files.context()
        let network = RemoteOptions(fetchPolicy: .networkOnly)
        let orders = try await context.fetch(try request(nil, .networkOnly))
        let ann = try #require(orders[0].customer)
        #expect(ann.isFault && ann.name == "?" && ann.isFault)
        #expect(orders.map { $0.customer === ann } == [true, true, true, false])
        let reads = files.orders.reads
        try await context.load("customer", of: orders, options: network)
        #expect(ann.name == "Ann" && files.orders.reads == reads + 1)
        #expect(ann.orders.map(\.title).sorted() == ["coffee", "milk", "tea"])
        let fresh = files.context()
        let customers = try await fresh.fetch(FetchRequest<Customer>(prefetch: ["orders"]))
        #expect(customers.first?.orders.count == 3)
        #expect(customers.first?.orders.contains { $0 is RushOrder } == true)
        // The same where the objects outlive their context.
        var context2: ManagedObjectContext? = files.context()
        let kept = try #require(try await context2?.fetch(FetchRequest<Customer>()))
        context2 = nil
        #expect(kept[0].orders.map(\.title).sorted() == ["coffee", "milk", "tea"])
        let draft = Draft(context, "draft")
        draft.labels = [Label(context, "red")]
        try await context.save()
        let now = files.orders.reads
        let drafts = try await files.context().fetch(FetchRequest<Draft>(prefetch: ["labels"]))
        #expect(drafts[0].labels.map(\.text) == ["red"] && files.orders.reads == now)
    }

    @Test("With the network that blocks, a fault is filled by its first access, with its batch")
    func blockingFaults() async throws {
        let files = try ShopFiles {
            $0.fetchPolicy = .networkElseCache
            $0.waitsForNetwork = true
        }
        try await fill(files)
        let context = files.context()
        func names() throws -> [String?] { try context.fetch(try request()).map { $0.customer?.name } }
        #expect(try names() == ["Ann", "Ann", "Ann", nil])
    }

    @Test("Objects of which only a part was asked for, pages, totals, and objects that are not kept")
    func parts() async throws {
        let files = try ShopFiles { $0.cachesResults = false }
        try await fill(files)
        let context = files.context()
        let total = TotalCount()
        let page = try request().limit(2).options(
            RemoteOptions(fetchPolicy: .networkOnly, properties: ["title"], total: total))
        let orders = try await context.fetch(page)
        #expect(orders.map(\.title) == ["coffee", "milk"] && total.value == 4)
        try await context.load(orders)
        #expect(orders.map(\.amount) == [0, 0] || orders.map(\.amount) == [2, 0])
        #expect(try await files.context().count(try request(nil, .cacheOnly)) <= 2)
        let values = try await context.fetchValues(
            try request(nil, .networkOnly).select(FetchColumn("amount", .keyPath(["amount"]))))
        #expect(values.map { $0["amount"].value } == [2, 0, 2, 0].map(Value.integer))
    }

    @Test("A condition that the server cannot evaluate is refused, with the name of the store, or finished here")
    func conditions() async throws {
        let files = try ShopFiles()
        try await fill(files)
        let context = files.context()
        let wanted = try request("customer.name == 'Ann'", .networkOnly)
        await #expect {
            _ = try await context.fetch(wanted)
        } throws: { error in
            guard case PersistenceError.store(.unsupported(let store, _)) = error else { return false }
            return store.contains("Memory")
        }
        let options = RemoteOptions(fetchPolicy: .networkOnly, finishesLocally: true)
        #expect(try await context.fetch(wanted.options(options)).map(\.title) == ["coffee", "milk", "tea"])
        // Objects in conditions are those of the hierarchy of the store.
        let ann = try #require(try await context.fetchFirst(FetchRequest<Customer>()))
        let ofAnn = FetchRequest<Order>(
            where: try FetchPredicate(format: "customer == %@", ann), sortedBy: [FetchSort("title")]
        ).options(RemoteOptions(fetchPolicy: .networkOnly))
        #expect(try await context.fetch(ofAnn).map(\.title) == ["coffee", "milk", "tea"])
    }
}
