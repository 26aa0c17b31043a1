import Foundation
import Strata
import Testing

/// A live result reports what changed, and nothing else.
@Suite(.timeLimit(.minutes(10))) struct ExactUpdateTests {
    private let file: LibraryFile
    private let context: ManagedObjectContext

    init() throws {
        file = try LibraryFile()
        let first = file.container.newContext()
        for (name, titles) in [("A", ["a", "b"]), ("B", ["c"])] {
            let author = Author(inserting: first)
            author.name = name
            for title in titles { _ = Book(first, title: title, author: author) }
        }
        try first.save()
        context = file.container.newContext(automaticallyMergesChanges: true)
    }

    private func listen(
        _ request: FetchRequest<Book>
    ) throws -> (results: FetchedResults<Book>, listener: Listener) {
        let results = try context.live(request)
        let listener = Listener(results.snapshot.ids)
        results.delegate = listener
        return (results, listener)
    }

    /// Changes a book as another process does.
    private func edit(_ title: String, _ change: @escaping @Sendable (Book) -> Void) async throws {
        try await file.stranger().write { context in
            let request = FetchRequest<Book>(where: try FetchPredicate(format: "title == %@", title))
            change(try #require(try context.fetchFirst(request)))
        }
    }

    private func waitForUpdate(_ listener: Listener, count: Int) async throws {
        while listener.updates.count < count {
            try await Task.sleep(for: .milliseconds(5))
            context.processPendingChanges()
        }
    }

    @Test("Another process changes one property of one object")
    func foreignCommit() async throws {
        let (results, listener) = try listen(FetchRequest<Book>(sortedBy: [FetchSort("title")]))
        try await edit("b") { $0.pages = 7 }
        try await waitForUpdate(listener, count: 1)
        try await edit("b") { $0.title = "d" }
        try await waitForUpdate(listener, count: 2)
        // What a fault leaves behind comes in boundaries of its own.
        for _ in 0..<3 { context.processPendingChanges() }
        let differences = listener.updates.map(\.difference)
        #expect(differences.count == 2)
        #expect(differences[0].updates.map(\.changedKeys) == [["pages"]])
        #expect(differences[0].updates.map(\.id) == [results[2].objectID])
        #expect(differences[0].moves.isEmpty)
        #expect(differences[1].moves.map(\.changedKeys) == [["title"]])
        #expect(differences[1].updates.isEmpty)
        #expect(results.map(\.title) == ["a", "c", "d"])
    }

    @Test("A delete of a member that others have deleted before changes nothing, and is not announced again")
    func secondDelete() async throws {
        let results = try context.live(
            FetchRequest<Author>(where: try FetchPredicate(format: "books.@count < 9"), sortedBy: [FetchSort("name")]))
        let listener = Listener(results.snapshot.ids)
        results.delegate = listener
        #expect(results.map(\.books.count) == [2, 1])
        let contexts = [file.container.newContext(), file.container.newContext(), file.container.newContext()]
        let held = try contexts.map { try $0.fetch(FetchRequest<Book>(sortedBy: [FetchSort("title")])) }
        var commits = file.container.changes.makeAsyncIterator()
        contexts[0].delete(held[0][0])
        try await contexts[0].save()
        context.processPendingChanges()
        #expect(listener.take().flatMap(\.difference.updates).map(\.changedKeys) == [["books"]])
        #expect(await commits.next()?.deleted == [held[0][0].objectID])
        // One by one, and many at once.
        contexts[1].delete(held[1][0])
        try await contexts[1].save()
        contexts[2].delete(held[2][0])
        contexts[2].delete(held[2][1])
        try await contexts[2].save()
        context.processPendingChanges()
        #expect(listener.updates.flatMap(\.difference.updates).map(\.changedKeys) == [["books"]])
        #expect(await commits.next()?.deleted == [held[0][1].objectID])
        #expect(results.map(\.books.count) == [0, 1])
    }

    @Test("Refreshing objects that nobody has changed is no update")
    func refresh() throws {
        let (results, listener) = try listen(
            FetchRequest<Book>(sortedBy: [FetchSort("author.name"), FetchSort("title")]))
        try context.refresh(results[0])
        context.processPendingChanges()
        let author = try #require(results[1].author)
        try context.refresh(author)
        context.processPendingChanges()
        try context.refreshAllObjects()
        context.processPendingChanges()
        context.processPendingChanges()
        #expect(listener.updates.isEmpty)
        #expect(results.map(\.title) == ["a", "b", "c"])
    }

    @Test("Reading a related object for the first time is no update")
    func fault() throws {
        let (results, listener) = try listen(
            FetchRequest<Book>(sortedBy: [FetchSort("author.name"), FetchSort("title")]))
        let statements = file.statements {
            #expect(results.map { $0.author?.name } == ["A", "A", "B"])
            context.processPendingChanges()
            context.processPendingChanges()
        }
        #expect(listener.updates.isEmpty)
        #expect(statements.allSatisfy { !$0.contains("ORDER BY") })
    }

    @Test("An object that moves to another related object is an update, and those that are there already are not")
    func siblings() throws {
        let request = FetchRequest<Book>(
            where: try FetchPredicate(format: "author != nil"), sortedBy: [FetchSort("title")])
        let (results, listener) = try listen(request)
        let author = try #require(results[0].author)
        #expect(author.books.count == 2)
        results[2].author = author
        context.processPendingChanges()
        #expect(listener.updates.flatMap(\.difference.updates).map(\.id) == [results[2].objectID])
        #expect(listener.updates.flatMap(\.difference.updates).map(\.changedKeys) == [["author"]])
    }

    @Test(
        "A to-many relationship is named if its members changed, and after a rollback only if they had changed before")
    func rolledBackMembers() throws {
        let authors = try context.live(FetchRequest<Author>(sortedBy: [FetchSort("name")]))
        let listener = Listener(authors.snapshot.ids)
        authors.delegate = listener
        let book = try #require(authors[0].books.first)
        #expect(authors[1].books.count == 1)
        book.author = authors[1]
        // Noted before the boundary, and taken back.
        context.rollback()
        #expect(listener.updates.isEmpty)
        book.author = authors[1]
        context.processPendingChanges()
        context.rollback()
        #expect(
            listener.updates.map { $0.difference.updates.map(\.changedKeys) } == [
                [["books"], ["books"]], [["books"], ["books"]],
            ])
        let tag = Tag(context, label: "t")
        let results = try context.live(FetchRequest<Book>(sortedBy: [FetchSort("title")]))
        let books = Listener(results.snapshot.ids)
        results.delegate = books
        results[0].tags = [tag]
        results[0].tags = []
        results[1].tags = [tag]
        context.processPendingChanges()
        #expect(books.updates.flatMap(\.difference.updates).map(\.id) == [results[1].objectID])
        #expect(books.updates.flatMap(\.difference.updates).map(\.changedKeys) == [["tags"]])
    }

    @Test("A rollback that brings a deleted object back names the references to it that others have made since")
    func returnedTarget() throws {
        let authors = try context.live(FetchRequest<Author>(sortedBy: [FetchSort("name")]))
        let listener = Listener(authors.snapshot.ids)
        authors.delegate = listener
        let mentor = authors[1]
        context.delete(mentor)
        context.processPendingChanges()
        let other = file.container.newContext()
        let new = Author(other, name: "C")
        new.mentor = try other.existingObject(Author.self, with: mentor.objectID)
        try other.save()
        context.processPendingChanges()
        let student = try #require(authors.last)
        #expect(student.name == "C" && student.mentor == nil)
        context.rollback()
        context.processPendingChanges()
        #expect(student.mentor === mentor)
        let updates = listener.updates.flatMap(\.difference.updates).filter { $0.id == student.objectID }
        #expect(updates.map(\.changedKeys) == [["mentor"]])
    }

    @Test("A reference is not named if others delete its target, which is kept because it was changed here")
    func keptTarget() throws {
        let (results, listener) = try listen(FetchRequest<Book>(sortedBy: [FetchSort("title")]))
        let author = try #require(try context.fetch(FetchRequest<Author>(sortedBy: [FetchSort("name")])).last)
        results[0].author = author
        author.score = 5
        context.processPendingChanges()
        #expect(listener.take().flatMap(\.difference.updates).map(\.changedKeys) == [["author"]])
        let other = file.container.newContext()
        let theirs = try other.existingObject(Author.self, with: author.objectID)
        for book in theirs.books { book.author = nil }
        other.delete(theirs)
        try other.save()
        context.processPendingChanges()
        #expect(!author.isDeleted && results[0].author === author)
        #expect(listener.take().flatMap(\.difference.updates).map(\.id) == [results[2].objectID])
    }

    @Test("A child shows nothing where it led to an object that its parent's rollback has dropped")
    func droppedTarget() throws {
        let child = context.makeChild()
        let results = try child.live(FetchRequest<Book>(sortedBy: [FetchSort("title")]))
        let id = Author(context, name: "C").objectID
        context.processPendingChanges()
        let book = results[0]
        book.author = try child.existingObject(Author.self, with: id)
        #expect(book.author?.name == "C")
        context.rollback()
        child.processPendingChanges()
        #expect(book.author == nil && results.count == 3)
    }

    /// A book with a tag, in the context and in a child, where both ends of the relationship are loaded and a list watches.
    private struct SharedBook {
        let book: Book
        let child: ManagedObjectContext
        let results: FetchedResults<Book>
        /// The book and its tag in the child.
        let mine: Book
        let tag: Tag

        init(in context: ManagedObjectContext) throws {
            book = try #require(try context.fetch(FetchRequest<Book>(sortedBy: [FetchSort("title")])).first)
            book.tags = [Tag(context, label: "t")]
            try context.save()
            child = context.makeChild()
            results = try child.live(FetchRequest<Book>(sortedBy: [FetchSort("title")]))
            mine = results[0]
            tag = try #require(mine.tags.first)
            #expect(tag.books == [mine])
        }
    }

    /// Deletes a book as another context does, and merges that.
    private func deleteElsewhere(_ book: Book) throws {
        let other = file.container.newContext()
        other.delete(try other.existingObject(Book.self, with: book.objectID))
        try other.save()
        context.processPendingChanges()
    }

    @Test("Both ends of a many-to-many relationship agree in a child if the parent keeps what others have deleted")
    func keptPairs() throws {
        let shared = try SharedBook(in: context)
        shared.book.pages = 7
        context.processPendingChanges()
        try deleteElsewhere(shared.book)
        #expect(!shared.book.isDeleted && shared.book.tags.isEmpty)
        #expect(shared.results[0] === shared.mine && shared.mine.pages == 7)
        #expect(shared.mine.tags.isEmpty && shared.tag.books.isEmpty)
    }

    @Test("Both ends of a many-to-many relationship agree in a child that keeps what others have deleted")
    func keptPairsOfChild() throws {
        let shared = try SharedBook(in: context)
        shared.mine.pages = 7
        shared.child.processPendingChanges()
        try deleteElsewhere(shared.book)
        #expect(shared.book.isMissing && !shared.mine.isDeleted && shared.mine.pages == 7)
        #expect(shared.mine.tags.isEmpty && shared.tag.books.isEmpty)
    }

    @Test("What a parent has deleted and its child changes is back with its pairs, which both ends show")
    func returnedPairs() throws {
        let book = try #require(try context.fetch(FetchRequest<Book>(sortedBy: [FetchSort("title")])).first)
        let kept = Tag(context, label: "kept")
        let dropped = Tag(context, label: "dropped")
        let added = Tag(context, label: "added")
        book.tags = [kept, dropped]
        try context.save()
        let child = context.makeChild()
        let mine = try child.existingObject(Book.self, with: book.objectID)
        book.tags = [kept, added]
        #expect(kept.books == [book] && dropped.books.isEmpty && added.books == [book])
        context.delete(book)
        #expect(kept.books.isEmpty && added.books.isEmpty)
        mine.pages = 7
        try child.save()
        #expect(!book.isDeleted && book.pages == 7 && book.tags == [kept, added])
        #expect(kept.books == [book] && dropped.books.isEmpty && added.books == [book])
        try context.save()
        let stored = try file.container.newContext().existingObject(Book.self, with: book.objectID)
        #expect(Set(stored.tags.map(\.label)) == ["kept", "added"])
    }

    @Test("A fault that is edited before it is filled is an update")
    func editedFault() throws {
        let (results, listener) = try listen(FetchRequest<Book>(sortedBy: [FetchSort("title")]))
        let book = results[0]
        try context.refresh(book)
        book.pages = 9
        #expect(book.title == "a")
        context.processPendingChanges()
        #expect(listener.updates.flatMap(\.difference.updates).map(\.id) == [book.objectID])
        #expect(listener.updates.flatMap(\.difference.updates).allSatisfy { $0.changedKeys.contains("pages") })
    }
}
