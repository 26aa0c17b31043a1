import Foundation
import Strata
import Testing

/// `read` and `write` of a container, as the requests of a server use them.
@Suite struct RequestTests {
    let file: BlogFile
    var container: PersistentContainer { file.container }

    init() throws {
        file = try BlogFile()
        try file.fill()
    }

    struct Refused: Error {}

    @Test("A write is saved when it returns, and reads see it")
    func writing() async throws {
        let id = try await container.write { context in
            Article(context: context, articleId: "new", title: "New", author: try context.find(Author.self, "a0"))
                .objectID
        }
        let title = try await container.read { context in try context.existingObject(Article.self, with: id).title }
        #expect(title == "New")
        #expect(try await container.read { try $0.find(Author.self, "a0")?.articles.count } == 11)
    }

    @Test("Nothing of a write that throws is saved, or left for the next one, also after a save of its own")
    func failing() async throws {
        for savesBefore in [false, true] {
            await #expect(throws: Refused.self) {
                try await container.write { context in
                    Article(context: context, articleId: "refused", title: "x")
                    context.delete(try #require(try context.find(Tag.self, "sql")))
                    if savesBefore { try context.save() }
                    throw Refused()
                }
            }
            await #expect(throws: PersistenceError.self) {
                try await container.write { Article(context: $0, articleId: "invalid", title: "").objectID }
            }
            try await container.write { context in
                #expect(context.insertedObjects.isEmpty && !context.hasChanges)
                try #require(try context.find(Article.self, "0-0")).views += 1
            }
        }
        let (count, tags, views) = try await container.read { context in
            (
                try context.count(FetchRequest<Article>()), try context.count(FetchRequest<Tag>()),
                try context.find(Article.self, "0-0")?.views
            )
        }
        #expect(count == 20 && tags == 3 && views == 2)
    }

    @Test("Many writes at once each succeed or fail on their own, and none is lost")
    func together() async throws {
        let container = container
        let failures = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask {
                    do {
                        try await container.write { context in
                            // Every tenth has a key that exists, which only the store can say.
                            Article(context: context, articleId: number % 10 == 3 ? "0-1" : "n\(number)", title: "T")
                            if number % 10 == 7 { throw Refused() }
                            try #require(try context.find(Article.self, "0-0")).views += 1
                        }
                        return false
                    } catch {
                        return true
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(failures == 40)
        let (count, views) = try await container.read { context in
            (try context.count(FetchRequest<Article>()), try context.find(Article.self, "0-0")?.views)
        }
        #expect(count == 180 && views == 160)
    }

    @Test("Changes that a read makes are dropped")
    func reading() async throws {
        let title = try await container.read { context in
            let article = try #require(try context.find(Article.self, "0-0"))
            article.title = "changed"
            return article.title
        }
        #expect(title == "changed")
        #expect(try await container.read { try $0.find(Article.self, "0-0")?.title } == "Title 0")
    }

    @Test("Thousands of tasks at once share transactions")
    func grouped() async throws {
        let statistics = StatementStatistics()
        var options = SQLiteStore.Options()
        options.trace = statistics.record
        let container = try PersistentContainer(BlogModel.self, at: .file(path: file.path), options: options)
        defer { container.close() }
        _ = try await container.write { try $0.count(FetchRequest<Tag>()) }
        statistics.clear()
        try await withThrowingTaskGroup { group in
            for number in 0..<2_000 {
                group.addTask { try await container.write { _ = Tag(context: $0, tagId: "many-\(number)") } }
            }
            try await group.waitForAll()
        }
        #expect(statistics.runs < 6_000)
        #expect(try await container.read { try $0.count(FetchRequest<Tag>()) } == 2_003)
    }
}
