import Foundation
import SeededRandom
import Strata

/// Random edits of a library, and everything that a context shows of it.
enum LibraryEdits {
    /// Saves authors with four books each, and tags that no book has.
    static func fill(_ context: ManagedObjectContext) throws {
        for label in ["a", "b", "c"] { _ = Tag(context, label: label) }
        for index in 0..<5 {
            let author = Author(context, name: "n\(index)")
            for number in 0..<4 { _ = Book(context, title: "t\(number)", author: author) }
        }
        try context.save()
    }

    /// Everything that a context shows, read in several ways.
    static func lines(_ context: ManagedObjectContext) throws -> [String] {
        func key(_ object: ManagedObject?) -> String { object.map { "\($0.objectID.key)" } ?? "-" }
        func keys(_ objects: some Sequence<ManagedObject>) -> String {
            objects.map(key).sorted().joined(separator: ",")
        }
        var result: [String] = []
        for author in try context.fetch(FetchRequest<Author>()) {
            result.append(
                "author \(key(author)) \(author.name) \(author.score) \(key(author.mentor)) books \(keys(author.books)) "
                    + "students \(keys(author.students)) favourites \(author.favourites.map(key))")
        }
        for book in try context.fetch(FetchRequest<Book>()) {
            result.append(
                "book \(key(book)) \(book.title) \(book.pages) \(key(book.author)) \(key(book.fan)) tags \(keys(book.tags))"
            )
        }
        for tag in try context.fetch(FetchRequest<Tag>()) {
            result.append("tag \(key(tag)) \(tag.label) \(keys(tag.books))")
        }
        let large = try FetchPredicate(format: "pages > 40 AND author.name != 'n1'")
        result.append("count \(try context.count(FetchRequest<Book>(where: large)))")
        let tagged = try FetchPredicate(format: "ANY tags.label == 'a'")
        result.append("tagged \(try context.fetchIDs(FetchRequest<Book>(where: tagged)).map(\.key).sorted())")
        return result.sorted()
    }

    static func difference(_ a: [String], _ b: [String]) -> [String] {
        Set(a).symmetricDifference(b).sorted()
    }

    /// Edits at random, and saves.
    static func edit(_ context: ManagedObjectContext, _ random: inout SplitMix64) {
        do {
            try change(context, &random)
            try context.save()
        } catch {
            // A rule of the model, or a conflict: the edit is given up.
            context.rollback()
        }
    }

    /// Edits at random.
    static func change(_ context: ManagedObjectContext, _ random: inout SplitMix64) throws {
        let books = try context.fetch(FetchRequest<Book>(sortedBy: [FetchSort("title")]))
        let authors = try context.fetch(FetchRequest<Author>(sortedBy: [FetchSort("name")]))
        let tags = try context.fetch(FetchRequest<Tag>())
        switch random.below(10) {
        case 0: Book(context, title: "t\(random.below(6))", author: random.pick(authors)).pages = 50
        case 1: Author(context, name: "n\(random.below(6))").mentor = random.pick(authors)
        case 2: random.pick(books)?.pages = Int32(random.below(100))
        case 3: random.pick(authors)?.name = "n\(random.below(6))"
        case 4: random.pick(books)?.author = random.pick(authors)
        case 5: random.pick(authors)?.mentor = random.pick(authors)
        case 6:
            if let book = random.pick(books), let tag = random.pick(tags) {
                book.tags.formSymmetricDifference([tag])
            }
        case 7: if books.count > 10 { random.pick(books).map(context.delete) }
        case 8: if authors.count > 4 { random.pick(authors).map(context.delete) }
        default:
            if let author = random.pick(authors) { author.favourites = books.filter { _ in random.oneIn(4) } }
        }
    }
}
