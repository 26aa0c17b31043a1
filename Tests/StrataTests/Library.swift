import Foundation
import Strata

/// The model and classes that the tests of contexts work with: authors with books (ordered), books with tags that deny.
///
/// Both are written by hand, as an application may that declares its model in code. What the plug-in generates is tested
/// in the targets that use it.
enum Library: GeneratedModel {
    static let model = makeModel()
    static let classes: [ManagedObject.Type] = [Author.self, Book.self, Tag.self, Passport.self]

    private static func makeModel() -> ManagedObjectModel {
        do {
            return try ManagedObjectModel(name: "Library", entities: entities)
        } catch {
            fatalError("\(error)")
        }
    }

    static var entities: [Entity] {
        var author = Entity(name: "Author", location: nil)
        author.attributes = [
            Attribute("authorId", .string, optional: true), Attribute("name", .string),
            Attribute("born", .date, optional: true), Attribute("score", .integer64, default: .value(0)),
        ]
        author.attributes[0].isUnique = true
        author.relationships = [
            Relationship("books", to: "Book", .toMany, inverse: "author", deleteRule: .cascade),
            Relationship("passport", to: "Passport", .optionalToOne, inverse: "owner", deleteRule: .cascade),
            Relationship("mentor", to: "Author", .optionalToOne, inverse: "students"),
            Relationship("students", to: "Author", .toMany, inverse: "mentor"),
            Relationship("favourites", to: "Book", .orderedToMany, inverse: "fan"),
        ]
        var book = Entity(name: "Book", location: nil)
        book.attributes = [
            Attribute("title", .string), Attribute("pages", .integer32, default: .value(100)),
            Attribute("price", .decimal, optional: true),
        ]
        book.relationships = [
            Relationship("author", to: "Author", .optionalToOne, inverse: "books"),
            Relationship("fan", to: "Author", .optionalToOne, inverse: "favourites"),
            Relationship("tags", to: "Tag", .toMany, inverse: "books"),
        ]
        var tag = Entity(name: "Tag", location: nil)
        tag.attributes = [Attribute("label", .string)]
        tag.relationships = [
            Relationship("books", to: "Book", .toMany, inverse: "tags", deleteRule: .deny)
        ]
        var passport = Entity(name: "Passport", location: nil)
        passport.attributes = [Attribute("number", .string)]
        passport.relationships = [Relationship("owner", to: "Author", .optionalToOne, inverse: "passport")]
        return [author, book, tag, passport]
    }
}

class Author: ManagedObject {
    override class var entityName: String { "Author" }
    final var authorId: String? {
        get { _optionalValue(0) }
        set { _setOptionalValue(newValue, 0) }
    }
    final var name: String {
        get { _value(1) }
        set { _setValue(newValue, 1) }
    }
    final var born: Date? {
        get { _optionalValue(2) }
        set { _setOptionalValue(newValue, 2) }
    }
    final var score: Int64 {
        get { _value(3) }
        set { _setValue(newValue, 3) }
    }
    final var passport: Passport? {
        get { _optionalToOne(4) }
        set { _setToOne(newValue, 4) }
    }
    final var mentor: Author? {
        get { _optionalToOne(5) }
        set { _setToOne(newValue, 5) }
    }
    final var books: Set<Book> {
        get { _toMany(0) }
        set { _setToMany(newValue, 0) }
    }
    final var students: Set<Author> {
        get { _toMany(1) }
        set { _setToMany(newValue, 1) }
    }
    final var favourites: [Book] {
        get { _orderedToMany(2) }
        set { _setOrderedToMany(newValue, 2) }
    }
    convenience init(_ context: ManagedObjectContext, name: String) {
        self.init(inserting: context)
        self.name = name
    }
}

class Book: ManagedObject {
    override class var entityName: String { "Book" }
    final var title: String {
        get { _value(0) }
        set { _setValue(newValue, 0) }
    }
    final var pages: Int32 {
        get { _value(1) }
        set { _setValue(newValue, 1) }
    }
    final var price: Decimal? {
        get { _optionalValue(2) }
        set { _setOptionalValue(newValue, 2) }
    }
    final var author: Author? {
        get { _optionalToOne(3) }
        set { _setToOne(newValue, 3) }
    }
    final var fan: Author? {
        get { _optionalToOne(4) }
        set { _setToOne(newValue, 4) }
    }
    final var tags: Set<Tag> {
        get { _toMany(0) }
        set { _setToMany(newValue, 0) }
    }
    convenience init(_ context: ManagedObjectContext, title: String, author: Author? = nil) {
        self.init(inserting: context)
        self.title = title
        self.author = author
    }
}

class Tag: ManagedObject {
    override class var entityName: String { "Tag" }
    final var label: String {
        get { _value(0) }
        set { _setValue(newValue, 0) }
    }
    final var books: Set<Book> {
        get { _toMany(0) }
        set { _setToMany(newValue, 0) }
    }
    convenience init(_ context: ManagedObjectContext, label: String) {
        self.init(inserting: context)
        self.label = label
    }
}

class Passport: ManagedObject {
    override class var entityName: String { "Passport" }
    final var number: String {
        get { _value(0) }
        set { _setValue(newValue, 0) }
    }
    final var owner: Author? {
        get { _optionalToOne(1) }
        set { _setToOne(newValue, 1) }
    }
    convenience init(_ context: ManagedObjectContext, number: String) {
        self.init(inserting: context)
        self.number = number
    }
}
