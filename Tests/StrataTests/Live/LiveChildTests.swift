import Foundation
import Strata
import Testing

/// Live results in a child whose parent has deleted what its objects lead to.
@Suite struct LiveChildTests {
    private let file: LibraryFile
    private let parent: ManagedObjectContext
    private let child: ManagedObjectContext
    private let author: Author
    private let books: [Book]

    init() throws {
        file = try LibraryFile()
        let parent = file.container.newContext(automaticallyMergesChanges: true)
        parent.mergePolicy = .objectWinsByProperty
        let author = Author(parent, name: "Ann")
        books = ["a", "b"].map { Book(parent, title: $0) }
        try parent.save()
        self.parent = parent
        self.author = author
        child = parent.makeChild()
    }

    private func boundary() {
        parent.processPendingChanges()
        child.processPendingChanges()
        parent.processPendingChanges()
    }

    @Test("An object that a child's save brings back has no members that the parent's delete has cleared")
    func broughtBack() throws {
        let own = try child.existingObject(Author.self, with: author.objectID)
        own.name = "Bea"
        own.favourites = [try child.existingObject(Book.self, with: books[0].objectID)]
        author.favourites = [books[1]]
        boundary()
        parent.delete(author)
        boundary()
        #expect(books[1].fan == nil)
        try child.save()
        #expect(!author.isDeleted && author.name == "Bea")
        #expect(author.favourites == [books[0]] && books[0].fan == author && books[1].fan == nil)
        try parent.save()
        let fresh = try file.container.newContext().existingObject(Author.self, with: author.objectID)
        #expect(fresh.favourites.map(\.title) == ["a"])
    }

    @Test("References of a child to an object that its save brings back are saved, too")
    func referencesToWhatIsBroughtBack() throws {
        // The object that refers comes before its target in the order of the change set.
        let first = Author(parent, name: "First")
        let target = Author(parent, name: "Target")
        try parent.save()
        let own = try child.existingObject(Author.self, with: target.objectID)
        own.name = "Kept"
        try child.existingObject(Author.self, with: first.objectID).mentor = own
        let book = Book(child, title: "new", author: own)
        boundary()
        parent.delete(target)
        boundary()
        try child.save()
        #expect(first.mentor == target && target.students == [first])
        #expect(target.books.map(\.title) == ["new"])
        try parent.save()
        let fresh = file.container.newContext()
        #expect(try fresh.existingObject(Author.self, with: first.objectID).mentor?.name == "Kept")
        #expect(try fresh.existingObject(Book.self, with: book.objectID).author?.name == "Kept")
    }

    @Test("A reference to what the parent has dropped is nil, even if the reference of another object was read first")
    func droppedTargets() throws {
        let results = try child.live(FetchRequest<Book>(sortedBy: [FetchSort("title")]))
        let dropped = Author(parent, name: "New")
        let own = try child.fetch(FetchRequest<Book>(sortedBy: [FetchSort("title")]))
        var target: Author? = try child.existingObject(Author.self, with: dropped.objectID)
        let other = try child.existingObject(Author.self, with: author.objectID)
        own[0].author = other
        own[1].author = target
        boundary()
        parent.rollback()
        boundary()
        target = nil
        #expect(own[0].author != nil)
        #expect(own[1].author == nil)
        #expect(results.count == 2)
    }

    @Test("A reference that a child keeps while its parent deletes and takes back the target is not a change")
    func keptReference() throws {
        let results = try child.live(FetchRequest<Book>(sortedBy: [FetchSort("title")]))
        let listener = Listener(results.snapshot.ids)
        results.delegate = listener
        let own = try child.existingObject(Author.self, with: author.objectID)
        own.name = "Bea"
        let book = try child.existingObject(Book.self, with: books[0].objectID)
        own.favourites = [book]
        boundary()
        parent.delete(author)
        boundary()
        #expect(book.fan == own)
        _ = listener.take()
        try child.save()
        boundary()
        #expect(book.fan == own)
        let changed = listener.take().flatMap { $0.difference.updates.flatMap(\.changedKeys) }
        #expect(changed.isEmpty)
    }

    @Test("An object that others insert enters a child's list, even if the parent has deleted what the object leads to")
    func insertedByOthers() throws {
        let lists = try [
            child.live(
                FetchRequest<Book>(where: try FetchPredicate(format: "pages > 20"), sortedBy: [FetchSort("title")])),
            child.live(FetchRequest<Book>(sortedBy: [FetchSort("author.name"), FetchSort("title")])),
        ]
        _ = try child.existingObject(Author.self, with: author.objectID).books
        parent.delete(author)
        boundary()
        let other = file.container.newContext()
        let book = Book(other, title: "c", author: try other.existingObject(Author.self, with: author.objectID))
        book.pages = 70
        try other.save()
        boundary()
        for list in lists {
            #expect(list.snapshot.ids.contains(book.objectID))
            #expect(try list.snapshot.ids == child.fetchIDs(list.request))
        }
    }

    @Test("When a parent takes a delete back, a list of its child names only what has changed")
    func takenBack() throws {
        let own = try child.existingObject(Author.self, with: author.objectID)
        let results = try child.live(FetchRequest<Author>(sortedBy: [FetchSort("name")]))
        let listener = Listener(results.snapshot.ids)
        results.delegate = listener
        own.name = "Bea"
        boundary()
        parent.delete(author)
        boundary()
        #expect(own.favourites.isEmpty && own.students.isEmpty && own.books.isEmpty)
        _ = listener.take()
        // The parent no longer knows where it led.
        try parent.refresh(books[0], mergingChanges: false)
        parent.rollback()
        child.processPendingChanges()
        #expect(listener.take().flatMap { $0.difference.updates + $0.difference.moves }.flatMap(\.changedKeys) == [])
        #expect(own.favourites.isEmpty && own.name == "Bea")
    }
}
