import Foundation
import Strata

/// Makes objects of generated classes, saves them, and reads them back in another context. Prints what the test
/// expects.
@main
struct Consumer {
    static func main() throws {
        let container = try PersistentContainer(LibraryModel.self, at: .memory(name: nil))
        let context = container.newContext()
        let author = Author(context: context, authorId: "eco", name: "Umberto Eco")
        let publisher = Book.Publisher(name: "Bompiani", city: "Milano", switch: true)
        let book = Book(
            context: context, title: "Il nome della rosa", tags: ["monks", "labyrinth"], publisher: publisher,
            author: author)
        book.class = "novel"
        book.addToChapters(Chapter(context: context, heading: "Prologo"))
        book.addToChapters(Chapter(context: context, heading: "Terzo giorno"))
        book.insertIntoChapters(Chapter(context: context, heading: "Primo giorno"), at: 1)
        _ = RareBook(
            context: context, title: "Beato di Liébana", tags: [], publisher: publisher, author: author,
            insurance: Decimal(120_000))
        _ = Pamphlet(
            context: context, title: "Pamphlet", tags: [], publisher: publisher, author: author, occasion: "May")
        let film = Film(context: context, title: "The Name of the Rose", minutes: 130)
        let basket = Basket(context: context, note: "both")
        basket.items = [film, book]
        print("new film: \(film.notes ?? "-"), \(film.length)")
        try context.save()
        try read(container.newContext())
    }

    private static func read(_ context: ManagedObjectContext) throws {
        let rose = try context.fetch(FetchRequest<Book>(where: Book.keys.class == "novel"))
        for book in rose {
            print("book: \(book.title) by \(book.author.name), \(book.price), \(book.tags), opens with \(book.opening)")
            print("chapters: \(book.chapters.map(\.heading))")
            print(
                "publisher: \(book.publisher.name), \(book.publisher.city ?? "-"), \(book.publisher.switch); binding: \(book.binding == nil)"
            )
        }
        let byEco = try context.fetch(
            FetchRequest<Book>(where: Book.keys.author.name == "Umberto Eco", sortedBy: [Book.keys.title.ascending]))
        print("by Eco: \(byEco.map { "\(type(of: $0)) \($0.title)" })")
        let insured = try context.fetch(FetchRequest<RareBook>(where: RareBook.keys.insurance > Decimal(1000)))
        print("insured: \(insured.map(\.title))")
        let baskets = try context.fetch(FetchRequest<Basket>())
        print("basket: \(baskets.flatMap(\.items).map(\.title))")
        let model = LibraryModel.model
        print(
            "model: \(model.name), \(model.entities.count) entities, \(model.versionHash), \(LibraryModel.classes.count) classes"
        )
    }
}
