import Foundation
import Strata
import Testing

/// Relationships and hierarchies that change.
@Suite struct RelationshipTests {
    let file: VersionedFile

    init() throws { file = try VersionedFile() }

    private func model(
        _ cardinality: Relationship.Cardinality, _ back: Relationship.Cardinality?
    ) throws -> ManagedObjectModel {
        try version {
            Entity("Owner") {
                Attribute("name", .string)
                Relationship("things", to: "Thing", cardinality, inverse: back == nil ? nil : "owners")
            }
            Entity("Thing") {
                Attribute("name", .string)
                if let back { Relationship("owners", to: "Owner", back, inverse: "things") }
            }
        }
    }

    private func fill(_ model: ManagedObjectModel, sharing: Bool = false) throws {
        try file.open(model) { context throws in
            let owners = try ["a", "b"].map { try context.make("Owner", ["name": $0]) }
            let things = try ["1", "2", "3"].map { try context.make("Thing", ["name": $0]) }
            func set(_ owner: Int, _ members: [Int]) {
                let objects = members.map { things[$0] }
                guard let relationship = model.entity(named: "Owner")?.relationship(named: "things") else { return }
                if !relationship.isToMany {
                    owners[owner]["things"] = objects.first
                } else if relationship.isOrdered {
                    owners[owner]["things"] = objects
                } else {
                    owners[owner]["things"] = Set(objects)
                }
            }
            set(0, [2, 0])
            set(1, sharing ? [1, 0] : [1])
        }
    }

    @Test("One-to-many becomes many-to-many and keeps its order")
    func oneToManyBecomesManyToMany() throws {
        try fill(try model(.orderedToMany, .optionalToOne))
        try file.open(try model(.orderedToMany, .toMany)) { context throws in
            #expect(try context.linked("Owner", "things") == [["3", "1"], ["2"]])
            #expect(try context.linked("Thing", "owners") == [["a"], ["b"], ["a"]])
        }
        try file.open(try model(.orderedToMany, .optionalToOne)) { context throws in
            #expect(try context.linked("Owner", "things") == [["3", "1"], ["2"]])
        }
        try file.checkSoundness()
    }

    @Test("Many-to-many becomes one-to-many where nobody shares, or with an answer")
    func manyToManyBecomesOneToMany() throws {
        try fill(try model(.orderedToMany, .toMany), sharing: true)
        let later = try model(.orderedToMany, .optionalToOne)
        guard case .migrationNeedsAnswers(_, let steps)? = file.refusal(later) else {
            Issue.record("opened")
            return
        }
        #expect(steps.map(\.id) == ["Thing.owners"] && steps[0].misfits == 1)
        try file.open(later, VersionedFile.options(["Thing.owners": .accept])) { context throws in
            #expect(try context.linked("Owner", "things") == [["3", "1"], ["2"]])
        }
    }

    @Test("A to-one becomes a to-many, with an inverse and without")
    func toOneBecomesToMany() throws {
        for back in [Relationship.Cardinality.toMany, nil] {
            let file = try VersionedFile()
            try file.open(try model(.optionalToOne, back)) { context throws in
                let owners = try ["a", "b"].map { try context.make("Owner", ["name": $0]) }
                let thing = try context.make("Thing", ["name": "1"])
                for owner in owners { owner["things"] = thing }
            }
            try file.open(try model(.orderedToMany, back)) { context throws in
                #expect(try context.linked("Owner", "things") == [["1"], ["1"]])
            }
            try file.checkSoundness()
        }
    }

    @Test("An order comes by key, and goes only with an answer")
    func order() throws {
        try fill(try model(.toMany, .optionalToOne))
        let ordered = try model(.orderedToMany, .optionalToOne)
        try file.open(ordered) { context throws in
            #expect(try context.linked("Owner", "things") == [["1", "3"], ["2"]])
        }
        let unordered = try model(.toMany, .optionalToOne)
        #expect(file.blocked(unordered) == ["Owner.things"])
        try file.open(unordered, answers: ["Owner.things": .accept])
        #expect(
            try file.sql("SELECT count(*) FROM pragma_table_info('thing') WHERE name LIKE '\\_order%' ESCAPE '\\'") == [
                ["0"]
            ])
    }

    @Test("A removed relationship loses its links only with an answer; one end alone loses nothing")
    func removal() throws {
        try fill(try model(.toMany, .optionalToOne))
        let oneEnd = try version {
            Entity("Owner") { Attribute("name", .string) }
            Entity("Thing") {
                Attribute("name", .string)
                Relationship("owners", to: "Owner", .optionalToOne)
            }
        }
        try file.open(oneEnd) { context throws in
            #expect(try context.linked("Thing", "owners") == [["a"], ["b"], ["a"]])
        }
        let none = try version {
            Entity("Owner") { Attribute("name", .string) }
            Entity("Thing") { Attribute("name", .string) }
        }
        #expect(file.blocked(none) == ["Thing.owners"])
        try file.open(none, answers: ["Thing.owners": .accept])
        try file.checkSoundness()
    }

    @Test(
        "Properties move to the parent and to children, a parent is put in between, an abstract entity becomes concrete"
    )
    func hierarchies() throws {
        let old = try version {
            Entity("Animal") { Attribute("name", .string) }
            Entity("Dog", inherits: "Animal") { Attribute("weight", .double).optional() }
            Entity("Cat", inherits: "Animal") {
                Attribute("weight", .double).optional()
                Attribute("lives", .integer16, default: .value(9))
            }
            Entity("Farm") {
                Attribute("name", .string)
                Relationship("animals", to: "Animal", .toMany)
            }
        }
        try file.open(old) { context throws in
            let dog = try context.make("Dog", ["name": "Rex", "weight": 20.5])
            let cat = try context.make("Cat", ["name": "Mia", "weight": 4.0, "lives": Int16(7)])
            let animal = try context.make("Animal", ["name": "It"])
            try context.make("Farm", ["name": "F"])["animals"] = Set([dog, cat, animal])
        }
        let new = try version {
            Entity("Being", abstract: true) { Attribute("name", .string) }
            Entity("Animal", inherits: "Being") {
                Attribute("weight", .double).optional()
                Attribute("lives", .integer16, default: .value(1))
            }
            Entity("Dog", inherits: "Animal")
            Entity("Cat", inherits: "Animal")
            Entity("Farm") {
                Attribute("name", .string)
                Relationship("animals", to: "Being", .toMany)
            }
        }
        try file.open(new) { context throws in
            let animals = try context.all("Being").map {
                "\($0["name"]!) \($0["weight"] ?? "nil") \($0["lives"]!) \($0.objectID.entity.name)"
            }
            #expect(animals == ["Rex 20.5 1 Dog", "Mia 4.0 7 Cat", "It nil 1 Animal"])
            #expect(try context.linked("Farm", "animals").map(Set.init) == [["Rex", "Mia", "It"]])
        }
        try file.checkSoundness()
    }

    @Test("A removed entity takes its objects, the links to them and nothing else")
    func removedEntity() throws {
        let old = try version {
            Entity("Animal") {
                Attribute("name", .string)
                Relationship("friend", to: "Animal", .optionalToOne)
            }
            Entity("Dog", inherits: "Animal")
            Entity("Cat", inherits: "Animal")
            Entity("Farm") {
                Attribute("name", .string)
                Relationship("animals", to: "Animal", .toMany)
            }
        }
        try file.open(old) { context throws in
            let dog = try context.make("Dog", ["name": "Rex"])
            let cat = try context.make("Cat", ["name": "Mia"])
            dog["friend"] = cat
            cat["friend"] = dog
            try context.make("Farm", ["name": "F"])["animals"] = Set([dog, cat])
        }
        let new = try version {
            Entity("Animal") {
                Attribute("name", .string)
                Relationship("friend", to: "Animal", .optionalToOne)
            }
            Entity("Dog", inherits: "Animal")
            Entity("Farm") {
                Attribute("name", .string)
                Relationship("animals", to: "Animal", .toMany)
            }
        }
        guard case .migrationNeedsAnswers(_, let steps)? = file.refusal(new) else {
            Issue.record("opened")
            return
        }
        #expect(steps.map(\.id) == ["Cat"] && steps[0].misfits == 1)
        try file.open(new, VersionedFile.options(["Cat": .accept])) { context throws in
            #expect(try context.texts("Animal", "name") == ["Rex"])
            #expect(try context.linked("Animal", "friend") == [[]])
            #expect(try context.linked("Farm", "animals") == [["Rex"]])
        }
        try file.checkSoundness()
    }

    @Test("Where the other end comes to lead to one object, an order keeps the places with the objects that remain")
    func placesWithTheOwnerThatRemains() throws {
        func model(_ owners: Relationship.Cardinality) throws -> ManagedObjectModel {
            try version {
                Entity("Owner") {
                    Attribute("name", .string)
                    Relationship("things", to: "Thing", .orderedToMany, inverse: "owners")
                }
                Entity("Thing") {
                    Attribute("name", .string)
                    Relationship("owners", to: "Owner", owners, inverse: "things")
                }
            }
        }
        try file.open(try model(.orderedToMany)) { context throws in
            let owners = try (0..<2).map { try context.make("Owner", ["name": "owner \($0)"]) }
            let things = try (0..<2).map { try context.make("Thing", ["name": "thing \($0)"]) }
            things[0]["owners"] = [owners[1], owners[0]]
            owners[1]["things"] = [things[1], things[0]]
        }
        let answers = VersionedFile.options(["Thing.owners": .accept])
        try file.open(try model(.optionalToOne), answers) { context throws in
            #expect(try context.linked("Thing", "owners") == [["owner 1"], ["owner 1"]])
            #expect(try context.linked("Owner", "things") == [[], ["thing 1", "thing 0"]])
        }
        try file.checkSoundness()
    }

    @Test("Joined hierarchies and one-to-one from many need a custom stage")
    func impossible() throws {
        try fill(try model(.toMany, .optionalToOne))
        #expect(
            file.blocked(try model(.optionalToOne, .optionalToOne), answers: ["Owner.things": .accept]).contains(
                "Owner.things"))
        let joined = try version {
            Entity("Root", abstract: true) { Attribute("name", .string) }
            Entity("Owner", inherits: "Root") { Relationship("things", to: "Thing", .toMany, inverse: "owners") }
            Entity("Thing", inherits: "Root") { Relationship("owners", to: "Owner", .optionalToOne, inverse: "things") }
        }
        #expect(file.blocked(joined) == ["Root"])
    }
}
