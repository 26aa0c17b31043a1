import Foundation
import Strata
import Testing

/// `Int`, enumerations and `Codable` values on their way to JSON and back.
@Suite struct InterchangeTests {
    let file: MagazineFile
    let context: ManagedObjectContext

    init() throws {
        file = try MagazineFile()
        context = file.container.newContext()
    }

    private static let json =
        #"{"layout":{"columns":3,"tags":["a","b"],"theme":"dark"},"notes":{"authors":[{"name":"Inca"}],"isUrgent":true,"keywords":[],"text":"x"},"priority":10,"status":"live","title":"A","wordCount":7}"#

    private func check(_ article: Article) {
        #expect(article.wordCount == 7 && article.status == .live && article.priority == .high)
        #expect(article.layout == Layout(theme: "dark", columns: 3, tags: ["a", "b"]))
        #expect(article.notes == Notes(text: "x", isUrgent: true, authors: [.init(name: "Inca")]))
    }

    @Test("An object's Codable values are parts of its JSON, and come back from it")
    func roundTrip() throws {
        let result = try context.upsert(json: Data(Self.json.utf8), into: Article.self, by: "title")
        check(try #require(result.inserted.first))
        try context.save()
        let read = try #require(try file.container.newContext().fetchFirst(FetchRequest<Article>()))
        check(read)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(read), as: UTF8.self) == Self.json)
        let again = try context.upsert(json: Data(Self.json.utf8), into: Article.self, by: "title")
        #expect(again.unchanged.count == 1 && again.updated.isEmpty && again.inserted.isEmpty)
    }

    @Test("Dictionaries assign Codable values as such, and as parsed JSON")
    func dictionaries() throws {
        let parsed = try #require(try JSONSerialization.jsonObject(with: Data(Self.json.utf8)) as? [String: Any])
        try context.upsert([parsed], into: Article.self, by: "title")
        let typed: [String: Any?] = [
            "title": "B", "wordCount": 7, "status": Status.live, "priority": Priority.high,
            "layout": Layout(theme: "dark", columns: 3, tags: ["a", "b"]),
            "notes": Notes(text: "x", isUrgent: true, authors: [.init(name: "Inca")]),
        ]
        try context.upsert([typed], into: Article.self, by: "title")
        try context.save()
        let read = try file.container.newContext().fetch(FetchRequest<Article>())
        #expect(read.count == 2)
        read.forEach(check)
    }

    @Test("A raw value without a case is refused by the save")
    func unknownCase() throws {
        var row: [String: Any?] = ["title": "A", "status": "burnt", "layout": Layout(theme: "dark")]
        try context.upsert([row], into: Article.self, by: "title")
        #expect(throws: PersistenceError.self) { try context.save() }
        row["status"] = "live"
        let result = try context.upsert([row], into: Article.self, by: "title")
        try context.save()
        #expect(result.updated.first?.status == .live)
    }
}
