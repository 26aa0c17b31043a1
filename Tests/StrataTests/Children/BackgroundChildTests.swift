import Foundation
import Strata
import StrataStore
import Testing

/// Children on queues of their own, of a context that lives in another isolation domain.
@Suite(.timeLimit(.minutes(10))) @MainActor struct BackgroundChildTests {
    private let file: LibraryFile
    private let parent: ManagedObjectContext

    init() throws {
        file = try LibraryFile()
        parent = file.container.viewContext
        for name in ["A", "B"] {
            let author = Author(parent, name: name)
            for number in 0..<3 { _ = Book(parent, title: "\(name)\(number)", author: author) }
        }
        try save(parent)
    }

    nonisolated private static func book(_ title: String, _ context: ManagedObjectContext) throws -> Book {
        let request = FetchRequest<Book>(where: try FetchPredicate(format: "title == %@", title))
        return try #require(try context.fetchFirst(request))
    }

    nonisolated private static func author(_ name: String, _ context: ManagedObjectContext) throws -> Author {
        let request = FetchRequest<Author>(where: try FetchPredicate(format: "name == %@", name))
        return try #require(try context.fetchFirst(request))
    }

    nonisolated private static func titles(_ context: ManagedObjectContext) throws -> [String] {
        try context.fetch(FetchRequest<Book>(sortedBy: [FetchSort("title")])).map(\.title)
    }

    private func save(_ context: ManagedObjectContext) throws { try context.save() }

    private func stored() throws -> [String] { try Self.titles(file.container.newContext()) }

    /// What a task throws of the framework's errors; nil if nothing.
    private func error<R>(_ body: () async throws -> R) async -> PersistenceError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? PersistenceError
        }
    }

    // MARK: Reading

    @Test("A child shows the parent's unsaved inserts, changes and deletes, as they were when the perform began")
    func reads() async throws {
        try Self.book("A0", parent).title = "Z"
        parent.delete(try Self.book("A1", parent))
        _ = Book(parent, title: "New", author: try Self.author("B", parent))
        try Self.author("A", parent).name = "Y"
        let child = parent.makeBackgroundChild()
        let expected = ["A2", "B0", "B1", "B2", "New", "Z"]
        #expect(try await child.perform { try Self.titles($0) } == expected)
        #expect(try child.performAndWait { try Self.titles($0) } == expected)
        let found = try await child.perform { context in
            let author = try Self.author("Y", context)
            let format = try FetchPredicate(format: "author.name == 'Y'")
            let titles = author.books.map(\.title).sorted()
            return "\(titles) \(try context.count(FetchRequest<Book>(where: format)))"
        }
        #expect(found == "[\"A2\", \"Z\"] 2")
        #expect(try await child.perform { try await $0.fetchIDs(FetchRequest<Book>()).count } == 6)
        #expect(await child.perform { $0.hasChanges } == false)
        #expect(await child.perform { $0.parent == nil })
        #expect(try stored() == ["A0", "A1", "A2", "B0", "B1", "B2"])
    }

    @Test("A child follows its parent from one perform to the next, and keeps its unsaved changes on top")
    func follows() async throws {
        let child = parent.makeBackgroundChild()
        let id = try Self.book("A0", parent).objectID
        try await child.perform { try $0.existingObject(Book.self, with: id).pages = 7 }
        try Self.book("A0", parent).title = "Z"
        let shown = try await child.perform { context in
            let book = try context.existingObject(Book.self, with: id)
            return "\(book.title) \(book.pages)"
        }
        #expect(shown == "Z 7")
        try save(parent)
        try Self.book("Z", parent).title = "Y"
        parent.rollback()
        #expect(try await child.perform { try $0.existingObject(Book.self, with: id).title } == "Z")
        // Commits of others come through the store.
        let other = file.container.newContext()
        try Self.book("Z", other).title = "X"
        try save(other)
        #expect(try await child.perform { try $0.existingObject(Book.self, with: id).title } == "X")
    }

    @Test("A child that does not follow keeps what it has read")
    func unfollowing() async throws {
        let child = parent.makeBackgroundChild()
        let id = try Self.book("A0", parent).objectID
        nonisolated(unsafe) var kept: Book?
        try await child.perform { context in
            context.automaticallyMergesChanges = false
            kept = try context.existingObject(Book.self, with: id)
            #expect(kept?.title == "A0")
        }
        try Self.book("A0", parent).title = "Z"
        await child.perform { _ in
            #expect(kept?.title == "A0")
            kept = nil
        }
        #expect(try await child.perform { try $0.existingObject(Book.self, with: id).title } == "Z")
    }

    // MARK: Saving

    @Test("A save hands inserts, changes, deletes with cascades, pairs and orders to the parent, and to nobody else")
    func saves() async throws {
        let tag = Tag(parent, label: "t")
        try save(parent)
        let tagID = tag.objectID
        let child = parent.makeBackgroundChild()
        let new = try await child.perform { context in
            context.delete(try Self.author("B", context))  // with its three books
            let author = try Self.author("A", context)
            author.score = 9
            let book = Book(context, title: "New", author: author)
            book.tags = [try context.existingObject(Tag.self, with: tagID)]
            author.favourites = try [book, Self.book("A2", context), Self.book("A0", context)]
            try await context.save()
            #expect(!context.hasChanges)
            return book.objectID
        }
        let author = try Self.author("A", parent)
        #expect(author.score == 9)
        #expect(author.favourites.map(\.title) == ["New", "A2", "A0"])
        #expect(tag.books.map(\.objectID) == [new])
        #expect(try Self.titles(parent) == ["A0", "A1", "A2", "New"])
        #expect(parent.hasChanges)
        #expect(parent.insertedObjects.map(\.objectID) == [new])
        #expect(try stored() == ["A0", "A1", "A2", "B0", "B1", "B2"])
        #expect(try await child.perform { try Self.titles($0) } == ["A0", "A1", "A2", "New"])
        try await parent.save()
        #expect(try stored() == ["A0", "A1", "A2", "New"])
        // The child goes on with what is stored now.
        try await child.perform { context in
            try context.existingObject(Book.self, with: new).title = "Newer"
            try await context.save()
        }
        try save(parent)
        #expect(try stored() == ["A0", "A1", "A2", "Newer"])
    }

    @Test("The order of a relationship that the parent has changed meanwhile is merged")
    func order() async throws {
        let author = try Self.author("A", parent)
        author.favourites = try ["A0", "A1"].map { try Self.book($0, parent) }
        try save(parent)
        let child = parent.makeBackgroundChild()
        try await child.perform { context in
            let author = try Self.author("A", context)
            author.favourites = try ["A1", "A0"].map { try Self.book($0, context) }
        }
        author.favourites.append(try Self.book("B0", parent))
        try await child.perform { try await $0.save() }
        #expect(
            author.favourites.map(\.title) == ["A1", "B0", "A0"]
                || author.favourites.map(\.title) == ["A1", "A0", "B0"])
        try save(parent)
        let stored = try Self.author("A", file.container.newContext()).favourites.map(\.title)
        #expect(stored == author.favourites.map(\.title))
    }

    @Test("The blocking form of a save throws an error that names the other, and changes nothing")
    func blockingSave() async throws {
        let child = parent.makeBackgroundChild()
        let error = try await child.perform { context in
            try Self.book("A0", context).pages = 7
            let error = persistenceError { try context.save() }
            #expect(context.hasChanges)
            return error
        }
        guard case .needsAsynchronousSave? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect("\(try #require(error))".contains("try await context.save()"))
        #expect(try Self.book("A0", parent).pages == 100)
        // Blocking the main actor for the child's queue ends, though its parent is on the main actor.
        let blocked = child.performAndWait { context in persistenceError { try context.save() } }
        #expect(blocked != nil)
    }

    @Test("Validation of the child fails before anything crosses")
    func validation() async throws {
        let child = parent.makeBackgroundChild()
        let failure = await error {
            try await child.perform { context in
                _ = Tag(inserting: context)
                context.delete(try Self.book("A0", context))
                try await context.save()
            }
        }
        guard case .validation? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(!parent.hasChanges)
        #expect(await child.perform { $0.hasChanges })
    }

    // MARK: Conflicts

    /// A child that has changed the title and the price of a book, and a parent that has changed its title since.
    private func conflicting(_ policy: MergePolicy) async throws -> (child: BackgroundContext, id: ObjectID) {
        let child = parent.makeBackgroundChild()
        let id = try Self.book("A0", parent).objectID
        try await child.perform { context in
            context.mergePolicy = policy
            // Otherwise the parent's change comes below the child's, before the save.
            context.automaticallyMergesChanges = false
            let book = try context.existingObject(Book.self, with: id)
            book.title = "child"
            book.pages = 7
        }
        try Self.book("A0", parent).title = "parent"
        return (child, id)
    }

    @Test("Under the policy error, a change of the same object in the parent is a conflict")
    func conflict() async throws {
        let (child, id) = try await conflicting(.error)
        guard case .conflicts(let conflicts)? = await error({ try await child.perform { try await $0.save() } }) else {
            Issue.record("no conflict")
            return
        }
        #expect(conflicts.map(\.objectID) == [id])
        #expect(conflicts[0].properties.map(\.name) == ["title"])
        #expect(try Self.book("parent", parent).pages == 100)
        #expect(await child.perform { $0.hasChanges })
        await child.perform { $0.mergePolicy = .objectWinsByProperty }
        try await child.perform { try await $0.save() }
        #expect(try Self.book("child", parent).pages == 7)
    }

    @Test("Under a policy by property, the parent's or the child's value wins", arguments: [true, false])
    func policies(childWins: Bool) async throws {
        let (child, id) = try await conflicting(childWins ? .objectWinsByProperty : .storeWinsByProperty)
        try await child.perform { try await $0.save() }
        let book = try parent.existingObject(Book.self, with: id)
        #expect(book.title == (childWins ? "child" : "parent") && book.pages == 7)
        #expect(try await child.perform { try $0.existingObject(Book.self, with: id).title } == book.title)
        #expect(await child.perform { !$0.hasChanges })
    }

    @Test("The parent's save, with what others have committed, is met by the child's policy as well")
    func parentSaved() async throws {
        let (child, id) = try await conflicting(.objectWinsByProperty)
        try save(parent)
        let other = file.container.newContext()
        try Self.book("parent", other).price = 5
        try save(other)
        try await child.perform { try await $0.save() }
        let book = try parent.existingObject(Book.self, with: id)
        #expect(book.title == "child" && book.pages == 7 && book.price == 5)
        try save(parent)
        let stored = try file.container.newContext().existingObject(Book.self, with: id)
        #expect(stored.title == "child" && stored.pages == 7 && stored.price == 5)
    }

    @Test(
        "What the parent has deleted, and saved or not, is a conflict, or comes back",
        arguments: [
            (true, MergePolicy.error), (false, .error), (true, .objectWinsByProperty), (false, .objectWinsByProperty),
        ])
    func deleted(saved: Bool, policy: MergePolicy) async throws {
        let (child, id) = try await conflicting(policy)
        parent.delete(try Self.book("parent", parent))
        if saved { try save(parent) }
        let failure = await error { try await child.perform { try await $0.save() } }
        guard policy == .objectWinsByProperty else {
            guard case .conflicts(let conflicts)? = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(conflicts.map(\.objectID) == [id] && conflicts[0].reason == .deletedInStore)
            #expect(try Self.titles(parent) == ["A1", "A2", "B0", "B1", "B2"])
            return
        }
        #expect(failure == nil)
        let book = try parent.existingObject(Book.self, with: id)
        #expect(book.title == "child" && book.pages == 7 && book.author?.name == "A")
        try save(parent)
        #expect(try stored() == ["A1", "A2", "B0", "B1", "B2", "child"])
    }

    @Test("Deletes on both sides are no conflict, and a delete of what the parent has changed is one")
    func deletes() async throws {
        let child = parent.makeBackgroundChild()
        let ids = try ["A0", "A1"].map { try Self.book($0, parent).objectID }
        try await child.perform { context in
            context.automaticallyMergesChanges = false
            for id in ids { context.delete(try context.existingObject(with: id)) }
        }
        parent.delete(try Self.book("A0", parent))
        try Self.book("A1", parent).pages = 3
        guard case .conflicts(let conflicts)? = await error({ try await child.perform { try await $0.save() } }) else {
            Issue.record("no conflict")
            return
        }
        #expect(conflicts.map(\.objectID) == [ids[1]])
        await child.perform { $0.mergePolicy = .objectWinsByProperty }
        try await child.perform { try await $0.save() }
        #expect(try Self.titles(parent) == ["A2", "B0", "B1", "B2"])
        try save(parent)
        #expect(try stored() == ["A2", "B0", "B1", "B2"])
    }

    @Test("Additions to a to-many relationship on both sides, and increments, are no conflict")
    func commutative() async throws {
        let tags = ["t", "u"].map { Tag(parent, label: $0) }
        try save(parent)
        let ids = tags.map(\.objectID)
        let child = parent.makeBackgroundChild()
        try await child.perform { context in
            context.automaticallyMergesChanges = false
            let book = try Self.book("A0", context)
            book.tags.insert(try context.existingObject(Tag.self, with: ids[0]))
            try book.increment("pages", by: 5)
        }
        let book = try Self.book("A0", parent)
        book.tags.insert(tags[1])
        book.pages = 50
        try await child.perform { try await $0.save() }
        #expect(book.tags == Set(tags))
        #expect(book.pages == 55)
    }

    // MARK: The parent's life

    @Test("A reset parent keeps its children: they show the store, and save what they have")
    func reset() async throws {
        let child = parent.makeBackgroundChild()
        let id = try Self.book("A0", parent).objectID
        try await child.perform { try $0.existingObject(Book.self, with: id).pages = 7 }
        try Self.book("A0", parent).title = "lost"
        #expect(try await child.perform { try $0.existingObject(Book.self, with: id).title } == "lost")
        parent.reset()
        #expect(try await child.perform { try $0.existingObject(Book.self, with: id).title } == "A0")
        try await child.perform { try await $0.save() }
        #expect(try Self.book("A0", parent).pages == 7)
    }

    @Test("A parent that is gone is an error of the save, and the child keeps its changes")
    func gone() async throws {
        let owner = Owner(file.container)
        let child = await owner.child()
        try await child.perform { try Self.book("A0", $0).pages = 7 }
        await owner.release()
        guard case .parentReleased? = await error({ try await child.perform { try await $0.save() } }) else {
            Issue.record("a save to nobody")
            return
        }
        #expect(await child.perform { $0.hasChanges })
        #expect(try await child.perform { try Self.titles($0).count } == 6)
    }

    @Test("A child of a child, of a background context and of an actor's context")
    func chains() async throws {
        let background = file.container.newBackgroundContext()
        try await background.perform { try Self.book("A0", $0).title = "Z" }
        let child = await background.makeBackgroundChild()
        let grandchild = await child.makeBackgroundChild()
        try await child.perform { try Self.book("A1", $0).title = "Y" }
        #expect(try await grandchild.perform { try Self.titles($0) } == ["A2", "B0", "B1", "B2", "Y", "Z"])
        try await grandchild.perform { context in
            try Self.book("Y", context).pages = 7
            try Self.book("Z", context).pages = 8
            try await context.save()
        }
        #expect(try await background.perform { try Self.book("Z", $0).pages } == 100)
        try await child.perform { try await $0.save() }
        #expect(try await background.perform { try Self.book("Z", $0).pages } == 8)
        try await background.perform { try await $0.save() }
        #expect(try stored() == ["A2", "B0", "B1", "B2", "Y", "Z"])
        let owner = Owner(file.container)
        let other = await owner.child()
        try await other.perform { context in
            try Self.book("Z", context).title = "X"
            try await context.save()
        }
        try await owner.save()
        #expect(try stored().contains("X"))
    }

    @Test("Several children at once save to one parent, and all of it arrives")
    func several() async throws {
        let children = (0..<6).map { _ in parent.makeBackgroundChild() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, child) in children.enumerated() {
                group.addTask {
                    for round in 0..<10 {
                        try await child.perform { context in
                            _ = Book(context, title: "n\(number)-\(round)", author: try Self.author("A", context))
                            try Self.author("B", context).increment("score")
                            try await context.save()
                        }
                    }
                }
            }
            for _ in 0..<20 {
                try await parent.save()
                await Task.yield()
            }
            try await group.waitForAll()
        }
        try await parent.save()
        let context = file.container.newContext()
        #expect(try Self.author("A", context).books.count == 63)
        #expect(try Self.author("B", context).score == 60)
    }

    @Test("The parent undoes what a child has saved as one step")
    func undo() async throws {
        let undo = UndoHistory()
        parent.undoManager = undo
        let child = parent.makeBackgroundChild()
        try await child.perform { context in
            try Self.book("A0", context).title = "Z"
            context.delete(try Self.author("B", context))
            _ = Tag(context, label: "t")
            try await context.save()
        }
        #expect(try Self.titles(parent) == ["A1", "A2", "Z"])
        try undo.undo()
        #expect(try Self.titles(parent) == ["A0", "A1", "A2", "B0", "B1", "B2"])
        #expect(try await child.perform { try Self.titles($0) } == ["A0", "A1", "A2", "B0", "B1", "B2"])
        try undo.redo()
        #expect(try Self.titles(parent) == ["A1", "A2", "Z"])
        #expect(try await child.perform { try Self.titles($0) } == ["A1", "A2", "Z"])
    }

    @Test("A live result of the parent shows the child's save, and one of the child shows the parent's edits")
    func live() async throws {
        let results = try parent.live(FetchRequest<Book>(sortedBy: [FetchSort("title")]))
        let child = parent.makeBackgroundChild()
        nonisolated(unsafe) var inner: FetchedResults<Book>?
        try await child.perform { context in
            inner = try context.live(FetchRequest<Book>(sortedBy: [FetchSort("title")]))
            try Self.book("A0", context).title = "Z"
            try await context.save()
        }
        #expect(results.map(\.title) == ["A1", "A2", "B0", "B1", "B2", "Z"])
        try Self.book("A1", parent).title = "Y"
        parent.delete(try Self.book("A2", parent))
        _ = Book(parent, title: "New")
        await child.perform { _ in
            #expect(inner?.map(\.title) == ["B0", "B1", "B2", "New", "Y", "Z"])
            inner = nil
        }
    }

    @Test("A cancelled task does not tear a save in two")
    func cancellation() async throws {
        let child = parent.makeBackgroundChild()
        let task = Task {
            try await child.perform { context in
                for number in 0..<50 { _ = Book(context, title: "c\(number)") }
                withUnsafeCurrentTask { $0?.cancel() }
                try await context.save()
            }
        }
        try await task.value
        #expect(try Self.titles(parent).count == 56)
        #expect(await child.perform { !$0.hasChanges })
    }

    @Test("A child of a pinned context reads the same version")
    func pinned() async throws {
        try parent.pin(for: .seconds(3_600))
        let child = parent.makeBackgroundChild()
        let other = file.container.newContext()
        try Self.book("A0", other).title = "Z"
        try save(other)
        #expect(try await child.perform { try Self.titles($0).first } == "A0")
        try parent.pin(for: .seconds(3_600))
        #expect(try await child.perform { try Self.titles($0).last } == "Z")
        parent.unpin()
        try Self.book("Z", other).title = "Y"
        try save(other)
        #expect(try await child.perform { try Self.titles($0).last } == "Y")
    }

    @Test("A closed store is an error of the child's reads and saves")
    func closed() async throws {
        let child = parent.makeBackgroundChild()
        try await child.perform { try Self.book("A0", $0).pages = 7 }
        file.container.close()
        guard case .store(.closed)? = await error({ try await child.perform { try Self.titles($0) } }) else {
            Issue.record("a closed store was read")
            return
        }
    }
}

/// An actor with a context in a property.
private actor Owner {
    private var context: ManagedObjectContext
    private let container: PersistentContainer

    init(_ container: PersistentContainer) {
        self.container = container
        context = container.newContext()
    }

    /// Releases the context, and takes another one.
    func release() { context = container.newContext() }
    func child() -> BackgroundContext { context.makeBackgroundChild() }
    func save() throws { try context.save() }
}
