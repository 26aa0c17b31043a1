import Foundation
import Strata

/// The examples of Documentation/Contexts.md.
enum ContextsGuide {
    struct Item {
        var id: String
        var title: String
    }

    static func first(_ container: PersistentContainer) throws {
        let context = container.newContext()
        let ursula = Writer(context: context, writerId: "ursula", name: "Ursula K. Le Guin")
        Article(context: context, articleId: "1", title: "On Dragons", author: ursula)
        try context.save()
    }

    static func policy(_ container: PersistentContainer) {
        container.defaultMergePolicy = .objectWinsByProperty
    }

    static func latest(_ container: PersistentContainer) throws -> [Article] {
        try container.newContext().fetch(
            FetchRequest<Article>(sortedBy: [Article.keys.publishedAt.descending], limit: 20))
    }

    static func finding(_ context: ManagedObjectContext) throws -> (Article?, Bool, Int, [Article]) {
        let article = try context.find(Article.self, "1")
        let hasDrafts = try context.exists(Article.where { $0.status == "draft" })
        let count = try context.count(Article.where { $0.author.name == "Ursula K. Le Guin" })
        let recent = try context.fetch(Article.where { $0.views > 100 }.limit(20))
        return (article, hasDrafts, count, recent)
    }

    static func counting(_ article: Article, _ context: ManagedObjectContext) throws {
        try article.increment(\.views)
        try article.increment(\.views, by: -1)
        try article.addUnique(["swift", "sqlite"], to: \.keywords)
        try article.remove(["draft"], from: \.keywords)
        try context.save()
    }

    static func upserting(_ context: ManagedObjectContext, _ payload: [Item]) throws {
        let result = try context.upsert(
            [["articleId": "1", "title": "Dragons", "views": 0, "publishedAt": nil, "author": "ursula"]],
            into: Article.self, by: Article.keys.articleId)
        print(result.inserted.count, result.updated.count, result.unchanged.count)
        try context.upsert(payload, into: Article.self, by: Article.keys.articleId, key: \.id) { article, item in
            article.title = item.title
        }
    }

    static func json(_ article: Article) throws -> (Data, Data) {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        let json = try encoder.encode(article)
        let withTags = try encoder.encode(article.encoding(including: [Article.keys.tags], excluding: ["cover"]))
        return (json, withTags)
    }

    static func serving(_ container: PersistentContainer) async throws -> ([String], ObjectID) {
        let titles = try await container.read { context in
            try context.fetch(Article.where { $0.status == "live" }.limit(20)).map(\.title)
        }
        let id = try await container.write { context in
            Article(context: context, articleId: UUID().uuidString, title: "News").objectID
        }
        return (titles, id)
    }
}
