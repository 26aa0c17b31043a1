import Foundation
import Strata
import Testing

@Suite struct UndoTests {
    private func library() throws -> (LibraryFile, ManagedObjectContext, UndoHistory) {
        let file = try LibraryFile()
        let context = file.container.newContext(automaticallyMergesChanges: true)
        let history = UndoHistory()
        context.undoManager = history
        return (file, context, history)
    }

    @Test("Undo and redo go over the edits between two boundaries, to the first and the last value")
    func attributes() throws {
        let (file, context, history) = try library()
        defer { withExtendedLifetime(file) {} }
        let author = Author(context, name: "Ann")
        try context.save()
        author.name = "B"
        author.name = "C"
        author.born = Date(timeIntervalSinceReferenceDate: 0)
        context.processPendingChanges()
        author.score = 4
        try history.undo()
        #expect(author.score == 0 && author.name == "C")
        try history.undo()
        #expect(author.name == "Ann" && author.born == nil && !author.hasPersistentChangedValues)
        try history.redo()
        try history.redo()
        #expect(author.name == "C" && author.score == 4 && !history.canRedo)
        try history.undo()
        author.score = 9
        context.processPendingChanges()
        #expect(!history.canRedo)
    }

    @Test("Both ends of relationships come back, with the one that was robbed and the order")
    func relationships() throws {
        let (file, context, history) = try library()
        defer { withExtendedLifetime(file) {} }
        let (ann, bob) = (Author(context, name: "Ann"), Author(context, name: "Bob"))
        let passport = Passport(context, number: "1")
        ann.passport = passport
        let books = ["a", "b", "c"].map { Book(context, title: $0, author: ann) }
        ann.favourites = books
        let tag = Tag(context, label: "t")
        books[0].tags = [tag]
        try context.save()
        bob.passport = passport
        books[0].author = bob
        books[0].tags = []
        ann.favourites = [books[2], books[0]]
        context.processPendingChanges()
        #expect(ann.passport == nil && ann.favourites == [books[2], books[0]])
        try history.undo()
        #expect(ann.passport === passport && bob.passport == nil && passport.owner === ann)
        #expect(ann.books == Set(books) && bob.books.isEmpty && books[0].tags == [tag] && tag.books == [books[0]])
        #expect(ann.favourites == books)
        try history.redo()
        #expect(bob.passport === passport && bob.books == [books[0]] && tag.books.isEmpty)
        #expect(ann.favourites == [books[2], books[0]])
    }

    @Test("A delete with its cascade is one step: the same objects come back, also after a save")
    func deletes() throws {
        for savesBetween in [false, true] {
            let (file, context, history) = try library()
            defer { withExtendedLifetime(file) {} }
            let author = Author(context, name: "Ann")
            let books = Set(["a", "b"].map { Book(context, title: $0, author: author) })
            let fan = Author(context, name: "Fan")
            fan.mentor = author
            let id = author.objectID
            try context.save()
            context.delete(author)
            context.processPendingChanges()
            if savesBetween { try context.save() }
            #expect(fan.mentor == nil)
            try history.undo()
            #expect(!author.isDeleted && author.objectID == id && author.books == books && fan.mentor === author)
            #expect(author.name == "Ann" && author.students == [fan])
            try context.save()
            let other = context.makeChild()
            #expect(try other.count(FetchRequest<Book>()) == 2)
            try history.redo()
            #expect(author.isDeleted && fan.mentor == nil && books.allSatisfy(\.isDeleted))
            try context.save()
            #expect(try context.count(FetchRequest<Book>()) == 0)
            try history.undo()
            try context.save()
            #expect(try context.fetch(FetchRequest<Author>(where: FetchPredicate(name: "Ann"))) == [author])
            #expect(author.books == books)
        }
    }

    @Test("An object comes back without the members that it got in the step in which it was deleted, itself among them")
    func membersOfTheDeleted() throws {
        let (file, context, history) = try library()
        defer { withExtendedLifetime(file) {} }
        let (ann, bob) = (Author(context, name: "Ann"), Author(context, name: "Bob"))
        bob.mentor = ann
        try context.save()
        #expect(ann.students == [bob])
        ann.mentor = ann
        let new = Author(context, name: "New")
        new.mentor = ann
        #expect(ann.students == [ann, bob, new])
        context.delete(ann)
        context.processPendingChanges()
        try history.undo()
        #expect(ann.mentor == nil && ann.students == [bob] && bob.mentor == ann)
        try context.save()
        #expect(try file.container.newContext().fetch(FetchRequest<Author>()).map(\.students.count).sorted() == [0, 1])
        try history.redo()
        #expect(new.mentor == nil && bob.mentor == nil && ann.isDeleted)
    }

    @Test("An insert is undone and redone with the same instance and ID, before and after a save")
    func inserts() throws {
        for saves in [false, true] {
            let (file, context, history) = try library()
            defer { withExtendedLifetime(file) {} }
            let author = Author(context, name: "Ann")
            let id = author.objectID
            if saves { try context.save() } else { context.processPendingChanges() }
            try history.undo()
            #expect(try author.isDeleted && context.count(FetchRequest<Author>()) == 0)
            if saves { try context.save() }
            try history.redo()
            #expect(author.objectID == id && author.name == "Ann")
            try context.save()
            #expect(try context.fetch(FetchRequest<Author>()) == [author])
        }
    }

    @Test("Groups join boundaries and have names; a pause is not remembered")
    func groups() throws {
        let (file, context, history) = try library()
        defer { withExtendedLifetime(file) {} }
        let author = Author(context, name: "Ann")
        try context.save()
        history.removeAllActions()
        history.group(named: "Rename") {
            author.name = "B"
            context.processPendingChanges()
            author.name = "C"
        }
        #expect(history.undoActionName == "Rename" && history.undoCount == 1)
        history.withoutRegistration { author.score = 7 }
        try history.undo()
        #expect(author.name == "Ann" && author.score == 7 && history.redoActionName == "Rename")
    }

    @Test("What others changed since is skipped and named, unless it is to be overwritten")
    func foreign() throws {
        let (file, context, history) = try library()
        let author = Author(context, name: "Ann")
        try context.save()
        history.removeAllActions()
        author.name = "B"
        author.score = 1
        try context.save()
        let other = file.container.newContext()
        let theirs = try other.existingObject(Author.self, with: author.objectID)
        theirs.name = "Theirs"
        try other.save()
        context.processPendingChanges()
        let report = try history.undo()
        #expect(author.name == "Theirs" && author.score == 0)
        #expect(report.skipped.map(\.property) == ["name"] && report.skipped[0].reason == .changedSince)
        try history.redo()
        history.overwritesNewerChanges = true
        try history.undo()
        #expect(author.name == "Ann")
    }

    @Test("What a save brings of others' changes is not a step, and leaves what can be redone")
    func merged() throws {
        let file = try LibraryFile()
        let context = file.container.newContext()
        context.mergePolicy = .objectWinsByProperty
        let author = Author(context, name: "Ann")
        try context.save()
        let history = UndoHistory()
        context.undoManager = history
        let other = file.container.newContext(automaticallyMergesChanges: true)
        let theirs = try other.existingObject(Author.self, with: author.objectID)
        for score in [9, 10] as [Int64] {
            other.processPendingChanges()
            theirs.score = score
            try other.save()
            if score == 9 { author.name = "B" } else { try history.undo() }
            try context.save()
            #expect(author.score == score)
            #expect(history.undoCount == (score == 9 ? 1 : 0))
        }
        #expect(history.redoCount == 1)
        try history.redo()
        #expect(author.name == "B" && author.score == 10)
        try history.undo()
        #expect(author.name == "Ann" && author.score == 10)
    }

    @Test("Steps are bounded, a rollback forgets them, a failed save does not")
    func bounds() throws {
        let (file, context, history) = try library()
        defer { withExtendedLifetime(file) {} }
        history.levelsOfUndo = 3
        let author = Author(context, name: "Ann")
        try context.save()
        for score in 1...5 {
            author.score = Int64(score)
            context.processPendingChanges()
        }
        #expect(history.undoCount == 3)
        context.delete(author)
        let tag = Tag(context, label: "t")
        let book = Book(context, title: "b")
        book.tags = [tag]
        context.processPendingChanges()
        try history.undo()
        #expect(!author.isDeleted && author.score == 5)
        context.rollback()
        #expect(history.undoCount == 0 && !history.canUndo)
        context.undoManager = nil
        author.score = 9
        context.processPendingChanges()
        #expect(history.undoCount == 0)
    }
}

extension FetchPredicate {
    init(name: String) { self = .comparison(.keyPath(["name"]), .equal, .constant(.string(name)), []) }
}
