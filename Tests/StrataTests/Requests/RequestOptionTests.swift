import Foundation
import Strata
import Testing

/// What a request may say beyond its condition and order.
@Suite struct RequestOptionTests {
    let file: ZooFile

    init() throws {
        file = try ZooFile()
        let context = file.container.newContext()
        let home = Enclosure(context, code: "AA-1")
        home.wardens = [Keeper(context, name: "warden")]
        for index in 0..<10 { _ = Cat(context, name: "cat \(index)", enclosure: home) }
        for index in 0..<10 { _ = Dog(context, name: "dog \(index)") }
        try context.save()
    }

    private var byName: FetchRequest<Animal> { FetchRequest<Animal>(sortedBy: [FetchSort("name")]) }

    @Test("Faults: the keys at once, all rows at the first touch")
    func faults() throws {
        let context = file.container.newContext()
        var request = byName
        request.returnsObjectsAsFaults = true
        let (reads, animals) = try file.statements { try context.fetch(request) }
        #expect(reads.count == 1 && !reads[0].contains("strata_collect"))
        #expect(animals.count == 20 && animals.allSatisfy(\.isFault) && animals[0] is Cat && animals[10] is Dog)
        let (touch, names) = file.statements { animals.map(\.name) }
        #expect(touch.count == 1 && names[10] == "dog 0")
        #expect(try context.fetch(request).allSatisfy { !$0.isFault })
        let child = context.makeChild()
        let inChild = try child.fetch(request)
        #expect(inChild.map(\.objectID) == animals.map(\.objectID) && inChild[3].name == "cat 3")
        animals[0].name = "elephant"
        #expect(try context.fetch(request).last === animals[0])
    }

    private func changeElsewhere(_ change: (ManagedObjectContext) throws -> Void) throws {
        let second = try file.secondContainer()
        defer { second.close() }
        let elsewhere = second.newContext()
        try change(elsewhere)
        try elsewhere.save()
    }

    @Test("Refreshing: unchanged objects take newer rows, changed ones keep their changes on top")
    func refreshing() throws {
        let context = file.container.newContext()
        let animals = try context.fetch(byName)
        let home = try #require(animals[0].enclosure)
        #expect(home.animals.count == 10)
        animals[1].weight = 50
        try changeElsewhere { elsewhere in
            let others = try elsewhere.fetch(byName)
            others[0].weight = 77
            others[1].name = "cat 1b"
            others[1].weight = 60
            others[2].enclosure = nil
        }
        var request = byName
        #expect(try context.fetch(request) == animals && animals[0].weight == 1 && animals[1].name == "cat 1")
        request.refreshesRefetchedObjects = true
        #expect(try context.fetch(request) == animals)
        #expect(animals[0].weight == 77 && !animals[0].hasChanges)
        #expect(animals[1].name == "cat 1b" && animals[1].weight == 50)
        #expect(Set(animals[1].changedValues().keys) == ["weight"])
        #expect(animals[2].enclosure == nil && home.animals.count == 9)
        try context.save()
        #expect(try file.container.newContext().fetch(byName)[1].weight == 50)
    }

    @Test("Refreshing a child takes what the parent has now")
    func refreshingChild() throws {
        let parent = file.container.newContext()
        let mine = try parent.fetch(byName)
        let child = parent.makeChild()
        let theirs = try child.fetch(byName)
        #expect(theirs[0].weight == 1)
        mine[0].weight = 12
        theirs[0].name = "cat 0 of the child"
        var request = byName
        request.refreshesRefetchedObjects = true
        #expect(try child.fetch(request) == theirs)
        #expect(theirs[0].weight == 12 && theirs[0].name == "cat 0 of the child")
    }

    @Test("IDs and counts agree with the objects, whatever the options and the changes")
    func agreement() throws {
        let parent = file.container.newContext()
        let animals = try parent.fetch(byName)
        animals[0].weight = 900
        animals[19].weight = 900
        parent.delete(animals[5])
        _ = Dog(parent, name: "cat 4a")
        let child = parent.makeChild()
        _ = Cat(child, name: "dog 3a")
        child.delete(try #require(try child.fetch(byName).first))
        let heavy = try FetchPredicate(format: "weight < 100")
        for context in [file.container.newContext(), parent, child] {
            for predicate in [nil, heavy] {
                for (limit, offset) in [(nil, 0), (5, 0), (nil, 3), (4, 17), (0, 0), (3, 40)] {
                    for entity in ["Animal", "Cat"] {
                        var request = FetchRequest<Animal>(
                            entity: entity, where: predicate, sortedBy: [FetchSort("name", ascending: false)],
                            limit: limit, offset: offset)
                        for (subentities, pending) in [(true, true), (false, true), (true, false)] {
                            request.includesSubentities = subentities
                            request.includesPendingChanges = pending
                            let ids = try context.fetch(request).map(\.objectID)
                            #expect(try context.count(request) == ids.count)
                            #expect(try context.fetchIDs(request) == ids)
                            #expect(try context.fetchLazily(request, batchSize: 3).map(\.objectID) == ids)
                            request.returnsObjectsAsFaults = true
                            #expect(try context.fetch(request).map(\.objectID) == ids)
                            request.returnsObjectsAsFaults = false
                        }
                    }
                }
            }
        }
    }

    @Test("IDs of a hierarchy tell the entity and read no rows")
    func identities() throws {
        let context = file.container.newContext()
        let (reads, ids) = try file.statements { try context.fetchIDs(byName) }
        #expect(reads.count == 1 && !reads[0].contains("strata_collect"))
        #expect(ids[0].entity.name == "Cat" && ids[19].entity.name == "Dog")
        #expect(context.registeredObjects.isEmpty)
    }

    @Test("Without pending changes the store's state counts, deleted objects included")
    func withoutPendingChanges() throws {
        let context = file.container.newContext()
        let animals = try context.fetch(byName)
        context.delete(animals[3])
        _ = Cat(context, name: "new")
        var request = byName
        request.includesPendingChanges = false
        #expect(try context.fetch(request) == animals)
        #expect(try context.count(request) == 20)
    }
}
