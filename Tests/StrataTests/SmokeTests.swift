import Foundation
import Strata
import Testing

@Suite struct SmokeTests {
    func container() throws -> PersistentContainer { try PersistentContainer(Library.self, at: .memory(name: nil)) }

    @Test("Objects that were inserted and saved are fetched in another context")
    func insertSaveFetch() throws {
        let container = try container()
        let context = container.newContext()
        let author = Author(context, name: "Ursula")
        author.authorId = "u"
        for i in 0..<10 { _ = Book(context, title: "b\(i)", author: author) }
        #expect(author.books.count == 10)
        try context.save()
        #expect(!context.hasChanges)
        let other = container.newContext()
        let found = try other.fetch(FetchRequest<Author>(where: AttributeKey<String>(["name"]) == "Ursula"))
        #expect(found.count == 1)
        #expect(found[0].name == "Ursula")
        #expect(found[0].books.count == 10)
        #expect(found[0].books.first?.author === found[0])
        let books = try other.fetch(FetchRequest<Book>(sortedBy: [FetchSort("title", ascending: false)], limit: 2))
        #expect(books.map(\.title) == ["b9", "b8"])
        books[0].title = "zz"
        try other.save()
        #expect(books[0].version == 2)
        let tag = Tag(other, label: "x")
        books[0].tags = [tag]
        #expect(tag.books == [books[0]])
        try other.save()
        let third = container.newContext()
        let tags = try third.fetch(FetchRequest<Tag>())
        #expect(tags[0].books.map(\.title) == ["zz"])
        third.delete(tags[0])
        #expect(throws: PersistenceError.self) { try third.save() }
        third.rollback()
        #expect(tags[0].books.count == 1)
        let a = try third.fetch(FetchRequest<Author>())[0]
        third.delete(a)
        #expect(try third.fetch(FetchRequest<Book>()).isEmpty)
        try third.save()
        #expect(try third.count(FetchRequest<Book>()) == 0)
        #expect(tags[0].books.isEmpty)
    }

    @Test("A child context sees its parent's objects and saves to it")
    func children() throws {
        let container = try container()
        let context = container.newContext()
        let author = Author(context, name: "A")
        let child = context.makeChild()
        let inner = try child.fetch(FetchRequest<Author>())[0]
        #expect(inner.name == "A")
        let book = Book(child, title: "B", author: inner)
        inner.favourites = [book]
        #expect(author.books.isEmpty)
        try child.save()
        #expect(author.books.map(\.title) == ["B"])
        #expect(author.favourites.map(\.title) == ["B"])
        try context.save()
        let fresh = container.newContext()
        #expect(try fresh.fetch(FetchRequest<Author>())[0].favourites.map(\.title) == ["B"])
    }

    @Test("Two contexts that change one object conflict, and a merge policy solves it")
    func conflicts() throws {
        let container = try container()
        let one = container.newContext()
        let author = Author(one, name: "A")
        author.authorId = "k"
        try one.save()
        let two = container.newContext()
        let same = try two.existingObject(Author.self, with: author.objectID)
        same.name = "B"
        author.score = 5
        try two.save()
        #expect(throws: PersistenceError.self) { try one.save() }
        #expect(author.score == 5)
        one.mergePolicy = .objectWinsByProperty
        try one.save()
        #expect(author.name == "B" && author.score == 5 && author.version == 3)
        let upsert = Author(two, name: "C")
        upsert.authorId = "k"
        two.mergePolicy = .objectWinsByProperty
        try two.save()
        #expect(try two.count(FetchRequest<Author>()) == 1)
        #expect(same.name == "C")
    }
}
