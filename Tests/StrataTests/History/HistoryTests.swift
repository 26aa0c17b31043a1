import Foundation
import Strata
import Testing

@Suite(.recordsHistory) struct HistoryTests {
    @Test("Each save is a transaction with what it inserted, updated and deleted")
    func saves() throws {
        let file = try HistoryFile()
        let container = file.container
        let start = try container.currentHistoryToken()
        #expect(try container.history(after: start).isEmpty)
        let context = container.newContext()
        context.author = "me"
        context.name = "editor"
        let ursula = Author(context, name: "Ursula")
        let book = Book(context, title: "Lathe", author: ursula)
        try context.save()
        let first = try container.currentHistoryToken()
        book.title = "The Lathe of Heaven"
        book.pages = 180
        try context.save()
        context.delete(book)
        try context.save()
        try context.save()  // nothing
        let all = try container.history(after: start)
        #expect(
            all.map(\.lines) == [
                ["+Author/\(ursula.objectID.key)", "+Book/\(book.objectID.key)"],
                ["Book/\(book.objectID.key) pages title"], ["-Book/\(book.objectID.key)"],
            ])
        #expect(try container.history(after: first) == Array(all.dropFirst()))
        #expect(try container.history(after: nil) == all)
        #expect(try container.history(after: nil, limit: 2) == Array(all.prefix(2)))
        #expect(try container.history(after: all[1].token) == [all[2]])
        #expect(all.last?.token == (try container.currentHistoryToken()))
        for transaction in all {
            #expect(transaction.author == "me")
            #expect(transaction.contextName == "editor")
            #expect(transaction.processID == ProcessInfo.processInfo.processIdentifier)
            #expect(transaction.processName == ProcessInfo.processInfo.processName)
            #expect(abs(transaction.date.timeIntervalSinceNow) < 600)
            #expect(transaction.origin == container.history?.origin)
        }
        #expect(all[0].changes.map(\.objectID).contains(ursula.objectID))
    }

    @Test("A save that fails leaves no history, and one that only touches versions neither")
    func failures() throws {
        let file = try HistoryFile()
        let context = file.container.newContext()
        let one = Author(context, name: "One")
        one.authorId = "1"
        try context.save()
        let token = try file.container.currentHistoryToken()
        let other = file.container.newContext()
        let second = Author(other, name: "Two")
        second.authorId = "1"
        #expect(throws: PersistenceError.self) { try other.save() }
        #expect(try file.container.history(after: token).isEmpty)
        one.name = "One"
        try context.save()
        #expect(try file.container.history(after: token).isEmpty)
    }

    @Test("Relationships are told of where they are kept: to-one, pairs at both ends, orders at the owner")
    func relationships() throws {
        let file = try HistoryFile()
        let context = file.container.newContext()
        let author = Author(context, name: "A")
        let books = (0..<3).map { Book(context, title: "\($0)") }
        let tag = Tag(context, label: "t")
        try context.save()
        let keys = books.map(\.objectID.key)
        func lines(_ edit: () throws -> Void) throws -> [String] {
            let token = try file.container.currentHistoryToken()
            try edit()
            try context.save()
            return try file.container.history(after: token).flatMap(\.lines)
        }
        let a = "Author/\(author.objectID.key)"
        let t = "Tag/\(tag.objectID.key)"
        #expect(try lines { books[0].author = author } == ["Book/\(keys[0]) author"])
        #expect(try lines { books[0].tags = [tag] } == ["Book/\(keys[0]) tags", "\(t) books"])
        #expect(try lines { tag.books = [] } == ["Book/\(keys[0]) tags", "\(t) books"])
        #expect(
            try lines { author.favourites = [books[0], books[1]] }
                == ["\(a) favourites", "Book/\(keys[0]) fan", "Book/\(keys[1]) fan"].sorted())
        #expect(try lines { author.favourites = [books[1], books[0]] } == ["\(a) favourites"])
        #expect(try lines { books[0].fan = nil } == ["\(a) favourites", "Book/\(keys[0]) fan"].sorted())
        #expect(try lines { context.delete(books[1]) } == ["\(a) favourites", "-Book/\(keys[1])"].sorted())
    }

    @Test(
        "Delete rules record: cascades as deletes, nullified references as updates, also in rows that nobody has read")
    func deleteRules() throws {
        let file = try HistoryFile()
        let context = file.container.newContext()
        let mentor = Author(context, name: "M")
        let student = Author(context, name: "S")
        student.mentor = mentor
        let book = Book(context, title: "B", author: mentor)
        try context.save()
        let keys = (mentor.objectID.key, student.objectID.key, book.objectID.key)
        let token = try file.container.currentHistoryToken()
        let other = file.container.newContext()
        other.delete(try #require(try other.fetch(FetchRequest<Author>()).first { $0.name == "M" }))
        try other.save()
        #expect(
            try file.container.history(after: token).map(\.lines)
                == [["-Author/\(keys.0)", "-Book/\(keys.2)", "Author/\(keys.1) mentor"]])
    }

    @Test("Objects of inherited entities have their own entity, and filters by the parent find them")
    func inheritance() throws {
        let container = try HistoryFile.container(Zoo.self)
        defer { container.close() }
        let context = container.newContext()
        let cat = Cat(inserting: context)
        cat.name = "Tom"
        let dog = Dog(inserting: context)
        dog.name = "Rex"
        let trick = Trick(inserting: context)
        trick.title = "Roll"
        try context.save()
        let token = try container.currentHistoryToken()
        cat.lives = 8
        dog.tricks = [trick]
        try context.save()
        func lines(_ filter: HistoryFilter) throws -> [String] {
            try container.history(after: token, where: filter).flatMap(\.lines)
        }
        let d = "Dog/\(dog.objectID.key) tricks"
        #expect(try lines(.all) == ["Cat/\(cat.objectID.key) lives", d, "Trick/\(trick.objectID.key) dogs"])
        #expect(try lines(.changes(of: Animal.self)) == ["Cat/\(cat.objectID.key) lives", d])
        #expect(try lines(.changes(of: Dog.self)) == [d])
        let pairs = try container.currentHistoryToken()
        let key = dog.objectID.key
        context.delete(dog)
        try context.save()
        #expect(
            try container.history(after: pairs).map(\.lines) == [["-Dog/\(key)", "Trick/\(trick.objectID.key) dogs"]])
    }

    @Test("Filters choose by author, context, kind, property, object, process, date and origin")
    func filters() throws {
        let file = try HistoryFile()
        let container = file.container
        let mine = container.newContext()
        mine.author = "me"
        let book = Book(mine, title: "A")
        try mine.save()
        let theirs = container.newContext()
        theirs.author = "sync"
        theirs.name = "pull"
        let other = Book(theirs, title: "B")
        try theirs.save()
        other.pages = 1
        try theirs.save()
        other.title = "C"
        Author(theirs, name: "X").born = Date()
        try theirs.save()
        func count(_ filter: HistoryFilter) throws -> Int {
            try container.history(after: nil, where: filter).flatMap(\.changes).count
        }
        #expect(try count(.all) == 5)
        #expect(try count(HistoryFilter.all.by("me")) == 1)
        #expect(try count(HistoryFilter.all.excluding(authors: "sync")) == 1)
        #expect(try count(HistoryFilter(contextNames: ["pull"])) == 4)
        #expect(try count(HistoryFilter.all.kinds(.updated)) == 2)
        #expect(try count(HistoryFilter.changes(of: Book.self).kinds(.inserted)) == 2)
        #expect(try count(HistoryFilter(entities: ["Book"], kinds: [.updated], properties: ["title"])) == 1)
        #expect(try count(HistoryFilter(objects: [book.objectID])) == 1)
        #expect(try count(HistoryFilter(objects: [other.objectID])) == 3)
        #expect(try count(HistoryFilter(processIDs: [ProcessInfo.processInfo.processIdentifier])) == 5)
        #expect(try count(HistoryFilter(processIDs: [-1])) == 0)
        #expect(try count(HistoryFilter(dates: .distantPast..<Date(timeIntervalSinceNow: -60))) == 0)
        #expect(try count(HistoryFilter(excludedOrigin: container.history?.origin)) == 0)
        let second = try file.open()
        defer { second.close() }
        let elsewhere = second.newContext()
        _ = Tag(elsewhere, label: "t")
        try elsewhere.save()
        #expect(try count(HistoryFilter(excludedOrigin: container.history?.origin)) == 1)
    }

    @Test("Tokens are ordered, survive being written, and do not come from nonsense")
    func tokens() throws {
        let file = try HistoryFile()
        let context = file.container.newContext()
        let a = try file.container.currentHistoryToken()
        _ = Tag(context, label: "1")
        try context.save()
        let b = try file.container.currentHistoryToken()
        #expect(a < b)
        let data = try JSONEncoder().encode([a, b])
        #expect(try JSONDecoder().decode([HistoryToken].self, from: data) == [a, b])
        #expect(HistoryToken(b.description) == b)
        for nonsense in ["", "1", "a/b/c", "\(UUID())/-1/3", "\(UUID())/1/x", "\(UUID())/99999999999999999999/1"] {
            #expect(HistoryToken(nonsense) == nil)
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode([HistoryToken].self, from: JSONEncoder().encode([nonsense]))
            }
        }
    }

    @Test("Entities with more than sixty properties name those that changed")
    func wide() throws {
        let model = try ManagedObjectModel(name: "Wide") {
            Entity("Row") {
                for number in 0..<150 { Attribute("a\(number)", .integer64, default: .value(0)) }
                Relationship("peers", to: "Row", .toMany, inverse: "peers")
            }
        }
        let container = try HistoryFile.container(model)
        let context = container.newContext()
        let row = try context.insert(entityNamed: "Row")
        let peer = try context.insert(entityNamed: "Row")
        try context.save()
        let token = try container.currentHistoryToken()
        for number in [0, 59, 60, 61, 119, 120, 149] { row["a\(number)"] = 1 }
        row["peers"] = Set([peer])
        try context.save()
        let changes = try container.history(after: token).flatMap(\.changes)
        #expect(
            changes.first { $0.key == row.objectID.key }?.properties
                == ["a0", "a119", "a120", "a149", "a59", "a60", "a61", "peers"])
        #expect(changes.first { $0.key == peer.objectID.key }?.properties == ["peers"])
    }
}
