import Foundation
import Strata
import Testing

/// Entities next to each other in a hierarchy declare relationships with the same name that lead elsewhere: a batch of objects of
/// both loads each of them by itself.
@Suite struct SameNameTests {
    private final class Feed {
        let folder = FileManager.default.temporaryDirectory.appending(path: "strata-same-\(UUID().uuidString)")
        let container: PersistentContainer

        init() throws {
            let model = try ManagedObjectModel(name: "Feed") {
                Entity("Item", abstract: true) { Attribute("title", .string) }
                Entity("Post", inherits: "Item") {
                    Relationship("comments", to: "Comment", .toMany, inverse: "item")
                    Relationship("tags", to: "Tag", .toMany, inverse: "items")
                }
                Entity("Story", inherits: "Item") {
                    Relationship("comments", to: "Reply", .toMany, inverse: "item")
                    Relationship("tags", to: "Label", .toMany, inverse: "items")
                }
                Entity("Note", abstract: true) { Attribute("text", .string) }
                Entity("Comment", inherits: "Note") {
                    Relationship("item", to: "Post", .optionalToOne, inverse: "comments")
                }
                Entity("Reply", inherits: "Note") {
                    Relationship("item", to: "Story", .optionalToOne, inverse: "comments")
                }
                Entity("Tag") {
                    Attribute("name", .string)
                    Relationship("items", to: "Post", .toMany, inverse: "tags")
                }
                Entity("Label") {
                    Attribute("name", .string)
                    Relationship("items", to: "Story", .toMany, inverse: "tags")
                }
            }
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            container = try PersistentContainer(
                model: model, at: .file(path: folder.appending(path: "feed.sqlite").path))
        }

        deinit {
            container.close()
            try? FileManager.default.removeItem(at: folder)
        }

        /// Four posts and four stories, by turns, so that they are in one batch; each with its own comments and tags.
        func fill() throws {
            let context = container.newContext()
            func insert(_ entity: String, _ name: String, _ value: String) throws -> ManagedObject {
                let object = try context.insert(entityNamed: entity)
                object[name] = value
                return object
            }
            for number in 1...8 {
                let isPost = number % 2 == 1
                let item = try insert(isPost ? "Post" : "Story", "title", "\(number)")
                let notes = try ["a", "b"].map { try insert(isPost ? "Comment" : "Reply", "text", "\(number)\($0)") }
                item["comments"] = Set(notes)
                item["tags"] = Set([try insert(isPost ? "Tag" : "Label", "name", "\(number)t")])
            }
            try context.save()
        }
    }

    private func names(_ object: ManagedObject, _ relationship: String, _ property: String) -> [String] {
        switch object[relationship] {
        case let set as Set<ManagedObject>: set.map { $0[property] as? String ?? "" }.sorted()
        case let one as ManagedObject: [one[property] as? String ?? ""]
        default: []
        }
    }

    private func check(_ items: [ManagedObject]) {
        for item in items {
            let number = item["title"] as? String ?? ""
            #expect(names(item, "comments", "text") == ["\(number)a", "\(number)b"])
            #expect(names(item, "tags", "name") == ["\(number)t"])
        }
    }

    // The order in which a batch is loaded depends on hashes, which differ in each context.
    @Test("Each object has the members of its own relationship", arguments: 0..<8)
    func loading(_ round: Int) throws {
        let feed = try Feed()
        try feed.fill()
        let items = try feed.container.newContext()
            .fetch(FetchRequest<ManagedObject>(entity: "Item", sortedBy: [FetchSort("title")]))
        #expect(items.count == 8)
        check(Array(items[round...]) + Array(items[..<round]))
    }

    @Test("Through a parent, and from the other end, too", arguments: 0..<4)
    func children(_ round: Int) throws {
        let feed = try Feed()
        try feed.fill()
        let root = feed.container.newContext()
        let child = root.makeChild()
        let items = try child.fetch(FetchRequest<ManagedObject>(entity: "Item", sortedBy: [FetchSort("title")]))
        check(Array(items[round...]) + Array(items[..<round]))
        let notes = try child.fetch(FetchRequest<ManagedObject>(entity: "Note", sortedBy: [FetchSort("text")]))
        #expect(notes.count == 16)
        for note in notes {
            let text = note["text"] as? String ?? ""
            #expect(names(note, "item", "title") == [String(text.prefix(1))])
        }
    }

    @Test("Objects that outlive their context have them, too")
    func withoutContext() throws {
        let feed = try Feed()
        try feed.fill()
        var items: [ManagedObject] = []
        do {
            let context = feed.container.newContext()
            items = try context.fetch(FetchRequest<ManagedObject>(entity: "Item", sortedBy: [FetchSort("title")]))
        }
        // Without their context, objects read the store by themselves.
        check(items)
    }
}
