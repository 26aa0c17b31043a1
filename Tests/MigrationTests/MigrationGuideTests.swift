import Foundation
import Strata
import Testing

/// The code of the guide about migrations is in a file of this target, so the compiler reads it; and it does what the guide says.
@Suite struct MigrationGuideTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func plain(_ text: String) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }

    @Test("Every example of the guide is compiled")
    func compiled() throws {
        let page = try String(contentsOf: Self.root.appending(path: "Documentation/Migration.md"), encoding: .utf8)
        let file = try String(
            contentsOf: Self.root.appending(path: "Tests/MigrationTests/MigrationGuide.swift"), encoding: .utf8)
        let code = Self.plain(file)
        let blocks = page.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
        #expect(blocks.count == 6)
        for block in blocks { #expect(code.contains(Self.plain(block)), "MigrationGuide.swift lacks:\n\(block)") }
    }

    @Test("The examples of the guide run")
    func examples() async throws {
        let file = try VersionedFile()
        let first = try version("Contacts") {
            Entity("Contact") {
                Attribute("title", .string)
                Relationship("company", to: "Company", .optionalToOne, inverse: "staff")
            }
            Entity("Company") {
                Attribute("name", .string)
                Relationship("staff", to: "Contact", .toMany, inverse: "company")
            }
        }
        try file.open(first) { context throws in
            let company = try context.make("Company", ["name": "C"])
            try context.make("Contact", ["title": "Ada", "company": company])
        }
        let renamed = try MigrationGuide.renamed()
        #expect(try MigrationGuide.planning(file.path, renamed).steps.contains { $0.id == "Person.fullName" })
        let report = try await MigrationGuide.migrating(file.path, renamed)
        #expect(report.steps.allSatisfy { $0.risk == .safe })
        try file.open(renamed) { context throws in
            #expect(try context.texts("Person", "fullName") == ["Ada"])
            #expect(try context.linked("Person", "employer") == [["C"]])
        }
    }

    @Test("The answers and the stage of the guide do what it says")
    func answersAndStages() throws {
        let file = try VersionedFile()
        let first = try version {
            Entity("Person") {
                Attribute("nickname", .string)
                Attribute("birthday", .string).optional()
            }
        }
        try file.open(first) { try $0.make("Person", ["nickname": "A", "birthday": "soon"]) }
        let later = try version {
            Entity("Person") {
                Attribute("age", .integer16)
                Attribute("birthday", .date).optional()
            }
        }
        #expect(Set(file.blocked(later)) == ["Person.age", "Person.birthday", "Person.nickname"])
        let container = try MigrationGuide.answering(file.path, later)
        #expect(try container.newContext().texts("Person", "age") == ["0"])
        #expect(try container.newContext().texts("Person", "birthday") == ["nil"])
        container.close()

        let other = try VersionedFile()
        let before = try version { Entity("Contact") { Attribute("name", .string) } }
        let after = try version {
            Entity("Contact") {
                Attribute("firstName", .string).optional()
                Attribute("lastName", .string).optional()
            }
        }
        try other.open(before) { try $0.make("Contact", ["name": "Ada Lovelace"]) }
        let staged = try MigrationGuide.staged(other.path, [before, after], MigrationGuide.stage(before, after))
        #expect(try staged.newContext().texts("Contact", "lastName") == ["Lovelace"])
        staged.close()
    }
}
