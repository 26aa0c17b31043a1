import Foundation
import Strata
import Testing

/// What becomes of history when the model changes.
@Suite struct HistoryMigrationTests {
    let file: VersionedFile
    private let recording: SQLiteStore.Options

    init() throws {
        file = try VersionedFile()
        var options = SQLiteStore.Options()
        options.history = .on(keeping: .days(7))
        options.migration.answers = [:]
        recording = options
    }

    /// The changes that a file has recorded, as text.
    private func lines(_ model: ManagedObjectModel, _ answers: [String: MigrationAnswer] = [:]) throws -> [String] {
        let container = try PersistentContainer(
            model: model, at: .file(path: file.path), options: VersionedFile.options(answers))
        defer { container.close() }
        return try container.history(after: nil).flatMap(\.changes).map { change in
            let old = change.oldValues.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            let words = [change.kind.rawValue, change.entityName] + change.properties + old
            return words.joined(separator: " ") + (change.objectID == nil ? " (unknown)" : "")
        }
    }

    @Test("Renamed entities and properties are told by their present names, through several versions, with old values")
    func renamed() throws {
        let first = try version {
            Entity("Item") {
                Attribute("a", .string).preservesValueInHistory()
                Attribute("count", .integer64, default: .value(0))
            }
        }
        try file.open(first, recording) { context throws in
            let item = try context.make("Item", ["a": "old"])
            try context.save()
            item["a"] = "new"
            item["count"] = 2
        }
        let second = try version {
            Entity("Item") {
                Attribute("b", .string).renamed(from: "a").preservesValueInHistory()
                Attribute("count", .integer64, default: .value(0))
            }
        }
        #expect(try lines(second) == ["inserted Item", "updated Item b count b=\"old\""])
        let third = try version {
            Entity("Article") {
                Attribute("c", .string).renamed(from: "b").preservesValueInHistory()
                Attribute("count", .integer64, default: .value(0))
                Attribute("note", .string).optional()
            }.renamed(from: "Item")
        }
        #expect(try lines(third) == ["inserted Article", "updated Article c count c=\"old\""])
        try file.open(third) { context throws in
            let article = try #require(try context.fetch(FetchRequest<ManagedObject>(entity: "Article")).first)
            article["note"] = "n"
        }
        #expect(
            try lines(third) == ["inserted Article", "updated Article c count c=\"old\"", "updated Article note"])
    }

    @Test("Changes of an entity that is removed are still listed, by the name that it had")
    func removed() throws {
        let first = try version {
            Entity("Item") { Attribute("a", .string).preservesValueInHistory() }
            Entity("Other") { Attribute("b", .string) }
        }
        try file.open(first, recording) { context throws in
            let item = try context.make("Item", ["a": "x"])
            try context.save()
            item["a"] = "y"
        }
        let second = try version { Entity("Other") { Attribute("b", .string) } }
        let steps = file.blocked(second)
        let answers = Dictionary(uniqueKeysWithValues: steps.map { ($0, MigrationAnswer.accept) })
        #expect(
            try lines(second, answers) == ["inserted Item (unknown)", "updated Item a a=\"x\" (unknown)"])
    }

    @Test("What a migration writes is no change of anybody, and tokens stay valid across it")
    func unrecorded() throws {
        let first = try version {
            Entity("Item") {
                Attribute("a", .integer64)
                Attribute("b", .string)
            }
        }
        var token: HistoryToken?
        do {
            let container = try PersistentContainer(model: first, at: .file(path: file.path), options: recording)
            defer { container.close() }
            let context = container.newContext()
            for number in 0..<20 { try context.make("Item", ["a": number, "b": "x"]) }
            try context.save()
            token = try container.currentHistoryToken()
        }
        // The table is written again for another type of a column.
        let second = try version {
            Entity("Item") {
                Attribute("a", .string)
                Attribute("b", .string)
                Attribute("c", .string, default: .value("new"))
            }
        }
        let container = try PersistentContainer(model: second, at: .file(path: file.path))
        defer { container.close() }
        #expect(try container.history(after: token).isEmpty)
        let context = container.newContext()
        let item = try #require(try context.fetch(FetchRequest<ManagedObject>(entity: "Item")).first)
        item["c"] = "later"
        try context.save()
        #expect(try container.history(after: token).flatMap(\.changes).map(\.properties) == [["c"]])
    }

    @Test("A model that begins to preserve old values keeps those that are replaced from then on")
    func preserving() throws {
        let plain = try version { Entity("Item") { Attribute("a", .string) } }
        let keeping = try version { Entity("Item") { Attribute("a", .string).preservesValueInHistory() } }
        try file.open(plain, recording) { context throws in
            let item = try context.make("Item", ["a": "1"])
            try context.save()
            item["a"] = "2"
        }
        try file.open(keeping) { context throws in
            try #require(try context.fetch(FetchRequest<ManagedObject>(entity: "Item")).first)["a"] = "3"
        }
        #expect(try lines(keeping) == ["inserted Item", "updated Item a", "updated Item a a=\"2\""])
        #expect(try lines(plain) == ["inserted Item", "updated Item a", "updated Item a a=\"2\""])
    }
}
