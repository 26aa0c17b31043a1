import Foundation
import Observation
import Strata
import StrataStore
import Testing

@Suite struct FetchedResultsTests {
    private struct Fixture {
        let file: LibraryFile
        let context: ManagedObjectContext
        var books: [Book] = []

        init(_ titles: [String]) throws {
            file = try LibraryFile()
            context = file.container.newContext(automaticallyMergesChanges: true)
            for (index, title) in titles.enumerated() {
                let book = Book(context, title: title)
                book.pages = Int32(index)
                books.append(book)
            }
            try context.save()
        }
    }

    private let byTitle = FetchRequest<Book>(sortedBy: [FetchSort("title")])

    @Test("Inserts, deletes, moves and updates come as such, with the positions before and after")
    func kinds() throws {
        let fixture = try Fixture(["a", "b", "c", "d"])
        let results = try fixture.context.live(byTitle)
        let listener = Listener(results.snapshot.ids)
        results.delegate = listener
        fixture.books[0].title = "x"
        fixture.books[1].pages = 50
        fixture.context.delete(fixture.books[2])
        let new = Book(fixture.context, title: "bb")
        fixture.context.processPendingChanges()
        let update = try #require(listener.take().first)
        let difference = update.difference
        #expect(difference.deletes.map(\.from.index) == [2] && difference.deletes[0].reason == .deleted)
        #expect(difference.inserts.map(\.to.index) == [1] && difference.inserts[0].id == new.objectID)
        #expect(difference.moves.map { [$0.from.index, $0.to.index] } == [[0, 3]])
        #expect(difference.moves[0].changedKeys == ["title"])
        #expect(difference.updates.map(\.changedKeys) == [["pages"]])
        #expect(difference.updates.map { [$0.from.index, $0.to.index] } == [[1, 0]])
        #expect(results.map(\.title) == ["b", "bb", "d", "x"])
        #expect(listener.ids == update.snapshot.ids && results.position(of: new)?.index == 1)
    }

    @Test("A sort key that changes without changing the order is an update, and an equal value is nothing")
    func samePlace() throws {
        let fixture = try Fixture(["a", "c", "e"])
        let results = try fixture.context.live(byTitle)
        let listener = Listener(results.snapshot.ids)
        results.delegate = listener
        fixture.books[1].title = "d"
        fixture.context.processPendingChanges()
        let difference = try #require(listener.take().first).difference
        #expect(difference.moves.isEmpty && difference.updates.map(\.changedKeys) == [["title"]])
        fixture.books[1].title = "d"
        fixture.context.processPendingChanges()
        try fixture.context.save()
        #expect(listener.take().isEmpty)
    }

    @Test("An object that stops matching leaves, and one that begins to match comes, also by another context's save")
    func matching() throws {
        let fixture = try Fixture(["a", "b", "c"])
        let request = FetchRequest<Book>(where: FetchPredicate(pages: 1), sortedBy: [FetchSort("title")])
        let results = try fixture.context.live(request)
        let listener = Listener(results.snapshot.ids)
        results.delegate = listener
        #expect(results.map(\.title) == ["b", "c"])
        let other = fixture.file.container.newContext()
        let others = try other.fetch(byTitle)
        others[0].pages = 9
        others[1].pages = 0
        try other.save()
        fixture.context.processPendingChanges()
        let difference = try #require(listener.take().first).difference
        #expect(difference.deletes.map(\.reason) == [.noLongerMatches] && difference.inserts.map(\.to.index) == [0])
        #expect(results.map(\.title) == ["a", "c"])
    }

    @Test("A related object's attribute decides filter, order and section")
    func related() throws {
        let fixture = try Fixture(["a", "b"])
        let (ann, bob) = (Author(fixture.context, name: "Ann"), Author(fixture.context, name: "Bob"))
        fixture.books[0].author = ann
        fixture.books[1].author = bob
        try fixture.context.save()
        let sorted = try fixture.context.live(
            FetchRequest<Book>(sortedBy: [FetchSort("author.name"), FetchSort("title")]),
            sectionedBy: ValueExpression<String?>(.keyPath(["author", "name"])))
        let filtered = try fixture.context.live(
            FetchRequest<Author>(
                where: try FetchPredicate(format: "ANY books.pages > 5"), sortedBy: [FetchSort("name")]))
        #expect(sorted.sections.map(\.name) == ["Ann", "Bob"] && filtered.isEmpty)
        let listener = Listener(sorted.snapshot.ids)
        sorted.delegate = listener
        ann.name = "Zoe"
        fixture.books[1].pages = 6
        fixture.context.processPendingChanges()
        #expect(sorted.sections.map(\.name) == ["Bob", "Zoe"] && sorted.map(\.title) == ["b", "a"])
        #expect(filtered.map(\.name) == ["Bob"])
        let difference = try #require(listener.take().first).difference
        #expect(difference.deletedSections == [0] && difference.insertedSections == [1])
        #expect(difference.moves.map(\.changedKeys) == [["author.name"]])
        fixture.books[0].author = bob
        fixture.context.processPendingChanges()
        #expect(sorted.sections.map(\.range) == [0..<2])
        fixture.books[1].author = ann
        fixture.context.processPendingChanges()
        #expect(filtered.map(\.name) == ["Zoe"])
    }

    @Test("A move into another section is a move, though the position may be the same")
    func sections() throws {
        let fixture = try Fixture(["a", "b", "c"])
        for book in fixture.books { book.pages = 1 }
        try fixture.context.save()
        let results = try fixture.context.live(
            FetchRequest<Book>(sortedBy: [FetchSort("title")]),
            sectionedBy: ValueExpression<Int32>(.keyPath(["pages"])))
        let listener = Listener(results.snapshot.ids)
        results.delegate = listener
        fixture.books[2].pages = 2
        fixture.context.processPendingChanges()
        let difference = try #require(listener.take().first).difference
        #expect(difference.updates.isEmpty && difference.insertedSections == [1])
        #expect(difference.moves.map { [$0.from.section, $0.to.section] } == [[0, 1]])
        let batch = difference.batchUpdates
        #expect(batch.moves.isEmpty && batch.deletes.map(\.item) == [2] && batch.inserts.isEmpty)
        #expect(results[results.sections[1]].map(\.title) == ["c"])
    }

    @Test("Limit and offset hold after every change, and what is pushed out says so")
    func limits() throws {
        let fixture = try Fixture((0..<200).map { String(format: "%03d", $0) })
        let request = FetchRequest<Book>(sortedBy: [FetchSort("title")], limit: 3, offset: 1)
        let results = try fixture.context.live(request)
        let listener = Listener(results.snapshot.ids)
        results.delegate = listener
        #expect(results.map(\.title) == ["001", "002", "003"])
        _ = Book(fixture.context, title: "0015")
        fixture.context.processPendingChanges()
        #expect(results.map(\.title) == ["001", "0015", "002"])
        #expect(listener.take().first?.difference.deletes.map(\.reason) == [.pushedOut])
        for book in fixture.books.prefix(120) { fixture.context.delete(book) }
        fixture.context.processPendingChanges()
        #expect(results.map(\.title) == ["120", "121", "122"])
        _ = listener.take()
        #expect(listener.ids == results.snapshot.ids)
    }

    @Test("An unrelated change asks the store for nothing, and a matching save of others needs no fetch")
    func statements() throws {
        let fixture = try Fixture((0..<50).map { "\($0)" })
        let results = try fixture.context.live(FetchRequest<Book>(sortedBy: [FetchSort("title")], limit: 10))
        let other = fixture.file.container.newContext()
        let tag = Tag(other, label: "x")
        try other.save()
        tag.label = "y"
        _ = Book(other, title: "00")
        try other.save()
        let list = fixture.file.statements { fixture.context.processPendingChanges() }
        #expect(list.isEmpty && results.first?.title == "0" && results[1].title == "00")
    }

    @Test("A slow reader gets one difference from what it saw to the newest state; each reader has its own")
    func slowReader() async throws {
        let fixture = try Fixture(["a", "b", "c"])
        let results = try fixture.context.live(byTitle)
        var slow = results.updates.makeAsyncIterator()
        let first = try #require(try await slow.next(isolation: #isolation))
        #expect(first.isInitial && first.snapshot.count == 3)
        var quick = results.updates.makeAsyncIterator()
        _ = try await quick.next(isolation: #isolation)
        for title in ["aa", "x", "y"] {
            fixture.books[0].title = title
            fixture.context.processPendingChanges()
            _ = try await quick.next(isolation: #isolation)
        }
        let second = try #require(try await slow.next(isolation: #isolation))
        #expect(second.difference.apply(to: first.snapshot.ids) == second.snapshot.ids)
        #expect(second.difference.moves.map(\.changedKeys) == [["title"]] && second.number == 3)
    }

    @Test("However much comes and goes while a reader is slow, it gets the difference from what it saw")
    func verySlowReader() async throws {
        let fixture = try Fixture(["a", "b", "c"])
        let results = try fixture.context.live(byTitle)
        var slow = results.updates.makeAsyncIterator()
        let first = try #require(try await slow.next(isolation: #isolation))
        fixture.books[0].title = "x"
        fixture.context.delete(fixture.books[1])
        var passing: [Book] = []
        for round in 0..<60 {
            for book in passing { fixture.context.delete(book) }
            passing = (0..<100).map { Book(fixture.context, title: "m\(round) \($0)") }
            fixture.context.processPendingChanges()
        }
        let second = try #require(try await slow.next(isolation: #isolation))
        let difference = second.difference
        #expect(difference.apply(to: first.snapshot.ids) == second.snapshot.ids && results.count == 102)
        #expect(difference.deletes.map(\.reason) == [.deleted] && difference.inserts.count == 100)
        #expect(difference.moves.map(\.changedKeys) + difference.updates.map(\.changedKeys) == [["title"]])
    }

    @Test("A child's result shows its own changes and its parent's, and the parent's those that the child saved")
    func children() throws {
        let fixture = try Fixture(["a", "b"])
        let child = fixture.context.makeChild()
        let below = try child.live(byTitle)
        let above = try fixture.context.live(byTitle)
        fixture.books[0].title = "z"
        fixture.context.processPendingChanges()
        #expect(below.map(\.title) == ["b", "z"])
        _ = Book(child, title: "m")
        child.processPendingChanges()
        #expect(below.map(\.title) == ["b", "m", "z"] && above.map(\.title) == ["b", "z"])
        try child.save()
        #expect(above.map(\.title) == ["b", "m", "z"])
        fixture.context.delete(fixture.books[1])
        fixture.context.processPendingChanges()
        #expect(below.map(\.title) == ["m", "z"])
    }

    @Test("An unsaved reference to what others delete counts as none, in the context and in a child")
    func lostTargets() throws {
        let fixture = try Fixture(["a", "b"])
        let ann = Author(fixture.context, name: "Ann")
        try fixture.context.save()
        let child = fixture.context.makeChild()
        let request = FetchRequest<Book>(where: try FetchPredicate(format: "author != nil"))
        let results = try fixture.context.live(request)
        let below = try child.live(request)
        fixture.books[0].author = ann
        let second = try child.existingObject(Book.self, with: fixture.books[1].objectID)
        second.author = try child.existingObject(Author.self, with: ann.objectID)
        fixture.context.processPendingChanges()
        child.processPendingChanges()
        #expect(results.map(\.title) == ["a"] && Set(below.map(\.title)) == ["a", "b"])
        let other = fixture.file.container.newContext()
        other.delete(try other.existingObject(Author.self, with: ann.objectID))
        try other.save()
        fixture.context.processPendingChanges()
        #expect(results.isEmpty && below.isEmpty)
        #expect(try fixture.context.fetch(request).isEmpty && child.fetch(request).isEmpty)
    }

    @Test("An object with unsaved changes that others delete loses its pairs, at both ends")
    func lostPairs() throws {
        let fixture = try Fixture(["a", "b"])
        let tag = Tag(fixture.context, label: "x")
        fixture.books[0].tags = [tag]
        try fixture.context.save()
        let books = FetchRequest<Book>(where: try FetchPredicate(format: "ANY tags.label == 'x'"))
        let tags = FetchRequest<Tag>(where: try FetchPredicate(format: "ANY books.title == 'a'"))
        let (marked, used) = (try fixture.context.live(books), try fixture.context.live(tags))
        #expect(marked.count == 1 && used.count == 1)
        fixture.books[0].pages = 9
        fixture.context.processPendingChanges()
        let other = fixture.file.container.newContext()
        other.delete(try other.existingObject(Book.self, with: fixture.books[0].objectID))
        try other.save()
        fixture.context.processPendingChanges()
        #expect(try fixture.context.fetch(books).isEmpty && fixture.context.fetch(tags).isEmpty)
        #expect(marked.isEmpty && used.isEmpty)
    }

    @Test("A parent's new and changed objects come into a child's results also if the child has read them before")
    func readBeforeTheBoundary() throws {
        let fixture = try Fixture(["a", "b"])
        let ann = Author(fixture.context, name: "Ann")
        try fixture.context.save()
        let child = fixture.context.makeChild()
        let long = try child.live(
            FetchRequest<Book>(where: try FetchPredicate(format: "pages > 50"), sortedBy: [FetchSort("title")]))
        let authors = try child.live(
            FetchRequest<Author>(where: try FetchPredicate(format: "ANY books.pages > 50")))
        let new = Book(fixture.context, title: "c", author: ann)
        new.pages = 60
        fixture.books[0].pages = 70
        let read = try child.fetch(byTitle)
        #expect(read.map(\.pages) == [70, 1, 60])
        fixture.context.processPendingChanges()
        #expect(long.map(\.title) == ["a", "c"] && authors.map(\.name) == ["Ann"])
    }

    @Test("What a parent's rollback brings back is there again in the child, also for those that lead to it")
    func broughtBack() throws {
        let fixture = try Fixture(["a"])
        let ann = Author(fixture.context, name: "Ann")
        fixture.books[0].author = ann
        try fixture.context.save()
        let child = fixture.context.makeChild()
        let below = try child.live(
            FetchRequest<Author>(where: try FetchPredicate(format: "ANY books.title == 'a'")))
        let books = try child.live(byTitle)
        #expect(below.count == 1 && books.count == 1)
        fixture.context.delete(fixture.books[0])
        fixture.context.processPendingChanges()
        #expect(below.isEmpty && books.isEmpty)
        fixture.context.rollback()
        #expect(below.map(\.name) == ["Ann"] && books.map(\.title) == ["a"])
    }

    @Test("What a child has changed follows its parent again that deleted it and took that back")
    func changedAndBroughtBack() throws {
        let fixture = try Fixture(["a", "b"])
        fixture.books[0].tags = [Tag(fixture.context, label: "x")]
        try fixture.context.save()
        let child = fixture.context.makeChild()
        let below = try child.live(byTitle)
        let tagged = FetchRequest<Book>(where: try FetchPredicate(format: "ANY tags.label == 'x'"))
        let marked = try child.live(tagged)
        below[0].title = "z"
        child.processPendingChanges()
        fixture.context.delete(fixture.books[0])
        fixture.context.processPendingChanges()
        #expect(below.map(\.title) == ["b", "z"])
        #expect(try marked.map(\.title) == child.fetch(tagged).map(\.title))
        fixture.context.rollback()
        #expect(below.map(\.title) == ["b", "z"] && marked.map(\.title) == ["z"])
        child.rollback()
        #expect(below.map(\.title) == ["a", "b"] && marked.map(\.title) == ["a"])
    }

    @Test("Another request gives the difference to it, and a request that fails leaves the result as it was")
    func changingRequest() throws {
        let fixture = try Fixture(["a", "b", "c"])
        let results = try fixture.context.live(byTitle)
        let listener = Listener(results.snapshot.ids)
        results.delegate = listener
        try results.change(
            to: FetchRequest<Book>(where: FetchPredicate(pages: 1), sortedBy: [FetchSort("title", ascending: false)]))
        #expect(results.map(\.title) == ["c", "b"] && listener.ids == results.snapshot.ids)
        #expect(throws: PersistenceError.self) {
            try results.change(to: FetchRequest<Book>(sortedBy: [FetchSort("nothing")]))
        }
        fixture.books[2].title = "A"
        fixture.context.processPendingChanges()
        #expect(results.map(\.title) == ["b", "A"] && listener.ids == results.snapshot.ids)
    }

    @Test("Rollback, refresh and reset are ordinary steps")
    func reverting() throws {
        let fixture = try Fixture(["a", "b"])
        let results = try fixture.context.live(byTitle)
        let listener = Listener(results.snapshot.ids)
        results.delegate = listener
        fixture.books[0].title = "z"
        _ = Book(fixture.context, title: "c")
        fixture.context.processPendingChanges()
        #expect(results.map(\.title) == ["b", "c", "z"])
        fixture.context.rollback()
        #expect(results.map(\.title) == ["a", "b"] && listener.ids == results.snapshot.ids)
        fixture.books[0].title = "y"
        fixture.context.processPendingChanges()
        try fixture.context.refresh(fixture.books[0], mergingChanges: false)
        fixture.context.processPendingChanges()
        #expect(results.map(\.title) == ["a", "b"])
        fixture.books[1].title = "0"
        fixture.context.processPendingChanges()
        fixture.context.reset()
        #expect(results.map(\.title) == ["a", "b"] && listener.ids == results.snapshot.ids)
        #expect(results.allSatisfy { $0.context === fixture.context })
    }

    @Test("A refresh that takes back a delete shows the object again, also if it is read before the boundary")
    func refreshOfDeleted() throws {
        let fixture = try Fixture(["a", "b"])
        let results = try fixture.context.live(byTitle)
        fixture.context.delete(fixture.books[0])
        fixture.context.processPendingChanges()
        #expect(results.map(\.title) == ["b"])
        try fixture.context.refresh(fixture.books[0], mergingChanges: false)
        #expect(fixture.books[0].title == "a")
        fixture.context.processPendingChanges()
        #expect(results.map(\.title) == ["a", "b"])
    }

    @Test("A delegate may fetch and change objects; its changes come in a step of their own")
    func reentrancy() throws {
        final class Editor: FetchedResultsDelegate {
            let context: ManagedObjectContext
            var lists: [[String]] = []
            init(_ context: ManagedObjectContext) { self.context = context }
            func results<Object: ManagedObject>(_ results: FetchedResults<Object>, didChange update: ResultsUpdate) {
                lists.append(results.compactMap { ($0 as? Book)?.title })
                guard lists.count < 3 else { return }
                _ = Book(context, title: "new \(lists.count)")
                context.processPendingChanges()
            }
        }
        let fixture = try Fixture(["a"])
        let results = try fixture.context.live(byTitle)
        let editor = Editor(fixture.context)
        results.delegate = editor
        fixture.books[0].title = "b"
        fixture.context.processPendingChanges()
        #expect(editor.lists == [["b"], ["b", "new 1"], ["b", "new 1", "new 2"]])
    }

    @Test("Observation tells of changes")
    func observation() throws {
        let fixture = try Fixture(["a"])
        let results = try fixture.context.live(byTitle)
        let count = Guarded(0)
        withObservationTracking {
            _ = results.count
        } onChange: {
            count.withLock { $0 += 1 }
        }
        fixture.books[0].pages = 5
        fixture.context.processPendingChanges()
        #expect(count.withLock(\.self) == 1)
    }

    @Test("A store that fails ends a result with one error; the list stays as it was, and edits go on")
    func failing() async throws {
        let fixture = try Fixture((0..<100).map { String(format: "%03d", $0) })
        let results = try fixture.context.live(FetchRequest<Book>(sortedBy: [FetchSort("title")], limit: 3))
        var steps = results.updates.makeAsyncIterator()
        _ = try await steps.next(isolation: #isolation)
        fixture.file.container.close()
        for book in fixture.books.prefix(60) { book.title = "z" }
        fixture.context.processPendingChanges()
        #expect(results.failure != nil && results.snapshot.count == 3)
        #expect(results.map(\.title) == ["z", "z", "z"])
        do {
            _ = try await steps.next(isolation: #isolation)
            Issue.record("no error")
        } catch {
            #expect("\(error)".contains("closed"))
        }
        #expect(try await steps.next(isolation: #isolation) == nil)
        fixture.books[70].title = "y"
        fixture.context.processPendingChanges()
        #expect(fixture.books[70].title == "y")
    }

    @Test("The view context reaches a boundary by itself once the main actor has nothing else to do")
    @MainActor func viewContext() async throws {
        let file = try LibraryFile()
        let results = try file.container.viewContext.live(byTitle)
        _ = Book(file.container.viewContext, title: "a")
        #expect(results.isEmpty)
        for _ in 0..<10_000 where results.isEmpty { await Task.yield() }
        #expect(results.map(\.title) == ["a"])
    }

    @Test("A result that nobody keeps costs nothing any more")
    func dropped() throws {
        let fixture = try Fixture(["a"])
        weak var dropped: FetchedResults<Book>?
        do {
            let results = try fixture.context.live(byTitle)
            dropped = results
            fixture.books[0].title = "b"
            fixture.context.processPendingChanges()
            #expect(results.first?.title == "b")
        }
        #expect(dropped == nil)
        fixture.books[0].title = "c"
        fixture.context.processPendingChanges()
        try fixture.context.save()
    }

    @Test("Live values follow groups and aggregates, and stay silent where nothing is different")
    func values() throws {
        let fixture = try Fixture(["a", "b", "c"])
        let ann = Author(fixture.context, name: "Ann")
        try fixture.context.save()
        let request = ValueRequest(
            FetchRequest<Book>(),
            columns: [
                FetchColumn("author", .keyPath(["author", "name"])),
                FetchColumn("pages", .function(.sum, [.keyPath(["pages"])])),
            ])
        let totals = try fixture.context.live(request.groupedByAuthor())
        func rows() -> [String] { totals.rows.map { "\($0["author"])=\($0["pages"])" } }
        let before = rows()
        #expect(before.count == 1)
        let count = Guarded(0)
        withObservationTracking {
            _ = totals.rows
        } onChange: {
            count.withLock { $0 += 1 }
        }
        fixture.books[0].title = "other"
        fixture.context.processPendingChanges()
        #expect(count.withLock(\.self) == 0)
        fixture.books[2].author = ann
        fixture.context.processPendingChanges()
        #expect(count.withLock(\.self) == 1 && rows().count == 2)
        ann.name = "Anna"
        fixture.context.processPendingChanges()
        #expect(rows().contains { $0.contains("Anna") })
    }
}

extension FetchPredicate {
    /// Books with at least this many pages.
    init(pages: Int64) {
        self = .comparison(.keyPath(["pages"]), .greaterOrEqual, .constant(.integer(pages)), [])
    }
}

extension ValueRequest {
    func groupedByAuthor() -> ValueRequest {
        var result = self
        result.groupBy = [.keyPath(["author", "name"])]
        return result
    }
}
