import Foundation
import Strata
import StrataCSQLite
import Synchronization
import Testing

@testable import StrataSQLite

/// Another process creates or migrates a file between any two statements of the process that opens it.
@Suite struct MeanwhileTests {
    /// What runs once, after a certain statement.
    private final class Moment: Sendable {
        private let state: Mutex<(statement: Int, seen: Int)>
        private let event: @Sendable () -> Void

        init(_ statement: Int, _ event: @escaping @Sendable () -> Void) {
            state = Mutex((statement, 0))
            self.event = event
        }

        func note() {
            let isNow = state.withLock { state in
                state.seen += 1
                return state.seen == state.statement
            }
            if isNow { event() }
        }

        var hasCome: Bool { state.withLock { $0.seen >= $0.statement } }
    }

    private static func model(_ number: Int) throws -> ManagedObjectModel {
        try version {
            if number == 0 {
                Entity("Item") { Attribute("name", .string) }
            } else {
                Entity("Article") {
                    Attribute("name", .string)
                    Attribute("note", .string).optional()
                }.renamed(from: "Item")
            }
        }
    }

    /// Opens files with the second version of the model. Another store opens the first file after the first statement, the second
    /// file after the second statement, and so on. It fails while a transaction that writes is open.
    /// - Returns: How often the other store was opened.
    private func meet(_ prepare: (VersionedFile) throws -> Void, _ check: (VersionedFile) throws -> Void) throws -> Int
    {
        let model = try Self.model(1)
        let count = Mutex(0)
        for statement in 1...1000 {
            let file = try VersionedFile()
            try prepare(file)
            let path = file.path
            let moment = Moment(statement) {
                var options = SQLiteStore.Options()
                options.busyTimeout = 0
                guard let other = try? SQLiteStore.open(model: model, location: .file(path: path), options: options)
                else {
                    return
                }
                other.close()
                count.withLock { $0 += 1 }
            }
            var options = SQLiteStore.Options()
            options.trace = { _ in moment.note() }
            do {
                try SQLiteStore.open(model: model, location: .file(path: path), options: options).close()
            } catch {
                Issue.record("statement \(statement): \(error)")
            }
            try check(file)
            if !moment.hasCome { return count.withLock(\.self) }
        }
        Issue.record("it never ends")
        return 0
    }

    @Test("A file that another process migrates while it is being opened is found migrated")
    func migrated() throws {
        let count = try meet {
            try $0.open(try Self.model(0)) { context throws in _ = try context.make("Item", ["name": "a"]) }
        } _: {
            try $0.open(try Self.model(1)) { context throws in #expect(try context.texts("Article", "name") == ["a"]) }
        }
        #expect(count > 10)
    }

    @Test("A file that another process creates while it is being opened is found created")
    func created() throws {
        let count = try meet { _ in
        } _: {
            try $0.open(try Self.model(1)) { context throws in _ = try context.make("Article", ["name": "a"]) }
        }
        #expect(count > 2)
    }
}
