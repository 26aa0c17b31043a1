import Foundation
import Strata
import Testing

/// Objects as JSON, by their model.
@Suite struct JSONCodingTests {
    let file: BlogFile
    let context: ManagedObjectContext

    init() throws {
        file = try BlogFile()
        try file.fill()
        context = file.container.newContext()
    }

    private func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        encoder.dateEncodingStrategy = .iso8601
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    @Test("An object is encoded with its attributes and the keys of its to-one targets")
    func plain() throws {
        let article = try #require(try context.fetchFirst(Article.where { $0.articleId == "0-2" }))
        article.publishedAt = Date(timeIntervalSince1970: 0)
        article.price = Decimal(string: "12345678901234567890.5")
        #expect(
            try json(article)
                == #"{"articleId":"0-2","author":"a0","price":12345678901234567890.5,"publishedAt":"1970-01-01T00:00:00Z","status":"draft","title":"Title 2","views":0}"#
        )
    }

    @Test("Relationships are included by path, properties excluded by name, nil on request")
    func choices() throws {
        let article = try #require(try context.fetchFirst(Article.where { $0.articleId == "0-2" }))
        let excluded: Set = ["cover", "price", "publishedAt", "joined", "views", "status"]
        #expect(
            try json(article.encoding(including: [Article.keys.tags, "author"], excluding: excluded))
                == #"{"articleId":"0-2","author":{"authorId":"a0","name":"Ursula"},"tags":[{"label":"SWIFT","tagId":"swift"},{"label":"SQL","tagId":"sql"}],"title":"Title 2"}"#
        )
        article.author = nil
        #expect(try json(article.encoding(excluding: excluded, includesNil: true)).contains(#""author":null"#))
    }

    @Test("What is encoded can be upserted elsewhere, and gives equal objects")
    func roundTrip() throws {
        let articles = try context.fetch(FetchRequest<Article>(sortedBy: [Article.keys.articleId.ascending]))
        articles[3].cover = Data([0, 1, 255])
        articles[4].price = Decimal(string: "0.1")
        articles[5].publishedAt = Date(timeIntervalSince1970: 1_700_000_000)
        let encoded = try json(articles.map { $0.encoding(including: ["author", "tags"]) })
        let other = try PersistentContainer(BlogModel.self, at: .memory(name: nil)).newContext()
        let result = try other.upsert(json: Data(encoded.utf8), into: Article.self, by: Article.keys.articleId)
        #expect(result.inserted.count == 20)
        try other.save()
        let copies = try other.fetch(FetchRequest<Article>(sortedBy: [Article.keys.articleId.ascending]))
        #expect(try json(copies.map { $0.encoding(including: ["author", "tags"]) }) == encoded)
        #expect(try other.count(FetchRequest<Author>()) == 2 && other.count(FetchRequest<Tag>()) == 3)
        #expect(
            try other.upsert(json: Data(encoded.utf8), into: Article.self, by: Article.keys.articleId).unchanged.count
                == 20)
    }
}
