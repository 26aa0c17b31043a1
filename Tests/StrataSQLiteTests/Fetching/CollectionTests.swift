import Foundation
import StrataSQLite
import StrataStore
import Testing

/// Relationships to many, functions and indexed text in conditions.
@Suite struct CollectionTests {
    let store: SQLiteStore

    init() throws {
        store = try SQLiteStore.open(model: try TestModel.make(), location: .memory(name: nil))
        try store.insert(
            ("Person", 1, ["name": "Ada", "age": 36, "boss": .object(2)]), ("Person", 2, ["name": "Bo", "age": 7]),
            ("Person", 3, ["age": 9]), ("Group", 1, ["name": "red apples"]), ("Group", 2, ["name": "Äpfel"]),
            ("Thing", 1, ["title": "a", "large": 1, "owner": .object(1), "order": .object(2)]),
            ("Gadget", 2, ["title": "b", "large": .integer(.max), "owner": .object(1), "order": .object(2)]),
            ("Thing", 3, ["large": 5, "owner": .object(2), "order": .object(2)]))
        var changes = ChangeSet()
        let group = try store.entity("Group").index
        let members = try store.relationship("Group", "members").index
        changes.pairs = [
            .init(entityIndex: group, relationshipIndex: members, owner: 1, added: [1, 2], removed: []),
            .init(entityIndex: group, relationshipIndex: members, owner: 2, added: [2], removed: []),
        ]
        let queue = try store.relationship("Person", "queue").index
        changes.orders = [
            .init(
                entityIndex: try store.entity("Person").index, relationshipIndex: queue, owner: 2,
                kind: .arrange([3, 1, 2]))
        ]
        guard case .committed = try store.commit(changes) else { throw MissingName(name: "a commit") }
    }

    @Test(
        "Conditions on related objects find the persons that they describe",
        arguments: [
            ("ANY things.title == 'a'", [1]), ("ALL things.title == 'a'", [2, 3]),
            ("NONE things.title == 'a'", [2, 3]),
            ("things.@count == 0", [3]), ("things.@count == 2", [1]), ("boss.things.@count == 1", [1]),
            ("boss.things.@count == nil", [2, 3]), ("things.@sum.large == 9223372036854775807", [1]),
            ("things.@sum.large == 0", [3]), ("things.@max.large == nil", [3]), ("things.@avg.large == 5", [2]),
            ("SUBQUERY(things, $t, $t.title == 'a' AND $t.large == 1).@count == 1", [1]),
            (
                "SUBQUERY(groups, $g, SUBQUERY($g.members, $p, $p.age < $g.members.@count * 5).@count > 0).@count > 0",
                [1, 2]
            ),
            ("SUBQUERY(things, $t, $t.owner == SELF).@count > 0", [1, 2]),
            ("ANY groups.members.name == 'Ada'", [1, 2]),
            ("ANY queue.title == nil", [2]), ("ANY things.title == nil", []), ("queue[FIRST].large == 5", [2]),
            ("queue[LAST].title == 'b'", [2]), ("queue[1] == CAST(1, 'ManagedObject')", [2]),
            ("queue[7] == nil", [1, 2, 3]),
            ("queue[SIZE] == 3", [2]), ("(groups UNION boss.groups).@count == 2", [1]), ("boss IN groups.members", [1]),
            ("groups.members CONTAINS boss", [1]), ("groups.@distinctUnionOfObjects.name.@count == 2", [2]),
            ("SELF IN groups.members", [1, 2]), ("age ** 2 == 81", [3]), ("age / 2 == 3", [2]),
            ("age / 0 == nil", [1, 2, 3]),
            ("modulus:by:(age, 9) == 0", [1, 3]), ("TERNARY(name == nil, 'x', name) == 'x'", [3]),
            ("name LIKE '?d*'", [1]), ("name ==[c] 'ADA'", [1]), ("NOT (name MATCHES '[A-B].*')", [3]),
            ("FUNCTION(name, 'length') == 2", [2]), ("CAST(age, 'NSString') == '36'", [1]),
            ("uppercase(name) BEGINSWITH 'A'", [1]), ("{36, 7} CONTAINS age", [1, 2]), ("ANY {36, 7} == age", [1, 2]),
            ("name IN {'Ada', nil}", [1]), ("NOT (name IN {})", [1, 2, 3]), ("age BETWEEN {7, 9}", [2, 3]),
            ("age BETWEEN {9, 7}", []), ("things.owner.boss == nil", []), ("now() > CAST(0, 'NSDate')", [1, 2, 3]),
        ])
    func persons(_ format: String, _ keys: [Int64]) throws {
        #expect(try store.keys("Person", FetchPredicate(format: format)) == keys)
    }

    @Test func wordsOfAnIndex() throws {
        func groups(_ format: String) throws -> [Int64] { try store.keys("Group", FetchPredicate(format: format)) }
        #expect(try groups("name MATCHESTEXT 'apf*'") == [2])
        #expect(try groups("SELF MATCHESTEXT 'APPLES red'") == [1])
        #expect(try groups("name MATCHESTEXT '\"apples red\"'") == [])
        #expect(try groups("NOT (name MATCHESTEXT '')") == [1, 2])
        #expect(try store.keys("Person", FetchPredicate(format: "ANY groups.name MATCHESTEXT 'apfel'")) == [2])
        #expect(throws: StoreError.self) {
            try store.keys("Person", FetchPredicate(format: "SELF MATCHESTEXT 'x'"))
        }
        // SQL does not know which of two objects it is, so the store leaves the words of either to memory.
        #expect(throws: StoreError.self) {
            try groups("TERNARY(name == 'red', SELF, SELF) MATCHESTEXT 'apples'")
        }
    }

    @Test func canonicalTextIsSearchedByItsIndex() throws {
        var city = Entity(name: "City", location: nil)
        city.attributes = [
            Attribute("name", .string, optional: true),
            Attribute("key", .string, optional: true).derived(.canonical("name")).indexed(),
        ]
        let store = try SQLiteStore.open(
            model: try ManagedObjectModel(name: "Cities", entities: [city]), location: .memory(name: nil))
        for (key, name) in ["Zürich", "ZURICH", "Zug", "Genève"].enumerated() {
            let canonical = TextComparison.fold(name, [.caseInsensitive, .diacriticInsensitive])
            try store.insert(("City", Int64(key + 1), ["name": .string(name), "key": .string(canonical)]))
        }
        for (format, keys) in [
            ("name ==[cd] 'zürich'", [Int64(1), 2]), ("name BEGINSWITH[cd] 'zu'", [1, 2, 3]),
            ("name IN[cd] {'geneve', 'ZUG'}", [3, 4]),
        ] {
            var plan = FetchPlan(entityIndex: 0)
            plan.predicate = try FetchPredicate(format: format)
            #expect(try store.fetchKeys(plan) == keys, "\(format)")
            let steps = try store.explain(plan).steps.joined(separator: "; ")
            #expect(steps.contains("city_by_key") && !steps.contains("SCAN t0"), "\(format): \(steps)")
        }
    }
}
