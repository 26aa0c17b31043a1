import Foundation
import Strata
import Testing

/// Consumers, and the places up to which history is removed.
@Suite(.recordsHistory) struct HistoryConsumerTests {
    private func save(_ container: PersistentContainer, _ count: Int, author: String? = nil) throws {
        let context = container.newContext()
        context.author = author
        for number in 0..<count {
            _ = Tag(context, label: "\(number)")
            try context.save()
        }
    }

    @Test("A consumer gets everything once, in order, some transactions at a time, and again what it did not finish")
    func consumer() throws {
        struct Stop: Error {}
        let file = try HistoryFile()
        try save(file.container, 25)
        var sizes: [Int] = []
        var seen: [Int64] = []
        func take(_ transactions: [HistoryTransaction]) {
            sizes.append(transactions.count)
            seen += transactions.flatMap(\.changes).map(\.key)
        }
        #expect(throws: Stop.self) {
            try file.container.consumeHistory(as: "widget", batchSize: 10) { transactions in
                if sizes.count == 1 { throw Stop() }
                take(transactions)
            }
        }
        #expect(try file.container.consumeHistory(as: "widget", batchSize: 10) { take($0) } == 15)
        #expect(sizes == [10, 10, 5])
        #expect(seen == seen.sorted() && Set(seen).count == 25)
        #expect(try file.container.consumeHistory(as: "widget") { take($0) } == 0)
        #expect(try file.container.historyPosition(of: "widget") == (try file.container.currentHistoryToken()))
        #expect(try file.container.history?.consumers() == ["widget"])
        try file.container.removeHistoryConsumer("widget")
        #expect(try file.container.historyPosition(of: "widget") == nil)
    }

    @Test("A consumer moves forward only, also past what its filter leaves out")
    func forward() throws {
        let file = try HistoryFile()
        try save(file.container, 2, author: "a")
        try save(file.container, 2, author: "b")
        let all = try file.container.history(after: nil)
        try file.container.setHistoryPosition(all[2].token, of: "x")
        try file.container.setHistoryPosition(all[0].token, of: "x")
        #expect(try file.container.historyPosition(of: "x") == all[2].token)
        #expect(try file.container.consumeHistory(as: "x", where: HistoryFilter.all.by("a")) { _ in } == 0)
        #expect(try file.container.historyPosition(of: "x") == all[3].token)
        let other = try file.open()
        defer { other.close() }
        #expect(try other.historyPosition(of: "x") == all[3].token)
    }

    @Test("A consumer that history has left behind is told, and starts over")
    func leftBehind() throws {
        let file = try HistoryFile()
        try save(file.container, 1)
        try file.container.consumeHistory(as: "slow") { _ in }
        let position = try #require(try file.container.historyPosition(of: "slow"))
        try save(file.container, 3)
        try file.container.purgeHistory(before: Date(timeIntervalSinceNow: 60))
        #expect(historyError { try file.container.consumeHistory(as: "slow") { _ in } } == .expired(token: position))
        try file.container.restartHistory(of: "slow")
        try save(file.container, 2)
        #expect(try file.container.consumeHistory(as: "slow") { _ in } == 2)
    }

    @Test("A purge keeps what transactions are made of, whatever their size")
    func large() throws {
        let file = try HistoryFile(.on(keeping: .forever))
        let context = file.container.newContext()
        for size in [15_000, 3, 12_000, 2] {
            try context.insertAll(Tag.self, from: 0..<size) { tag, number in tag.label = .value("\(number)") }
        }
        let all = try file.container.history(after: nil)
        #expect(all.map(\.changes.count) == [15_000, 3, 12_000, 2])
        #expect(try file.container.purgeHistory(upTo: all[1].token) == 15_005)
        #expect(try file.container.history(after: nil) == Array(all.dropFirst(2)))
        #expect(try file.container.purgeHistory(upTo: all[3].token) > 0)
        #expect(try file.container.history(after: nil).isEmpty)
        #expect(try file.container.history(after: all[3].token).isEmpty)
    }
}
