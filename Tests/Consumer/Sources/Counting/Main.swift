import StrataTesting

let model = try ManagedObjectModel(name: "Shelf") {
    Entity("Book") { Attribute("title", .string) }
}
let container = try PersistentContainer(model: model, at: .memory(name: nil))
let context = container.newContext()
try context.insert(entityNamed: "Book")["title"] = "Il nome della rosa"
try context.save()
let books = try expectStatements(1, in: container) {
    try container.newContext().count(FetchRequest<ManagedObject>(entity: "Book"))
}
print("\(books) book in one statement")
