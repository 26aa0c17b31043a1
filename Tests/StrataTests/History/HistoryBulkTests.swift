import Foundation
import Strata
import Testing

@Suite(.recordsHistory) struct HistoryBulkTests {
    private func filled(_ count: Int) throws -> HistoryFile {
        let file = try HistoryFile()
        let context = file.container.newContext()
        let author = Author(context, name: "A")
        for number in 0..<count {
            let book = Book(context, title: "\(number)", author: author)
            book.pages = Int32(number)
        }
        try context.save()
        return file
    }

    private func request(_ condition: FetchPredicate) -> FetchRequest<Book> { FetchRequest(where: condition) }

    @Test("A bulk update records each object that is different, with author and context")
    func update() throws {
        let file = try filled(20)
        let token = try file.container.currentHistoryToken()
        let context = file.container.newContext()
        context.author = "bulk"
        context.name = "nightly"
        let count = try context.update(request(try FetchPredicate(format: "pages < 15"))) { $0.pages = 3 }
        // One of them had three pages already.
        #expect(count == 14)
        let transactions = try file.container.history(after: token)
        #expect(transactions.map(\.author) == ["bulk"])
        #expect(transactions.map(\.contextName) == ["nightly"])
        #expect(transactions[0].changes.count == 14)
        #expect(transactions[0].changes.allSatisfy { $0.kind == .updated && $0.properties == ["pages"] })
    }

    @Test("A bulk delete records what it deletes, what goes with it and what loses a reference")
    func delete() throws {
        let file = try filled(5)
        let context = file.container.newContext()
        let student = Author(context, name: "S")
        student.mentor = try context.fetch(FetchRequest<Author>()).first { $0.name == "A" }
        try context.save()
        let token = try file.container.currentHistoryToken()
        try context.deleteAll(FetchRequest<Author>(where: try FetchPredicate(format: "name == 'A'")))
        let changes = try #require(try file.container.history(after: token).first).changes
        #expect(changes.count { $0.kind == .deleted && $0.entityName == "Book" } == 5)
        #expect(changes.count { $0.kind == .deleted && $0.entityName == "Author" } == 1)
        #expect(changes.filter { $0.kind == .updated }.map(\.objectID) == [student.objectID])
        #expect(changes.filter { $0.kind == .updated }.map(\.properties) == [["mentor"]])
    }

    @Test("A bulk insert records each object")
    func insert() throws {
        let file = try HistoryFile()
        let context = file.container.newContext()
        context.author = "import"
        let ids = try context.insertAll(Tag.self, from: 0..<6000) { tag, number in
            tag.label = .value("\(number)")
        }
        let transaction = try #require(try file.container.history(after: nil).first)
        #expect(transaction.author == "import")
        #expect(Set(transaction.changes.compactMap(\.objectID)) == Set(ids))
        #expect(transaction.changes.allSatisfy { $0.kind == .inserted })
    }

    @Test("Swapped unique values are one update of each object")
    func swap() throws {
        let file = try HistoryFile()
        let context = file.container.newContext()
        let (one, two) = (Author(context, name: "1"), Author(context, name: "2"))
        one.authorId = "a"
        two.authorId = "b"
        try context.save()
        let token = try file.container.currentHistoryToken()
        one.authorId = "b"
        two.authorId = "a"
        try context.save()
        let lines = try file.container.history(after: token).flatMap(\.lines)
        #expect(lines == [one, two].map { "Author/\($0.objectID.key) authorId" }.sorted())
    }
}
