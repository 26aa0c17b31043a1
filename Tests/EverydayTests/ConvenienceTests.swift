import Foundation
import Strata
import Testing

/// Small things that every app needs.
@Suite struct ConvenienceTests {
    let file: BlogFile
    let context: ManagedObjectContext

    init() throws {
        file = try BlogFile()
        try file.fill()
        context = file.container.newContext()
    }

    @Test("An object is found by its primary key, unsaved ones too")
    func find() throws {
        #expect(try context.find(Article.self, "0-4")?.title == "Title 4")
        #expect(try context.find(Article.self, "none") == nil)
        let new = Article(context: context, articleId: "new", title: "New")
        #expect(try context.find(Article.self, "new") === new)
        context.delete(new)
        #expect(try context.find(Article.self, "new") == nil)
        #expect(try context.find(entity: "Tag", "sql")?["label"] as? String == "SQL")
        #expect(throws: PersistenceError.self) { try context.find(Edition.self, "x") }
    }

    @Test("Existence and counts take the same requests as a fetch")
    func counting() throws {
        #expect(try context.exists(Article.where { $0.title == "Title 3" }))
        #expect(try !context.exists(Article.where { $0.title == "none" }))
        #expect(try context.count(Article.where { $0.author.name == "Ursula" }) == 10)
        context.delete(try #require(try context.find(Article.self, "0-3")))
        context.delete(try #require(try context.find(Article.self, "1-3")))
        #expect(try !context.exists(Article.where { $0.title == "Title 3" }))
    }

    @Test("The asynchronous forms give the same")
    func asynchronous() async throws {
        let context = file.container.newContext()
        #expect(try await context.find(Article.self, "0-4")?.title == "Title 4")
        #expect(try await context.exists(Article.where { $0.title == "Title 3" }))
        #expect(try await context.count(Article.where { $0.author.name == "Ursula" }) == 10)
        let articles = try await context.fetchLazily(FetchRequest<Article>(), batchSize: 5)
        #expect(articles.count == 20 && articles[19].title.hasPrefix("Title"))
        #expect(try await context.fetchIDs(FetchRequest<Tag>()).count == 3)
    }

    @Test("Objects are identifiable by their ID")
    func identity() throws {
        let article = try #require(try context.find(Article.self, "0-4"))
        func id<T: Identifiable>(_ value: T) -> T.ID { value.id }
        #expect(id(article) == article.objectID && article.id == article.objectID)
        #expect(id(article.frozen()) == article.objectID)
    }

    @Test("New contexts have the container's merge policy")
    func policy() async throws {
        #expect(context.mergePolicy == .error)
        file.container.defaultMergePolicy = .objectWinsByProperty
        #expect(file.container.newContext().mergePolicy == .objectWinsByProperty)
        #expect(await file.container.newBackgroundContext().perform { $0.mergePolicy } == .objectWinsByProperty)
        #expect(context.mergePolicy == .error)
    }

    @Test("A limit that is larger than everything is no limit, also with pending changes")
    func limits() throws {
        Article(context: context, articleId: "new", title: "New")
        let request = FetchRequest<Article>(limit: .max, offset: 3)
        #expect(try context.fetch(request).count == 18)
        #expect(try context.fetch(FetchRequest<Article>(limit: .max, offset: .max)).isEmpty)
        #expect(try context.makeChild().fetch(request).count == 18)
    }

    @Test("An asynchronous save keeps changes that are made meanwhile for the next one")
    func saving() async throws {
        let context = file.container.newContext()
        let article = try #require(try await context.find(Article.self, "0-1"))
        article.title = "first"
        try await context.save()
        #expect(!context.hasChanges && article.version == 2)
        article.title = "second"
        let other = Article(context: context, articleId: "new", title: "New")
        try await context.save()
        #expect(!other.isInserted && other.version == 1)
        let reader = file.container.newContext()
        #expect(try await reader.find(Article.self, "0-1")?.title == "second")
        context.delete(other)
        try await context.save()
        #expect(try await reader.find(Article.self, "new") == nil)
    }

    @Test("An asynchronous save resolves conflicts as the blocking one does")
    func conflicts() async throws {
        let (a, b) = (file.container.newContext(), file.container.newContext())
        let ours = try #require(try await a.find(Article.self, "0-1"))
        let theirs = try #require(try await b.find(Article.self, "0-1"))
        theirs.title = "theirs"
        theirs.views = 5
        try await b.save()
        ours.title = "ours"
        await #expect(throws: PersistenceError.self) { try await a.save() }
        #expect(ours.title == "ours" && ours.hasChanges)
        a.mergePolicy = .objectWinsByProperty
        try await a.save()
        #expect(ours.title == "ours" && ours.views == 5)
        #expect(try await file.container.newContext().find(Article.self, "0-1")?.title == "ours")
    }

    @Test("Attributes may be called version and description")
    func versionAndDescription() throws {
        let release = Release(context: context, version: "1.2")
        release.description = "First"
        #expect(release.changedValues()["version"] == "1.2" && release.changedValues()["description"] == "First")
        try context.save()
        #expect("\(release)" == "Release/\(release.objectID.key)")
        #expect((release as ManagedObject).version == 1 && release.version == "1.2")
        let reader = file.container.newContext()
        let found = try reader.fetch(Release.where { $0.version == "1.2" && $0.description.hasPrefix("Fi") })
        #expect(found.map(\.description) == ["First"] && found.map(\.version) == ["1.2"])
        #expect(
            try reader.count(
                FetchRequest<Release>(where: try FetchPredicate(#Predicate<Release> { $0.version == "1.2" }))) == 1)
        let object = try #require(found.first)
        object.version = "1.3"
        object.description = nil
        try reader.save()
        #expect((object as ManagedObject).version == 2 && object.frozen().version == 2)
        #expect(object.frozen()["version"] == "1.3" && object.frozen()["description"] == .null)
        #expect(try object.value(forKey: "version") as? String == "1.3")
        let json = String(decoding: try JSONEncoder().encode(object), as: UTF8.self)
        #expect(json.contains(#""version":"1.3""#) && !json.contains("description"))
    }
}
