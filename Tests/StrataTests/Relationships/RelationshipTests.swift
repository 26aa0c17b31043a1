import Foundation
import Strata
import Testing

/// Both sides of relationships, immediately and through faults.
@Suite struct RelationshipTests {
    @Test(
        "Adding members to one owner from two contexts is not a conflict, and not a change of the owner's row"
    )
    func commutativeAdditions() throws {
        let file = try ZooFile()
        let one = file.container.newContext()
        let two = file.container.newContext()
        let home = Enclosure(one, code: "AA-1")
        try one.save()
        let same = try two.existingObject(Enclosure.self, with: home.objectID)
        _ = Cat(one, name: "Tom", enclosure: home)
        home.addKeepers([Keeper(one, name: "Kim")])
        _ = Dog(two, name: "Rex", enclosure: same)
        same.addKeepers([Keeper(two, name: "Lee")])
        try one.save()
        try two.save()
        #expect(home.version == 1 && same.version == 1)
        let reader = file.container.newContext()
        let fresh = try reader.existingObject(Enclosure.self, with: home.objectID)
        #expect(Set(fresh.animals.map(\.name)) == ["Tom", "Rex"])
        #expect(Set(fresh.keepers.map(\.name)) == ["Kim", "Lee"])
        // Yet two moves of the same member are a conflict: nothing is lost in silence.
        let rex = try #require(try one.fetch(FetchRequest<Dog>()).first)
        let sameRex = try #require(try two.fetch(FetchRequest<Dog>()).first)
        rex.enclosure = nil
        sameRex.enclosure = Enclosure(two, code: "BB-2")
        try one.save()
        guard case .conflicts(let conflicts)? = persistenceError({ try two.save() }) else {
            Issue.record("the second move went through")
            return
        }
        #expect(conflicts.first?.properties.map(\.name) == ["enclosure"])
    }

    @Test(
        "Adding to and removing from a to-many that is not loaded loads nothing, and loading it later has both"
    )
    func unloadedToMany() throws {
        let file = try ZooFile()
        let one = file.container.newContext()
        let home = Enclosure(one, code: "AA-1")
        home.addAnimals(["a", "b", "c"].map { Cat(one, name: $0) })
        home.keepers = Set(["k", "l"].map { Keeper(one, name: $0) })
        try one.save()
        let two = file.container.newContext()
        let same = try two.existingObject(Enclosure.self, with: home.objectID)
        let cat = try #require(try two.fetchFirst(FetchRequest<Cat>(where: AttributeKey<String>(["name"]) == "a")))
        let keeper = try #require(
            try two.fetchFirst(FetchRequest<Keeper>(where: AttributeKey<String>(["name"]) == "k")))
        let newCat = Cat(two, name: "d")
        let newKeeper = Keeper(two, name: "m")
        let (reads, _, _) = file.count {
            same.addAnimals([newCat])
            same.removeAnimals([cat])
            same.addKeepers([newKeeper])
            keeper.enclosures.remove(same)
        }
        #expect(reads <= 1, "the keeper's own enclosures are read, the enclosure's members are not")
        #expect(same.hasFault(forRelationship: "animals") && same.hasFault(forRelationship: "keepers"))
        #expect(newCat.enclosure === same && cat.enclosure == nil)
        #expect(newKeeper.enclosures == [same])
        #expect(Set(same.animals.map(\.name)) == ["b", "c", "d"])
        #expect(Set(same.keepers.map(\.name)) == ["l", "m"])
        try two.save()
        let reader = file.container.newContext()
        let fresh = try reader.existingObject(Enclosure.self, with: home.objectID)
        #expect(Set(fresh.animals.map(\.name)) == ["b", "c", "d"])
        #expect(Set(fresh.keepers.map(\.name)) == ["l", "m"])
    }

    @Test("A save before the members were ever loaded keeps the additions, and a rollback drops them")
    func unloadedThenSaved() throws {
        let file = try ZooFile()
        let one = file.container.newContext()
        let home = Enclosure(one, code: "AA-1")
        home.addAnimals([Cat(one, name: "a")])
        try one.save()
        let two = file.container.newContext()
        let same = try two.existingObject(Enclosure.self, with: home.objectID)
        same.addAnimals([Cat(two, name: "b")])
        try two.save()
        #expect(same.animals.count == 2)
        let third = file.container.newContext()
        let again = try third.existingObject(Enclosure.self, with: home.objectID)
        again.addAnimals([Cat(third, name: "c")])
        again.addKeepers([Keeper(third, name: "k")])
        third.rollback()
        #expect(again.animals.count == 2 && again.keepers.isEmpty && !third.hasChanges)
    }

    @Test("Moving between parents takes a member out of the old one, loaded or not")
    func moves() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let a = Enclosure(context, code: "AA-1")
        let b = Enclosure(context, code: "BB-2")
        let cat = Cat(context, name: "Tom", enclosure: a)
        try context.save()
        cat.enclosure = b
        #expect(a.animals.isEmpty && b.animals == [cat])
        #expect(a.isUpdated && b.isUpdated && cat.isUpdated)
        #expect(a.changedPropertyNames == ["animals"] && a.changedValues().isEmpty)
        try context.save()
        #expect(a.version == 1 && b.version == 1 && cat.version == 2)
        a.animals = [cat]
        #expect(cat.enclosure === a && b.animals.isEmpty)
        context.rollback()
        #expect(cat.enclosure === b && b.animals == [cat] && a.animals.isEmpty)
        // Neither side loaded.
        let other = file.container.newContext()
        let sameCat = try other.existingObject(Cat.self, with: cat.objectID)
        let sameA = try other.existingObject(Enclosure.self, with: a.objectID)
        sameCat.enclosure = sameA
        #expect(sameA.animals == [sameCat])
        #expect(try other.existingObject(Enclosure.self, with: b.objectID).animals.isEmpty)
    }

    @Test("Taking a one-to-one partner clears the old one")
    func stealing() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let first = Keeper(context, name: "first")
        let second = Keeper(context, name: "second")
        let diary = Diary(inserting: context)
        diary.keeper = first
        try context.save()
        second.diary = diary
        #expect(first.diary == nil && diary.keeper === second)
        diary.keeper = first
        #expect(second.diary == nil && first.diary === diary)
        second.diary = diary
        try context.save()
        // Through faults: the old partner is not in memory.
        let other = file.container.newContext()
        let sameDiary = try other.existingObject(Diary.self, with: diary.objectID)
        let sameFirst = try other.existingObject(Keeper.self, with: first.objectID)
        sameFirst.diary = sameDiary
        let sameSecond = try other.existingObject(Keeper.self, with: second.objectID)
        #expect(sameSecond.diary == nil && sameDiary.keeper === sameFirst)
        try other.save()
        let fresh = file.container.newContext()
        #expect(try fresh.existingObject(Keeper.self, with: second.objectID).diary == nil)
        #expect(try fresh.existingObject(Keeper.self, with: first.objectID).diary?.objectID == diary.objectID)
    }

    @Test("Swapping one-to-one partners leaves two pairs")
    func swapping() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let keepers = ["a", "b"].map { Keeper(context, name: $0) }
        let diaries = keepers.map { keeper in
            let diary = Diary(inserting: context)
            diary.keeper = keeper
            return diary
        }
        try context.save()
        keepers[0].diary = diaries[1]
        keepers[1].diary = diaries[0]
        #expect(diaries[0].keeper === keepers[1] && diaries[1].keeper === keepers[0])
        try context.save()
        let fresh = file.container.newContext()
        #expect(try fresh.existingObject(Diary.self, with: diaries[0].objectID).keeper.name == "b")
        #expect(try fresh.existingObject(Diary.self, with: diaries[1].objectID).keeper.name == "a")
    }

    @Test("Entities can have relationships to themselves, and objects to themselves")
    func selfReference() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let a = Cat(context, name: "a")
        let b = Cat(context, name: "b")
        let c = Dog(context, name: "c")
        a.friend = b
        #expect(b.friend === a)
        c.friend = b
        #expect(a.friend == nil && b.friend === c && c.friend === b)
        a.friend = a
        #expect(a.friend === a)
        a.mother = a
        #expect(a.kittens == [a])
        let node = Node(context, "n")
        node.parts = [node]
        #expect(node.wholes == [node])
        node.next = node
        #expect(node.previous === node)
        try context.save()
        let fresh = file.container.newContext()
        let same = try fresh.existingObject(Cat.self, with: a.objectID)
        #expect(same.friend === same && same.kittens == [same] && same.mother === same)
        #expect(try fresh.existingObject(Dog.self, with: c.objectID).friend?.name == "b")
        let sameNode = try fresh.existingObject(Node.self, with: node.objectID)
        #expect(sameNode.wholes == [sameNode] && sameNode.parts == [sameNode] && sameNode.previous === sameNode)
        sameNode.parts = []
        #expect(sameNode.wholes.isEmpty)
        a.friend = nil
        #expect(a.friend == nil)
        node.next = nil
        #expect(node.previous == nil)
        same.friend = nil
        fresh.delete(same)
        fresh.delete(sameNode)
        try fresh.save()
        #expect(try fresh.count(FetchRequest<Cat>()) == 1)
        #expect(try fresh.count(FetchRequest<Node>()) == 0)
    }

    @Test("An ordered many-to-many keeps an order on each side, and has an object once")
    func orderedManyToMany() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let tricks = ["sit", "roll", "beg", "jump"].map { Trick(context, title: $0) }
        let rex = Dog(context, name: "Rex")
        let bo = Dog(context, name: "Bo")
        let kim = Dog(context, name: "Kim")
        rex.tricks = [tricks[2], tricks[0], tricks[2], tricks[1]]
        #expect(rex.tricks.map(\.title) == ["beg", "sit", "roll"])
        bo.tricks = [tricks[0], tricks[2]]
        kim.tricks = [tricks[0]]
        tricks[0].dogs = [kim, rex, bo]
        #expect(rex.tricks.map(\.title) == ["beg", "sit", "roll"])
        try context.save()
        func check(_ expected: [String: [String]], _ comment: Comment) throws {
            let fresh = file.container.newContext()
            for dog in try fresh.fetch(FetchRequest<Dog>()) {
                #expect(dog.tricks.map(\.title) == expected[dog.name], comment)
            }
            for trick in try fresh.fetch(FetchRequest<Trick>()) where expected[trick.title] != nil {
                #expect(trick.dogs.map(\.name) == expected[trick.title], comment)
            }
        }
        try check(
            [
                "Rex": ["beg", "sit", "roll"], "Bo": ["sit", "beg"], "Kim": ["sit"], "sit": ["Kim", "Rex", "Bo"],
                "beg": ["Rex", "Bo"], "jump": [],
            ],
            "saved")
        rex._move(from: 2, to: 0, 1)
        rex._insert(tricks[3], at: 1, 1)
        #expect(rex.tricks.map(\.title) == ["roll", "jump", "beg", "sit"])
        #expect(tricks[3].dogs == [rex])
        bo.tricks.removeFirst()
        #expect(tricks[0].dogs.map(\.name) == ["Kim", "Rex"])
        try context.save()
        try check(
            [
                "Rex": ["roll", "jump", "beg", "sit"], "Bo": ["beg"], "Kim": ["sit"], "sit": ["Kim", "Rex"],
                "beg": ["Rex", "Bo"],
                "jump": ["Rex"],
            ], "changed")
        rex.tricks = []
        context.rollback()
        #expect(rex.tricks.map(\.title) == ["roll", "jump", "beg", "sit"])
        #expect(tricks[0].dogs.map(\.name) == ["Kim", "Rex"])
    }

    @Test(
        "What others put after a member that both sides added follows it in the order that was made here",
        arguments: [true, false])
    func arrangedOnBothSides(inChild: Bool) throws {
        let file = try ZooFile()
        let theirs = file.container.newContext()
        let rex = Dog(theirs, name: "Rex")
        let (sit, beg) = (Trick(theirs, title: "sit"), Trick(theirs, title: "beg"))
        rex.tricks = [sit]
        try theirs.save()
        let ours = inChild ? theirs.makeChild() : file.container.newContext()
        let ourRex = try ours.existingObject(Dog.self, with: rex.objectID)
        ourRex.tricks.append(try ours.existingObject(Trick.self, with: beg.objectID))
        rex.tricks.append(beg)
        ourRex.tricks.reverse()
        #expect(ourRex.tricks.map(\.title) == ["beg", "sit"])
        rex.tricks.append(Trick(theirs, title: "roll"))
        #expect(rex.tricks.map(\.title) == ["sit", "beg", "roll"])
        if !inChild { try theirs.save() }
        try ours.refresh(ourRex)
        #expect(ourRex.tricks.map(\.title) == ["beg", "roll", "sit"])
        try ours.save()
        try theirs.refresh(rex)
        #expect(rex.tricks.map(\.title) == ["beg", "roll", "sit"])
    }

    @Test("Two contexts append to one ordered relationship; both appends survive")
    func orderedAppends() throws {
        let file = try ZooFile()
        let one = file.container.newContext()
        let two = file.container.newContext()
        let dog = Dog(one, name: "Rex")
        dog.tricks = [Trick(one, title: "a")]
        try one.save()
        let same = try two.existingObject(Dog.self, with: dog.objectID)
        dog._add([Trick(one, title: "b")], 1)
        same._add([Trick(two, title: "c")], 1)
        try one.save()
        try two.save()
        let reader = file.container.newContext()
        let fresh = try reader.existingObject(Dog.self, with: dog.objectID)
        #expect(fresh.tricks.map(\.title) == ["a", "b", "c"])
    }

    @Test(
        "A required to-one that is set later in the same event does not fail early, and counts are checked only at the save"
    )
    func lateRequirements() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let diary = Diary(inserting: context)
        #expect(diary.keeper.context == nil && diary.keeper.name == "")
        #expect(failures { try context.save() } == ["keeper required"])
        let enclosure = Enclosure(inserting: context)
        enclosure.code = "AA-1"
        diary.keeper = Keeper(context, name: "k")
        #expect(failures { try context.save() } == ["wardens minimumCount"])
        enclosure.wardens = [diary.keeper]
        try context.save()
        // Moving the only warden away makes the enclosure, which nobody touched, invalid.
        let other = file.container.newContext()
        let keeper = try #require(try other.fetch(FetchRequest<Keeper>()).first)
        keeper.watches = nil
        #expect(failures { try other.save() } == ["wardens minimumCount"])
        keeper.watches = try other.fetch(FetchRequest<Enclosure>())[0]
        try other.save()
        let same = try other.fetch(FetchRequest<Enclosure>())[0]
        same.addKeepers((0..<4).map { Keeper(other, name: "\($0)") })
        #expect(failures { try other.save() } == ["keepers maximumCount"])
        same.keepers.removeFirst()
        try other.save()
    }

    @Test("Refreshing one side of a changed relationship without merging leaves both sides agreeing")
    func refreshedSide() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        let a = Enclosure(context, code: "AA-1")
        let b = Enclosure(context, code: "BB-2")
        let cat = Cat(context, name: "Tom", enclosure: a)
        let keeper = Keeper(context, name: "k")
        a.keepers = [keeper]
        try context.save()
        cat.enclosure = b
        b.keepers = [keeper]
        #expect(a.animals.isEmpty && b.animals == [cat])
        try context.refresh(cat, mergingChanges: false)
        #expect(cat.enclosure === a)
        #expect(a.animals == [cat] && b.animals.isEmpty)
        try context.refresh(keeper, mergingChanges: false)
        #expect(keeper.enclosures == [a])
        #expect(a.keepers == [keeper] && b.keepers.isEmpty)
        try context.save()
        let fresh = file.container.newContext()
        #expect(try fresh.existingObject(Enclosure.self, with: a.objectID).animals.count == 1)
        #expect(try fresh.existingObject(Keeper.self, with: keeper.objectID).enclosures.map(\.code) == ["AA-1"])
    }
}
