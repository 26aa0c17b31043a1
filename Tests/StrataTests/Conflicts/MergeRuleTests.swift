import Foundation
import Strata
import Testing

/// Merge policies of single entities, and closures that decide for single properties.
@Suite struct MergeRuleTests {
    let file: ZooFile
    let mine: ManagedObjectContext
    let theirs: ManagedObjectContext

    init() throws {
        file = try ZooFile()
        let setup = file.container.newContext()
        for code in ["AA-1", "AA-2", "AA-3"] { _ = Enclosure(setup, code: code) }
        let home = try #require(try setup.fetch(FetchRequest<Enclosure>(sortedBy: [FetchSort("code")])).first)
        _ = Cat(setup, name: "Tom", enclosure: home)
        _ = Dog(setup, name: "Rex", enclosure: home)
        _ = Keeper(setup, name: "Ann")
        try setup.save()
        mine = file.container.newContext()
        theirs = file.container.newContext()
    }

    private func cat(_ context: ManagedObjectContext) throws -> Cat {
        try #require(try context.fetchFirst(FetchRequest<Cat>()))
    }

    private func dog(_ context: ManagedObjectContext) throws -> Dog {
        try #require(try context.fetchFirst(FetchRequest<Dog>()))
    }

    /// Changes the weight of the cat in both contexts, and saves the other one.
    private func collide(mine memory: Double = 3, theirs store: Double = 4) throws -> Cat {
        let here = try cat(mine)
        let there = try cat(theirs)
        here.weight = memory
        there.weight = store
        try theirs.save()
        return here
    }

    private func stored() throws -> Cat { try cat(file.container.newContext()) }

    private func conflicts<R>(_ body: () throws -> R) -> [MergeConflict]? {
        guard case .conflicts(let conflicts)? = persistenceError(body) else { return nil }
        return conflicts
    }

    @Test("What was changed of an object that others deleted and made again goes on top of the new one")
    func madeAgain() throws {
        try dog(mine).chip = "c"
        try mine.save()
        let here = try dog(mine)
        here.weight = 3
        mine.mergePolicy = .objectWinsByProperty
        theirs.delete(try dog(theirs))
        try theirs.save()
        let again = Dog(theirs, name: "Rex II", enclosure: nil)
        again.chip = "c"
        again.weight = 4
        try theirs.save()
        try mine.save()
        let dogs = try file.container.newContext().fetch(FetchRequest<Dog>())
        #expect(dogs.map(\.name) == ["Rex II"])
        #expect(dogs.map(\.weight) == [3])
    }

    // MARK: Properties

    @Test("A closure adds both changes of a counter up, also where the policy is to throw")
    func sum() throws {
        let here = try collide()
        here.lives = 5
        mine.onPropertyConflict = { conflict in
            #expect(conflict.propertyName == "weight" && conflict.entityName == "Cat")
            #expect(conflict.objectID == here.objectID)
            guard case .double(let read) = conflict.snapshot, case .double(let memory) = conflict.memory,
                case .double(let store) = conflict.store
            else { return .policy }
            return .value(.double(store + memory - read))
        }
        try mine.save()
        #expect(here.weight == 6)
        let saved = try stored()
        #expect(saved.weight == 6 && saved.lives == 5)
        #expect(!mine.hasChanges)
    }

    @Test("The closure decides in an asynchronous save as well")
    func asynchronous() async throws {
        let here = try collide()
        mine.onPropertyConflict = { _ in .memory }
        try await mine.save()
        #expect(here.weight == 3)
        #expect(try stored().weight == 3)
    }

    @Test("A closure may take the value of either side, and leave others to the policy")
    func sides() throws {
        let here = try collide()
        mine.onPropertyConflict = { _ in .store }
        mine.mergePolicy = .objectWinsByProperty
        try mine.save()
        #expect(here.weight == 4)
        here.weight = 7
        try cat(theirs).weight = 8
        try theirs.save()
        mine.onPropertyConflict = { _ in .policy }
        try mine.save()
        #expect(try stored().weight == 7)
    }

    @Test("Where the closure leaves a property to the policy error, the save throws and changes nothing")
    func refused() throws {
        let here = try collide()
        mine.onPropertyConflict = { _ in .policy }
        let found = try #require(conflicts { try mine.save() })
        #expect(found.map(\.objectID) == [here.objectID])
        #expect(found[0].properties.map(\.name) == ["weight"])
        #expect(here.weight == 3 && mine.hasChanges)
        mine.onPropertyConflict = { _ in .memory }
        try mine.save()
        #expect(try stored().weight == 3)
    }

    @Test("A relationship that both sides changed leads where the closure says, and both ends agree")
    func relationship() throws {
        let homes = try mine.fetch(FetchRequest<Enclosure>(sortedBy: [FetchSort("code")]))
        let here = try cat(mine)
        here.enclosure = homes[1]
        let there = try cat(theirs)
        there.enclosure = try theirs.fetch(FetchRequest<Enclosure>(sortedBy: [FetchSort("code")]))[2]
        try theirs.save()
        var seen: [Value] = []
        mine.onPropertyConflict = { conflict in
            seen = [conflict.snapshot, conflict.memory, conflict.store]
            return .store
        }
        try mine.save()
        #expect(seen == homes.map { .object($0.objectID.key) })
        #expect(here.enclosure === homes[2])
        #expect(homes[2].animals.contains(here) && !homes[1].animals.contains(here))
    }

    @Test("A value of another type, and one for a relationship, are errors, and nothing is saved")
    func wrongValues() throws {
        let here = try collide()
        mine.onPropertyConflict = { _ in .value(.string("heavy")) }
        guard case .wrongType(let entity, let property, _, _)? = persistenceError({ try mine.save() }) else {
            Issue.record("no error about the type")
            return
        }
        #expect(entity == "Cat" && property == "weight")
        #expect(here.weight == 3 && mine.hasChanges)
        #expect(try stored().weight == 4)
        here.weight = 1
        here.enclosure = nil
        let there = try cat(theirs)
        there.enclosure = try theirs.fetch(FetchRequest<Enclosure>(sortedBy: [FetchSort("code")]))[2]
        try theirs.save()
        mine.onPropertyConflict = { _ in .value(.null) }
        guard case .wrongType(_, "enclosure", _, _)? = persistenceError({ try mine.save() }) else {
            Issue.record("no error about the relationship")
            return
        }
    }

    @Test("A value that the model's rules forbid fails the save")
    func invalidValue() throws {
        let here = try collide()
        mine.onPropertyConflict = { _ in .value(.double(5000)) }
        #expect(failures { try mine.save() } == ["weight maximum"])
        #expect(here.weight == 3)
        #expect(try stored().weight == 4)
    }

    @Test(
        "The closure does not hear of properties that one side changed, nor under policies that look at whole objects")
    func unasked() throws {
        var asked = 0
        mine.onPropertyConflict = { _ in
            asked += 1
            return .policy
        }
        let here = try cat(mine)
        here.lives = 3
        try cat(theirs).weight = 4
        try theirs.save()
        try mine.save()
        #expect(here.weight == 4 && here.lives == 3)
        for policy in [MergePolicy.overwrite, .rollback] {
            mine.mergePolicy = policy
            _ = try collide(mine: here.weight + 1, theirs: here.weight + 2)
            try mine.save()
        }
        #expect(asked == 0)
    }

    @Test("Both sides may have come to the same value: there is nothing to decide")
    func sameValue() throws {
        let here = try collide(mine: 4, theirs: 4)
        mine.onPropertyConflict = { _ in
            Issue.record("asked")
            return .policy
        }
        try mine.save()
        #expect(here.weight == 4)
    }

    @Test("Deletes stay a matter of the policy")
    func deletes() throws {
        let here = try cat(mine)
        here.weight = 2
        theirs.delete(try cat(theirs))
        try theirs.save()
        mine.onPropertyConflict = { _ in .memory }
        let found = try #require(conflicts { try mine.save() })
        guard case .deletedInStore = found[0].reason else {
            Issue.record("\(found)")
            return
        }
        mine.mergePolicy = .objectWinsByProperty
        try mine.save()
        #expect(try stored().weight == 2)
    }

    // MARK: Entities

    @Test("An entity has its own policy, and others keep that of the context")
    func entities() throws {
        try mine.setMergePolicy(.objectWinsByProperty, for: Cat.self)
        let tom = try collide()
        try mine.save()
        #expect(try stored().weight == 3)
        tom.weight = 5
        let rex = try dog(mine)
        rex.weight = 5
        try cat(theirs).weight = 6
        try dog(theirs).weight = 6
        theirs.mergePolicy = .overwrite
        try theirs.save()
        let found = try #require(conflicts { try mine.save() })
        #expect(found.map(\.objectID) == [rex.objectID])
        #expect(tom.weight == 5 && rex.weight == 5)
        try mine.setMergePolicy(.storeWinsByProperty, for: Dog.self)
        try mine.save()
        #expect(tom.weight == 5 && rex.weight == 6)
    }

    @Test("A policy holds for the entities that inherit, until they have their own, in any order of setting")
    func inheritance() throws {
        try mine.setMergePolicy(.storeWinsByProperty, for: Cat.self)
        try mine.setMergePolicy(.objectWinsByProperty, for: Animal.self)
        _ = try collide()
        let rex = try dog(mine)
        rex.weight = 5
        try dog(theirs).weight = 6
        try theirs.save()
        try mine.save()
        #expect(try stored().weight == 4)
        #expect(rex.weight == 5)
        try mine.setMergePolicy(nil, for: Cat.self)
        _ = try collide(mine: 10, theirs: 11)
        try mine.save()
        #expect(try stored().weight == 10)
    }

    @Test("Unique constraints follow the policy of the entity, too")
    func uniqueKeys() throws {
        let byName = FetchRequest<Keeper>(where: try FetchPredicate(format: "name BEGINSWITH %@", "Ann"))
        let ann = try #require(try theirs.fetchFirst(byName))
        ann.keeperId = "ann"
        try dog(theirs).chip = "1"
        try theirs.save()
        try mine.setMergePolicy(.objectWinsByProperty, for: Keeper.self)
        let another = Keeper(mine, name: "Anna")
        another.keeperId = "ann"
        try mine.save()
        let names = try file.container.newContext().fetch(byName).map(\.name)
        #expect(names == ["Anna"])
        Dog(mine, name: "Bob").chip = "1"
        #expect(conflicts { try mine.save() }?.count == 1)
    }

    @Test("A child context starts with the rules of its parent, and an entity of another model is refused")
    func others() throws {
        try mine.setMergePolicy(.overwrite, for: Cat.self)
        mine.onPropertyConflict = { _ in .store }
        let child = mine.makeChild()
        #expect(child.onPropertyConflict != nil)
        guard case .unknownEntity? = persistenceError({ try mine.setMergePolicy(.overwrite, for: Author.self) }) else {
            Issue.record("no error")
            return
        }
    }
}
