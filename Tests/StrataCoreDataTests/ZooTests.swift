import Foundation
import Strata
import StrataCoreData
import Testing

/// What the format can hold, in a store written by hand.
struct ZooTests {
    let zoo: Zoo
    let store: CoreDataStore
    let context: ManagedObjectContext

    init() throws {
        zoo = try Zoo()
        try zoo.fill()
        store = try zoo.open { options in
            options.transformers["MoodTransformer"] = {
                .composite(["feeling": .string(String(decoding: $0, as: UTF8.self))])
            }
        }
        context = try PersistentContainer(store: store).newContext()
    }

    private func animal(_ name: String) throws -> ManagedObject {
        try #require(try context.all("Animal", where: "name == '\(name)'").first)
    }

    @Test("All types of values are read")
    func values() throws {
        let leo = try animal("Leo")
        #expect(leo["number"] as? Int16 == 7 && leo["isTame"] as? Bool == true)
        #expect(leo["born"] as? Date == Date(timeIntervalSinceReferenceDate: 600_000_000))
        #expect(leo["weight"] as? Double == 181.5)
        #expect(leo["rating"] as? Decimal == Decimal(string: "4.25"))
        #expect(leo["home"] as? URL == URL(string: "https://example.org/leo"))
        #expect(leo["tag"] as? UUID == UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))
        #expect(leo["photo"] as? Data == Data([10, 20]))
        #expect(try animal("Tweety")["born"] as? Date == Date(timeIntervalSinceReferenceDate: -1.5))
        #expect(try animal("Tweety")["photo"] as? Data == Data(repeating: 7, count: 300_000))
        #expect(try animal("Rex")["rating"] == nil)
    }

    @Test("Transformable values are read, and a transformer of the application is asked")
    func transformables() throws {
        let slot = try #require(store.model.entity(named: "Animal")?.slot(named: "notes"))
        let rows = try store.rows(
            entityIndex: store.model.entity(named: "Animal")!.index, keys: [1, 2])
        #expect(rows.rows.map { $0.value(slot) }.contains(.list([.string("loud"), .string("large")])))
        #expect(
            rows.rows.map { $0.value(slot) }.contains(
                .composite(["age": .integer(3), "site": .string("https://example.org")])))
        let mood = try #require(store.model.entity(named: "Animal")?.slot(named: "mood"))
        #expect(
            rows.rows.compactMap { row in
                row.withBytes(mood) { $0.map { String(decoding: $0, as: UTF8.self) } }
            }
                == [#"{"feeling":"calm"}"#])
        #expect(
            try context.all("Animal", where: "notes.age == 3").map { $0["name"] as? String } == ["Tweety"]
        )
    }

    @Test("What cannot be read is an error for this value alone")
    func damagedValues() throws {
        var errors: [String] = []
        context.onFaultError = { error, _ in errors.append("\(error)") }
        let rex = try animal("Rex")
        #expect(rex["name"] as? String == "Rex" && errors.isEmpty)
        _ = rex["notes"]
        #expect(
            errors.count == 1 && errors[0].contains("UIColor") && errors[0].contains("Animal.notes"))
        let polly = try animal("Polly")
        #expect(polly["name"] as? String == "Polly" && errors.count == 1)
        #expect(polly["photo"] == nil)
        #expect(errors.count == 2 && errors[1].contains(".Zoo_SUPPORT"))
    }

    @Test("Entities that share a table, and properties that share a name")
    func inheritance() throws {
        #expect(
            try context.all("Animal").count == 5 && context.all("Bird").count == 2
                && context.all("Fish").count == 1)
        #expect(try animal("Tweety")["text"] as? String == "sings")
        #expect(store.mapping.property("text", of: "Fish") == "textFish")
        #expect(try animal("Nemo")["textFish"] as? Int64 == 42)
        #expect(try context.all("Fish", where: "textFish > 41").count == 1)
        #expect(store.mapping.property("_title", of: "Club") == "title")
        #expect(try context.all("Club", where: "title == 'Cats'").count == 1)
        let names = ["Name", "name"].compactMap { store.mapping.property($0, of: "Person") }
        #expect(Set(names).count == 2)
        let ben = try #require(try context.all("Vet").first)
        #expect(names.map { ben[$0] as? String } == ["B", "Ben"])
    }

    @Test("A to-one relationship leads to an entity that inherits from its destination")
    func polymorphic() throws {
        #expect((try animal("Leo")["keeper"] as? ManagedObject)?.objectID.entity.name == "Vet")
        #expect((try animal("Nemo")["keeper"] as? ManagedObject)?.objectID.entity.name == "Person")
        #expect(try context.all("Animal", where: "keeper.animals.@count == 2").count == 2)
    }

    @Test("Ordered relationships keep their order")
    func order() throws {
        let ben = try #require(try context.all("Vet").first)
        #expect((ben["animals"] as? [ManagedObject])?.map(\.objectID.key) == [2, 1])
        let all = try #require(try context.all("Club", where: "title == 'All'").first)
        #expect((all["members"] as? [ManagedObject])?.map(\.objectID.key) == [2, 3, 1])
        #expect((try animal("Leo")["clubs"] as? Set<ManagedObject>)?.count == 2)
    }

    @Test("Pairs of a relationship that is its own inverse, and of one without an inverse")
    func pairs() throws {
        func friends(_ name: String) throws -> [Int64] {
            (try animal(name)["friends"] as? Set<ManagedObject> ?? []).map(\.objectID.key).sorted()
        }
        #expect(try friends("Leo") == [2, 4] && friends("Tweety") == [1] && friends("Nemo") == [3])
        #expect(try friends("Rex") == [1])
        let all = try #require(try context.all("Club", where: "title == 'All'").first)
        #expect((all["sponsors"] as? Set<ManagedObject>)?.map(\.objectID.key).sorted() == [1, 2])
        #expect(try context.all("Animal", where: "ANY friends.name == 'Leo'").count == 2)
    }

    @Test("Conditions use the indexes of the file")
    func explain() throws {
        var plan = FetchPlan(entityIndex: try #require(store.model.entity(named: "Person")).index)
        plan.predicate = try FetchPredicate(format: "animals.@count == 2")
        #expect(try store.explain(plan).steps.contains { $0.contains("ZANIMAL_ZKEEPER_INDEX") })
    }

    @Test("Nothing can be written")
    func readOnly() throws {
        let leo = try animal("Leo")
        leo["name"] = "Lea"
        let error = #expect(throws: PersistenceError.self) { try context.save() }
        #expect("\(try #require(error))".contains("read-only"))
        #expect(store.metadata.applicationKeys == ["secret"])
    }

    @Test("Keys and versions are Core Data's own")
    func versions() throws {
        let animal = try #require(store.model.entity(named: "Animal"))
        #expect(try store.rows(entityIndex: animal.index, keys: [4]).rows.map(\.version) == [9])
        #expect(store.identifier == UUID(uuidString: "6F1A8E3C-2B4D-4C5E-9F70-112233445566"))
    }

    @Test("A commit by somebody else is seen by the next read")
    func foreignWriter() throws {
        #expect(try context.count(FetchRequest<ManagedObject>(entity: "Animal")) == 5)
        try zoo.animal(9, ["ZNAME": "New"])
        #expect(try context.count(FetchRequest<ManagedObject>(entity: "Animal")) == 6)
    }

    @Test("A closed store says so")
    func closed() throws {
        store.close()
        #expect(throws: PersistenceError.self) { try context.all("Animal") }
        #expect(throws: StoreError.closed(path: zoo.path)) {
            try store.externalData(named: UUID().uuidString)
        }
    }
}
