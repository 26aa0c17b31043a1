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
        printInitialValues(in: container.newContext(), publisher: publisher)
        print("new film: \(film.notes ?? "-"), \(film.length)")
        try context.save()
        try read(container.newContext())
    }

    /// What new objects hold of which only the necessary was given, and of which everything was.
    private static func printInitialValues(in context: ManagedObjectContext, publisher: Book.Publisher) {
        let started = Date(timeIntervalSinceNow: -1)
        let author = Author(context: context, authorId: "le", name: "Lem")
        let plain = Book(context: context, title: "Solaris", tags: [], publisher: publisher, author: author)
        let other = Book(context: context, title: "Eden", tags: [], publisher: publisher, author: author)
        let isFresh = plain.acquired >= started && plain.itemId != other.itemId
        print(
            "left out: \(plain.price), \(plain.pageCount), \(plain.class ?? "nil"), \(plain.shelf == nil), \(author.rating),",
            "\(author.home == nil), \(isFresh), \(plain.binding == nil)")
        let identifier = "fiasco"
        let shelf = Shelf(context: context, shelfId: "s")
        let full = Book(
            context: context, itemId: identifier, title: "Fiasco", class: "novel",
            acquired: Date(timeIntervalSinceReferenceDate: 5), price: 12, shelf: shelf, pageCount: 322, tags: ["space"],
            publisher: publisher, binding: Book.Binding(material: "cloth", weight: 0.5), author: author)
        let isGiven = full.itemId == identifier && full.shelf == shelf && shelf.items == [full]
        print(
            "given: \(full.price), \(full.pageCount), \(full.class ?? "nil"), \(isGiven),",
            "\(full.acquired.timeIntervalSinceReferenceDate), \(full.binding?.material ?? "nil"), \(full.tags)")
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
        let milanese = try context.fetch(FetchRequest<RareBook>(where: RareBook.keys.publisher.city == "Milano"))
        print("from Milan: \(milanese.map(\.title))")
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
