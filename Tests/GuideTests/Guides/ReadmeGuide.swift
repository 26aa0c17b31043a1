import Foundation
import Strata

func example(path: String) throws {
    let container = try PersistentContainer(LibraryModel.self, at: .file(path: path))
    let context = container.newContext()
    let ursula = Author(context: context, name: "Ursula K. Le Guin")
    for title in ["The Dispossessed", "The Lathe of Heaven"] {
        Book(context: context, title: title, author: ursula)
    }
    try context.save()
    let request = FetchRequest<Book>(
        where: Book.keys.author.name.hasPrefix("Ursula"), sortedBy: [Book.keys.title.ascending])
    for book in try context.fetch(request) { print(book.title, "by", book.author.name) }
    context.delete(ursula)  // her books go with her: the model says so
    try context.save()
}

/// The other examples of README.md that need no more than the core.
enum ReadmeGuide {
    static func model() throws -> ManagedObjectModel {
        let model = try ManagedObjectModel(name: "Library") {
            Entity("Author") {
                Attribute("name", .string)
                Attribute("born", .date).optional()
                Relationship("books", to: "Book", .toMany, inverse: "author", deleteRule: .cascade)
            }
            Entity("Book") {
                Attribute("title", .string).indexed()
                Attribute("pages", .integer32, default: .value(0)).range(0...)
                Relationship("author", to: "Author", .toOne, inverse: "books")
            }
        }
        return model
    }

    @Examples static func fetching(limit: Int64) throws -> [Example] {
        City.where { $0.country.name == "Peru" && $0.population > 100_000 }  // typed keys, checked by the compiler
        Country.where { $0.cities.any { $0.population > 1_000_000 } }
        try FetchRequest(predicate: #Predicate<City> { $0.population > limit })  // Foundation's predicates
        try FetchPredicate(format: "population > %d AND country.name BEGINSWITH[cd] %@", 100_000, "p")  // a format
    }

    static func typedErrors(_ context: ManagedObjectContext, report: (PersistenceError) -> Void) {
        do throws(PersistenceError) {
            try context.save()
        } catch {
            report(error)  // a PersistenceError
        }
    }
}
