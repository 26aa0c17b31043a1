import Foundation
import Strata
import StrataStore
import Testing

/// A context that is pinned to one version of the store.
@Suite(.timeLimit(.minutes(10))) struct PinnedContextTests {
    private let file: LibraryFile
    private let context: ManagedObjectContext
    private let other: ManagedObjectContext

    init() throws {
        file = try LibraryFile()
        context = file.container.newContext(automaticallyMergesChanges: true)
        other = file.container.newContext()
        for name in ["A", "B"] {
            let author = Author(other, name: name)
            for number in 0..<3 { _ = Book(other, title: "\(name)\(number)", author: author) }
        }
        try other.save()
    }

    private var byTitle: FetchRequest<Book> { FetchRequest<Book>(sortedBy: [FetchSort("title")]) }

    private func titles(_ context: ManagedObjectContext) throws -> [String] {
        try context.fetch(byTitle).map(\.title)
    }

    private func rename(_ title: String, to new: String, in context: ManagedObjectContext) throws {
        let request = FetchRequest<Book>(where: try FetchPredicate(format: "title == %@", title))
        try #require(try context.fetchFirst(request)).title = new
        try context.save()
    }

    /// The error of the store that a closure throws; nil if none.
    private func storeError<R>(_ body: () throws -> R) -> StoreError? {
        guard case .store(let error)? = persistenceError(body) else { return nil }
        return error
    }

    private func isReleased(_ error: StoreError?) -> Bool {
        if case .versionReleased? = error { true } else { false }
    }

    private func titlesLater(_ context: ManagedObjectContext) async throws -> [String] {
        try await context.fetch(byTitle).map(\.title)
    }

    private func save(_ context: ManagedObjectContext) throws { try context.save() }

    /// Renames an author, adds a book to it and deletes another one.
    private func edit() throws -> ObjectID {
        let author = try #require(try other.fetchFirst(FetchRequest<Author>(sortedBy: [FetchSort("name")])))
        _ = Book(other, title: "New", author: author)
        author.name = "Y"
        other.delete(try #require(try other.fetch(byTitle).first { $0.title == "B2" }))
        try other.save()
        return author.objectID
    }

    // MARK: Reading

    @Test("Fetches, counts, values, faults and relationships show the version, until the context is unpinned")
    func reads() async throws {
        try context.pin(for: .seconds(3_600))
        #expect(context.isPinned)
        try rename("A0", to: "Z", in: other)
        let author = try edit()
        try checkBlocking()
        let old = ["A0", "A1", "A2", "B0", "B1", "B2"]
        #expect(try titles(context) == old)
        let later = try await titlesLater(context)
        #expect(later == old)
        let count = try await context.count(FetchRequest<Book>())
        let ids = try await context.fetchIDs(FetchRequest<Book>())
        #expect(count == 6 && ids.count == 6)
        let lazy = try await context.fetchLazily(byTitle, batchSize: 2).map(\.title)
        #expect(lazy == old)
        let values = try await context.fetchValues(pages)
        #expect(values.count == 6)
        let mine = try context.existingObject(Author.self, with: author)
        #expect(mine.name == "A" && Set(mine.books.map(\.title)) == ["A0", "A1", "A2"])
        context.unpin()
        #expect(!context.isPinned)
        #expect(mine.name == "Y" && Set(mine.books.map(\.title)) == ["A1", "A2", "New", "Z"])
        #expect(try titles(context) == ["A1", "A2", "B0", "B1", "New", "Z"])
    }

    private var pages: ValueRequest<Book, FetchedRow> {
        FetchRequest<Book>().select(ValueExpression<Int64>(.keyPath(["pages"])))
    }

    /// The same in the forms that block.
    private func checkBlocking() throws {
        #expect(try context.count(FetchRequest<Book>()) == 6)
        #expect(try context.exists(FetchRequest<Book>(where: try FetchPredicate(format: "title == 'B2'"))))
        #expect(try context.fetchLazily(byTitle, batchSize: 2).map(\.title) == ["A0", "A1", "A2", "B0", "B1", "B2"])
        #expect(try context.fetchValues(pages).count == 6)
    }

    @Test("What another process commits is not seen either")
    func otherProcess() throws {
        try context.pin(for: .seconds(3_600))
        #expect(try titles(context).count == 6)
        let shell = try SQLiteShell(file.path)
        try shell.run("UPDATE book SET title = 'other', _version = _version + 1 WHERE title = 'A0'")
        try shell.run("DELETE FROM book WHERE title = 'A1'")
        #expect(try titles(context) == ["A0", "A1", "A2", "B0", "B1", "B2"])
        try context.pin(for: .seconds(3_600))
        #expect(try titles(context) == ["A2", "B0", "B1", "B2", "other"])
    }

    @Test("Objects that the context had before take the values of the version, and keep their changes")
    func registered() throws {
        let books = try context.fetch(byTitle)
        context.automaticallyMergesChanges = false
        books[1].pages = 7
        try rename("A0", to: "Z", in: other)
        try rename("A1", to: "Y", in: other)
        #expect(books[0].title == "A0")
        try context.pin(for: .seconds(3_600))
        #expect(books[0].title == "Z")
        #expect(books[1].title == "Y" && books[1].pages == 7 && books[1].hasChanges)
        try rename("Z", to: "X", in: other)
        context.processPendingChanges()
        #expect(books[0].title == "Z")
    }

    @Test("Rows of a version do not come into other contexts, and newer rows do not come into the version")
    func rowCache() throws {
        try context.pin(for: .seconds(3_600))
        // Batches of more than one row go into a cache, for other contexts.
        let mine = try context.fetch(byTitle)
        try rename("A0", to: "Z", in: other)
        let fresh = file.container.newContext()
        let theirs = try fresh.fetch(byTitle)
        #expect(theirs.map(\.title) == ["A1", "A2", "B0", "B1", "B2", "Z"])
        #expect(mine.map(\.title) == ["A0", "A1", "A2", "B0", "B1", "B2"])
        for book in mine { try context.refresh(book, mergingChanges: false) }
        #expect(mine.map(\.title) == ["A0", "A1", "A2", "B0", "B1", "B2"])
        // Faults by key, which look into the cache first.
        let again = file.container.newContext()
        let faults = try mine.map { try again.object(with: $0.objectID) as? Book }
        #expect(faults.map { $0?.title } == ["Z", "A1", "A2", "B0", "B1", "B2"])
        try context.pin(for: .seconds(3_600))
        #expect(mine.map(\.title) == ["Z", "A1", "A2", "B0", "B1", "B2"])
    }

    @Test("A child context reads what its parent is pinned to, and cannot be pinned by itself")
    func child() throws {
        try context.pin(for: .seconds(3_600))
        let child = context.makeChild()
        #expect(child.isPinned)
        try rename("A0", to: "Z", in: other)
        #expect(try titles(child).first == "A0")
        guard case .unsupported(_, let feature)? = storeError({ try child.pin() }) else {
            Issue.record("a child was pinned")
            return
        }
        #expect(feature.contains("outermost parent"))
        child.unpin()
        #expect(child.isPinned)
    }

    @Test("Several contexts are pinned to versions of their own, more than the store has readers")
    func several() throws {
        var pinned: [ManagedObjectContext] = []
        for number in 0..<12 {
            let context = file.container.newContext()
            try context.pin(for: .seconds(3_600))
            pinned.append(context)
            _ = Author(other, name: "more \(number)")
            try other.save()
        }
        let all = FetchRequest<Author>()
        for (number, context) in pinned.enumerated() {
            #expect(try context.fetch(all).count == 2 + number)
        }
        #expect(try file.container.newContext().count(all) == 14)
    }

    @Test("A reset forgets objects, and the context stays pinned")
    func reset() throws {
        try context.pin(for: .seconds(3_600))
        try rename("A0", to: "Z", in: other)
        context.reset()
        #expect(context.isPinned)
        #expect(try titles(context).first == "A0")
        #expect(context.automaticallyMergesChanges)
        context.unpin()
        #expect(try titles(context).last == "Z")
        try rename("Z", to: "W", in: other)
        context.processPendingChanges()
        #expect(try titles(context).last == "W")
    }

    @Test("A live result of a pinned context changes when the context goes forward")
    func live() throws {
        try context.pin(for: .seconds(3_600))
        let results = try context.live(byTitle)
        let listener = Listener(results.snapshot.ids)
        results.delegate = listener
        try rename("A0", to: "Z", in: other)
        context.processPendingChanges()
        #expect(results.map(\.title).first == "A0" && listener.updates.isEmpty)
        try context.pin(for: .seconds(3_600))
        #expect(results.map(\.title).last == "Z")
        #expect(listener.ids == results.map(\.objectID))
    }

    // MARK: Saving

    @Test("A save goes forward to the version that it makes")
    func save() throws {
        try context.pin(for: .seconds(3_600))
        let books = try context.fetch(byTitle)
        try rename("A0", to: "Z", in: other)
        books[1].pages = 7
        try context.save()
        #expect(context.isPinned)
        #expect(books[0].title == "Z" && books[1].pages == 7)
        try rename("A2", to: "Y", in: other)
        #expect(try titles(context) == ["A1", "A2", "B0", "B1", "B2", "Z"])
    }

    @Test("An asynchronous save goes forward, too, and so does a bulk operation")
    func otherWrites() async throws {
        try context.pin(for: .seconds(3_600))
        let books = try await context.fetch(byTitle)
        try rename("A0", to: "Z", in: other)
        books[1].pages = 7
        try await context.save()
        #expect(books[0].title == "Z" && books[1].pages == 7)
        try rename("A2", to: "Y", in: other)
        #expect(books[2].title == "A2")
        let count = try context.update(FetchRequest<Book>()) { $0.pages = 5 }
        #expect(count == 6)
        #expect(books[2].title == "Y" && books.allSatisfy { $0.pages == 5 })
    }

    @Test("A save finds conflicts with what others have committed since the version, and the version stays if it fails")
    func conflict() throws {
        try context.pin(for: .seconds(3_600))
        let books = try context.fetch(byTitle)
        try rename("A0", to: "Z", in: other)
        try rename("A1", to: "Y", in: other)
        books[0].title = "mine"
        guard case .conflicts(let conflicts)? = persistenceError({ try context.save() }) else {
            Issue.record("no conflict")
            return
        }
        #expect(conflicts.map(\.objectID) == [books[0].objectID])
        #expect(books[0].title == "mine" && books[1].title == "A1")
        #expect(try titles(context) == ["A1", "A2", "B0", "B1", "B2", "mine"])
        context.mergePolicy = .storeWinsByProperty
        try context.save()
        #expect(books[0].title == "Z" && books[1].title == "Y")
    }

    @Test("A unique value that others have committed since is found by the save")
    func unique() throws {
        context.mergePolicy = .objectWinsByProperty
        try context.pin(for: .seconds(3_600))
        let mine = Author(context, name: "mine")
        mine.authorId = "x"
        let theirs = Author(other, name: "theirs")
        theirs.authorId = "x"
        theirs.score = 4
        try other.save()
        #expect(try context.count(FetchRequest<Author>(where: try FetchPredicate(format: "score == 4"))) == 0)
        try context.save()
        #expect(mine.objectID == theirs.objectID && mine.name == "mine" && mine.score == 4)
    }

    // MARK: Limits

    @Test("After the duration, reads throw an error that says what to do, and the log can be emptied")
    func expiry() throws {
        context.onFaultError = { _, _ in }
        try context.pin(for: .milliseconds(300))
        let books = try context.fetch(byTitle)
        let fault = try context.object(with: try #require(try other.fetchFirst(FetchRequest<Author>())).objectID)
        let child = context.makeChild()
        for number in 0..<50 { try rename(number == 0 ? "A0" : "Z\(number - 1)", to: "Z\(number)", in: other) }
        let shell = try SQLiteShell(file.path)
        // Busy: the log cannot be emptied while a version is held.
        #expect(try shell.lines("PRAGMA wal_checkpoint(TRUNCATE)") == ["1"])
        // Nothing uses the context meanwhile. A busy machine may take longer than the duration.
        let deadline = ContinuousClock.now + .seconds(20)
        while try shell.lines("PRAGMA wal_checkpoint(TRUNCATE)") != ["0"], .now < deadline {
            Thread.sleep(forTimeInterval: 0.05)
        }
        let size = try FileManager.default.attributesOfItem(atPath: file.path + "-wal")[.size] as? Int
        #expect(size == 0)
        let error = storeError { try context.fetch(byTitle) }
        #expect(isReleased(error))
        #expect("\(try #require(error))".contains("pin the context again"))
        #expect(isReleased(storeError { try context.count(FetchRequest<Book>()) }))
        #expect(isReleased(storeError { try child.fetch(byTitle) }))
        #expect(fault["name"] as? String ?? "" == "")
        guard case .store(let faultError)? = context.lastFaultError else {
            Issue.record("the fault's error was not reported")
            return
        }
        #expect(isReleased(faultError))
        #expect(books[0].title == "A0" && context.isPinned)
        try context.pin(for: .seconds(3_600))
        #expect(books[0].title == "Z49")
    }

    @Test("An asynchronous fetch of a released version throws the same error")
    func asynchronousExpiry() async throws {
        try context.pin(for: .milliseconds(1))
        try await Task.sleep(for: .milliseconds(20))
        do {
            _ = try await titlesLater(context)
            Issue.record("a released version was read")
        } catch PersistenceError.store(let error) {
            #expect(isReleased(error))
        }
        context.unpin()
        let titles = try await titlesLater(context)
        #expect(titles.count == 6)
    }

    @Test("Unsaved changes outlive the version: unpin and save, or save if nothing must be read")
    func changesOutlive() throws {
        try context.pin(for: .milliseconds(50))
        let book = try #require(try context.fetch(byTitle).first)
        book.pages = 9
        Thread.sleep(forTimeInterval: 0.1)
        #expect(isReleased(storeError { try context.fetch(byTitle) }))
        try context.save()
        #expect(book.pages == 9)
        // The save went forward.
        #expect(try titles(context).count == 6)
        #expect(try other.count(FetchRequest<Book>(where: try FetchPredicate(format: "pages == 9"))) == 1)
    }

    @Test("A duration of nothing, or of more than an hour, is refused")
    func durations() throws {
        for duration in [Duration.zero, .seconds(-1), .seconds(3601)] {
            guard case .invalidOption(let name, _, _)? = storeError({ try context.pin(for: duration) }) else {
                Issue.record("\(duration) was accepted")
                return
            }
            #expect(name == "duration" && !context.isPinned)
        }
        try context.pin(for: .seconds(3600))
    }

    @Test("A store in memory refuses by name, and the context stays as it was")
    func memory() throws {
        let container = try PersistentContainer(Library.self, at: .memory(name: nil))
        #expect(!container.store.capabilities.contains(.heldVersions))
        #expect(file.container.store.capabilities.contains(.heldVersions))
        let context = container.newContext(automaticallyMergesChanges: true)
        guard case .unsupported(let store, let feature)? = storeError({ try context.pin() }) else {
            Issue.record("a store in memory was pinned")
            return
        }
        #expect(store.contains("SQLite") && feature.contains("pinned"))
        #expect(!context.isPinned && context.automaticallyMergesChanges)
        _ = Author(context, name: "A")
        try context.save()
    }

    @Test("A container that is closed releases its versions, and says that it is closed")
    func close() throws {
        let container = try file.stranger()
        let context = container.newContext()
        try context.pin(for: .seconds(3_600))
        #expect(try titles(context).count == 6)
        container.close()
        guard case .closed? = storeError({ try context.fetch(byTitle) }) else {
            Issue.record("a closed store was read")
            return
        }
        guard case .closed? = storeError({ try context.pin() }) else {
            Issue.record("a closed store was pinned")
            return
        }
        file.container.close()
        // The last one to close the file empties the log, which a held version would prevent.
        #expect(!FileManager.default.fileExists(atPath: file.path + "-wal"))
    }

    @Test("A version is released with its context")
    func released() throws {
        func pinned() throws {
            let context = file.container.newContext()
            try context.pin(for: .seconds(600))
            #expect(try context.fetch(byTitle).count == 6)
        }
        try pinned()
        try rename("A0", to: "Z", in: other)
        #expect(try SQLiteShell(file.path).lines("PRAGMA wal_checkpoint(TRUNCATE)") == ["0"])
    }

    @Test("A version survives a checkpoint, a vacuum, a backup and a migration by others")
    func maintenance() async throws {
        try context.pin(for: .seconds(3_600))
        try rename("A0", to: "Z", in: other)
        let old = ["A0", "A1", "A2", "B0", "B1", "B2"]
        let shell = try SQLiteShell(file.path)
        _ = try shell.lines("PRAGMA wal_checkpoint(PASSIVE)")
        #expect(try titles(context) == old)
        try shell.run("VACUUM")
        #expect(try titles(context) == old)
        let copy = file.path + ".copy"
        try await file.container.backUp(to: copy)
        #expect(try titles(try PersistentContainer(Library.self, at: .file(path: copy)).newContext()).last == "Z")
        var entities = Library.entities
        let book = try #require(entities.firstIndex { $0.name == "Book" })
        entities[book].attributes.append(Attribute("isbn", .string, optional: true))
        let newer = try ManagedObjectModel(name: "Library", entities: entities)
        let migrated = try PersistentContainer(model: newer, at: .file(path: file.path))
        let count = try await migrated.newContext().count(FetchRequest<ManagedObject>(entity: "Book"))
        #expect(count == 6)
        for book in try await context.fetch(byTitle) { try context.refresh(book, mergingChanges: false) }
        #expect(try titles(context) == old)
        try #require(try await context.fetch(byTitle).first).pages = 3
        guard case .migratedElsewhere? = storeError({ try save(context) }) else {
            Issue.record("a migrated file was written by the old model")
            return
        }
        #expect(try titles(context) == old)
    }
}
