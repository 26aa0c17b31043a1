import Foundation
import Strata
import Testing

/// Versions that add something: they are applied when the file is opened, and nothing is lost.
@Suite struct AdditionTests {
    let file: VersionedFile

    init() throws { file = try VersionedFile() }

    private func shelves() throws -> ManagedObjectModel {
        try version {
            Entity("Shelf") {
                Attribute("name", .string)
                Relationship("books", to: "Book", .toMany, inverse: "shelf")
            }
            Entity("Book") {
                Attribute("title", .string)
                Relationship("shelf", to: "Shelf", .optionalToOne, inverse: "books")
            }
        }
    }

    private func fill() throws {
        try file.open(try shelves()) { context throws in
            let shelf = try context.make("Shelf", ["name": "A"])
            for title in ["One", "Two"] { try context.make("Book", ["title": title, "shelf": shelf]) }
        }
    }

    @Test("One more optional attribute opens the file and keeps every value")
    func optionalAttribute() throws {
        try fill()
        let later = try version {
            Entity("Shelf") {
                Attribute("name", .string)
                Relationship("books", to: "Book", .toMany, inverse: "shelf")
            }
            Entity("Book") {
                Attribute("title", .string)
                Attribute("subtitle", .string).optional()
                Relationship("shelf", to: "Shelf", .optionalToOne, inverse: "books")
            }
        }
        try file.open(later) { context throws in
            #expect(try context.texts("Book", "title") == ["One", "Two"])
            #expect(try context.texts("Book", "subtitle") == ["nil", "nil"])
            #expect(try context.linked("Book", "shelf") == [["A"], ["A"]])
            try context.all("Book")[0]["subtitle"] = "first"
        }
        try file.open(later) { context throws in #expect(try context.texts("Book", "subtitle") == ["first", "nil"]) }
        #expect(try SQLiteStore.migrationPlan(for: file.path, to: later).isEmpty)
        try file.checkSoundness()
    }

    @Test("A new required attribute with a default fills existing objects, a UUID with one for each")
    func defaults() throws {
        try fill()
        let later = try version {
            Entity("Shelf") {
                Attribute("name", .string)
                Relationship("books", to: "Book", .toMany, inverse: "shelf")
            }
            Entity("Book") {
                Attribute("title", .string)
                Attribute("pages", .integer32, default: .value(100))
                Attribute("price", .decimal, default: .value(.decimal(Decimal(string: "9.90")!)))
                Attribute("mark", .uuid, default: .newUUID)
                Attribute("code", .string, default: .newUUID).unique()
                Attribute("added", .date, default: .now)
                Relationship("shelf", to: "Shelf", .optionalToOne, inverse: "books")
            }
        }
        try file.open(later) { context throws in
            #expect(try context.texts("Book", "pages") == ["100", "100"])
            #expect(try context.texts("Book", "price") == ["9.9", "9.9"])
            #expect(Set(try context.texts("Book", "mark")).count == 2)
            #expect(Set(try context.texts("Book", "code")).count == 2)
            let added = try #require(try context.all("Book")[0]["added"] as? Date)
            #expect(abs(added.timeIntervalSinceNow) < 3600)
        }
    }

    @Test("New entities, relationships, derived attributes and indexes come with the file")
    func everythingElse() throws {
        try fill()
        let later = try version {
            Entity("Shelf") {
                Attribute("name", .string)
                Relationship("books", to: "Book", .orderedToMany, inverse: "shelf")
                Relationship("themes", to: "Theme", .toMany, inverse: "shelves")
                Attribute("bookCount", .integer64).optional().derived(.count("books"))
            }
            Entity("Book") {
                Attribute("title", .string).indexed()
                Attribute("searchTitle", .string).optional().derived(.canonical("title"))
                Attribute("place", .geoPoint).optional().indexed()
                Relationship("shelf", to: "Shelf", .optionalToOne, inverse: "books")
                Relationship("sequel", to: "Book", .optionalToOne)
                Index("title", kind: .fullText)
            }
            Entity("Theme") {
                Attribute("name", .string)
                Relationship("shelves", to: "Shelf", .toMany, inverse: "themes")
            }
        }
        try file.open(later) { context throws in
            #expect(try context.texts("Book", "searchTitle") == ["one", "two"])
            #expect(try context.texts("Shelf", "bookCount") == ["2"])
            #expect(try context.linked("Shelf", "books", "title") == [["One", "Two"]])
            let request = FetchRequest<ManagedObject>(
                entity: "Book", where: try FetchPredicate(format: "title MATCHESTEXT 'two'"))
            #expect(try context.fetch(request).map { $0["title"] as? String } == ["Two"])
            let theme = try context.make("Theme", ["name": "red"])
            try context.all("Shelf")[0]["themes"] = [theme]
            let books = try context.all("Book")
            try context.all("Shelf")[0]["books"] = [books[1], books[0]]
        }
        try file.open(later) { context throws in
            #expect(try context.linked("Theme", "shelves") == [["A"]])
            #expect(try context.linked("Shelf", "books", "title") == [["Two", "One"]])
        }
        let fresh = try VersionedFile()
        try fresh.open(later) { _ in }
        #expect(
            try file.sql("SELECT name, type FROM sqlite_master ORDER BY name")
                == fresh.sql("SELECT name, type FROM sqlite_master ORDER BY name"))
        try file.checkSoundness()
    }

    @Test("A required attribute without a default needs an answer, which objects then have")
    func requiredWithoutDefault() throws {
        try fill()
        let later = try version {
            Entity("Shelf") {
                Attribute("name", .string)
                Relationship("books", to: "Book", .toMany, inverse: "shelf")
            }
            Entity("Book") {
                Attribute("title", .string)
                Attribute("language", .string)
                Relationship("shelf", to: "Shelf", .optionalToOne, inverse: "books")
            }
        }
        let before = try file.catalog
        #expect(file.blocked(later) == ["Book.language"])
        #expect(try file.catalog == before)
        try file.open(later, VersionedFile.options(["Book.language": .fill("en")])) { context throws in
            #expect(try context.texts("Book", "language") == ["en", "en"])
        }
    }

    @Test("A store that must not be migrated is refused with the difference, and one that is read-only, too")
    func policies() throws {
        try fill()
        let later = try version {
            Entity("Shelf") {
                Attribute("name", .string)
                Attribute("height", .double).optional()
                Relationship("books", to: "Book", .toMany, inverse: "shelf")
            }
            Entity("Book") {
                Attribute("title", .string)
                Relationship("shelf", to: "Shelf", .optionalToOne, inverse: "books")
            }
        }
        var never = SQLiteStore.Options()
        never.migration.policy = .never
        var reading = SQLiteStore.Options()
        reading.isReadOnly = true
        for options in [never, reading] {
            let error = #expect(throws: PersistenceError.self) { try file.open(later, options) { _ in } }
            guard case .store(.incompatibleModel(_, let differences))? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(differences.contains { $0.contains("Shelf.height") })
        }
        try file.open(try shelves()) { context throws in #expect(try context.texts("Book", "title") == ["One", "Two"]) }
    }
}

extension AdditionTests {
    @Test("A constant default is added without writing a row, and reaches only the objects that were there")
    func constants() throws {
        let name = Attribute("name", .string)
        let first = try version { Entity("Item") { name } }
        try file.open(first) { context throws in
            for number in 0..<500 { try context.make("Item", ["name": String(repeating: "\(number)", count: 40)]) }
        }
        let second = try version {
            Entity("Item") {
                name
                Attribute("rank", .integer64, default: .value(7)).optional()
                Attribute("text", .string, default: .value("it's"))
                Attribute("factor", .double, default: .value(1))
                Attribute("price", .decimal, default: .value(.decimal(12.5)))
                Attribute("isOpen", .boolean, default: .value(true))
            }
        }
        let updates = StatementCounter()
        var options = SQLiteStore.Options()
        options.trace = { if $0.sql.hasPrefix("UPDATE item") { updates.add() } }
        try file.open(second, options) { context throws in
            #expect(Set(try context.texts("Item", "rank")) == ["7"])
            #expect(Set(try context.texts("Item", "text")) == ["it's"])
            #expect(Set(try context.texts("Item", "factor")) == ["1.0"])
            #expect(Set(try context.texts("Item", "price")) == ["12.5"])
            #expect(Set(try context.texts("Item", "isOpen")) == ["true"])
            try context.make("Item", ["name": "new"])["rank"] = nil
        }
        #expect(updates.count == 0)
        #expect(try file.sql("SELECT count(*) FROM item WHERE rank IS NULL") == [["1"]])
        // Another default, and a rename, leave the values as they are.
        let third = try version {
            Entity("Item") {
                name
                Attribute("place", .integer64, default: .value(9)).optional().renamed(from: "rank")
            }
        }
        let accepted = ["text", "factor", "price", "isOpen"].map { ("Item.\($0)", MigrationAnswer.accept) }
        try file.open(third, VersionedFile.options(Dictionary(uniqueKeysWithValues: accepted))) { context throws in
            #expect(try context.texts("Item", "place") == Array(repeating: "7", count: 500) + ["nil"])
            try context.make("Item", ["name": "newer"])
            #expect(try context.all("Item").last?["place"] as? Int64 == 9)
        }
        try file.checkSoundness()
    }

    @Test("In a hierarchy a new default does not reach the objects of other entities")
    func constantsInHierarchies() throws {
        func model(_ more: [Attribute]) throws -> ManagedObjectModel {
            try version {
                Entity("Animal") { Attribute("name", .string) }
                Entity("Dog", inherits: "Animal") { for attribute in more { attribute } }
                Entity("Cat", inherits: "Animal") { Attribute("lives", .integer16).optional() }
            }
        }
        try file.open(try model([])) { context throws in
            for entity in ["Animal", "Dog", "Cat"] { try context.make(entity, ["name": entity]) }
        }
        try file.open(try model([Attribute("rank", .integer64, default: .value(7))])) { context throws in
            try context.make("Cat", ["name": "new"])
        }
        #expect(
            try file.sql("SELECT name, rank FROM animal ORDER BY _id").map { $0[1] } == ["NULL", "7", "NULL", "NULL"])
    }
}

private final class StatementCounter: Sendable {
    private let lock = NSLock()
    private nonisolated(unsafe) var number = 0
    var count: Int { lock.withLock { number } }
    func add() { lock.withLock { number += 1 } }
}
