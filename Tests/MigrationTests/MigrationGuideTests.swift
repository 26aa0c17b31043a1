import Foundation
import Strata
import Testing

/// The examples of the guide about migrations do what it says; GuideTests compares them with the page.
@Suite struct MigrationGuideTests {
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

        let people = try VersionedFile()
        try people.open(try version { Entity("Person") { Attribute("email", .string) } }) { context throws in
            for _ in 0..<2 { try context.make("Person", ["email": "a@b.c"]) }
        }
        let unique = try version { Entity("Person") { Attribute("email", .string).unique() } }
        #expect(people.blocked(unique) == ["Person.email"])
        let merged = try MigrationGuide.merging(people.path, unique)
        #expect(try merged.newContext().texts("Person", "email") == ["a@b.c"])
        merged.close()

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

    @Test("The deferred step and the versions of the guide do what it says")
    func deferredSteps() async throws {
        let file = try VersionedFile()
        let before = try version { Entity("Contact") { Attribute("name", .string) } }
        let after = try version {
            Entity("Contact") {
                Attribute("name", .string)
                Attribute("initials", .string).optional()
            }
        }
        try file.open(before) { try $0.make("Contact", ["name": "Ada Lovelace"]) }
        var options = SQLiteStore.Options()
        options.migration.stages = [MigrationGuide.deferring(before, after)]
        let container = try PersistentContainer(model: after, at: .file(path: file.path), options: options)
        try await MigrationGuide.finishing(container)
        #expect(try container.newContext().texts("Contact", "initials") == ["AL"])
        container.close()

        let last = try version { Entity("Contact") { Attribute("name", .string) } }
        #expect(throws: StoreError.self) { try MigrationGuide.overVersions(file.path, [before, after, last]) }
        #expect(try MigrationGuide.overVersions(file.path, [before, after]).plans.isEmpty)
    }
}
