import Foundation
import Strata
import Testing

@Suite struct HistoryKeepingTests {
    private func save(_ container: PersistentContainer, _ count: Int, author: String? = nil) throws {
        let context = container.newContext()
        context.author = author
        for number in 0..<count {
            _ = Tag(context, label: "\(number)")
            try context.save()
        }
    }

    // MARK: On and off

    @Test("A store records nothing until somebody asks, and says so")
    func off() throws {
        let file = try HistoryFile(.asInFile)
        try save(file.container, 1)
        let error = HistoryError.notRecorded(store: file.container.store.name)
        #expect(historyError { try file.container.currentHistoryToken() } == error)
        #expect(historyError { try file.container.history(after: nil) } == error)
        #expect(historyError { try file.container.consumeHistory(as: "x") { _ in } } == error)
        let tables = try SQLiteShell(file.path).lines("SELECT name FROM sqlite_master WHERE name LIKE '%history%'")
        #expect(tables.isEmpty)
    }

    @Test("Who opens a file that records goes on recording, asked or not")
    func goesOn() throws {
        let file = try HistoryFile()
        let token = try file.container.currentHistoryToken()
        let other = try file.open()
        defer { other.close() }
        try save(other, 2)
        #expect(try file.container.history(after: token).count == 2)
        #expect(try other.history(after: token).count == 2)
    }

    @Test("A store that is open when another switches history on or off follows at its next save")
    func switching() throws {
        let file = try HistoryFile(.asInFile)
        try save(file.container, 1)
        let second = try file.open(.on(keeping: .days(1)))
        try save(file.container, 3, author: "old")
        #expect(try second.history(after: nil).map(\.author) == ["old", "old", "old"])
        let token = try second.currentHistoryToken()
        second.close()
        let third = try file.open(.off)
        try save(file.container, 1)
        #expect(historyError { try file.container.history(after: nil) } != nil)
        third.close()
        let fourth = try file.open(.on(keeping: .days(1)))
        defer { fourth.close() }
        #expect(historyError { try fourth.history(after: token) } == .expired(token: token))
        #expect(try fourth.history(after: nil).isEmpty)
        let tables = try SQLiteShell(file.path).lines("SELECT name FROM sqlite_master WHERE name = '_history'")
        #expect(tables == ["_history"])
    }

    @Test("What a shell changes is part of the next transaction")
    func shell() throws {
        let file = try HistoryFile()
        try save(file.container, 1)
        let token = try file.container.currentHistoryToken()
        try SQLiteShell(file.path).run("UPDATE tag SET label = 'shell'")
        #expect(try file.container.history(after: token).isEmpty)
        try save(file.container, 1)
        let transactions = try file.container.history(after: token)
        #expect(transactions.map(\.changes.count) == [2])
        #expect(transactions[0].changes.map(\.properties) == [["label"], []])
    }

    @Test("A store that may only be read gives its history and refuses to move consumers")
    func readOnly() throws {
        let file = try HistoryFile()
        try save(file.container, 1)
        var options = SQLiteStore.Options()
        options.isReadOnly = true
        let reader = try PersistentContainer(Library.self, at: .file(path: file.path), options: options)
        defer { reader.close() }
        let all = try reader.history(after: nil)
        #expect(all.count == 1)
        #expect(
            historyError { try reader.setHistoryPosition(all[0].token, of: "x") } == .store(.readOnly(path: file.path)))
    }

    // MARK: Tokens that mean nothing here

    @Test("A token of another store, of a later state or of before a purge has expired")
    func expired() throws {
        let file = try HistoryFile()
        let other = try HistoryFile()
        try save(file.container, 3)
        let foreign = try other.container.currentHistoryToken()
        #expect(historyError { try file.container.history(after: foreign) } == .expired(token: foreign))
        let all = try file.container.history(after: nil)
        #expect(try file.container.purgeHistory(upTo: all[1].token) > 0)
        #expect(historyError { try file.container.history(after: all[0].token) } == .expired(token: all[0].token))
        #expect(try file.container.history(after: all[1].token) == [all[2]])
        #expect(try file.container.history(after: nil) == [all[2]])
    }

    @Test("A file that is replaced by its backup does not take tokens of what came after it")
    func restored() throws {
        let file = try HistoryFile()
        try save(file.container, 1)
        let backup = file.path + ".backup"
        try SQLiteShell(file.path).run("VACUUM INTO '\(backup)'")
        defer { try? FileManager.default.removeItem(atPath: backup) }
        let common = try file.container.currentHistoryToken()
        try save(file.container, 1)
        let later = try file.container.currentHistoryToken()
        let restored = try PersistentContainer(Library.self, at: .file(path: backup))
        defer { restored.close() }
        #expect(historyError { try restored.history(after: later) } == .expired(token: later))
        try save(restored, 1)
        #expect(historyError { try restored.history(after: later) } == .expired(token: later))
        #expect(try restored.history(after: common).count == 1)
    }

    // MARK: Purging

    @Test("What is too old or too much goes by itself, but not what a consumer has not read yet")
    func retention() throws {
        let file = try HistoryFile(.on(keeping: HistoryRetention(age: nil, changes: 10)))
        try save(file.container, 30)
        try file.container.history?.purge()
        // Each transaction has two rows, so ten rows after the first place that is kept are five transactions.
        #expect(try file.container.history(after: nil).count == 5)
        try file.container.setHistoryPosition(try #require(try file.container.history(after: nil).first).token, of: "x")
        try save(file.container, 30)
        try file.container.history?.purge()
        #expect(try file.container.history(after: nil).count == 34)
        let aged = try file.open(.on(keeping: HistoryRetention(age: 0, changes: nil, patience: 0)))
        defer { aged.close() }
        // Opening purges; the most recent transaction is the place from which history goes on.
        #expect(try aged.history(after: nil).isEmpty)
        try save(aged, 1)
        #expect(try aged.history(after: try aged.currentHistoryToken()).isEmpty)
    }
}
