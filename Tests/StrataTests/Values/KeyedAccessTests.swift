import Foundation
import Strata
import Testing

/// Properties by name.
@Suite struct KeyedAccessTests {
    @Test("Every kind of property can be read and written by name")
    func allKinds() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let home = Enclosure(context, code: "AA-1")
        let cat = try context.insert(entityNamed: "Cat")
        let dog = try context.insert(entityNamed: "Dog")
        cat["name"] = "Tom"
        cat["weight"] = 3
        cat["lives"] = 7
        cat["enclosure"] = home
        cat["mood"] = "grim"
        dog["name"] = "Rex"
        let tricks = ["a", "b"].map { Trick(context, title: $0) }
        dog["tricks"] = tricks
        home["place"] = ["street": "Main", "number": 5] as [String: Any]
        #expect(cat["name"] as? String == "Tom" && cat["weight"] as? Double == 3 && cat["lives"] as? Int16 == 7)
        #expect(cat["enclosure"] as? Enclosure === home && home["animals"] as? Set<ManagedObject> == [cat])
        #expect(dog["tricks"] as? [ManagedObject] == tricks && dog["chip"] == nil)
        #expect(
            (home["place"] as? [String: Any])?["number"] as? Int32 == 5 && home["place.street"] as? String == "Main")
        #expect(try home.value(forKey: "code", as: String.self) == "AA-1")
        #expect(try home.value(forKey: "code", as: Int.self) == nil)
        try context.save()
        #expect(home["search"] as? String == "aa-1")
        home["animals"] = nil
        #expect(cat["enclosure"] == nil)
        home["place"] = nil
        #expect(home["place.street"] == nil)
        try context.save()
        let reader = file.container.newContext()
        let fresh = try reader.existingObject(Enclosure.self, with: home.objectID)
        #expect(fresh["place.number"] == nil && (fresh["animals"] as? Set<ManagedObject>)?.isEmpty == true)
        #expect(try reader.existingObject(with: cat.objectID)["lives"] as? Int16 == 7)
    }

    @Test("Wrong names and values are errors, and change nothing")
    func errors() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let home = Enclosure(context, code: "AA-1")
        let cat = Cat(context, name: "Tom", enclosure: home)
        try context.save()
        let sample = Sample(context, "s")
        func failure(_ object: ManagedObject, _ name: String, _ value: Any?) -> String {
            switch persistenceError({ try object.setValue(value, forKey: name) }) {
            case .unknownProperty(let entity, let property, let nearest):
                "unknown \(entity).\(property)" + (nearest.map { ", nearest \($0)" } ?? "")
            case .wrongType(let entity, let property, let expected, _): "wrong \(entity).\(property): \(expected)"
            case .readOnlyProperty(let entity, let property): "read-only \(entity).\(property)"
            case nil: "none"
            case let other?: "\(other)"
            }
        }
        #expect(failure(cat, "nmae", "x") == "unknown Cat.nmae, nearest name")
        #expect(failure(cat, "", "x") == "unknown Cat.")
        #expect(failure(cat, "name", 5) == "wrong Cat.name: string")
        #expect(failure(cat, "lives", 40_000) == "wrong Cat.lives: integer16")
        #expect(failure(cat, "lives", 1.5) == "wrong Cat.lives: integer16")
        #expect(failure(cat, "lives", UInt64.max) == "wrong Cat.lives: integer16")
        #expect(failure(cat, "lives", "1") == "wrong Cat.lives: integer16")
        #expect(failure(cat, "lives", NSObject()) == "wrong Cat.lives: integer16")
        #expect(failure(cat, "enclosure", cat) == "wrong Cat.enclosure: Enclosure")
        #expect(failure(cat, "enclosure", "x") == "wrong Cat.enclosure: Enclosure")
        #expect(failure(cat, "kittens", [home]) == "wrong Cat.kittens: a set of Cat")
        #expect(failure(cat, "kittens", 5) == "wrong Cat.kittens: a set of Cat")
        #expect(failure(home, "search", "x") == "read-only Enclosure.search")
        #expect(failure(home, "place", 5).hasPrefix("wrong Enclosure.place"))
        #expect(failure(home, "place", ["street": 5] as [String: Any]) == "wrong Enclosure.place.street: string")
        #expect(failure(home, "place", ["town": "x"] as [String: Any]) == "unknown Enclosure.place.town")
        #expect(failure(sample, "flag", "maybe") == "wrong Sample.flag: boolean")
        #expect(failure(sample, "date", 5) == "wrong Sample.date: date")
        #expect(failure(sample, "decimal", Double.infinity) == "wrong Sample.decimal: decimal")
        #expect(failure(sample, "small", Double.nan) == "wrong Sample.small: integer16")
        #expect(!cat.hasChanges && !home.hasChanges, "\(context.updatedObjects)")
        #expect(
            cat.name == "Tom" && cat.enclosure === home && home.animals == [cat]
                && sample.changedValues() == ["label": "s"])
        #expect(persistenceError { try cat.value(forKey: "nmae") } != nil)
        #expect(persistenceError { try cat.objectIDs(forRelationship: "name") } != nil)
        // Numbers of other types that lose nothing are taken.
        #expect(
            failure(cat, "lives", UInt8(3)) == "none" && failure(cat, "weight", 4) == "none"
                && failure(sample, "decimal", 5) == "none")
        #expect(cat.lives == 3 && cat.weight == 4 && sample.decimal == 5)
        #expect(failure(cat, "mood", nil) == "none")
        #expect(failure(cat, "enclosure", nil) == "none" && cat.enclosure == nil)
    }

    @Test("Primary keys that assignObjectID makes ascend, and begin with the time as RFC 9562 has it for version 7")
    func primaryKeysAscend() async throws {
        let file = try ZooFile()
        let start = Date()
        let context = file.container.newContext()
        let ids = try (0..<10_000).map { _ in try Keeper(context, name: "k").assignObjectID() }
        let end = Date()
        for (earlier, later) in zip(ids, ids.dropFirst()) { #expect(earlier < later) }
        let form = /[0-9A-F]{8}-[0-9A-F]{4}-7[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}/
        for id in ids { #expect(id.wholeMatch(of: form) != nil, "\(id)") }
        for id in [ids[0], ids[ids.count - 1]] {
            let digits = id.replacing("-", with: "").prefix(12)
            let time = Double(try #require(Int(digits, radix: 16))) / 1000
            #expect(time > start.timeIntervalSince1970 - 1 && time < end.timeIntervalSince1970 + 1, "\(id)")
        }
        // Knowing one does not reveal the next.
        #expect(Set(ids.map { $0.suffix(12) }).count == ids.count)
        let groups = try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let context = file.container.newContext()
                    return try (0..<2000).map { _ in try Keeper(context, name: "k").assignObjectID() }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(groups.joined()).count == 8000)
        for ids in groups { #expect(ids == ids.sorted()) }
    }

    @Test("Primary keys ascend when the clock is set back, and when there are more in a millisecond than are counted")
    func primaryKeysAscendWithoutTheClock() {
        var last = TimeOrderedUUID.next()
        for _ in 0..<10_000 {
            let id = TimeOrderedUUID.next(at: Date(timeIntervalSince1970: 1))
            #expect(last.uuidString < id.uuidString)
            last = id
        }
    }

    @Test("assignObjectID fills the primary key once, and says so where there is none")
    func primaryKeys() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let keeper = Keeper(context, name: "k")
        let value = try keeper.assignObjectID()
        #expect(UUID(uuidString: value) != nil && keeper.keeperId == value)
        #expect(try keeper.assignObjectID() == value)
        let named = Keeper(context, name: "l")
        named.keeperId = "own"
        #expect(try named.assignObjectID() == "own")
        guard case .noPrimaryKey("Sample")? = persistenceError({ try Sample(context, "s").assignObjectID() }) else {
            Issue.record("an entity without a primary key got one")
            return
        }
        try context.save()
        #expect(
            try file.container.newContext().count(
                FetchRequest<Keeper>(where: AttributeKey<String?>(["keeperId"]) == value)) == 1)
    }

    @Test("IDs and faults of relationships can be asked for without loading the objects")
    func relationshipsByName() throws {
        let file = try ZooFile()
        let seed = file.container.newContext()
        let home = Enclosure(seed, code: "AA-1")
        let cat = Cat(seed, name: "Tom", enclosure: home)
        try seed.save()
        let context = file.container.newContext()
        let same = try context.existingObject(Enclosure.self, with: home.objectID)
        #expect(same.hasFault(forRelationship: "animals"))
        #expect(try same.objectIDs(forRelationship: "animals") == [cat.objectID])
        #expect(!same.hasFault(forRelationship: "animals"))
        let other = file.container.newContext()
        let sameCat = try other.existingObject(Cat.self, with: cat.objectID)
        #expect(sameCat.hasFault(forRelationship: "enclosure"))
        #expect(try sameCat.objectIDs(forRelationship: "enclosure") == [home.objectID])
        let sameHome = try #require(sameCat.enclosure)
        #expect(sameHome.code == "AA-1" && !sameCat.hasFault(forRelationship: "enclosure"))
    }

    @Test("A frozen copy keeps its moment and goes to other tasks")
    func frozen() async throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let home = Enclosure(context, code: "AA-1")
        let cat = Cat(context, name: "Tom", enclosure: home)
        home.keepers = [Keeper(context, name: "k")]
        try await context.save()
        let copy = cat.frozen()
        let homeCopy = home.frozen()
        cat.name = "Tim"
        cat.enclosure = nil
        context.delete(home)
        let text = await Task.detached {
            "\(copy[AttributeKey<String>(["name"])]) \(copy[AttributeKey<Int16>(["lives"])])"
        }.value
        #expect(text == "Tom 9")
        #expect(
            copy.target("enclosure") == home.objectID && copy["name"] == "Tom" && copy["nothing"] == .null
                && copy.version == 1)
        #expect(homeCopy.members("keepers")?.count == 1 && homeCopy.members("animals") == [cat.objectID])
        #expect(copy[AttributeKey<String?>(["mood"])] == nil)
        #expect(cat.frozen()["name"] == "Tim")
    }
}
