import Foundation
import SeededRandom
import Strata
import Testing

/// A child context that merges what changes in its parent.
@Suite struct FollowingChildTests {
    let file: ZooFile
    let parent: ManagedObjectContext
    let child: ManagedObjectContext

    init() throws {
        file = try ZooFile()
        parent = file.container.newContext(automaticallyMergesChanges: true)
        let home = Enclosure(parent, code: "AA-1")
        _ = Enclosure(parent, code: "AA-2")
        _ = Cat(parent, name: "Tom", enclosure: home)
        _ = Cat(parent, name: "Eve", enclosure: home)
        try parent.save()
        child = parent.makeChild()
        child.automaticallyMergesChanges = true
    }

    private func cat(_ name: String, _ context: ManagedObjectContext) throws -> Cat {
        try #require(try context.fetchFirst(FetchRequest<Cat>(where: try FetchPredicate(format: "name == %@", name))))
    }

    private func home(_ context: ManagedObjectContext) throws -> Enclosure {
        try #require(try context.fetchFirst(FetchRequest<Enclosure>(sortedBy: [FetchSort("code")])))
    }

    @Test("A child takes in the parent's edit when the parent has reached a boundary")
    func edits() throws {
        let inner = try cat("Tom", child)
        try cat("Tom", parent).weight = 9
        child.processPendingChanges()
        #expect(inner.weight == 1)
        parent.processPendingChanges()
        #expect(inner.weight == 9)
        #expect(!child.hasChanges)
    }

    @Test("A child that does not follow keeps what it has read")
    func unfollowing() throws {
        let other = parent.makeChild()
        let inner = try cat("Tom", other)
        try cat("Tom", parent).weight = 9
        parent.processPendingChanges()
        other.processPendingChanges()
        #expect(inner.weight == 1)
        other.automaticallyMergesChanges = true
        try cat("Tom", parent).weight = 10
        parent.processPendingChanges()
        other.processPendingChanges()
        #expect(inner.weight == 10)
        other.automaticallyMergesChanges = false
        try cat("Tom", parent).weight = 11
        parent.processPendingChanges()
        other.processPendingChanges()
        #expect(inner.weight == 10)
    }

    @Test("Pending changes of the child stay on top of the parent's")
    func pending() throws {
        let inner = try cat("Tom", child)
        inner.lives = 3
        let outer = try cat("Tom", parent)
        outer.weight = 9
        outer.lives = 5
        parent.processPendingChanges()
        child.processPendingChanges()
        #expect(inner.weight == 9 && inner.lives == 3 && child.hasChanges)
        try child.save()
        #expect(outer.lives == 3 && outer.weight == 9)
    }

    @Test("A child takes in what another child saves")
    func siblings() throws {
        let inner = try cat("Tom", child)
        let members = try home(child)
        #expect(members.animals.count == 2)
        let sibling = parent.makeChild()
        try cat("Tom", sibling).weight = 7
        _ = Cat(sibling, name: "New", enclosure: try home(sibling))
        try sibling.save()
        child.processPendingChanges()
        #expect(inner.weight == 7)
        #expect(Set(members.animals.map(\.name)) == ["Tom", "Eve", "New"])
    }

    @Test("A child takes in commits that its parent has merged")
    func commits() throws {
        let inner = try cat("Tom", child)
        let other = file.container.newContext()
        try cat("Tom", other).weight = 8
        other.delete(try cat("Eve", other))
        let eve = try cat("Eve", child)
        try other.save()
        parent.processPendingChanges()
        child.processPendingChanges()
        #expect(inner.weight == 8)
        #expect(eve.isMissing || eve.name.isEmpty)
        #expect(try home(child).animals.map(\.name) == ["Tom"])
    }

    @Test(
        "Many-to-many lists of a child lose what others delete and gain what they add, whether or not its parent has them loaded",
        arguments: [0, 1_000])
    func pairs(otherCommits: Int) throws {
        let file = try LibraryFile()
        let parent = file.container.newContext(automaticallyMergesChanges: true)
        let author = Author(parent, name: "A")
        for label in ["a", "b", "c"] {
            let book = Book(parent, title: label, author: author)
            book.tags = [Tag(parent, label: label)]
        }
        try parent.save()
        parent.reset()
        let child = parent.makeChild()
        child.automaticallyMergesChanges = true
        let tags = try child.fetch(FetchRequest<Tag>(sortedBy: [FetchSort("label")]))
        let authors = try child.fetch(FetchRequest<Author>())
        #expect(tags.map { $0.books.map(\.title) } == [["a"], ["b"], ["c"]])
        #expect(authors.map(\.books.count) == [3])
        // One of them is a fault.
        let book = try #require(tags[1].books.first)
        try child.refresh(book, mergingChanges: false)

        let other = file.container.newContext()
        let books = try other.fetch(FetchRequest<Book>(sortedBy: [FetchSort("title")]))
        for book in books.prefix(2) { other.delete(book) }
        let new = Book(other, title: "new", author: books[2].author)
        new.tags = Set(try other.fetch(FetchRequest<Tag>()).filter { $0.label != "a" })
        try other.save()
        // So many that the parent gets only keys.
        for number in 0..<otherCommits {
            books[2].pages = Int32(number)
            try other.save()
        }
        parent.processPendingChanges()
        child.processPendingChanges()
        #expect(tags.map { $0.books.map(\.title).sorted() } == [[], ["new"], ["c", "new"]])
        #expect(authors.map { $0.books.map(\.title).sorted() } == [["c", "new"]])
    }

    @Test("What the parent deletes is gone in the child; what the child has changed is kept until it saves")
    func deletes() throws {
        let tom = try cat("Tom", child)
        let eve = try cat("Eve", child)
        eve.weight = 2
        parent.delete(try cat("Tom", parent))
        parent.delete(try cat("Eve", parent))
        parent.processPendingChanges()
        child.processPendingChanges()
        #expect(tom.isMissing)
        #expect(eve.weight == 2)
        try child.save()
        #expect(try parent.fetch(FetchRequest<Cat>()).map(\.name) == ["Eve"])
    }

    @Test("Where others refer to what a parent has deleted and its child keeps, both ends of the relationship agree")
    func referencesToDeleted() throws {
        let file = try LibraryFile()
        let parent = file.container.newContext(automaticallyMergesChanges: true)
        let author = Author(parent, name: "A")
        let fan = Author(parent, name: "F")
        let book = Book(parent, title: "a", author: author)
        try parent.save()
        let child = parent.makeChild()
        child.automaticallyMergesChanges = true
        let childFan = try child.existingObject(Author.self, with: fan.objectID)
        childFan.name = "G"
        parent.delete(fan)
        parent.processPendingChanges()
        child.processPendingChanges()
        let other = file.container.newContext()
        let otherFan = try other.existingObject(Author.self, with: fan.objectID)
        try other.existingObject(Book.self, with: book.objectID).fan = otherFan
        try other.save()
        parent.processPendingChanges()
        child.processPendingChanges()
        let childBook = try child.existingObject(Book.self, with: book.objectID)
        #expect(childBook.fan === childFan)
        #expect(childFan.favourites.map(\.title) == ["a"])
        #expect(book.fan == nil)
        try child.save()
        #expect(book.fan === fan && fan.favourites.map(\.title) == ["a"])
        try parent.save()
        let fresh = try file.container.newContext().existingObject(Author.self, with: fan.objectID)
        #expect(fresh.name == "G" && fresh.favourites.map(\.title) == ["a"])
    }

    @Test("A rollback and a reset of the parent reach the child")
    func reverting() throws {
        let inner = try cat("Tom", child)
        try cat("Tom", parent).weight = 9
        parent.processPendingChanges()
        child.processPendingChanges()
        #expect(inner.weight == 9)
        parent.rollback()
        child.processPendingChanges()
        #expect(inner.weight == 1)
        try cat("Tom", parent).weight = 9
        parent.processPendingChanges()
        child.processPendingChanges()
        parent.reset()
        child.processPendingChanges()
        #expect(inner.weight == 1)
    }

    @Test("A grandchild hears of the root's edits once the context between them has merged them")
    func depth() throws {
        let grandchild = child.makeChild()
        grandchild.automaticallyMergesChanges = true
        let inner = try cat("Tom", grandchild)
        try cat("Tom", parent).weight = 9
        parent.processPendingChanges()
        child.processPendingChanges()
        grandchild.processPendingChanges()
        #expect(inner.weight == 9)
    }

    @Test("A child that goes leaves nothing behind in its parent")
    func gone() throws {
        weak var seen: ManagedObjectContext?
        do {
            let passing = parent.makeChild()
            passing.automaticallyMergesChanges = true
            seen = passing
        }
        #expect(seen == nil)
        try cat("Tom", parent).weight = 9
        try parent.save()
        #expect(try cat("Tom", file.container.newContext()).weight == 9)
    }

    @Test(
        "After random edits of parent and children, a child that follows shows what a new one shows",
        arguments: RunSeed.seeds(1))
    func random(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let sibling = parent.makeChild()
        let homes = try parent.fetch(FetchRequest<Enclosure>(sortedBy: [FetchSort("code")])).map(\.objectID)
        var held = try child.fetch(FetchRequest<Cat>())
        for step in 0..<150 {
            let context = [parent, sibling, child][generator.below(3)]
            let cats = try context.fetch(FetchRequest<Cat>(sortedBy: [FetchSort("name")]))
            switch generator.below(6) {
            case 0:
                _ = Cat(
                    context, name: "c\(step)",
                    enclosure: try context.existingObject(Enclosure.self, with: homes[generator.below(2)]))
            case 1 where cats.count > 2: context.delete(cats[generator.below(cats.count)])
            case 2: cats.first?.enclosure = try context.existingObject(Enclosure.self, with: homes[generator.below(2)])
            case 3 where context !== parent: try context.save()
            case 4: try parent.save()
            default: if !cats.isEmpty { cats[generator.below(cats.count)].weight = Double(generator.below(900)) }
            }
            // The follower shows what a fresh child shows as soon as its own changes are in the parent.
            try child.save()
            sibling.rollback()
            parent.processPendingChanges()
            child.processPendingChanges()
            let fresh = parent.makeChild()
            func describe(_ context: ManagedObjectContext) throws -> [String] {
                try context.fetch(FetchRequest<Cat>(sortedBy: [FetchSort("name")])).map {
                    "\($0.name) \($0.weight) \($0.enclosure?.code ?? "-")"
                }
                    + homes.map { id in
                        let home = try context.existingObject(Enclosure.self, with: id)
                        return "\(home.code) \(home.animals.map(\.name).sorted())"
                    }
            }
            #expect(try describe(child) == describe(fresh), "seed \(seed), step \(step)")
            for cat in held where !cat.isMissing && !cat.isDeleted {
                let there = try fresh.existingObject(Cat.self, with: cat.objectID)
                #expect(cat.weight == there.weight, "seed \(seed), step \(step)")
            }
            held = try child.fetch(FetchRequest<Cat>())
        }
    }
}
