import Foundation
import Strata
import Testing

/// A file that was written before files described their models.
@Suite struct FirstFormatTests {
    let file: VersionedFile

    init() throws {
        file = try VersionedFile()
        let fixture = try #require(
            Bundle.module.url(forResource: "Library1", withExtension: "store", subdirectory: "Fixtures"))
        try FileManager.default.copyItem(atPath: fixture.path, toPath: file.path)
        try FileManager.default.copyItem(atPath: fixture.path + "-blobs", toPath: file.path + "-blobs")
    }

    /// The model that the file was written with, and what a later version changes.
    private func library(later: Bool = false) throws -> ManagedObjectModel {
        try version("Library") {
            Entity("Publisher") {
                Attribute("name", .string).unique()
                Relationship("works", to: "Work", .toMany, inverse: "publisher", deleteRule: .cascade)
            }
            Entity("Work", abstract: true) {
                if later {
                    Attribute("heading", .string).indexed().renamed(from: "title")
                    Attribute("year", .integer16, default: .value(1900))
                } else {
                    Attribute("title", .string).indexed()
                }
                Attribute("note", .string).optional()
                Attribute("searchTitle", .string).optional().derived(.canonical(later ? "heading" : "title"))
                Relationship("publisher", to: "Publisher", .optionalToOne, inverse: "works")
                Relationship("tags", to: "Tag", .toMany, inverse: "works")
                Index(later ? "heading" : "title", kind: .fullText)
            }
            Entity("Book", inherits: "Work") {
                Attribute("pages", later ? .integer64 : .integer32).optional()
                Attribute("price", .decimal).optional()
                Attribute("cover", .binary).optional().externalStorage()
                Relationship(
                    "chapters", to: later ? "Part" : "Chapter", .orderedToMany, inverse: "book", deleteRule: .cascade)
            }
            Entity("Film", inherits: "Work") {
                Attribute("minutes", .integer64).optional()
                Attribute("released", .date).optional()
            }
            if later {
                Entity("Part") {
                    Attribute("heading", .string)
                    Relationship("book", to: "Book", .optionalToOne, inverse: "chapters")
                }.renamed(from: "Chapter")
            } else {
                Entity("Chapter") {
                    Attribute("heading", .string)
                    Relationship("book", to: "Book", .optionalToOne, inverse: "chapters")
                }
            }
            Entity("Tag") {
                Attribute("word", .string)
                Attribute("place", .geoPoint).optional().indexed()
                Attribute(
                    "home",
                    .composite([CompositeElement("street", .string), CompositeElement("zip", .string, optional: true)])
                ).optional()
                Relationship("works", to: "Work", .orderedToMany, inverse: "tags")
            }
        }
    }

    private func check(_ context: ManagedObjectContext, later: Bool) throws {
        let title = later ? "heading" : "title"
        #expect(Set(try context.texts("Work", title)) == ["Élan", "Second", "Rain"])
        let named = try FetchPredicate(format: "\(title) == 'Élan'")
        let book = try #require(try context.fetch(FetchRequest<ManagedObject>(entity: "Book", where: named)).first)
        #expect(book["searchTitle"] as? String == "elan")
        #expect(book["cover"] as? Data == Data("a cover that stands in a file".utf8))
        #expect("\(book["pages"] ?? "")" == "320" && book["price"] as? Decimal == Decimal(string: "12.9"))
        #expect((book["chapters"] as? [ManagedObject])?.map { $0["heading"] as? String } == ["Three", "One", "Two"])
        #expect((book["publisher"] as? ManagedObject)?["name"] as? String == "Ágora")
        #expect(try context.texts("Film", "minutes") == ["90"])
        let tags = try context.all("Tag").map { tag in
            ("\(tag["word"] ?? "")", (tag["works"] as? [ManagedObject])?.map { "\($0[title] ?? "")" } ?? [])
        }
        #expect(Dictionary(uniqueKeysWithValues: tags) == ["red": ["Rain", "Élan"], "old": ["Élan"]])
        let words = FetchRequest<ManagedObject>(
            entity: "Work", where: try FetchPredicate(format: "\(title) MATCHESTEXT 'rain'"))
        #expect(try context.count(words) == 1)
    }

    @Test("It opens with its own model, and describes itself from then on")
    func opensAndIsUpgraded() throws {
        #expect(try file.sql("PRAGMA user_version") == [["1"]])
        let first = try library()
        try file.open(first) { try check($0, later: false) }
        #expect(try file.sql("PRAGMA user_version") == [["2"]])
        #expect(
            try file.sql(
                "SELECT count(*) FROM _metadata WHERE key IN ('declarations', 'fingerprint', 'minimum_writer')") == [
                    ["3"]
                ])
        try file.open(try library(later: true)) { try check($0, later: true) }
        try file.checkSoundness()
    }

    @Test("It goes to a later version at once, with renames, files and every relationship")
    func migratesAtOnce() throws {
        let later = try library(later: true)
        try file.open(later) { context throws in
            try check(context, later: true)
            #expect(Set(try context.texts("Work", "year")) == ["1900"])
            #expect(try context.texts("Part", "heading").count == 3)
        }
        try file.checkSoundness()
        #expect(try SQLiteStore.migrationPlan(for: file.path, to: later).isEmpty)
    }

    @Test("A file of a newer format is refused with both numbers, and is not changed")
    func newerFormat() throws {
        try file.open(try library()) { _ in }
        try file.sql("PRAGMA user_version = 9")
        try file.sql("UPDATE _metadata SET value = '9' WHERE key = 'minimum_writer'")
        let first = try library()
        guard case .unsupported(_, let feature)? = file.refusal(first) else {
            Issue.record("opened")
            return
        }
        #expect(feature.contains("9") && feature.contains("2"))
        // A newer format that this version may write is not an obstacle.
        try file.sql("UPDATE _metadata SET value = '2' WHERE key = 'minimum_writer'")
        try file.open(first) { try check($0, later: false) }
        #expect(try file.sql("PRAGMA user_version") == [["9"]])
    }
}
