import Foundation
import SeededRandom
import Strata
import Testing

/// Random edits with saves between; all undone, the graph is as it was at each step; all redone, it is as at the end.
///
/// `STRATA_RUNS=1000` tries so many seeds, from `STRATA_SEED` on.
@Suite struct UndoRandomTests {
    @Test(
        "After any number of undos and redos the graph is what it was then", arguments: RunSeed.seeds(6, from: 150_000))
    func random(seed: UInt64) throws {
        print("undo: STRATA_SEED=\(seed)")
        let world = try UndoWorld(seed: seed)
        try world.run(edits: 40)
    }
}

private final class UndoWorld {
    private let file: LibraryFile
    private let context: ManagedObjectContext
    private let history = UndoHistory()
    private var random: SplitMix64
    private let seed: UInt64
    private var states: [[String]] = []
    private var log: [String] = []

    init(seed: UInt64) throws {
        self.seed = seed
        random = SplitMix64(seed: seed)
        file = try LibraryFile()
        context = file.container.newContext()
        for index in 0..<4 {
            let author = Author(context, name: "n\(index)")
            for number in 0..<3 { _ = Book(context, title: "t\(number)", author: author) }
        }
        for label in ["a", "b"] { _ = Tag(context, label: label) }
        try context.save()
        context.undoManager = history
        history.levelsOfUndo = 0
        states = [try picture()]
    }

    /// All that there is, as text.
    private func picture() throws -> [String] {
        var lines: [String] = []
        for author in try context.fetch(FetchRequest<Author>()) {
            lines.append(
                "\(author.objectID) \(author.name) \(author.score) mentor \(author.mentor?.objectID.key ?? 0) passport "
                    + "\(author.passport?.objectID.key ?? 0) books \(author.books.map(\.objectID.key).sorted()) students "
                    + "\(author.students.map(\.objectID.key).sorted()) favourites \(author.favourites.map(\.objectID.key))"
            )
        }
        for book in try context.fetch(FetchRequest<Book>()) {
            lines.append(
                "\(book.objectID) \(book.title) \(book.pages) author \(book.author?.objectID.key ?? 0) fan "
                    + "\(book.fan?.objectID.key ?? 0) tags \(book.tags.map(\.objectID.key).sorted())")
        }
        for tag in try context.fetch(FetchRequest<Tag>()) {
            lines.append("\(tag.objectID) \(tag.label) books \(tag.books.map(\.objectID.key).sorted())")
        }
        for passport in try context.fetch(FetchRequest<Passport>()) {
            lines.append("\(passport.objectID) \(passport.number) owner \(passport.owner?.objectID.key ?? 0)")
        }
        return lines.sorted()
    }

    func run(edits: Int) throws {
        for _ in 0..<edits {
            for _ in 0...random.below(3) { try edit() }
            context.processPendingChanges()
            if history.undoCount > states.count - 1 { states.append(try picture()) }
            try #require(history.undoCount == states.count - 1, "a step that changed nothing, or none: \(place)")
            if random.oneIn(4) { try save() }
        }
        for _ in 0..<3 {
            for index in (0..<(states.count - 1)).reversed() {
                try history.undo()
                try check(states[index], "undo to \(index)")
                if random.oneIn(6) { try save() }
            }
            for index in 1..<states.count {
                try history.redo()
                try check(states[index], "redo to \(index)")
                if random.oneIn(6) { try save() }
            }
        }
        try context.save()
        let fresh = file.container.newContext()
        #expect(try fresh.count(FetchRequest<Book>()) == context.count(FetchRequest<Book>()), "\(place)")
    }

    private func check(_ state: [String], _ what: String) throws {
        let now = try picture()
        let difference = Set(now).symmetricDifference(state).sorted()
        try #require(now == state, "\(what): \(difference); \(place)")
    }

    private var place: String { "seed \(seed), last edits \(log.suffix(8))" }

    /// Saves what the rules of the model let through; a tag in use cannot be deleted, and stays to be undone.
    private func save() throws {
        do {
            try context.save()
            log.append("save")
        } catch PersistenceError.validation {
            log.append("refused")
        }
    }

    private func edit() throws {
        let books = try context.fetch(FetchRequest<Book>())
        let authors = try context.fetch(FetchRequest<Author>())
        let tags = try context.fetch(FetchRequest<Tag>())
        let kind = random.below(14)
        log.append("\(kind)")
        switch kind {
        case 0: _ = Book(context, title: "t\(random.below(9))", author: random.pick(authors))
        case 1:
            let author = Author(context, name: "n\(random.below(9))")
            author.mentor = random.pick(authors)
        case 2: random.pick(books)?.pages = Int32(random.below(100))
        case 3: random.pick(authors)?.name = "n\(random.below(9))"
        case 4, 5: random.pick(books)?.author = random.oneIn(4) ? nil : random.pick(authors)
        case 6: random.pick(authors)?.mentor = random.pick(authors)
        case 7:
            if let book = random.pick(books), let tag = random.pick(tags) { book.tags.formSymmetricDifference([tag]) }
        case 8: if let author = random.pick(authors) { author.favourites = books.shuffled(using: &random).suffix(3) }
        case 9:
            if let author = random.pick(authors), author.favourites.count > 1 { author.favourites.swapAt(0, 1) }
        case 10: if let book = random.pick(books) { context.delete(book) }
        case 11: if let author = random.pick(authors), authors.count > 2 { context.delete(author) }
        case 12:
            if let author = random.pick(authors) {
                author.passport = random.oneIn(3) ? nil : Passport(context, number: "p")
            }
        default:
            if let author = random.pick(authors), let other = random.pick(authors) { other.passport = author.passport }
        }
    }
}
