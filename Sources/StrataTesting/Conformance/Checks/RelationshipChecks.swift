import Foundation
import Strata

extension ConformanceCheck {
    static let toOne: [ConformanceCheck] = [
        ConformanceCheck(.toOne, "a reference leads where it led") { trial in
            let ann = try trial.insert("Person", ["name": "Ann"])
            try trial.insert("Item", ["name": "x", "owner": ann])
            try trial.context.save()
            let item = try first(trial, "Item")
            try trial.expectEqual((item["owner"] as? ManagedObject)?["name"] as? String, "Ann", "the name of x's owner")
        },
        ConformanceCheck(.toOne, "a reference to an object of the same save") { trial in
            let a = try trial.insert("Person", ["name": "a"])
            let b = try trial.insert("Person", ["name": "b", "partner": a])
            try trial.context.save()
            let fresh = trial.keep(trial.container.newContext())
            let found = try fresh.existingObject(with: a.objectID)
            try trial.expectEqual(
                (found["partner"] as? ManagedObject)?.objectID, b.objectID,
                "the partner of a, at the other end of one-to-one")
        },
        ConformanceCheck(.toOne, "a reference can change and become nil") { trial in
            let ann = try trial.insert("Person", ["name": "Ann"])
            let bob = try trial.insert("Person", ["name": "Bob"])
            let item = try trial.insert("Item", ["name": "x", "owner": ann])
            try trial.context.save()
            try item.setValue(bob, forKey: "owner")
            try trial.context.save()
            try trial.expectEqual(try trial.names("Item", "owner.name == 'Bob'"), ["x"], "items of the new owner")
            try trial.expectEqual(try trial.names("Item", "owner.name == 'Ann'"), [], "items of the old owner")
            try item.setValue(nil, forKey: "owner")
            try trial.context.save()
            try trial.expectEqual(try trial.names("Item", "owner == nil"), ["x"], "items without an owner")
        },
        ConformanceCheck(.toOne, "references of deleted objects become nil") { trial in
            let ann = try trial.insert("Person", ["name": "Ann"])
            try trial.insert("Item", ["name": "x", "owner": ann])
            try trial.context.save()
            let other = trial.keep(trial.container.newContext())
            other.delete(try other.existingObject(with: ann.objectID))
            try other.save()
            let item = try first(trial, "Item")
            try trial.expect(item["owner"] == nil, "x still refers to its owner, which was deleted")
            try trial.expectEqual(
                try trial.names("Item", "owner == nil"), ["x"], "items without an owner, after a delete")
        },
        ConformanceCheck(.toOne, "a condition on what a reference leads to") { trial in
            let ann = try trial.insert("Person", ["name": "Ann", "age": Int64(30)])
            try trial.insert("Item", ["name": "x", "owner": ann])
            try trial.insert("Item", ["name": "y"])
            try trial.context.save()
            try trial.expectEqual(try trial.names("Item", "owner.age > 20"), ["x"], "items with owner.age > 20")
            try trial.expectEqual(
                try trial.names("Item", "owner == %@", [.object(ann.objectID.key)]), ["x"], "items with owner == Ann")
        },
    ]

    static let toMany: [ConformanceCheck] = [
        ConformanceCheck(.toMany, "members of several owners, each its own") { trial in
            try owners(trial, count: 20, each: 3)
            let fresh = trial.keep(trial.container.newContext())
            for person in try trial.fetch("Person", in: fresh) {
                let name = person["name"] as? String ?? ""
                let found = Set((person["items"] as? Set<ManagedObject> ?? []).map { $0["name"] as? String ?? "" })
                try trial.expectEqual(
                    found, Set((0..<3).map { "\(name).\($0)" }),
                    "the members of \(name): memberRows must give the rows of all owners, and of no others")
            }
        },
        ConformanceCheck(.toMany, "pairs of owner and member") { trial in
            try owners(trial, count: 5, each: 2)
            guard let person = trial.model.entity(named: "Person"),
                let relationship = person.relationship(named: "items")
            else { return }
            let persons = try trial.fetch("Person")
            let keys = persons.prefix(2).map(\.objectID.key)
            let pairs = try trial.store.memberKeys(
                entityIndex: person.index, relationshipIndex: relationship.index, owners: keys)
            let wanted = Set(
                persons.prefix(2).flatMap { person in
                    (person["items"] as? Set<ManagedObject> ?? []).map { "\(person.objectID.key) \($0.objectID.key)" }
                })
            try trial.expectEqual(
                Set(pairs.map { "\($0.owner) \($0.member)" }), wanted, "memberKeys of two owners of five")
            try trial.expectEqual(pairs.count, wanted.count, "how many pairs memberKeys gave for two owners of five")
        },
        ConformanceCheck(.toMany, "rows of members, only of the requested owners") { trial in
            try owners(trial, count: 5, each: 2)
            guard let person = trial.model.entity(named: "Person"),
                let relationship = person.relationship(named: "items")
            else { return }
            let persons = try trial.fetch("Person")
            let asked = persons.prefix(2)
            let rows = try trial.store.memberRows(
                entityIndex: person.index, relationshipIndex: relationship.index, owners: asked.map(\.objectID.key))
            let wanted = asked.flatMap { ($0["items"] as? Set<ManagedObject> ?? []).map(\.objectID.key) }
            try trial.expectEqual(
                rows.rows.map(\.key).sorted(), wanted.sorted(), "memberRows of two owners of five")
        },
        ConformanceCheck(.toMany, "a member that moves to another owner") { trial in
            try owners(trial, count: 2, each: 1)
            let persons = try trial.fetch("Person", sort: [FetchSort("name")])
            guard let item = (persons[0]["items"] as? Set<ManagedObject>)?.first else {
                throw ConformanceFailure(message: "the first person has no items")
            }
            try item.setValue(persons[1], forKey: "owner")
            try trial.context.save()
            let found = try trial.fetch(
                "Person", sort: [FetchSort("name")], in: trial.keep(trial.container.newContext()))
            try trial.expectEqual(
                found.map { ($0["items"] as? Set<ManagedObject>)?.count ?? -1 }, [0, 2],
                "how many items each has after the move")
        },
        ConformanceCheck(.toMany, "quantifiers, also over nothing") { trial in
            try owners(trial, count: 2, each: 2)
            try trial.insert("Person", ["name": "alone"])
            try trial.context.save()
            try trial.expectEqual(
                try trial.names("Person", "ANY items.name == 'p0.1'"), ["p0"], "ANY items.name == 'p0.1'")
            try trial.expectEqual(
                try trial.names("Person", "ALL items.name BEGINSWITH 'p1'").sorted(), ["alone", "p1"],
                "ALL items.name BEGINSWITH 'p1', which holds for no items")
            try trial.expectEqual(
                try trial.names("Person", "NONE items.name == 'p0.1'").sorted(), ["alone", "p1"],
                "NONE items.name == 'p0.1'")
            try trial.expectEqual(try trial.names("Person", "items.@count == 0"), ["alone"], "items.@count == 0")
            try trial.expectEqual(
                try trial.names("Person", "SUBQUERY(items, $i, $i.name ENDSWITH '.0').@count == 1").sorted(),
                ["p0", "p1"],
                "persons with one item of a subquery")
        },
    ]

    static let manyToMany: [ConformanceCheck] = [
        ConformanceCheck(.manyToMany, "pairs are kept from both ends", needs: [.manyToMany]) { trial in
            try tagged(trial)
            let fresh = trial.keep(trial.container.newContext())
            let found = try trial.fetch("Tag", "name == 'red'", in: fresh)
            try trial.expectEqual(
                Set((found.first?["items"] as? Set<ManagedObject> ?? []).map { $0["name"] as? String ?? "" }),
                ["x", "y"],
                "the items of red, seen from the tag")
            try trial.expectEqual(try trial.names("Item", "ANY tags.name == 'blue'"), ["y"], "items with a blue tag")
        },
        ConformanceCheck(.manyToMany, "pairs can be removed", needs: [.manyToMany]) { trial in
            let (items, tags) = try tagged(trial)
            try items[1].setValue(Set([tags[1]]), forKey: "tags")
            try trial.context.save()
            try trial.expectEqual(
                try trial.names("Item", "ANY tags.name == 'red'"), ["x"], "items with a red tag, after y lost it")
            try trial.expectEqual(
                try trial.names("Item", "ANY tags.name == 'blue'"), ["y"], "items with a blue tag, after y lost red")
        },
        ConformanceCheck(.manyToMany, "two contexts add without a conflict", needs: [.manyToMany]) { trial in
            let (items, tags) = try tagged(trial)
            let contexts = [trial.keep(trial.container.newContext()), trial.keep(trial.container.newContext())]
            for (context, tag) in zip(contexts, [tags[1], try trial.insert("Tag", ["name": "green"])]) {
                context.mergePolicy = .error
                if tag.isInserted { try trial.context.save() }
                let item = try context.existingObject(with: items[0].objectID)
                var set = item["tags"] as? Set<ManagedObject> ?? []
                set.insert(try context.existingObject(with: tag.objectID))
                try item.setValue(set, forKey: "tags")
            }
            for context in contexts {
                do { try context.save() } catch {
                    throw ConformanceFailure(
                        message:
                            "two contexts added different members to one relationship, and a save failed: \(error); additions of pairs never conflict"
                    )
                }
            }
            let found = try trial.keep(trial.container.newContext()).existingObject(with: items[0].objectID)
            try trial.expectEqual(
                (found["tags"] as? Set<ManagedObject>)?.count, 3, "how many tags x has after both saves")
        },
        ConformanceCheck(.manyToMany, "pairs of a deleted object are deleted", needs: [.manyToMany]) { trial in
            let (items, tags) = try tagged(trial)
            trial.context.delete(tags[0])
            try trial.context.save()
            let found = try trial.keep(trial.container.newContext()).existingObject(with: items[0].objectID)
            try trial.expectEqual(
                (found["tags"] as? Set<ManagedObject>)?.count, 0, "how many tags x has after red was deleted")
        },
    ]

    static let ordered: [ConformanceCheck] = [
        ConformanceCheck(.ordered, "members come in their order", needs: [.orderedRelationships]) { trial in
            let id = try stepped(trial).objectID
            try trial.expectEqual(
                try steps(trial, id), ["c", "a", "b"], "the steps in the order in which they were put")
        },
        ConformanceCheck(.ordered, "members can be rearranged", needs: [.orderedRelationships]) { trial in
            let item = try stepped(trial)
            let now = item["steps"] as? [ManagedObject] ?? []
            try item.setValue(Array(now.reversed()), forKey: "steps")
            try trial.context.save()
            try trial.expectEqual(
                try steps(trial, item.objectID), ["b", "a", "c"], "the steps after they were turned round")
        },
        ConformanceCheck(.ordered, "a new member comes last", needs: [.orderedRelationships]) { trial in
            let item = try stepped(trial)
            try trial.insert("Step", ["name": "d", "item": item])
            try trial.context.save()
            try trial.expectEqual(try steps(trial, item.objectID), ["c", "a", "b", "d"], "the steps after d was added")
        },
        ConformanceCheck(.ordered, "a member that goes leaves the others in order", needs: [.orderedRelationships]) {
            trial in
            let item = try stepped(trial)
            trial.context.delete((item["steps"] as? [ManagedObject] ?? [])[1])
            try trial.context.save()
            try trial.expectEqual(
                try steps(trial, item.objectID), ["c", "b"], "the steps after the second was deleted")
        },
    ]

    static let inheritance: [ConformanceCheck] = [
        ConformanceCheck(.inheritance, "a fetch finds those that inherit, or not", needs: [.inheritance]) { trial in
            try people(trial)
            try trial.expectEqual(
                try trial.names("Person").sorted(), ["e", "m", "p"], "persons with those that inherit")
            try trial.expectEqual(
                try trial.names("Employee").sorted(), ["e", "m"], "employees with those that inherit")
            var request = try trial.request("Person")
            request.includesSubentities = false
            let context = trial.keep(trial.container.newContext())
            try trial.expectEqual(
                try context.fetch(request).map { $0["name"] as? String ?? "" }, ["p"],
                "persons without those that inherit")
            try trial.expectEqual(try context.count(request), 1, "the count of persons without those that inherit")
        },
        ConformanceCheck(.inheritance, "each object is of its own entity", needs: [.inheritance]) { trial in
            try people(trial)
            let found = try trial.fetch(
                "Person", sort: [FetchSort("name")], in: trial.keep(trial.container.newContext()))
            try trial.expectEqual(
                found.map(\.entity.name), ["Employee", "Manager", "Person"], "the entities of e, m and p")
            try trial.expectEqual(found[1]["salary"] as? Int64, 200, "the salary of m")
            try trial.expectEqual(found[1]["title"] as? String, "boss", "the title of m")
        },
        ConformanceCheck(.inheritance, "a reference to one that inherits", needs: [.inheritance]) { trial in
            let manager = try trial.insert("Manager", ["name": "m", "title": "boss"])
            try trial.insert("Item", ["name": "x", "owner": manager])
            try trial.context.save()
            let item = try first(trial, "Item")
            try trial.expectEqual((item["owner"] as? ManagedObject)?.entity.name, "Manager", "the entity of x's owner")
        },
    ]

    static let geo: [ConformanceCheck] = [
        ConformanceCheck(.geo, "within a distance", needs: [.geoPoints]) { trial in
            try places(trial)
            try trial.expectEqual(
                try trial.names("Item", "withinKilometers(place, {-12.05, -77.04}, 600)").sorted(), ["Cusco", "Lima"],
                "places within 600 km of Lima")
        },
        ConformanceCheck(.geo, "within a box, also across the 180° meridian", needs: [.geoPoints]) { trial in
            try places(trial)
            try trial.insert("Item", ["name": "Suva", "place": GeoPoint(latitude: -18.14, longitude: 178.44)])
            try trial.context.save()
            try trial.expectEqual(
                try trial.names("Item", "withinBox(place, {-20, 170}, {-10, -70})").sorted(),
                ["Cusco", "Lima", "Suva"],
                "places in a box from 170° east to 70° west")
        },
        ConformanceCheck(.geo, "the nearest first", needs: [.geoPoints]) { trial in
            try places(trial)
            try trial.expectEqual(
                try trial.names("Item", "near(place, {-13, -72})"), ["Cusco", "Lima", "Oslo"],
                "places by distance from Cusco")
        },
    ]

    // MARK: Data

    private static func first(_ trial: ConformanceTrial, _ entity: String) throws -> ManagedObject {
        guard let object = try trial.fetch(entity, in: trial.keep(trial.container.newContext())).first else {
            throw ConformanceFailure(message: "nothing of \(entity) is found after one was saved")
        }
        return object
    }

    private static func owners(_ trial: ConformanceTrial, count: Int, each: Int) throws {
        for number in 0..<count {
            let person = try trial.insert("Person", ["name": "p\(number)"])
            for item in 0..<each { try trial.insert("Item", ["name": "p\(number).\(item)", "owner": person]) }
        }
        try trial.context.save()
    }

    @discardableResult
    private static func tagged(_ trial: ConformanceTrial) throws -> ([ManagedObject], [ManagedObject]) {
        let tags = [try trial.insert("Tag", ["name": "red"]), try trial.insert("Tag", ["name": "blue"])]
        let items = [
            try trial.insert("Item", ["name": "x", "tags": Set([tags[0]])]),
            try trial.insert("Item", ["name": "y", "tags": Set(tags)]),
        ]
        try trial.context.save()
        return (items, tags)
    }

    private static func stepped(_ trial: ConformanceTrial) throws -> ManagedObject {
        let steps = try ["c", "a", "b"].map { try trial.insert("Step", ["name": $0]) }
        let item = try trial.insert("Item", ["name": "x", "steps": steps])
        try trial.context.save()
        return item
    }

    private static func steps(_ trial: ConformanceTrial, _ id: ObjectID) throws -> [String] {
        let item = try trial.keep(trial.container.newContext()).existingObject(with: id)
        return (item["steps"] as? [ManagedObject] ?? []).map { $0["name"] as? String ?? "" }
    }

    private static func people(_ trial: ConformanceTrial) throws {
        try trial.insert("Person", ["name": "p"])
        try trial.insert("Employee", ["name": "e", "salary": Int64(100)])
        try trial.insert("Manager", ["name": "m", "salary": Int64(200), "title": "boss"])
        try trial.context.save()
    }

    private static func places(_ trial: ConformanceTrial) throws {
        for (name, latitude, longitude) in [
            ("Lima", -12.05, -77.04), ("Cusco", -13.53, -71.97), ("Oslo", 59.91, 10.75),
        ] {
            try trial.insert("Item", ["name": name, "place": GeoPoint(latitude: latitude, longitude: longitude)])
        }
        try trial.context.save()
    }
}
