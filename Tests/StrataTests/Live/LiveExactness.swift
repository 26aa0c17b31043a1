import Foundation
import Strata
import Testing

/// What the objects of a context showed at the last look, to tell which of them have changed since, and in what.
struct ShownValues {
    /// By entity and key, for each property a text of its value.
    private(set) var values: [String: [ObjectID: [String: String]]] = [:]

    /// Reads all objects of the hierarchies that live lists are about. Members are found from the other ends, so that no
    /// relationship of a listed object is loaded for it.
    init(_ context: ManagedObjectContext) throws {
        func key(_ object: ManagedObject?) -> String { object.map { "\($0.objectID.key)" } ?? "nil" }
        var books: [ObjectID: [String: String]] = [:]
        var tags: [ObjectID: Set<Int64>] = [:]
        for tag in try context.fetch(FetchRequest<Tag>()) {
            for book in tag.books { tags[book.objectID, default: []].insert(tag.objectID.key) }
        }
        var written: [ObjectID: Set<Int64>] = [:]
        var liked: [ObjectID: Set<Int64>] = [:]
        for book in try context.fetch(FetchRequest<Book>()) {
            let id = book.objectID
            if let author = book.author { written[author.objectID, default: []].insert(id.key) }
            if let fan = book.fan { liked[fan.objectID, default: []].insert(id.key) }
            books[id] = [
                "title": book.title, "pages": "\(book.pages)", "price": "\(String(describing: book.price))",
                "author": key(book.author), "fan": key(book.fan), "tags": "\(tags[id, default: []].sorted())",
            ]
        }
        let all = try context.fetch(FetchRequest<Author>())
        var students: [ObjectID: Set<Int64>] = [:]
        for author in all {
            if let mentor = author.mentor { students[mentor.objectID, default: []].insert(author.objectID.key) }
        }
        // Only where there is an order to be changed, the relationship itself is read.
        func order(of author: Author, _ liked: Set<Int64>) -> [Int64] {
            liked.count < 2 ? liked.sorted() : author.favourites.map(\.objectID.key)
        }
        var authors: [ObjectID: [String: String]] = [:]
        for author in all {
            let id = author.objectID
            authors[id] = [
                "authorId": author.authorId ?? "nil", "name": author.name, "score": "\(author.score)",
                "born": "\(String(describing: author.born))", "mentor": key(author.mentor),
                "passport": key(author.passport), "books": "\(written[id, default: []].sorted())",
                "students": "\(students[id, default: []].sorted())",
                "favourites": "\(order(of: author, liked[id, default: []]))",
            ]
        }
        values = ["Book": books, "Author": authors]
    }

    /// Whether an object, or one of those that conditions and orders of lists reach from it, is not what it was.
    func hasChanged(_ id: ObjectID, since old: ShownValues, steps: Int = 2) -> Bool {
        guard changes(of: id, since: old)?.isEmpty == true else { return true }
        guard steps > 0, let now = values[id.entity.name]?[id] else { return false }
        let keys = Set([now["author"], now["mentor"]].compactMap(\.self))
        return (values["Author"] ?? [:]).keys.contains { author in
            keys.contains("\(author.key)") && hasChanged(author, since: old, steps: steps - 1)
        }
    }

    /// The names of the properties of an object that are not what they were; nil if it was not there, or is not.
    func changes(of id: ObjectID, since old: ShownValues) -> Set<String>? {
        guard let before = old.values[id.entity.name]?[id], let after = values[id.entity.name]?[id] else { return nil }
        return Set(after.keys.filter { before[$0] != after[$0] })
    }
}

/// To-one relationships. A context keeps unsaved references to objects that others have deleted, and shows nothing there. If such a
/// reference is set to nil later, it is named, though it still shows nothing.
private let toOnes: Set<String> = ["author", "fan", "mentor", "passport"]

/// To-many relationships: a list names them if it is notified of them, which it is if they are loaded.
private let toManys: Set<String> = ["tags", "books", "students", "favourites"]

extension ShownValues {
    /// Checks that the steps of a list name the objects and properties that have changed since, and no others.
    /// - Parameters:
    ///   - first: The objects of the list before the steps.
    ///   - last: The objects of the list after the steps.
    func check(
        _ updates: [ResultsUpdate], from first: [ObjectID], to last: [ObjectID], since old: ShownValues,
        _ place: String
    ) throws {
        var named: [ObjectID: Set<String>] = [:]
        var isUnknown: Set<ObjectID> = []
        for change in updates.flatMap({ $0.difference.updates + $0.difference.moves }) {
            named[change.id, default: []].formUnion(change.changedKeys)
            if change.changedKeys.isEmpty { isUnknown.insert(change.id) }
        }
        // An object that left and came back was not there for a part of its changes.
        var interrupted: Set<ObjectID> = []
        for update in updates {
            interrupted.formUnion(update.difference.deletes.map(\.id))
            interrupted.formUnion(update.difference.inserts.map(\.id))
        }
        let before = Set(first)
        for id in last where before.contains(id) && !interrupted.contains(id) {
            guard let changed = changes(of: id, since: old) else { continue }
            let missing = changed.subtracting(toManys).subtracting(named[id] ?? [])
            try #require(
                missing.isEmpty || isUnknown.contains(id),
                "\(id) changed \(missing.sorted().map { "\($0) \(old.values[id.entity.name]?[id]?[$0] ?? "") to \(values[id.entity.name]?[id]?[$0] ?? "")" }), which no step names; named: \((named[id] ?? []).sorted()): \(place)"
            )
        }
        guard updates.count == 1, let update = updates.first else { return }
        for change in update.difference.updates + update.difference.moves {
            guard let changed = changes(of: change.id, since: old) else { continue }
            let own = change.changedKeys.filter { !$0.contains(".") }
            let shown = values[change.id.entity.name]?[change.id]
            let wrong = own.subtracting(changed).filter {
                !toOnes.contains($0) || shown?[$0] != "nil"
            }
            try #require(
                wrong.isEmpty,
                "\(change.id) did not change \(wrong.sorted()), still \(wrong.map { values[change.id.entity.name]?[change.id]?[$0] ?? "" }): \(place)"
            )
        }
        for change in update.difference.updates where change.changedKeys.isEmpty {
            try #require(
                changes(of: change.id, since: old) != nil && hasChanged(change.id, since: old),
                "\(change.id) is an update, but nothing of it and of its author and mentors changed: \(place)")
        }
    }
}
