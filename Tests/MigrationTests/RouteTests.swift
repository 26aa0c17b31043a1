import Foundation
import Strata
import Testing

/// Migrations over several versions that are known.
@Suite struct RouteTests {
    let file: VersionedFile

    init() throws { file = try VersionedFile() }

    private func item(_ attributes: Attribute...) throws -> ManagedObjectModel {
        try version { Entity("Item") { for attribute in attributes { attribute } } }
    }

    private func fill(_ model: ManagedObjectModel, _ values: [String: Any]) throws {
        try file.open(model) { try $0.make("Item", values) }
    }

    /// The text of a property after a migration of a copy.
    private func migrated(
        _ property: String, _ versions: [ManagedObjectModel], knowing: Bool, answers: [String: MigrationAnswer] = [:]
    ) throws -> [String] {
        let copy = try VersionedFile()
        try FileManager.default.copyItem(atPath: file.path, toPath: copy.path)
        var options = VersionedFile.options(answers)
        if knowing { options.migration.versions = versions }
        return try copy.open(versions[versions.count - 1], options) { try $0.texts("Item", property) }
    }

    @Test("A default of a version in between fills in what is missing")
    func requiredInBetween() throws {
        let versions = [
            try item(Attribute("name", .string).optional()), try item(Attribute("name", .string, default: .value("x"))),
            try item(Attribute("name", .string).optional(), Attribute("note", .string).optional()),
        ]
        try file.open(versions[0]) { context throws in
            for name in ["a", nil] { try context.make("Item", name.map { ["name": $0] } ?? [:]) }
        }
        #expect(try migrated("name", versions, knowing: true) == ["a", "x"])
        #expect(try migrated("name", versions, knowing: false) == ["a", "nil"])
    }

    @Test("A default that changes later is not that of objects that had the attribute before")
    func changedDefault() throws {
        let name = Attribute("name", .string)
        let versions = [
            try item(name), try item(name, Attribute("rank", .integer64, default: .value(1))),
            try item(name, Attribute("rank", .integer64, default: .value(2))),
        ]
        try fill(versions[0], ["name": "a"])
        #expect(try migrated("rank", versions, knowing: true) == ["1"])
        #expect(try migrated("rank", versions, knowing: false) == ["2"])
    }

    @Test("What a version in between removes is asked for, even if a later one has the name again")
    func removedAndAdded() throws {
        let name = Attribute("name", .string)
        let nickname = Attribute("nickname", .string).optional()
        let note = Attribute("note", .string).optional()
        let versions = [try item(name, nickname), try item(name), try item(name, nickname, note)]
        try fill(versions[0], ["name": "a", "nickname": "b"])
        #expect(try migrated("nickname", versions, knowing: false) == ["b"])
        let accepted = ["Item.nickname": MigrationAnswer.accept]
        #expect(try migrated("nickname", versions, knowing: true, answers: accepted) == ["nil"])
        var options = SQLiteStore.Options()
        options.migration.versions = versions
        let plan = try SQLiteStore.migrationPlan(for: file.path, to: versions[2], options: options)
        #expect(SQLiteStore.blockedSteps(of: plan, answers: [:]).map(\.id) == ["Item.nickname"])
        #expect(throws: StoreError.self) { try SQLiteStore.migrate(file.path, to: versions[2], options: options) }
        // All of the way is one transaction.
        try file.open(versions[0]) { context throws in #expect(try context.texts("Item", "nickname") == ["b"]) }
    }

    @Test("A version that declares the same as an earlier one is reached by way of those in between")
    func sameAgain() throws {
        let name = Attribute("name", .string)
        let nickname = Attribute("nickname", .string).optional()
        let versions = [
            try item(name.renamed(from: "title"), nickname), try item(name),
            try item(name.renamed(from: "title"), nickname),
        ]
        let first = try item(Attribute("title", .string), nickname)
        try fill(first, ["title": "a", "nickname": "b"])
        let accepted = ["Item.nickname": MigrationAnswer.accept]
        #expect(try migrated("nickname", [first] + versions, knowing: true, answers: accepted) == ["nil"])
    }

    @Test("A value goes through the types of the versions in between")
    func typesInBetween() throws {
        let versions = [
            try item(Attribute("size", .integer32)), try item(Attribute("size", .double)),
            try item(Attribute("size", .string)),
        ]
        try fill(versions[0], ["size": Int32(7)])
        #expect(try migrated("size", versions, knowing: true) == ["7.0"])
        #expect(try migrated("size", versions, knowing: false) == ["7"])
    }

    @Test(
        "Two properties that were renamed from one name are told apart by the versions in between, and refused without them"
    )
    func ambiguousRename() throws {
        func model(_ parent: [Attribute], _ child: [Attribute]) throws -> ManagedObjectModel {
            try version {
                Entity("Base") { for attribute in parent { attribute } }
                Entity("Item", inherits: "Base") { for attribute in child { attribute } }
            }
        }
        let b = Attribute("b", .string).renamed(from: "a")
        let versions = [
            try model([], [Attribute("a", .string)]),
            try model([Attribute("a", .string, default: .value("new"))], [b]),
            try model([Attribute("c", .string, default: .value("none")).renamed(from: "a")], [b]),
        ]
        try fill(versions[0], ["a": "old"])
        #expect(try migrated("b", versions, knowing: true) == ["old"])
        #expect(try migrated("c", versions, knowing: true) == ["new"])
        guard case .migrationNeedsAnswers(_, let steps)? = file.refusal(versions[2]) else {
            Issue.record("opened")
            return
        }
        #expect(steps.contains { $0.risk == .impossible && $0.text.contains("renamed from a") })
    }

    @Test("Versions that make no difference are skipped")
    func skipped() throws {
        let name = Attribute("name", .string)
        let versions = [
            try item(name), try item(name, Attribute("note", .string).optional()),
            try item(Attribute("title", .string).renamed(from: "name"), Attribute("note", .string).optional()),
            try item(
                Attribute("heading", .string).renamed(from: "title", "name"), Attribute("note", .string).optional(),
                Attribute("rank", .integer64, default: .value(3))),
        ]
        try fill(versions[0], ["name": "a"])
        var options = SQLiteStore.Options()
        options.migration.versions = versions
        let report = try SQLiteStore.migrate(file.path, to: versions[3], options: options)
        #expect(report.plans.count == 1)
        try file.open(versions[3]) { context throws in
            #expect(try context.texts("Item", "heading") == ["a"] && context.texts("Item", "rank") == ["3"])
        }
    }

    @Test("Stages of later versions than that of the application do not concern it")
    func laterStages() throws {
        let versions = [
            try item(Attribute("name", .string)), try item(Attribute("title", .string).renamed(from: "name")),
            try item(Attribute("heading", .string).renamed(from: "title", "name")),
        ]
        try fill(versions[0], ["name": "a"])
        var options = SQLiteStore.Options()
        options.migration.versions = versions
        options.migration.stages = [.custom(from: versions[1], to: versions[2]) { _ in Issue.record("ran") }]
        let report = try SQLiteStore.migrate(file.path, to: versions[1], options: options)
        #expect(report.plans.count == 1)
        try file.open(versions[1]) { context throws in #expect(try context.texts("Item", "title") == ["a"]) }
    }

    @Test("A derived attribute follows its source when that swaps its name with another attribute")
    func derivedOfSwapped() throws {
        let derived = Attribute("folded", .string).optional().derived(.canonical("a"))
        let first = try item(Attribute("a", .string), Attribute("b", .string), derived)
        let second = try item(
            Attribute("a", .string).renamed(from: "b"), Attribute("b", .string).renamed(from: "a"), derived)
        try fill(first, ["a": "One", "b": "Two"])
        #expect(try migrated("folded", [first, second], knowing: false) == ["two"])
    }
}
