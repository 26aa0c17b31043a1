import Foundation
import Strata
import Testing

/// Objects whose context is gone.
@Suite struct OutlivingTests {
    let file: BlogFile

    init() throws {
        file = try BlogFile()
        try file.fill()
    }

    /// The helper that everybody writes first.
    private func load() throws -> [Article] {
        try file.container.newContext().fetch(FetchRequest<Article>(sortedBy: [Article.keys.articleId.ascending]))
    }

    @Test("Objects read attributes, targets and members after their context is gone")
    func reading() throws {
        let articles = try load()
        #expect(articles.map(\.title) == (0..<2).flatMap { _ in (0..<10).map { "Title \($0)" } })
        #expect(
            articles.map { $0.author?.name } == Array(repeating: "Ursula", count: 10)
                + Array(repeating: "Octavia", count: 10))
        #expect(articles.map(\.tags.count) == (0..<2).flatMap { _ in (0..<10).map { $0 % 4 } })
        let author = try #require(articles[0].author)
        #expect(author.articles == Set(articles.prefix(10)))
        #expect(Set(author.articles.flatMap(\.tags).map(\.label)) == ["SWIFT", "SQL", "SYNC"])
        #expect(articles[0].context == nil && !articles[0].isMissing && !articles[0].hasChanges)
        #expect(articles.allSatisfy { $0.author === ($0.articleId.hasPrefix("0") ? author : $0.author) })
    }

    @Test("Relationships of a whole result take a statement or two each, not one for each object")
    func batches() throws {
        let statistics = StatementStatistics()
        var options = SQLiteStore.Options()
        options.trace = statistics.record
        let container = try PersistentContainer(BlogModel.self, at: .file(path: file.path), options: options)
        defer { container.close() }
        let articles = try container.newContext().fetch(FetchRequest<Article>())
        statistics.clear()
        for article in articles { _ = (article.author?.name, article.tags.map(\.label)) }
        #expect(statistics.runs <= 3)
        statistics.clear()
        for article in articles { _ = (article.author?.name, article.tags.map(\.label)) }
        #expect(statistics.runs == 0)
    }

    @Test("Pending changes are dropped with the context; a new object keeps its values")
    func pending() throws {
        var context: ManagedObjectContext? = file.container.newContext()
        let article = try #require(try context?.fetchFirst(Article.where { $0.articleId == "0-3" }))
        let tag = try #require(try context?.fetchFirst(Tag.where { $0.tagId == "sync" }))
        let other = try #require(try context?.fetchFirst(Author.where { $0.authorId == "a1" }))
        article.title = "changed"
        article.author = other
        article.tags = []
        context?.delete(tag)
        let new = Article(context: try #require(context), articleId: "new", title: "Fresh", author: other)
        context = nil
        #expect(article.title == "Title 3" && article.author?.name == "Ursula" && article.tags.count == 3)
        #expect(!tag.isDeleted && tag.label == "SYNC" && tag.articles.contains(article))
        #expect(new.title == "Fresh" && !new.hasChanges)
        #expect(!other.articles.contains(new) && other.articles.count == 10)
        #expect(try load().count == 20)
    }

    @Test("What others change and delete meanwhile shows in everything that has not been read yet")
    func others() throws {
        let articles = try load()
        let context = file.container.newContext()
        let author = try #require(try context.fetchFirst(Author.where { $0.authorId == "a0" }))
        author.name = "Le Guin"
        try #require(try context.fetchFirst(Tag.where { $0.tagId == "swift" })).label = "Swift 6"
        for article in try context.fetch(Article.where { $0.articleId == "1-1" }) { context.delete(article) }
        try context.save()
        #expect(articles[0].author?.name == "Le Guin")
        #expect(articles[1].tags.map(\.label) == ["Swift 6"])
        #expect(articles[11].title == "Title 1")
        #expect(articles[10].author?.articles.count == 9)
    }

    @Test("Faults of a context that is gone are filled; a missing row is said to be missing")
    func faults() throws {
        var context: ManagedObjectContext? = file.container.newContext()
        var request = FetchRequest<Article>(sortedBy: [Article.keys.articleId.ascending])
        request.returnsObjectsAsFaults = true
        let articles = try #require(try context?.fetch(request))
        context = nil
        let writer = file.container.newContext()
        for article in try writer.fetch(Article.where { $0.articleId == "0-0" }) { writer.delete(article) }
        try writer.save()
        #expect(articles[1].isFault && articles[1].title == "Title 1")
        #expect(articles[0].isMissing && articles[0].title == "")
    }

    @Test("An object that was left by a reset is read as before, beside the new object of the same row")
    func reset() throws {
        let context = file.container.newContext()
        let old = try #require(try context.fetchFirst(Article.where { $0.articleId == "0-1" }))
        context.reset()
        let new = try #require(try context.fetchFirst(Article.where { $0.articleId == "0-1" }))
        #expect(old !== new && old.objectID == new.objectID && old.context == nil && new.context === context)
        #expect(old.author?.name == "Ursula" && old.author !== new.author)
        new.title = "changed"
        try context.save()
        #expect(old.title == "Title 1")
    }

    @Test("Objects of a child read through its parent, with the parent's unsaved changes")
    func children() throws {
        let parent = file.container.newContext()
        let author = try #require(try parent.fetchFirst(Author.where { $0.authorId == "a0" }))
        author.name = "unsaved"
        func load() throws -> Article {
            let child = parent.makeChild()
            return try #require(try child.fetchFirst(Article.where { $0.articleId == "0-3" }))
        }
        let article = try load()
        #expect(article.context == nil && article.author?.name == "unsaved" && article.tags.count == 3)
        #expect(article.author !== author && article.author?.articles.count == 10)
    }

    @Test("Objects of a context that is gone can be encoded, frozen and sent by their IDs")
    func leaving() throws {
        let articles = try load()
        let frozen = articles[3].frozen()
        #expect(frozen[Article.keys.title] == "Title 3")
        let json = try JSONEncoder().encode(articles[3].encoding(including: [Article.keys.tags]))
        #expect(String(decoding: json, as: UTF8.self).contains("SYNC"))
        let context = file.container.newContext()
        #expect(try context.existingObject(Article.self, with: articles[3].objectID).title == "Title 3")
    }

    @Test("The data behind an external blob is read after the context is gone")
    func blobs() throws {
        let bytes = Data(repeating: 7, count: 500_000)
        let context = file.container.newContext()
        try #require(try context.fetchFirst(Article.where { $0.articleId == "0-0" })).cover = bytes
        try context.save()
        let articles = try load()
        #expect(articles[0].cover == bytes && articles[1].cover == nil)
    }

    @Test("Nothing is left behind when the last object goes, however much was walked")
    func memory() throws {
        weak var article: Article?
        weak var author: Author?
        weak var tag: Tag?
        do {
            let articles = try load()
            for _ in 0..<2 {
                for article in articles {
                    for tag in article.tags { _ = tag.articles.map { $0.author?.articles.count ?? 0 } }
                }
            }
            article = articles[3]
            author = articles[3].author
            tag = articles[3].tags.first
            _ = (article?.title, author?.name, tag?.label)
        }
        #expect(article == nil && author == nil && tag == nil)
    }

    @Test("What a living context keeps of each other goes with it")
    func cycles() throws {
        weak var article: Article?
        weak var tag: Tag?
        do {
            let context = file.container.newContext()
            let articles = try context.fetch(FetchRequest<Article>(prefetch: [Article.keys.tags, Article.keys.author]))
            for article in articles { for tag in article.tags { _ = tag.articles.map { $0.author?.articles.count } } }
            article = articles.first { $0.tags.count == 3 }
            tag = article?.tags.first
            #expect(article != nil && tag != nil)
        }
        #expect(article == nil && tag == nil)
    }

    @Test("Writing to an object whose context is gone stops the program and says what to do")
    func writing() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let container = try PersistentContainer(BlogModel.self, at: .memory(name: nil))
            func make() throws -> Tag {
                let context = container.newContext()
                let tag = Tag(context: context, tagId: "t")
                try context.save()
                return tag
            }
            try make().label = "x"
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("Tag/") && text.contains("keep the context"))
    }

    @Test("Changing a relationship of an object whose context is gone stops the program, too")
    func linking() async {
        await #expect(processExitsWith: .failure) {
            let container = try PersistentContainer(BlogModel.self, at: .memory(name: nil))
            func make() throws -> (Tag, Article) {
                let context = container.newContext()
                let pair = (Tag(context: context, tagId: "t"), Article(context: context, articleId: "1", title: "T"))
                try context.save()
                return pair
            }
            let (tag, article) = try make()
            article.addToTags(tag)
        }
    }
}
