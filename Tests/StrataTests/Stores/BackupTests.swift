import Foundation
import Strata
import Testing

/// Copies of a store that is in use.
@Suite(.timeLimit(.minutes(10))) final class BackupTests: Sendable {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "backup-\(UUID().uuidString)")
    private let model: ManagedObjectModel

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        model = try ManagedObjectModel(name: "Accounts") {
            Entity("Account") {
                Attribute("name", .string)
                Attribute("balance", .integer64).defaultValue(0)
                Attribute("statement", .binary).optional().externalStorage()
            }
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func path(_ name: String) -> String { folder.appending(path: name).path }

    private func open(_ name: String) throws -> PersistentContainer {
        var options = SQLiteStore.Options()
        options.externalStorageThreshold = 100
        return try PersistentContainer(model: model, at: .file(path: path(name)), options: options)
    }

    private func fill(_ container: PersistentContainer, count: Int) throws {
        let context = container.newContext()
        for number in 0..<count {
            let account = try context.insert(entityNamed: "Account")
            account["name"] = "account \(number)"
            account["balance"] = Int64(100)
            account["statement"] = Data(repeating: UInt8(number), count: 1000)
        }
        try context.save()
    }

    private func accounts(_ context: ManagedObjectContext) throws -> [ManagedObject] {
        try context.fetch(FetchRequest<ManagedObject>(entity: "Account", sortedBy: [FetchSort("name")]))
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    @Test("A backup is one moment of a store that others write")
    func moment() async throws {
        let original = try open("a.sqlite")
        try fill(original, count: 20)
        let writer = Task.detached { [self] in
            let other = try open("a.sqlite")
            var number = 0
            // Money only moves, and each edit replaces a file.
            while !Task.isCancelled {
                number += 1
                let amount = Int64(number % 7)
                let context = other.newContext()
                let all = try accounts(context)
                let (from, to) = (all[number % 20], all[(number * 3 + 1) % 20])
                if from === to { continue }
                from["balance"] = (from["balance"] as? Int64 ?? 0) - amount
                to["balance"] = (to["balance"] as? Int64 ?? 0) + amount
                from["statement"] = Data(repeating: UInt8(truncatingIfNeeded: number), count: 1000)
                try context.save()
                if number % 10 == 0, let store = other.store as? SQLiteStore {
                    try store.removeDroppedFiles(olderThan: 1)
                }
            }
        }
        for number in 0..<5 {
            let report = try await original.backUp(to: path("copy\(number).sqlite"))
            #expect(report.externalCount == 20 && report.externalSize == 20_000 && report.fileSize > 0)
        }
        writer.cancel()
        try await writer.value
        for number in 0..<5 {
            let copy = try open("copy\(number).sqlite")
            let found = try accounts(copy.newContext())
            #expect(found.reduce(0) { $0 + ($1["balance"] as? Int64 ?? 0) } == 2000)
            #expect(found.allSatisfy { ($0["statement"] as? Data)?.count == 1000 })
            #expect(try SQLiteStore.integrityReport(at: path("copy\(number).sqlite")).isSound)
            #expect(copy.store.identifier == original.store.identifier)
        }
        #expect(try names.allSatisfy { !$0.contains(".part") })
    }

    @Test("A backup without the model, of a store that is open")
    func withoutModel() throws {
        let original = try open("a.sqlite")
        try fill(original, count: 3)
        let report = try SQLiteStore.backUp(path("a.sqlite"), to: path("b.sqlite"))
        #expect(report.path == path("b.sqlite") && report.externalCount == 3)
        #expect(
            try accounts(open("b.sqlite").newContext()).map { $0["name"] as? String } == [
                "account 0", "account 1", "account 2",
            ])
    }

    @Test("A store in memory is written to a file")
    func memory() throws {
        let store = try SQLiteStore.open(model: model, location: .memory(name: nil), options: .init())
        try fill(PersistentContainer(store: store), count: 2)
        #expect(try store.backUp(to: path("m.sqlite")).externalCount == 0)
        #expect(try accounts(open("m.sqlite").newContext()).count == 2)
    }

    @Test("A backup never replaces a file, and leaves nothing behind when it fails")
    func failures() throws {
        let original = try open("a.sqlite")
        try fill(original, count: 2)
        let store = try #require(original.store as? SQLiteStore)
        try Data("mine".utf8).write(to: folder.appending(path: "taken"))
        let before = try names
        #expect(throws: StoreError.self) { try store.backUp(to: path("taken")) }
        #expect(throws: StoreError.self) { try store.backUp(to: path("a.sqlite")) }
        #expect(throws: StoreError.self) { try store.backUp(to: path("none/b.sqlite")) }
        #expect(throws: StoreError.notFound(path: path("none.sqlite"))) {
            try SQLiteStore.backUp(path("none.sqlite"), to: path("b.sqlite"))
        }
        #expect(throws: StoreError.self) { try SQLiteStore.backUp(path("taken"), to: path("b.sqlite")) }
        let blobs = path("a.sqlite-blobs")
        for name in try FileManager.default.contentsOfDirectory(atPath: blobs) where name.hasSuffix(".blob") {
            try FileManager.default.removeItem(atPath: blobs + "/" + name)
        }
        #expect {
            try store.backUp(to: path("b.sqlite"))
        } throws: { error in
            guard case StoreError.missingFile("Account", "statement", _, _) = error else { return false }
            return true
        }
        #expect(try names == before)
        #expect(try Data(contentsOf: folder.appending(path: "taken")) == Data("mine".utf8))
    }

    @Test("A container backs up a store in memory, too")
    func container() async throws {
        let store = try SQLiteStore.open(model: model, location: .memory(name: nil), options: .init())
        let container = try PersistentContainer(store: store)
        try await container.backUp(to: path("c.sqlite"))
        #expect(try accounts(open("c.sqlite").newContext()).isEmpty)
    }
}
