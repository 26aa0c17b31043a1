import Foundation
import Strata
import Testing

/// What the world does to a live result besides ordinary edits.
@Suite struct LiveWorldTests {
    private let byTitle = FetchRequest<Book>(sortedBy: [FetchSort("title")])

    private func books(_ file: LibraryFile, _ titles: String...) throws -> (ManagedObjectContext, [Book]) {
        let context = file.container.newContext(automaticallyMergesChanges: true)
        let books = titles.map { Book(context, title: $0) }
        try context.save()
        return (context, books)
    }

    @Test(
        "A condition that fails on a new value ends the result with that error; the save goes on, another request begins anew"
    )
    func failingCondition() async throws {
        let file = try LibraryFile()
        let (context, books) = try books(file, "aac", "b")
        let request = FetchRequest<Book>(
            where: try FetchPredicate(format: "title MATCHES '(a*)*\\\\1c'"), sortedBy: [FetchSort("title")])
        let results = try context.live(request)
        #expect(results.map(\.title) == ["aac"])
        var steps = results.updates.makeAsyncIterator()
        _ = try await steps.next(isolation: #isolation)
        books[1].title = String(repeating: "a", count: 2_998) + "ba"
        try await context.save()
        #expect("\(try #require(results.failure))".contains("steps"))
        #expect(results.map(\.title) == ["aac"] && !books[1].hasChanges)
        await #expect(throws: PersistenceError.self) { _ = try await steps.next(isolation: #isolation) }
        books[0].title = "x"
        context.processPendingChanges()
        #expect(results.count == 1, "it does not follow any more")
        try results.change(to: byTitle)
        #expect(results.failure == nil && results.map(\.title.count) == [3_000, 1])
        books[0].title = "%"
        context.processPendingChanges()
        #expect(results.map(\.title.count) == [1, 3_000])
    }

    @Test("A delete of the object that names a section moves its members into the section of none")
    func sectionObjectDeleted() throws {
        let file = try LibraryFile()
        let context = file.container.newContext(automaticallyMergesChanges: true)
        let mentor = Author(context, name: "Mia")
        for name in ["Ann", "Bob"] { Author(context, name: name).mentor = mentor }
        try context.save()
        let key = ValueExpression<String?>(.keyPath(["mentor", "name"]))
        let results = try context.live(
            FetchRequest<Author>(sortedBy: [FetchSort("mentor.name"), FetchSort("name")]), sectionedBy: key)
        let listener = Listener(results.snapshot.ids)
        results.delegate = listener
        #expect(results.sections.map(\.name) == ["", "Mia"])
        context.delete(mentor)
        context.processPendingChanges()
        #expect(results.sections.map(\.name) == [""] && results.map(\.name) == ["Ann", "Bob"])
        let difference = try #require(listener.take().first).difference
        #expect(difference.deletedSections == [1] && difference.deletes.map(\.reason) == [.deleted])
        #expect(difference.moves.count == 2 && listener.ids == results.snapshot.ids)
        context.rollback()
        #expect(results.sections.map(\.name) == ["", "Mia"] && listener.ids == results.snapshot.ids)
        // The same by another context, which has not read the members.
        let other = file.container.newContext()
        other.delete(try #require(try other.fetch(FetchRequest<Author>(where: FetchPredicate(name: "Mia"))).first))
        try other.save()
        context.processPendingChanges()
        #expect(results.sections.map(\.name) == [""] && results.map(\.name) == ["Ann", "Bob"])
        #expect(listener.ids == results.snapshot.ids)
    }

    @Test("A refresh of all objects is no step where nothing is different, and shows what others saved")
    func refreshAll() throws {
        let file = try LibraryFile()
        let (context, _) = try books(file, "a", "b")
        context.automaticallyMergesChanges = false
        let results = try context.live(byTitle)
        let listener = Listener(results.snapshot.ids)
        results.delegate = listener
        try context.refreshAllObjects()
        context.processPendingChanges()
        #expect(results.map(\.title) == ["a", "b"] && listener.take().allSatisfy { $0.difference.moves.isEmpty })
        let other = file.container.newContext()
        try other.fetch(byTitle)[0].title = "c"
        try other.save()
        context.processPendingChanges()
        #expect(results.map(\.title) == ["a", "b"])
        try context.refreshAllObjects()
        context.processPendingChanges()
        #expect(results.map(\.title) == ["b", "c"] && listener.ids == results.snapshot.ids)
    }

    @Test("A result keeps its context; a reader keeps both, and ends with the task")
    func lifetimes() async throws {
        let file = try LibraryFile()
        weak var gone: ManagedObjectContext?
        do {
            let results: FetchedResults<Book>
            do {
                let (context, _) = try books(file, "a")
                gone = context
                results = try context.live(byTitle)
            }
            let context = try #require(gone)
            _ = Book(context, title: "b")
            context.processPendingChanges()
            #expect(results.map(\.title) == ["a", "b"])
            var steps = results.updates.makeAsyncIterator()
            _ = try await steps.next(isolation: #isolation)
        }
        #expect(gone == nil)
    }

    @Test("Deleting the file's rows behind the store's back shows at the next merge")
    func rowsGone() async throws {
        let file = try LibraryFile()
        let (context, books) = try books(file, "a", "b", "c")
        let results = try context.live(byTitle)
        let listener = Listener(results.snapshot.ids)
        results.delegate = listener
        var changes = file.container.changes.makeAsyncIterator()
        let stranger = try file.stranger()
        defer { stranger.close() }
        let theirs = stranger.newContext()
        try theirs.deleteAll(FetchRequest<Book>(where: try FetchPredicate(format: "title != 'b'")))
        _ = await changes.next()
        context.processPendingChanges()
        #expect(results.map(\.title) == ["b"] && listener.ids == results.snapshot.ids)
        #expect(books[0].title.isEmpty && books[0].isMissing)
    }

    @Test("A file that is replaced under the store is not followed: the result goes on with the one that was opened")
    func replacedFile() async throws {
        let file = try LibraryFile()
        let (context, books) = try books(file, "a")
        let results = try context.live(byTitle)
        let elsewhere = try LibraryFile()
        let stranger = elsewhere.container.newContext()
        _ = Book(stranger, title: "foreign")
        try await stranger.save()
        elsewhere.container.close()
        try FileManager.default.moveItem(atPath: file.path, toPath: file.path + ".old")
        try FileManager.default.copyItem(atPath: elsewhere.path, toPath: file.path)
        // Longer than the store looks for a commit after an event.
        try await Task.sleep(for: .milliseconds(150))
        context.processPendingChanges()
        #expect(results.map(\.title) == ["a"] && results.failure == nil)
        books[0].title = "b"
        context.processPendingChanges()
        #expect(results.map(\.title) == ["b"])
    }

    @Test("Listeners that come late, and go, hear of what changes while they are there")
    func lateListeners() throws {
        let file = try LibraryFile()
        let (context, books) = try books(file, "a", "b")
        try context.refreshAllObjects()
        #expect(books[0].title == "a")
        do {
            let results = try context.live(byTitle)
            books[0].title = "x"
            context.processPendingChanges()
            #expect(results.map(\.title) == ["b", "x"])
        }
        books[0].title = "y"
        context.processPendingChanges()
        let results = try context.live(byTitle)
        try context.refresh(books[0], mergingChanges: false)
        context.processPendingChanges()
        #expect(results.map(\.title) == ["a", "b"])
    }
}
