import Foundation
import Strata
import Testing

@Suite struct BulkTests {
    private func filled(_ count: Int) throws -> (LibraryFile, ManagedObjectContext) {
        let file = try LibraryFile()
        let context = file.container.newContext(automaticallyMergesChanges: true)
        let author = Author(context, name: "Ann")
        for index in 0..<count {
            let book = Book(context, title: "t\(index)", author: index % 2 == 0 ? author : nil)
            book.pages = Int32(index)
        }
        try context.save()
        return (file, context)
    }

    @Test("50,000 objects are changed by a handful of statements, and everybody hears of it")
    func many() throws {
        let file = try LibraryFile()
        let context = file.container.newContext(automaticallyMergesChanges: true)
        let ids = try context.insertAll(Tag.self, from: 0..<50_000) { tag, index in
            tag.label = .value("unread \(index)")
        }
        #expect(ids.count == 50_000)
        let results = try context.live(FetchRequest<Tag>(sortedBy: [FetchSort("label")], limit: 3))
        let tag = try context.existingObject(Tag.self, with: ids[7])
        var count = 0
        let statements = try file.statements {
            count = try context.update(FetchRequest<Tag>()) { $0.label = "read" }
        }
        #expect(count == 50_000 && statements.count <= 8, "\(statements)")
        #expect(tag.label == "read" && results.allSatisfy { $0.label == "read" })
        let again = try context.update(FetchRequest<Tag>()) { $0.label = "read" }
        #expect(again == 0)
        #expect(try context.deleteAll(FetchRequest<Tag>()) == 50_000)
        #expect(try results.isEmpty && context.count(FetchRequest<Tag>()) == 0 && tag.isMissing)
    }

    @Test("Keys are returned only if somebody may have the objects")
    func keysForNobody() async throws {
        let file = try LibraryFile()
        let context = file.container.newContext()
        _ = try context.insertAll(Tag.self, from: 0..<20) { tag, index in tag.label = .value("\(index)") }
        func tags(_ context: ManagedObjectContext) throws -> [Tag] { try context.fetch(FetchRequest<Tag>()) }
        func returnsKeys(_ label: String) throws -> Bool {
            var count = 0
            let statements = try file.statements {
                count = try context.update(FetchRequest<Tag>(where: FetchPredicate(format: "label != 'none'"))) {
                    $0.label = .value(label)
                }
            }
            #expect(count == 20)
            #expect(try tags(context).allSatisfy { $0.label == label && !$0.hasChanges })
            return statements.contains { $0.contains("RETURNING _id") }
        }
        #expect(try !returnsKeys("a"))
        let versions = try tags(context).map(\.version)
        #expect(versions.allSatisfy { $0 == 2 })

        let tag = try #require(try tags(context).first)
        #expect(try returnsKeys("b"))
        #expect(tag.label == "b")
        withExtendedLifetime(tag) {}

        var listener: ContainerChanges.AsyncIterator? = file.container.changes.makeAsyncIterator()
        #expect(try returnsKeys("c"))
        #expect(await listener?.next()?.updated.count == 20)
        listener = nil

        let other = file.container.newContext(automaticallyMergesChanges: true)
        let theirs = try #require(try tags(other).first)
        #expect(try returnsKeys("d"))
        other.processPendingChanges()
        #expect(theirs.label == "d")
    }

    @Test("Values are calculated from what each object had; versions go up, and other contexts merge")
    func calculated() throws {
        let (file, context) = try filled(10)
        let other = file.container.newContext(automaticallyMergesChanges: true)
        let book = try #require(
            try other.fetch(FetchRequest<Book>(where: FetchPredicate(pages: 5), sortedBy: [FetchSort("pages")])).first)
        let live = try other.live(FetchRequest<Book>(where: FetchPredicate(pages: 100), sortedBy: [FetchSort("title")]))
        let count = try context.update(FetchRequest<Book>(where: FetchPredicate(pages: 5))) { book in
            book.pages += 100
            book.title = BulkValue(Book.keys.title.uppercased())
        }
        #expect(count == 5)
        other.processPendingChanges()
        #expect(book.pages == 105 && book.title == "T5" && book.version == 2)
        #expect(live.map(\.title) == ["T5", "T6", "T7", "T8", "T9"])
        book.pages = 1
        try other.save()
        #expect(try file.container.newContext().fetch(FetchRequest<Book>(where: FetchPredicate(pages: 100))).count == 4)
    }

    @Test("A bulk update does what the same edits would do one by one", arguments: 0..<3)
    func sameAsObjects(kind: Int) throws {
        let (bulk, bulkContext) = try filled(12)
        let (single, singleContext) = try filled(12)
        let request = FetchRequest<Book>(where: try FetchPredicate(format: "author.name == 'Ann'"))
        switch kind {
        case 0:
            try bulkContext.update(request) { $0.pages *= 2 }
            for book in try singleContext.fetch(request) { book.pages *= 2 }
        case 1:
            try bulkContext.update(request) {
                $0.author = nil
                $0.title = "none"
            }
            for book in try singleContext.fetch(request) {
                book.author = nil
                book.title = "none"
            }
        default:
            try bulkContext.deleteAll(FetchRequest<Author>())
            for author in try singleContext.fetch(FetchRequest<Author>()) { singleContext.delete(author) }
        }
        try singleContext.save()
        func picture(_ container: PersistentContainer) throws -> [String] {
            let context = container.newContext()
            return try context.fetch(FetchRequest<Book>()).map {
                "\($0.title) \($0.pages) \($0.author?.name ?? "-") \($0.version)"
            }
            .sorted()
        }
        #expect(try picture(bulk.container) == picture(single.container))
    }

    @Test("Delete rules run: cascades go, references become nil, what is denied stays with examples")
    func deleteRules() throws {
        let (file, context) = try filled(4)
        let (ann, tag) = (try #require(try context.fetch(FetchRequest<Author>()).first), Tag(context, label: "x"))
        let student = Author(context, name: "Student")
        student.mentor = ann
        try context.save()
        #expect(try context.deleteAll(FetchRequest<Author>(where: FetchPredicate(name: "Ann"))) == 3)
        #expect(student.mentor == nil && ann.isMissing)
        let left = try context.fetch(FetchRequest<Book>())
        #expect(left.count == 2)
        left[0].tags = [tag]
        try context.save()
        #expect(throws: PersistenceError.self) { try context.deleteAll(FetchRequest<Tag>()) }
        #expect(try file.container.newContext().count(FetchRequest<Tag>()) == 1)
        #expect(try file.container.newContext().fetch(FetchRequest<Author>()).map(\.version) == [2])
    }

    @Test("What the model forbids is refused, and nothing has changed")
    func refused() throws {
        let (file, context) = try filled(3)
        #expect(throws: PersistenceError.self) { try context.update(FetchRequest<Book>()) { $0.pages += Int32.max } }
        #expect(throws: PersistenceError.self) {
            try context.update(FetchRequest<Book>()) { $0.anyTitle = nil }
        }
        #expect(throws: PersistenceError.self) { try context.update(FetchRequest<Book>()) { $0.nothing = nil } }
        #expect(throws: PersistenceError.self) { try context.insertAll(Book.self, from: 0..<1) { _, _ in } }
        let book = try context.fetch(FetchRequest<Book>())[0]
        book.title = "pending"
        #expect(throws: PersistenceError.self) { try context.update(FetchRequest<Book>()) { $0.pages = 0 } }
        #expect(try file.container.newContext().fetch(FetchRequest<Book>()).allSatisfy { $0.version == 1 })
    }
}
