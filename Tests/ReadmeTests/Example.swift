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
