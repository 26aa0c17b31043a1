import Foundation
import Strata
import Testing

/// Contexts on contexts.
@Suite struct ChildContextTests {
    @Test("A child sees unsaved changes, inserts and deletes of its parents, to any depth")
    func visibility() throws {
        let file = try ZooFile()
        let root = file.container.newContext()
        let home = Enclosure(root, code: "AA-1")
        let tom = Cat(root, name: "Tom", enclosure: home)
        let gone = Cat(root, name: "Gone", enclosure: home)
        try root.save()
        tom.name = "Tim"
        root.delete(gone)
        _ = Cat(root, name: "New", enclosure: home)
        let middle = root.makeChild()
        _ = Cat(middle, name: "Middle", enclosure: try middle.existingObject(Enclosure.self, with: home.objectID))
        let leaf = middle.makeChild()
        let name = AttributeKey<String>(["name"])
        let found = try leaf.fetch(FetchRequest<Cat>(sortedBy: [name.ascending]))
        #expect(found.map(\.name) == ["Middle", "New", "Tim"])
        #expect(try leaf.count(FetchRequest<Cat>(where: name == "Tom")) == 0)
        #expect(
            try leaf.fetch(FetchRequest<Cat>(where: name > "N", sortedBy: [name.descending], limit: 1)).map(\.name) == [
                "Tim"
            ])
        let sameHome = try leaf.existingObject(Enclosure.self, with: home.objectID)
        #expect(Set(sameHome.animals.map(\.name)) == ["Middle", "New", "Tim"])
        guard case .objectNotFound? = persistenceError({ try leaf.existingObject(with: gone.objectID) }) else {
            Issue.record("a deleted object was found")
            return
        }
        #expect(!leaf.hasChanges)
    }

    @Test("A child's save goes one level up: inserts, changes, deletes, pairs and order")
    func oneLevelUp() throws {
        let file = try ZooFile()
        let root = file.container.newContext()
        let rex = Dog(root, name: "Rex")
        let sit = Trick(root, title: "sit")
        let beg = Trick(root, title: "beg")
        let home = Enclosure(root, code: "AA-1")
        rex.tricks = [sit, beg]
        let cat = Cat(root, name: "Tom", enclosure: home)
        try root.save()
        let child = root.makeChild()
        let innerRex = try child.existingObject(Dog.self, with: rex.objectID)
        let innerHome = try child.existingObject(Enclosure.self, with: home.objectID)
        innerRex.name = "Max"
        innerRex.tricks.reverse()
        let roll = Trick(child, title: "roll")
        innerRex._insert(roll, at: 1, 1)
        child.delete(try child.existingObject(with: cat.objectID))
        innerRex.enclosure = innerHome
        innerHome.addKeepers([Keeper(child, name: "k")])
        #expect(rex.name == "Rex" && rex.tricks == [sit, beg] && home.animals == [cat])
        try child.save()
        #expect(!child.hasChanges && root.hasChanges)
        #expect(rex.name == "Max" && rex.tricks.map(\.title) == ["beg", "roll", "sit"])
        #expect(cat.isDeleted && home.animals == [rex] && home.keepers.map(\.name) == ["k"])
        #expect(try file.container.newContext().existingObject(Dog.self, with: rex.objectID).name == "Rex")
        try root.save()
        let reader = file.container.newContext()
        let fresh = try reader.existingObject(Dog.self, with: rex.objectID)
        #expect(fresh.name == "Max" && fresh.tricks.map(\.title) == ["beg", "roll", "sit"])
        #expect(fresh.enclosure?.animals.count == 1 && fresh.enclosure?.keepers.count == 1)
        // The child goes on with what it saved.
        innerRex.name = "Moritz"
        try child.save()
        try root.save()
        #expect(rex.name == "Moritz" && rex.version == 3)
    }

    @Test("When the parent's save fails later, the child's changes wait in the parent")
    func laterFailure() throws {
        let file = try ZooFile()
        let root = file.container.newContext()
        let cat = Cat(root, name: "Tom")
        try root.save()
        let child = root.makeChild()
        let inner = try child.existingObject(Cat.self, with: cat.objectID)
        inner.weight = 5
        _ = Cat(child, name: "New")
        try child.save()
        cat.name = ""
        #expect(failures { try root.save() } == ["name minimumLength"])
        #expect(cat.weight == 5 && root.insertedObjects.count == 1)
        cat.name = "Tom"
        try root.save()
        #expect(
            try file.container.newContext().count(FetchRequest<Cat>(where: AttributeKey<Double>(["weight"]) == 5))
                == 1)
    }

    @Test("A child's save that fails validation leaves parent and child as they were")
    func childFailure() throws {
        let file = try ZooFile()
        let root = file.container.newContext()
        let cat = Cat(root, name: "Tom")
        try root.save()
        let child = root.makeChild()
        let inner = try child.existingObject(Cat.self, with: cat.objectID)
        inner.name = ""
        #expect(failures { try child.save() } == ["name minimumLength"])
        #expect(cat.name == "Tom" && !root.hasChanges && inner.name == "" && child.hasChanges)
        child.rollback()
        #expect(inner.name == "Tom")
    }

    @Test("A member that a child removes and adds again is last, though nothing else has changed")
    func movedToTheEnd() throws {
        let file = try LibraryFile()
        let parent = file.container.newContext()
        let author = Author(parent, name: "A")
        author.favourites = ["a", "b", "c"].map { Book(parent, title: $0, author: author) }
        try parent.save()
        let child = parent.makeChild()
        let mine = try child.existingObject(Author.self, with: author.objectID)
        let first = mine.favourites[0]
        mine.favourites.removeFirst()
        mine.favourites.append(first)
        try child.save()
        #expect(author.favourites.map(\.title) == ["b", "c", "a"] && parent.hasChanges)
        try parent.save()
        let stored = try file.container.newContext().existingObject(Author.self, with: author.objectID)
        #expect(stored.favourites.map(\.title) == ["b", "c", "a"])
    }

    @Test("The child deletes what the parent changed, and the parent's deletes are gone in the child")
    func deletesOfBoth() throws {
        let file = try ZooFile()
        let root = file.container.newContext()
        let tom = Cat(root, name: "Tom")
        let kit = Cat(root, name: "Kit")
        tom.kittens = [kit]
        try root.save()
        tom.name = "Changed"
        let child = root.makeChild()
        let inner = try child.existingObject(Cat.self, with: tom.objectID)
        #expect(inner.name == "Changed")
        child.delete(inner)
        try child.save()
        #expect(tom.isDeleted && kit.isDeleted)
        #expect(try root.fetch(FetchRequest<Cat>()).isEmpty)
        root.rollback()
        #expect(tom.name == "Tom" && tom.kittens == [kit])
        // Deleting an object that is new in the parent.
        let new = Cat(root, name: "New")
        let second = root.makeChild()
        second.delete(try second.existingObject(with: new.objectID))
        try second.save()
        #expect(new.isDeleted && !root.insertedObjects.contains(new))
        try root.save()
        #expect(try root.count(FetchRequest<Cat>()) == 2)
    }

    @Test("A child that is thrown away leaves no trace")
    func discarded() throws {
        let file = try ZooFile()
        let root = file.container.newContext()
        let home = Enclosure(root, code: "AA-1")
        try root.save()
        do {
            let child = root.makeChild()
            let inner = try child.existingObject(Enclosure.self, with: home.objectID)
            inner.code = "ZZ-9"
            _ = Cat(child, name: "x", enclosure: inner)
        }
        #expect(home.code == "AA-1" && home.animals.isEmpty && !root.hasChanges)
    }

    @Test("Conflicts of a child's changes are met where the root saves")
    func conflicts() throws {
        let file = try ZooFile()
        let root = file.container.newContext()
        let rival = file.container.newContext()
        let rex = Dog(root, name: "Rex")
        try root.save()
        let child = root.makeChild()
        try child.existingObject(Dog.self, with: rex.objectID).name = "Child"
        let same = try rival.existingObject(Dog.self, with: rex.objectID)
        same.weight = 9
        try rival.save()
        try child.save()
        guard case .conflicts? = persistenceError({ try root.save() }) else {
            Issue.record("no conflict")
            return
        }
        root.mergePolicy = .objectWinsByProperty
        try root.save()
        #expect(rex.name == "Child" && rex.weight == 9)
    }

    @Test(
        "A child takes a one-to-one partner away from an object that it deletes; the delete does not cascade to the partner then"
    )
    func takenPartners() throws {
        let container = try PersistentContainer(Library.self, at: .memory(name: nil))
        let root = container.newContext()
        let first = Author(root, name: "1")
        let second = Author(root, name: "2")
        let passport = Passport(root, number: "p")
        try root.save()
        let child = root.makeChild()
        child.delete(try child.existingObject(with: second.objectID))
        try child.existingObject(Author.self, with: first.objectID).passport =
            try child.existingObject(Passport.self, with: passport.objectID)
        second.passport = passport
        try child.save()
        #expect(second.isDeleted && !passport.isDeleted)
        #expect(first.passport == passport && passport.owner == first)
        try root.save()
        let reader = container.newContext()
        #expect(try reader.fetch(FetchRequest<Author>()).map(\.passport?.number) == ["p"])
    }
}
