import Foundation
import Strata
import Testing

/// Versions that give something another name.
@Suite struct RenameTests {
    let file: VersionedFile

    init() throws { file = try VersionedFile() }

    private func fill(_ model: ManagedObjectModel, _ values: [[String: Any]]) throws {
        try file.open(model) { context throws in for value in values { try context.make("Item", value) } }
    }

    @Test("A renamed attribute keeps its values, through several versions and directly")
    func acrossVersions() throws {
        let models = try [[String](), ["a"], ["b", "a"]].enumerated().map { number, former in
            try version {
                Entity("Item") {
                    [Attribute(["a", "b", "c"][number], .string)].map { attribute in
                        var attribute = attribute
                        attribute.formerNames = former
                        return attribute as any EntityComponent
                    }
                }
            }
        }
        for way in [[0, 1, 2], [0, 2]] {
            let file = try VersionedFile()
            try file.open(models[0]) { try $0.make("Item", ["a": "kept"]) }
            for number in way.dropFirst() { try file.open(models[number]) { _ in } }
            try file.open(models[2]) { context throws in #expect(try context.texts("Item", "c") == ["kept"]) }
            #expect(try file.sql("SELECT c FROM item") == [["kept"]])
        }
    }

    @Test("Two attributes change their names for each other's")
    func swap() throws {
        try fill(
            try version {
                Entity("Item") {
                    Attribute("first", .string)
                    Attribute("second", .string)
                }
            },
            [["first": "1", "second": "2"]])
        let later = try version {
            Entity("Item") {
                Attribute("first", .string).renamed(from: "second")
                Attribute("second", .string).renamed(from: "first")
            }
        }
        for _ in 0..<2 {
            try file.open(later) { context throws in
                #expect(try context.texts("Item", "first") == ["2"])
                #expect(try context.texts("Item", "second") == ["1"])
            }
        }
        // A later version that declares no past any more means the same names.
        try file.open(
            try version {
                Entity("Item") {
                    Attribute("first", .string)
                    Attribute("second", .string)
                }
            }
        ) { context throws in
            #expect(try context.texts("Item", "first") == ["2"])
        }
    }

    @Test("A name that was given up can be taken by a new attribute")
    func freedName() throws {
        try fill(try version { Entity("Item") { Attribute("code", .string) } }, [["code": "x"]])
        let later = try version {
            Entity("Item") {
                Attribute("oldCode", .string).renamed(from: "code")
                Attribute("code", .integer64, default: .value(7))
            }
        }
        try file.open(later) { context throws in
            #expect(try context.texts("Item", "oldCode") == ["x"])
            #expect(try context.texts("Item", "code") == ["7"])
        }
    }

    @Test("Entities of a hierarchy, their tables, relationships and pairs get other names")
    func entities() throws {
        let old = try version {
            Entity("Thing", abstract: true) {
                Attribute("name", .string).unique()
                Relationship("owner", to: "Person", .optionalToOne, inverse: "things")
                Relationship("tags", to: "Tag", .orderedToMany, inverse: "things")
            }
            Entity("Car", inherits: "Thing") { Attribute("doors", .integer16).optional() }
            Entity("Boat", inherits: "Thing") { Attribute("length", .double).optional().unique() }
            Entity("Person") {
                Attribute("name", .string)
                Relationship("things", to: "Thing", .orderedToMany, inverse: "owner")
            }
            Entity("Tag") {
                Attribute("name", .string)
                Relationship("things", to: "Thing", .toMany, inverse: "tags")
            }
        }
        let new = try version {
            Entity("Vehicle", abstract: true) {
                Attribute("title", .string).unique().renamed(from: "name")
                Relationship("keeper", to: "Human", .optionalToOne, inverse: "vehicles").renamed(from: "owner")
                Relationship("labels", to: "Label", .orderedToMany, inverse: "vehicles").renamed(from: "tags")
            }.renamed(from: "Thing")
            Entity("Automobile", inherits: "Vehicle") { Attribute("doors", .integer16).optional() }.renamed(from: "Car")
            Entity("Boat", inherits: "Vehicle") { Attribute("length", .double).optional().unique() }
            Entity("Human") {
                Attribute("name", .string)
                Relationship("vehicles", to: "Vehicle", .orderedToMany, inverse: "keeper").renamed(from: "things")
            }.renamed(from: "Person")
            Entity("Label") {
                Attribute("name", .string)
                Relationship("vehicles", to: "Vehicle", .toMany, inverse: "labels").renamed(from: "things")
            }.renamed(from: "Tag")
        }
        try file.open(old) { context throws in
            let car = try context.make("Car", ["name": "Ka", "doors": Int16(3)])
            let boat = try context.make("Boat", ["name": "Bo", "length": 7.5])
            let person = try context.make("Person", ["name": "Pia"])
            person["things"] = [boat, car]
            let tags = try ["red", "old"].map { try context.make("Tag", ["name": $0]) }
            car["tags"] = [tags[1], tags[0]]
            boat["tags"] = [tags[0]]
        }
        let keys = try file.sql("SELECT _id FROM thing ORDER BY _id")
        try file.open(new) { context throws in
            #expect(try context.texts("Vehicle", "title").sorted() == ["Bo", "Ka"])
            #expect(try context.linked("Human", "vehicles", "title") == [["Bo", "Ka"]])
            #expect(try context.linked("Automobile", "labels") == [["old", "red"]])
            #expect(try context.texts("Automobile", "doors") == ["3"])
            #expect(try context.linked("Boat", "keeper") == [["Pia"]])
            // Keys that were reserved before are not given out again.
            let other = try context.make("Boat", ["title": "Other"])
            #expect(!keys.contains(["\(other.objectID.key)"]))
        }
        #expect(
            try file.sql("SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('thing', 'person', 'tag')")
                .isEmpty)
        try file.checkSoundness()
    }

    @Test("Two entities change their names for each other's")
    func swappedEntities() throws {
        let old = try version {
            Entity("A") {
                Attribute("name", .string)
                Relationship("b", to: "B", .optionalToOne, inverse: "a")
            }
            Entity("B") {
                Attribute("name", .string)
                Relationship("a", to: "A", .optionalToOne, inverse: "b")
            }
        }
        let new = try version {
            Entity("A") {
                Attribute("name", .string)
                Relationship("b", to: "B", .optionalToOne, inverse: "a").renamed(from: "a")
            }.renamed(from: "B")
            Entity("B") {
                Attribute("name", .string)
                Relationship("a", to: "A", .optionalToOne, inverse: "b").renamed(from: "b")
            }.renamed(from: "A")
        }
        try file.open(old) { context throws in
            let a = try context.make("A", ["name": "was A"])
            a["b"] = try context.make("B", ["name": "was B"])
        }
        try file.open(new) { context throws in
            #expect(try context.texts("A", "name") == ["was B"])
            #expect(try context.linked("B", "a") == [["was B"]])
            #expect(try context.linked("A", "b") == [["was A"]])
        }
        try file.checkSoundness()
    }

    @Test("Without a declared past, a rename is a removal that needs an answer")
    func undeclared() throws {
        try fill(try version { Entity("Item") { Attribute("a", .string) } }, [["a": "x"], ["a": "y"]])
        let later = try version { Entity("Item") { Attribute("b", .string).optional() } }
        let error = try #require(file.refusal(later))
        guard case .migrationNeedsAnswers(_, let steps) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(steps.map(\.id) == ["Item.a"] && steps[0].misfits == 2)
        #expect(error.description.contains("Item.a") && error.description.contains("answer"))
        try file.open(later, answers: ["Item.a": .accept])
        #expect(try file.sql("SELECT b FROM item") == [["NULL"], ["NULL"]])
    }
}
