import Foundation
import Strata
import Testing

/// Objects that a context keeps because it has changed them, although its parent or others have deleted them.
@Suite(.timeLimit(.minutes(10))) @MainActor struct KeptObjectTests {
    private let file: LibraryFile
    private let parent: ManagedObjectContext
    private let author: Author
    private let book: Book

    init() throws {
        file = try LibraryFile()
        parent = file.container.viewContext
        author = Author(parent, name: "A")
        book = Book(parent, title: "a", author: author)
        try Self.save(parent)
    }

    nonisolated private static func save(_ context: ManagedObjectContext) throws { try context.save() }

    /// What another context does and saves.
    private func elsewhere(_ edit: (ManagedObjectContext) throws -> Void) throws {
        let other = file.container.newContext()
        try edit(other)
        try Self.save(other)
        parent.processPendingChanges()
    }

    private nonisolated static func titles(_ context: ManagedObjectContext) throws -> [String] {
        try context.fetch(FetchRequest<Book>(sortedBy: [FetchSort("title")])).map(\.title)
    }

    @Test("A child in another isolation domain shows what its parent keeps though others have deleted it")
    func shown() async throws {
        let child = parent.makeBackgroundChild()
        book.title = "b"
        try elsewhere { $0.delete(try $0.existingObject(Book.self, with: book.objectID)) }
        #expect(try Self.titles(parent) == ["b"])
        #expect(try await child.perform { try Self.titles($0) } == ["b"])
        let id = author.objectID
        #expect(try await child.perform { try $0.existingObject(Author.self, with: id).books.map(\.title) } == ["b"])
        // Until the parent gives its change up.
        parent.rollback()
        #expect(try Self.titles(parent) == [])
        #expect(try await child.perform { try Self.titles($0) } == [])
    }

    @Test("A child in another isolation domain shows no object as deleted that its parent has not deleted")
    func rulesHaveRun() async throws {
        let child = parent.makeBackgroundChild()
        parent.delete(author)
        #expect(book.isDeleted)
        // The rule of the delete has run, so it does not reach this one.
        try elsewhere { _ = Book($0, title: "new", author: try $0.existingObject(Author.self, with: author.objectID)) }
        #expect(try Self.titles(parent) == ["new"])
        #expect(try await child.perform { try Self.titles($0) } == ["new"])
        try Self.save(parent)
        #expect(try Self.titles(file.container.newContext()) == ["new"])
    }

    @Test("What a child makes again replaces what its parent has deleted, and is saved")
    func madeAgain() async throws {
        let child = parent.makeBackgroundChild()
        let id = book.objectID
        try await child.perform { context in
            context.mergePolicy = .objectWinsByProperty
            try context.existingObject(Book.self, with: id).title = "mine"
        }
        parent.delete(book)
        try elsewhere { $0.delete(try $0.existingObject(Book.self, with: id)) }
        try await child.perform { try await $0.save() }
        #expect(try Self.titles(parent) == ["mine"])
        #expect(parent.deletedObjects.isEmpty && parent.insertedObjects.count == 1)
        parent.mergePolicy = .objectWinsByProperty
        try Self.save(parent)
        #expect(try Self.titles(file.container.newContext()) == ["mine"])
        #expect(author.books.map(\.title) == ["mine"])
    }

    @Test("A reference that a child saves to what its parent has deleted is nil in both, even after a rollback")
    func droppedReference() async throws {
        let fan = Author(parent, name: "F")
        try Self.save(parent)
        let child = parent.makeBackgroundChild()
        let (id, fanID) = (book.objectID, fan.objectID)
        try await child.perform { context in
            try context.existingObject(Book.self, with: id).fan = try context.existingObject(Author.self, with: fanID)
        }
        parent.delete(fan)
        try await child.perform { try await $0.save() }
        #expect(book.fan == nil)
        parent.rollback()
        #expect(book.fan == nil)
        #expect(try await child.perform { try $0.existingObject(Book.self, with: id).fan == nil })
        let plain = parent.makeChild()
        try plain.existingObject(Book.self, with: id).fan = try plain.existingObject(Author.self, with: fanID)
        parent.delete(fan)
        try Self.save(plain)
        parent.rollback()
        #expect(try plain.existingObject(Book.self, with: id).fan == nil)
    }

    @Test("Members moved to an object that comes back have one order, whichever lists are loaded with its own")
    func orderOfMoved() throws {
        let (fan, rival) = (Author(parent, name: "F"), Author(parent, name: "R"))
        let later = Book(parent, title: "later", author: author)
        rival.favourites = [later]
        try Self.save(parent)
        let (bookID, laterID, fanID, rivalID) = (book.objectID, later.objectID, fan.objectID, rival.objectID)
        func titles(loading ids: [ObjectID]) throws -> [String] {
            let child = parent.makeChild()
            child.automaticallyMergesChanges = true
            let childFan = try child.existingObject(Author.self, with: fanID)
            for id in [laterID, bookID] { try child.existingObject(Book.self, with: id).fan = childFan }
            parent.delete(fan)
            parent.processPendingChanges()
            child.processPendingChanges()
            parent.rollback()
            child.processPendingChanges()
            let authors = try child.fetch(FetchRequest<Author>(where: FetchPredicate(format: "SELF IN %@", ids)))
            return try #require(authors.first { $0.objectID == fanID }).favourites.map(\.title)
        }
        let alone = try titles(loading: [fanID])
        #expect(alone.count == 2)
        #expect(try titles(loading: [rivalID, fanID]) == alone)
    }
}
