import Foundation
import Strata
import Testing

/// Objects that are inserted while the store cannot reserve keys.
@Suite struct KeyFallbackTests {
    @Test("Keys stay unique when the store is busy at the first insert")
    func busyAtFirstInsert() throws {
        let file = try FaultyFile(Library.self)
        let a = file.container.newContext()
        var books: [Book] = []
        file.failing([.allocateKeys]) { books = (0..<10).map { Book(a, title: "a\($0)") } }
        try a.save()
        // The other contexts reserve their keys in the store, besides those that the first still holds.
        let b = file.container.newContext()
        for number in 0..<5_000 { books.append(Book(b, title: "b\(number)")) }
        for number in 0..<5_000 { books.append(Book(a, title: "c\(number)")) }
        #expect(Set(books.map(\.objectID)).count == 10_010)
        try b.save()
        try a.save()
        let read = file.container.newContext()
        #expect(try read.count(FetchRequest<Book>()) == 10_010)
        for book in books.prefix(20) {
            #expect(try read.existingObject(Book.self, with: book.objectID).title == book.title)
        }
    }

    @Test("An object that got its key while the store was busy keeps its ID through saves, and is found by it")
    func identity() throws {
        let file = try FaultyFile(Library.self)
        let context = file.container.newContext()
        let author = file.failing(.all) { Author(context, name: "A") }
        let id = author.objectID
        try context.save()
        author.name = "B"
        try context.save()
        #expect(author.objectID == id)
        let other = try file.container.newContext().existingObject(Author.self, with: id)
        #expect(other.name == "B")
        #expect(ObjectID(uri: id.uri, model: Library.model) == id)
    }

    @Test("A process that opens the file later reserves small keys again")
    func reopened() throws {
        let file = try FaultyFile(Library.self)
        let context = file.container.newContext()
        _ = file.failing([.allocateKeys]) { Book(context, title: "a") }
        try context.save()
        let second = try PersistentContainer(Library.self, at: .file(path: file.path))
        let other = second.newContext()
        let book = Book(other, title: "b")
        try other.save()
        #expect(book.objectID.key < 1 << 61)
        second.close()
    }
}
