import Foundation
import Strata
import StrataStore
import Testing

/// What a delete does to objects that referred to the deleted one: those that the context has read, and those that it
/// has not.
@Suite final class ClearingTests {
    private let folder: URL
    private let container: PersistentContainer
    private let log: Log

    private final class Log: Sendable {
        let statements = Guarded<[String]>([])
    }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("strata-clearing-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let log = Log()
        self.log = log
        var options = SQLiteStore.Options()
        options.trace = { trace in log.statements.withLock { $0.append(trace.sql) } }
        container = try PersistentContainer(
            Library.self, at: .file(path: folder.appendingPathComponent("library.sqlite").path), options: options)
        let context = container.newContext()
        for name in ["Plato", "Zeno"] {
            let mentor = Author(context, name: name)
            for number in 0..<100 { Author(context, name: "\(name) \(number)").mentor = mentor }
        }
        try context.save()
    }

    deinit {
        container.close()
        // The folder is in the system's temporary folder; a failure leaves litter there, no wrong result.
        try? FileManager.default.removeItem(at: folder)
    }

    private func author(_ name: String, _ context: ManagedObjectContext) throws -> Author {
        try #require(
            try context.fetchFirst(
                FetchRequest<Author>(where: .comparison(.keyPath(["name"]), .equal, .constant(.string(name)), []))))
    }

    /// Mentor and version of each author, by name, as the file has them.
    private func file() throws -> [String: (mentor: String?, version: Int64)] {
        let context = container.newContext()
        return Dictionary(
            uniqueKeysWithValues: try context.fetch(FetchRequest<Author>()).map {
                ($0.name, ($0.mentor?.name, $0.version))
            })
    }

    private func statements(_ body: () throws -> Void) rethrows -> [String] {
        log.statements.withLock { $0 = [] }
        try body()
        return log.statements.withLock { $0 }
    }

    @Test("Members that nobody has are not read, and are written by one statement")
    func unreadMembers() throws {
        let context = container.newContext()
        let plato = try author("Plato", context)
        let run = try statements {
            context.delete(plato)
            #expect(context.registeredObjects.count == 1)
            try context.save()
        }
        #expect(run.count { $0.hasPrefix("UPDATE") } == 1 && run.count < 20, "\(run)")
        let file = try file()
        #expect(file.count == 201)
        #expect(file["Plato 7"]?.mentor == nil && file["Plato 7"]?.version == 2)
        #expect(file["Zeno 7"]?.mentor == "Zeno" && file["Zeno 7"]?.version == 1)
    }

    @Test("Members that the context has are changed like any other, with their other changes")
    func knownMembers() throws {
        let context = container.newContext()
        let plato = try author("Plato", context)
        let first = try author("Plato 1", context)
        let second = try author("Plato 2", context)
        second.score = 5
        context.delete(plato)
        #expect(first.mentor == nil && first.isUpdated && context.updatedObjects.count == 2)
        try context.save()
        #expect(first.version == 2 && second.version == 2 && !context.hasChanges)
        #expect(try file().values.count { $0.version == 2 } == 100)
        first.score = 9
        try context.save()
        #expect(try file()["Plato 1"]?.version == 3)
    }

    @Test("Between delete and save, fetches see members without the deleted object")
    func fetchInBetween() throws {
        let context = container.newContext()
        context.delete(try author("Plato", context))
        let member = try author("Plato 3", context)
        #expect(member.mentor == nil && member.changedPropertyNames == ["mentor"])
        #expect(
            try context.count(
                FetchRequest<Author>(where: .comparison(.keyPath(["mentor"]), .equal, .constant(.null), [])))
                == 101)
        #expect(context.updatedObjects.count == 100)
        let child = context.makeChild()
        #expect(try author("Plato 4", child).mentor == nil)
        try context.save()
        #expect(try file().values.count { $0.version == 2 && $0.mentor == nil } == 100)
    }

    @Test("A rollback leaves members as they were")
    func rollback() throws {
        let context = container.newContext()
        let plato = try author("Plato", context)
        context.delete(plato)
        context.rollback()
        #expect(!context.hasChanges && plato.students.count == 100)
        try context.save()
        #expect(try file().values.count { $0.mentor == "Plato" } == 100)
    }

    @Test("A context that takes in saves has the cleared reference, its changes, and no conflict")
    func othersFollow() throws {
        let other = container.newContext()
        other.automaticallyMergesChanges = true
        let member = try author("Plato 1", other)
        let plain = try author("Plato 2", other)
        member.score = 3
        let context = container.newContext()
        context.delete(try author("Plato", context))
        try context.save()
        other.processPendingChanges()
        #expect(member.mentor == nil && plain.mentor == nil && plain.version == 2 && !plain.isUpdated)
        #expect(member.changedPropertyNames == ["score"])
        plain.score = 4
        try other.save()
        #expect(try file()["Plato 1"]?.version == 3 && file()["Plato 2"]?.version == 3)
    }

    @Test("A context that does not take in saves meets a conflict")
    func othersConflict() throws {
        let other = container.newContext()
        let member = try author("Plato 1", other)
        let context = container.newContext()
        context.delete(try author("Plato", context))
        try context.save()
        member.score = 3
        let error = #expect(throws: PersistenceError.self) { try other.save() }
        guard case .conflicts? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        other.mergePolicy = .objectWinsByProperty
        try other.save()
        #expect(try file()["Plato 1"]?.version == 3 && file()["Plato 1"]?.mentor == nil)
    }

    @Test("A member that others moved meanwhile stays where it is")
    func movedMeanwhile() throws {
        let context = container.newContext()
        context.delete(try author("Plato", context))
        let other = container.newContext()
        try author("Plato 1", other).mentor = try author("Zeno", other)
        try other.save()
        try context.save()
        #expect(try file()["Plato 1"]?.mentor == "Zeno")
        #expect(try file()["Plato 2"]?.version == 2)
    }

    @Test("A reference that others made meanwhile is cleared here, too; one that is out of date shows nothing")
    func referredMeanwhile() throws {
        let context = container.newContext()
        let stale = try author("Plato 1", context)
        let zeno = try author("Zeno 1", context)
        let plato = try author("Plato", context)
        let other = container.newContext()
        try author("Plato 1", other).mentor = try author("Zeno", other)
        try other.save()
        context.delete(plato)
        let late = container.newContext()
        try author("Zeno 1", late).mentor = try author("Plato", late)
        try late.save()
        context.mergePolicy = .objectWinsByProperty
        try context.save()
        #expect(stale.mentor == nil || stale.mentor?.name == "Zeno")
        #expect(zeno.mentor?.name == "Zeno")
        let file = try file()
        #expect(file["Plato"] == nil && file["Zeno 1"]?.mentor == nil && file["Plato 1"]?.mentor == "Zeno")
    }
}
