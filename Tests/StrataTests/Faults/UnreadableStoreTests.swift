import Foundation
import Strata
import StrataStore
import Testing

/// A store that cannot be read for a while: nothing that was done meanwhile is lost, and nothing is saved that rests on data
/// which could not be read.
@Suite struct UnreadableStoreTests {
    let file: FaultyFile
    let context: ManagedObjectContext

    init() throws {
        file = try FaultyFile(Library.self)
        let seed = file.container.newContext()
        let author = Author(seed, name: "Ursula")
        author.score = 7
        let tag = Tag(seed, label: "fantasy")
        for title in ["Earthsea", "Tehanu", "Voices"] {
            let book = Book(seed, title: title, author: author)
            book.pages = 200
            author.favourites.append(book)
            if title == "Voices" { book.tags = [tag] }
        }
        author.passport = Passport(seed, number: "P1")
        Author(seed, name: "Iain").mentor = author
        try seed.save()
        context = file.container.newContext()
    }

    /// The only object of an entity in a context, as a fault if nothing of it was read before.
    private func fault<T: ManagedObject>(_ type: T.Type, _ name: String, in context: ManagedObjectContext) throws -> T {
        let found = try file.container.newContext().fetch(FetchRequest<T>(where: try FetchPredicate(format: name)))
        let id = try #require(found.first).objectID
        return try #require(try context.object(with: id) as? T)
    }

    private func stored<T: ManagedObject>(_ type: T.Type, _ format: String) throws -> [T] {
        try file.container.newContext().fetch(FetchRequest<T>(where: try FetchPredicate(format: format)))
    }

    private func authorFault() throws -> Author { try fault(Author.self, "name == 'Ursula'", in: context) }

    // MARK: Edits

    @Test("An edit to a fault that cannot be filled is kept, and merged with the row when that arrives")
    func editedFault() throws {
        let author = try authorFault()
        file.failing(.reads) {
            author.name = "Ursula K."
            #expect(author.name == "Ursula K." && author.hasChanges)
        }
        #expect(author.score == 7 && author.name == "Ursula K.")
        try context.save()
        let read = try #require(try stored(Author.self, "score == 7").first)
        #expect(read.name == "Ursula K." && read.books.count == 3)
    }

    @Test("A save of an edit to an unfilled fault reads the row first, and fails while it cannot")
    func savedFault() throws {
        let author = try authorFault()
        file.failing(.reads) {
            author.name = "Ursula K."
            author.score = 8
            #expect(throws: PersistenceError.self) { try context.save() }
            #expect(author.hasChanges)
        }
        try context.save()
        #expect(try stored(Author.self, "name == 'Ursula K.' AND score == 8").count == 1)
    }

    @Test(
        "Others may change the row meanwhile: their other properties stay, and the merge policy decides about the same one"
    )
    func editedMeanwhile() throws {
        let author = try authorFault()
        context.mergePolicy = .objectWinsByProperty
        file.failing(.reads) { author.name = "Mine" }
        let other = file.container.newContext()
        let theirs = try fault(Author.self, "score == 7", in: other)
        theirs.name = "Theirs"
        theirs.score = 9
        try other.save()
        try context.save()
        let read = try #require(try stored(Author.self, "score == 9").first)
        #expect(read.name == "Mine")
    }

    @Test("A rollback drops the edit of an unfilled fault; a refresh that merges keeps it")
    func rollback() throws {
        let author = try authorFault()
        file.failing(.reads) { author.name = "X" }
        context.rollback()
        #expect(author.name == "Ursula" && !context.hasChanges)
        let again = file.container.newContext()
        let second = try fault(Author.self, "score == 7", in: again)
        file.failing(.reads) { second.name = "Y" }
        try again.refresh(second, mergingChanges: true)
        #expect(second.name == "Y" && second.score == 7)
    }

    @Test("An edit to a fault whose row others have deleted is a conflict, not a new row of zeros")
    func deletedMeanwhile() throws {
        let author = try authorFault()
        file.failing(.reads) { author.name = "X" }
        let other = file.container.newContext()
        other.delete(try fault(Author.self, "score == 7", in: other))
        try other.save()
        #expect(throws: PersistenceError.self) { try context.save() }
        #expect(try stored(Author.self, "name == 'X'").isEmpty)
    }

    @Test("An edited fault whose row others have deleted is gone from the lists at the other ends of its pairs")
    func deletedMeanwhileWithPairs() throws {
        let tag = try #require(try context.fetchFirst(FetchRequest<Tag>()))
        let book = try #require(tag.books.first)
        try #require(book.isFault)
        file.failing(.reads) { book.title = "X" }
        let other = file.container.newContext()
        other.delete(try fault(Book.self, "title == 'Voices'", in: other))
        try other.save()
        #expect(book.pages == 0 && book.title == "X" && book.tags.isEmpty)
        #expect(tag.books.isEmpty)
        #expect(throws: PersistenceError.self) { try context.save() }
        context.rollback()
        #expect(tag.books.isEmpty && book.isDeleted)
    }

    // MARK: Relationships

    @Test("A member that is added while the others cannot be read is added to them")
    func relationships() throws {
        let author = try authorFault()
        let book = Book(context, title: "Lavinia")
        file.failing(.reads) { _ = author.books.insert(book) }
        try context.save()
        let read = try #require(try stored(Author.self, "score == 7").first)
        #expect(Set(read.books.map(\.title)) == ["Earthsea", "Lavinia", "Tehanu", "Voices"])
    }

    @Test("A relationship that is emptied after a failed read fails the save, because nobody knows what was to go")
    func emptiedUnread() throws {
        let author = try authorFault()
        let book = try #require(
            try context.fetchFirst(FetchRequest<Book>(where: try FetchPredicate(format: "title == 'Voices'"))))
        file.failing(.reads) { _ = author.books.remove(book) }
        guard case .relationshipNotRead(author.objectID, "books")? = persistenceError({ try context.save() }) else {
            Issue.record("the save must fail")
            return
        }
        try context.refresh(author, mergingChanges: false)
        #expect(author.books.count == 3)
        author.books.remove(book)
        try context.save()
        #expect(try stored(Author.self, "score == 7").first?.books.count == 2)
    }

    @Test("A to-one target that is set while the old one cannot be read leaves no second partner")
    func oneToOne() throws {
        let author = try authorFault()
        let passport = Passport(context, number: "P2")
        file.failing(.reads) {
            author.passport = passport
            #expect(throws: PersistenceError.self) { try context.save() }
        }
        try context.save()
        #expect(try stored(Passport.self, "owner != NULL").map(\.number) == ["P2"])
    }

    // MARK: Delete rules

    @Test("A cascade that cannot be evaluated fails the save, and deletes everything once it can")
    func cascade() throws {
        let author = try context.fetchFirst(FetchRequest<Author>(where: try FetchPredicate(format: "score == 7")))
        context.delete(try #require(author))
        context.rollback()
        file.failing(.reads) {
            context.delete(author!)
            #expect(throws: PersistenceError.self) { try context.save() }
        }
        #expect(try stored(Author.self, "score == 7").count == 1)
        try context.save()
        #expect(try stored(Author.self, "score == 7").isEmpty)
        #expect(try stored(Book.self, "TRUEPREDICATE").isEmpty)
        #expect(try stored(Passport.self, "TRUEPREDICATE").isEmpty)
        #expect(try stored(Author.self, "name == 'Iain'").first?.mentor == nil)
    }

    @Test("A deny rule that cannot be evaluated fails the save, and still denies once it can")
    func deny() throws {
        let tag = try #require(try context.fetchFirst(FetchRequest<Tag>()))
        file.failing(.reads) {
            context.delete(tag)
            #expect(throws: PersistenceError.self) { try context.save() }
        }
        guard case .validation? = persistenceError({ try context.save() }) else {
            Issue.record("the delete was not denied")
            return
        }
        #expect(try stored(Tag.self, "TRUEPREDICATE").count == 1)
    }

    @Test("Whatever call fails, at whatever place: the save fails and changes nothing, or all of it is right")
    func anyCall() throws {
        for first in 0..<40 {
            let file = try FaultyFile(Library.self)
            let seed = file.container.newContext()
            let author = Author(seed, name: "A")
            for number in 0..<3 { _ = Book(seed, title: "\(number)", author: author) }
            try seed.save()
            let context = file.container.newContext()
            let same = try #require(try context.object(with: author.objectID) as? Author)
            let count = Guarded(0)
            file.store.fail { _ in
                count.withLock {
                    $0 += 1
                    return $0
                } > first ? FaultyFile.busy : nil
            }
            let gone = same.books.first
            same.name = "B"
            if let gone { context.delete(gone) }
            let added = Book(context, title: "new", author: same)
            let failed = persistenceError { try context.save() } != nil
            file.store.recover()
            let calls = count.withLock { $0 }
            let check = file.container.newContext()
            if failed {
                #expect(try check.count(FetchRequest<Author>(where: try FetchPredicate(format: "name == 'B'"))) == 0)
                #expect(try check.count(FetchRequest<Book>()) == 3)
                try context.save()
            }
            #expect(added.author === same)
            let read = try #require(try file.container.newContext().fetchFirst(FetchRequest<Author>()))
            #expect(read.name == "B" && read.books.count == (gone == nil ? 4 : 3), "the first \(first) calls succeeded")
            if calls <= first { return }
        }
        Issue.record("the calls have no end")
    }
}
