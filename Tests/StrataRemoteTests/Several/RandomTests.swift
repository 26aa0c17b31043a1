import Foundation
import SeededRandom
import Strata
import StrataRemote
import StrataRemoteTesting
import Testing

/// `STRATA_RUNS=1000` tries so many seeds, from `STRATA_SEED` on.
@Suite struct SeveralRandomTests {
    /// The same commands on one store in memory and on four, two of them remote, by names, because keys differ. Every save may
    /// fail half-way at the server or in the file, and is completed by the next ones.
    @Test(
        "Random commands on local and remote stores give what they give on one",
        arguments: RunSeed.seeds(4, from: 720_001))
    func oneAndFour(seed: UInt64) async throws {
        print("several stores with servers: seed \(seed)")
        var random = SplitMix64(seed: seed)
        let isOnline = random.oneIn(2)
        let order =
            random.oneIn(2)
            ? ["Catalogue", "Orders", "Memos", "Default"] : ["Default", "Memos", "Orders", "Catalogue"]
        let files = try ShopFiles(order) { $0.savePolicy = isOnline ? .networkThenCache : .cacheOnly }
        let one = Half(try PersistentContainer(Shop.self, at: .memory(name: nil)))
        let four = Half(files.container)
        for step in 0..<250 {
            let command = Command(&random, step)
            switch command {
            case .save:
                if random.oneIn(3) {
                    let trouble = Gateway.Trouble.allCases[random.below(Gateway.Trouble.allCases.count)]
                    files.orders.trouble = trouble
                    if random.oneIn(3) { files.memos.trouble = trouble }
                    if random.oneIn(3) { try files.drafts.fail([.commit], with: .locked(path: "drafts.sqlite")) }
                    try? await four.context.save(
                        options: random.oneIn(3) ? RemoteOptions(savePolicy: .networkElseQueue) : nil)
                    files.orders.trouble = .none
                    files.memos.trouble = .none
                    try files.drafts.recover()
                }
                try await save(one, four, files, step)
                try await compare(
                    one.container.newContext(), files.context(), "seed \(seed), step \(step), in the stores")
            case .others(let number, let amount):
                try await save(one, four, files, step)
                try await files.remote().sync.synchronize()
                let (_, there) = try files.otherDevice()
                for context in [there, one.container.newContext()] {
                    let orders = try await context.fetch(FetchRequest<Order>(sortedBy: [FetchSort("title")]))
                    guard !orders.isEmpty else { continue }
                    let order = orders[number % orders.count]
                    if amount % 4 == 0 { context.delete(order) } else { order.amount = amount }
                    try await context.save()
                }
                try await files.remote().sync.pull()
            default:
                try one.run(command)
                try four.run(command)
            }
            if step % 5 == 0 { try await compare(one.context, four.context, "seed \(seed), step \(step), \(command)") }
        }
        try await save(one, four, files, 0)
        try await files.remote().sync.synchronize()
        let (_, there) = try files.otherDevice()
        let told = try await there.fetch(FetchRequest<Order>(sortedBy: [FetchSort("title")]))
        let known = try await one.context.fetch(FetchRequest<Order>(sortedBy: [FetchSort("title")]))
        #expect(told.map { "\($0.title) \($0.amount)" } == known.map { "\($0.title) \($0.amount)" }, "seed \(seed)")
        #expect(!known.isEmpty)
    }

    private func save(_ one: Half, _ four: Half, _ files: ShopFiles, _ step: Int) async throws {
        try await one.context.save()
        // A save that repeats a lost request may find that the server has gone on meanwhile.
        for _ in 0..<3 where four.context.hasChanges { try? await four.context.save() }
        try await four.context.save()
        try #require(!four.context.hasChanges, "step \(step)")
    }

    private func compare(_ a: ManagedObjectContext, _ b: ManagedObjectContext, _ place: String) async throws {
        let (one, four) = try (Half.dump(a), Half.dump(b))
        try #require(one == four, "\(place)")
    }

    private enum Command {
        case customer(String)
        case order(String, Int)
        case rush(String, Int)
        case draft(String, Int)
        case memo(String)
        case label(Int, String)
        case refer(Int, Int)
        case move(Int, Int)
        case amount(Int, Int64)
        case rename(Int, String)
        case deleteOrder(Int)
        case deleteDraft(Int)
        case deleteCustomer(Int)
        case child(String, Int)
        case others(Int, Int64)
        case save, rollback

        init(_ random: inout SplitMix64, _ step: Int) {
            let (a, b) = (random.below(100), random.below(100))
            switch random.below(20) {
            case 0: self = .customer("c\(step)")
            case 1, 2: self = .order("o\(step)", a)
            case 3: self = .rush("r\(step)", a)
            case 4, 5: self = .draft("d\(step)", a)
            case 6: self = .memo("m\(step)")
            case 7: self = .label(a, "l\(step)")
            case 8: self = .refer(a, b)
            case 9: self = .move(a, b)
            case 10: self = .amount(a, Int64(b))
            case 11: self = .rename(a, "x\(step)")
            case 12: self = .deleteOrder(a)
            case 13: self = .deleteDraft(a)
            case 14: self = b < 20 ? .deleteCustomer(a) : .child("k\(step)", a)
            case 15: self = .others(a, Int64(b))
            case 16: self = b < 30 ? .rollback : .save
            default: self = .save
            }
        }
    }

    /// One of the two containers, with the context that the commands work in.
    private final class Half {
        let container: PersistentContainer
        let context: ManagedObjectContext

        init(_ container: PersistentContainer) {
            self.container = container
            context = container.newContext(automaticallyMergesChanges: true)
            context.mergePolicy = .objectWinsByProperty
        }

        private func pick<T: ManagedObject>(_: T.Type, _ number: Int, _ name: String) throws -> T? {
            let all = try context.fetch(FetchRequest<T>(sortedBy: [FetchSort(name)]))
            return all.isEmpty ? nil : all[number % all.count]
        }

        func run(_ command: Command) throws {
            switch command {
            case .customer(let name): _ = Customer(context, name)
            case .order(let title, let customer):
                _ = Order(context, title, try pick(Customer.self, customer, "name"))
            case .rush(let title, let customer):
                RushOrder(context, title, try pick(Customer.self, customer, "name")).hours = 3
            case .draft(let text, let order): _ = Draft(context, text, try pick(Order.self, order, "title"))
            case .memo(let text): _ = Memo(context, text)
            case .label(let draft, let text): try pick(Draft.self, draft, "text")?.labels.insert(Label(context, text))
            case .refer(let draft, let order):
                let order = try pick(Order.self, order, "title")
                try pick(Draft.self, draft, "text")?.order = order.map(ObjectReference.init)
            case .move(let order, let customer):
                let customer = try pick(Customer.self, customer, "name")
                try pick(Order.self, order, "title")?.customer = customer
            case .amount(let order, let amount): try pick(Order.self, order, "title")?.amount = amount
            case .rename(let order, let title): try pick(Order.self, order, "title")?.title = title
            case .deleteOrder(let number): try pick(Order.self, number, "title").map { context.delete($0) }
            case .deleteDraft(let number): try pick(Draft.self, number, "text").map { context.delete($0) }
            case .deleteCustomer(let number): try pick(Customer.self, number, "name").map { context.delete($0) }
            case .child(let name, let order):
                let child = context.makeChild()
                _ = Draft(child, name, Order(child, name))
                if let id = try pick(Order.self, order, "title")?.objectID {
                    try child.existingObject(Order.self, with: id).amount += 1
                }
                try child.save()
            case .rollback: context.rollback()
            case .save, .others: break
            }
        }

        static func dump(_ context: ManagedObjectContext) throws -> [String] {
            var lines: [String] = []
            for order in try context.fetch(FetchRequest<Order>(sortedBy: [FetchSort("title")])) {
                lines.append("\(type(of: order)) \(order.title) \(order.amount) \(order.customer?.name ?? "-")")
            }
            for customer in try context.fetch(FetchRequest<Customer>(sortedBy: [FetchSort("name")])) {
                lines.append("Customer \(customer.name): \(customer.orders.map(\.title).sorted())")
            }
            let drafts = try context.fetch(FetchRequest<Draft>(sortedBy: [FetchSort("text")]))
            let orders = try context.resolve(drafts.compactMap(\.order))
            for draft in drafts {
                let order = draft.order.flatMap { orders[$0] }
                lines.append("Draft \(draft.text) \(order?.title ?? "-") \(draft.labels.map(\.text).sorted())")
            }
            for memo in try context.fetch(FetchRequest<Memo>(sortedBy: [FetchSort("text")])) {
                lines.append("Memo \(memo.text)")
            }
            return lines
        }
    }
}
