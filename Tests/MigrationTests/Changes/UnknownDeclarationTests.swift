import Foundation
import Strata
import Testing

/// Files whose models a newer version of Strata has written.
@Suite struct UnknownDeclarationTests {
    let file: VersionedFile

    init() throws { file = try VersionedFile() }

    private func model(_ more: Attribute...) throws -> ManagedObjectModel {
        try version {
            Entity("Place") {
                Attribute("name", .string).indexed()
                Attribute("location", .geoPoint).optional()
                Attribute("tags", .array(.string)).optional()
                Attribute("address", .composite([CompositeElement("zone", .uuid)])).optional()
                Attribute("search", .string).optional().derived(.lowercase("name"))
                Attribute("rank", .integer16, default: .value(.integer(3))).range(0...9)
                Relationship("parts", to: "Place", .toMany, inverse: "whole").deleteRule(.cascade)
                Relationship("whole", to: "Place", .optionalToOne, inverse: "parts")
                for attribute in more { attribute }
            }
        }
    }

    private func fill() throws {
        try file.open(try model()) { context throws in
            try context.make("Place", ["name": "Lima", "location": GeoPoint(latitude: -12, longitude: -77)])
        }
    }

    private func replace(_ old: String, _ new: String, in key: String) throws {
        let count = try file.sql("SELECT count(*) FROM _metadata WHERE key = '\(key)' AND instr(value, '\(old)') > 0")
        #expect(count == [["1"]], "\(old) is not in \(key)")
        try file.sql("UPDATE _metadata SET value = replace(value, '\(old)', '\(new)') WHERE key = '\(key)'")
    }

    /// The error of an attempt to open the file with a later model, which leaves the file as it is.
    private func refusal() throws -> StoreError? {
        let before = try Data(contentsOf: URL(fileURLWithPath: file.path))
        let later = try model(Attribute("note", .string).optional())
        let error = try #require(file.refusal(later))
        #expect(throws: error) { _ = try SQLiteStore.migrationPlan(for: file.path, to: later) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == before)
        return error
    }

    @Test("A declaration that is not known is refused by entity, property and words, and nothing is lost")
    func unknownDeclarations() throws {
        let cases = [
            ("{\"name\":\"geoPoint\"}", "{\"name\":\"vector\"}", "location", "the type vector"),
            ("[{\"name\":\"string\"}]", "[{\"name\":\"int128\"}]", "tags", "the type array of int128"),
            ("{\"name\":\"uuid\"}", "{\"name\":\"ulid\"}", "address", "the type ulid of the element zone"),
            ("\"lowercase name\"", "\"soundex name\"", "search", "the derivation soundex name"),
            ("\"integer:3\"", "\"interval:3\"", "rank", "the default interval:3"),
            ("\"cascade\"", "\"archive\"", "parts", "the delete rule archive"),
            ("\"maximum\":", "\"multipleOf\":", "rank", "one of the rules [\"minimum\", \"multipleOf\"]"),
        ]
        try fill()
        for (old, new, property, words) in cases {
            try replace(old, new, in: "declarations")
            #expect(
                try refusal()
                    == .unknownDeclaration(path: file.path, entity: "Place", property: property, declaration: words))
            try replace(new, old, in: "declarations")
        }
        try file.open(try model(Attribute("note", .string).optional())) { context throws in
            #expect(try context.texts("Place", "location").count == 1)
        }
    }

    @Test("The error says what to do")
    func text() {
        let error = StoreError.unknownDeclaration(
            path: "a.sqlite", entity: "Place", property: "location", declaration: "the type vector")
        #expect(
            error.description
                == "a.sqlite cannot be migrated: Place.location has the type vector, which is not known; a newer version of "
                + "Strata wrote it, so update this one")
    }

    @Test("A file with a type that is not known is neither erased in development nor described anew")
    func neverErased() throws {
        try fill()
        try replace("{\"name\":\"geoPoint\"}", "{\"name\":\"vector\"}", in: "declarations")
        try file.sql("UPDATE _metadata SET value = 'newer' WHERE key = 'fingerprint'")
        let expected = StoreError.unknownDeclaration(
            path: file.path, entity: "Place", property: "location", declaration: "the type vector")
        let before = try Data(contentsOf: URL(fileURLWithPath: file.path))
        var erasing = SQLiteStore.Options()
        erasing.migration.erasesOnMismatch = true
        var never = SQLiteStore.Options()
        never.migration.policy = .never
        for options in [erasing, never] {
            let same = try model()
            let error = #expect(throws: PersistenceError.self) { try file.open(same, options) { _ in } }
            guard case .store(expected)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == before)
        #expect(!FileManager.default.fileExists(atPath: file.path + ".erased"))
        // What is there can be read.
        var reading = SQLiteStore.Options()
        reading.isReadOnly = true
        try file.open(try model(), reading) { context throws in
            #expect(try context.texts("Place", "name") == ["Lima"])
        }
    }

    @Test("A type that is not known in a file of the first format is refused in the same way")
    func firstFormat() throws {
        try fill()
        try file.sql(
            "DELETE FROM _metadata WHERE key IN ('declarations', 'fingerprint', 'entity_fingerprints', 'minimum_writer')"
        )
        try file.sql("PRAGMA user_version = 1")
        try replace("geoPoint in location", "vector in location", in: "model")
        #expect(
            try refusal()
                == .unknownDeclaration(
                    path: file.path, entity: "Place", property: "location", declaration: "the type vector"))
    }
}
