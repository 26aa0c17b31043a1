import Foundation
import Strata
import Testing

/// Importing what may exist already.
@Suite struct UpsertTests {
    let file: BlogFile
    let context: ManagedObjectContext

    init() throws {
        file = try BlogFile()
        context = file.container.newContext()
        let author = Author(context: context, authorId: "ursula", name: "Ursula")
        Article(
            context: context, articleId: "1", title: "Old", status: "live", views: 10,
            publishedAt: Date(timeIntervalSince1970: 1000), price: 2, author: author)
        try context.save()
    }

    private func stored(_ id: String) throws -> Article? {
        try file.container.newContext().fetchFirst(Article.where { $0.articleId == id })
    }

    // MARK: By the merge policy

    @Test(
        "Under object-wins, values that were assigned are written, also nil and the model's defaults",
        arguments: [false, true])
    func policy(holdsExisting: Bool) throws {
        let held = try context.fetch(FetchRequest<Article>())
        let writer = holdsExisting ? context : file.container.newContext()
        writer.mergePolicy = .objectWinsByProperty
        let new = Article(
            context: writer, articleId: "1", title: "New", status: "draft", views: 0, publishedAt: nil)
        try writer.save()
        let article = try #require(try stored("1"))
        #expect(article.title == "New" && article.status == "draft" && article.views == 0 && article.publishedAt == nil)
        #expect(article.price == 2 && article.author?.name == "Ursula")
        #expect(try file.container.newContext().count(FetchRequest<Article>()) == 1)
        if holdsExisting { #expect(new.survivor == held[0].objectID && held[0].title == "New") }
    }

    @Test("Under object-wins, values that were not assigned stay")
    func omitted() throws {
        context.mergePolicy = .objectWinsByProperty
        Article(context: context, articleId: "1", title: "New")
        try context.save()
        let article = try #require(try stored("1"))
        #expect(article.title == "New" && article.status == "live" && article.views == 10 && article.publishedAt != nil)
        #expect(article.author != nil)
    }

    @Test("Setters count as initializers do, whatever the value")
    func setters() throws {
        context.mergePolicy = .objectWinsByProperty
        let new = Article(context: context, articleId: "1", title: "New")
        new.views = 0
        new.publishedAt = nil
        new.author = nil
        let byName = try context.insert(entityNamed: "Article")
        byName["articleId"] = "2"
        byName["title"] = "Two"
        try context.save()
        let article = try #require(try stored("1"))
        #expect(article.views == 0 && article.publishedAt == nil && article.author == nil && article.status == "live")
        #expect(try stored("2")?.status == "draft")
    }

    @Test("In a child context, assigned values count when the parent saves")
    func child() throws {
        context.mergePolicy = .objectWinsByProperty
        let child = context.makeChild()
        Article(context: child, articleId: "1", title: "New", views: 0)
        try child.save()
        try context.save()
        let article = try #require(try stored("1"))
        #expect(article.title == "New" && article.views == 0 && article.status == "live")
    }

    @Test(
        "Under store-wins the row stays, under overwrite all of the new object is written, under error the save fails")
    func otherPolicies() throws {
        func save(_ policy: MergePolicy) throws {
            let writer = file.container.newContext()
            writer.mergePolicy = policy
            Article(context: writer, articleId: "1", title: "New")
            try writer.save()
        }
        try save(.storeWinsByProperty)
        #expect(try stored("1")?.title == "Old")
        #expect(throws: PersistenceError.self) { try save(.error) }
        try save(.overwrite)
        let article = try #require(try stored("1"))
        #expect(article.title == "New" && article.status == "draft" && article.views == 0 && article.author == nil)
    }

    @Test("References to new objects that gave way lead to those that survived, in any number")
    func references() throws {
        let writer = file.container.newContext()
        for number in 0..<50 { Author(context: writer, authorId: "a\(number)", name: "Old \(number)") }
        for number in 0..<50 { Tag(context: writer, tagId: "t\(number)") }
        try writer.save()
        let importer = file.container.newContext()
        importer.mergePolicy = .objectWinsByProperty
        let held = try importer.fetch(Author.where { $0.authorId == "a7" })
        let tags = (0..<60).map { Tag(context: importer, tagId: "t\($0)", label: "new") }
        for number in 0..<60 {
            let author = Author(context: importer, authorId: "a\(number)", name: "New \(number)")
            let article = Article(context: importer, articleId: "n\(number)", title: "T", author: author)
            article.tags = [tags[number], tags[(number + 1) % 60]]
        }
        try importer.save()
        #expect(held[0].name == "New 7" && held[0].articles.map(\.articleId) == ["n7"])
        let reader = file.container.newContext()
        #expect(try reader.count(FetchRequest<Author>()) == 61 && reader.count(FetchRequest<Tag>()) == 60)
        for number in 0..<60 {
            let article = try #require(try reader.fetchFirst(Article.where { $0.articleId == "n\(number)" }))
            #expect(article.author?.name == "New \(number)")
            #expect(Set(article.tags.map(\.tagId)) == ["t\(number)", "t\((number + 1) % 60)"])
        }
    }

    // MARK: By a key

    @Test("Dictionaries insert, update and leave alone, and say which")
    func dictionaries() throws {
        Article(context: context, articleId: "3", title: "Three")
        try context.save()
        let result = try context.upsert(
            [
                ["articleId": "1", "title": "New", "views": 0, "publishedAt": nil, "author": "ursula"],
                ["article_id": "2", "title": "Two", "published_at": "2026-01-02T03:04:05Z", "price": "1.10"],
                ["articleId": "3", "title": "Three", "status": "draft"],
                ["articleId": "2", "views": 7],
            ], into: Article.self, by: Article.keys.articleId)
        #expect("\(result)" == "1 inserted, 1 updated, 1 unchanged")
        #expect(result.objects.map(\.articleId) == ["1", "2", "3", "2"])
        #expect(result.inserted.map(\.views) == [7] && result.updated.map(\.title) == ["New"])
        #expect(!result.unchanged[0].hasChanges)
        try context.save()
        let one = try #require(try stored("1"))
        #expect(one.views == 0 && one.publishedAt == nil && one.status == "live" && one.author?.authorId == "ursula")
        let two = try #require(try stored("2"))
        #expect(two.price == Decimal(string: "1.1") && two.publishedAt == Date(timeIntervalSince1970: 1_767_323_045))
        #expect(try file.container.newContext().count(FetchRequest<Article>()) == 3)
    }

    @Test("Each form of key works, also one of several attributes")
    func keys() throws {
        let rows: [[String: Any?]] = [["articleId": "1", "views": 3]]
        #expect(try context.upsert(rows, into: Article.self, by: \Article.articleId).updated.count == 1)
        #expect(try context.upsert(rows, into: Article.self, by: "articleId").unchanged.count == 1)
        #expect(try context.upsert(rows, into: "Article", by: ["articleId"]).unchanged.count == 1)
        let editions: [[String: Any?]] = [
            ["isbn": "1", "language": "de", "copies": 1], ["isbn": "1", "language": "en", "copies": 2],
            ["isbn": "1", "language": "de", "copies": 3],
        ]
        let result = try context.upsert(editions, into: Edition.self, by: ["isbn", "language"])
        #expect(result.inserted.map(\.copies) == [3, 2])
        try context.save()
        #expect(
            try context.upsert(editions, into: Edition.self, by: ["isbn", "language"]).updated.map(\.copies) == [3])
    }

    private struct ArticleData: Codable {
        var articleId: String
        var title: String
        var views: Int?
        var publishedAt: Date?
        var author: AuthorData?
        var tags: [String] = []
        var ignored = "not a property"
    }

    private struct AuthorData: Codable {
        var authorId: String
        var name: String
    }

    @Test("Codable values, with nested objects and lists of keys")
    func codable() throws {
        Tag(context: context, tagId: "swift")
        let moment = Date(timeIntervalSince1970: 1_700_000_000.123)
        let values = [
            ArticleData(articleId: "1", title: "New", views: 0, publishedAt: moment, tags: ["swift"]),
            ArticleData(articleId: "2", title: "Two", author: AuthorData(authorId: "octavia", name: "Octavia")),
            ArticleData(articleId: "3", title: "3", author: AuthorData(authorId: "ursula", name: "Le Guin")),
        ]
        let result = try context.upsert(values, into: Article.self, by: Article.keys.articleId)
        #expect(result.inserted.count == 2 && result.updated.count == 1)
        try context.save()
        let one = try #require(try stored("1"))
        #expect(one.views == 0 && one.publishedAt == moment && one.tags.map(\.tagId) == ["swift"])
        #expect(one.author?.name == "Le Guin")
        #expect(try stored("2")?.author?.name == "Octavia" && stored("2")?.views == 0)
        #expect(try file.container.newContext().count(FetchRequest<Author>()) == 2)
    }

    @Test("A key leads to an object that any row of the same call has nested")
    func keysOfNestedObjects() throws {
        let json = Data(
            #"""
            [{"articleId": "8", "title": "Eight", "author": "octavia"},
             {"articleId": "9", "title": "Nine", "author": {"authorId": "octavia", "name": "Octavia"}},
             {"articleId": "10", "title": "Ten", "author": "octavia"}]
            """#.utf8)
        let result = try context.upsert(json: json, into: Article.self, by: Article.keys.articleId)
        #expect(result.inserted.map { $0.author?.name } == ["Octavia", "Octavia", "Octavia"])
        try context.save()
        let authors = try file.container.newContext().fetch(FetchRequest<Author>())
        #expect(authors.count { $0.name == "Octavia" } == 1)
        let unknown = Data(
            #"""
            [{"articleId": "11", "author": {"authorId": "ursula", "name": "Le Guin"}},
             {"articleId": "12", "author": "nobody"}]
            """#.utf8)
        #expect(throws: PersistenceError.self) {
            try context.upsert(json: unknown, into: Article.self, by: Article.keys.articleId)
        }
        #expect(!context.hasChanges)
    }

    @Test("JSON: null assigns nil, what is not mentioned stays, and the place of a mistake is named")
    func json() throws {
        let json = Data(
            #"""
            [{"articleId": "1", "published_at": null, "price": 12345678901234567890.123, "extra": {"a": [1]}},
             {"articleId": "2", "title": "Two", "views": 5, "publishedAt": "2026-01-02T03:04:05.250Z"}]
            """#.utf8)
        let result = try context.upsert(json: json, into: Article.self, by: Article.keys.articleId)
        #expect("\(result)" == "1 inserted, 1 updated, 0 unchanged")
        try context.save()
        let one = try #require(try stored("1"))
        #expect(one.publishedAt == nil && one.title == "Old")
        #expect(one.price == Decimal(string: "12345678901234567890.123"))
        #expect(try stored("2")?.publishedAt == Date(timeIntervalSince1970: 1_767_323_045.25))
        let text = Data(#"[{"articleId": "2", "price": "0.12345678901234567890123"}]"#.utf8)
        try context.upsert(json: text, into: Article.self, by: Article.keys.articleId)
        try context.save()
        #expect(try stored("2")?.price == Decimal(string: "0.12345678901234567890123"))
        for price in ["12 EUR", "", "1,5"] {
            let error = #expect(throws: PersistenceError.self) {
                try context.upsert(
                    json: Data(#"[{"articleId": "2", "price": "\#(price)"}]"#.utf8), into: Article.self,
                    by: Article.keys.articleId)
            }
            #expect("\(try #require(error))".contains("price"))
        }
        let broken = Data(#"[{"articleId": "1"}, {"articleId": "2", "views": "many"}]"#.utf8)
        let error = #expect(throws: PersistenceError.self) {
            try context.upsert(json: broken, into: Article.self, by: Article.keys.articleId)
        }
        let message = "\(try #require(error))"
        #expect(message.contains("[1]") && message.contains("views"))
        #expect(!context.hasChanges)
    }

    @Test(
        "What a row cannot mean is named with what to do",
        arguments: [
            (#"{"articleId": "9", "publishedAt": "2026-01-02"}"#, "[0].publishedAt", "pass a decoder"),
            (#"{"articleId": "9", "tags": ["nowhere"]}"#, "Article.tags", "give a row in place of the key"),
        ])
    func advice(row: String, place: String, advice: String) throws {
        let error = #expect(throws: PersistenceError.self) {
            try context.upsert(json: Data("[\(row)]".utf8), into: Article.self, by: Article.keys.articleId)
        }
        let message = "\(try #require(error))"
        #expect(message.contains(place) && message.contains(advice), "\(message)")
    }

    @Test("New objects give way to those that exist; the others are saved")
    func objects() throws {
        let held = try #require(try context.fetchFirst(Article.where { $0.articleId == "1" }))
        let tag = Tag(context: context, tagId: "t")
        let articles = [
            Article(context: context, articleId: "1", title: "New", views: 0),
            Article(context: context, articleId: "2", title: "Two"),
            Article(context: context, articleId: "2", title: "Two again"),
        ]
        articles[0].tags = [tag]
        let result = try context.upsert(articles, by: Article.keys.articleId)
        #expect(result.updated == [held] && result.inserted == [articles[1]])
        #expect(result.objects == [held, articles[1], articles[1]])
        #expect(articles[0].survivor == held.objectID && articles[0].isDeleted && articles[1].title == "Two again")
        #expect(held.tags == [tag] && tag.articles == [held])
        try context.save()
        let one = try #require(try stored("1"))
        #expect(one.title == "New" && one.views == 0 && one.status == "live" && one.tags.count == 1)
        #expect(try file.container.newContext().count(FetchRequest<Article>()) == 2)
    }

    @Test("A closure assigns elements of any type")
    func closure() throws {
        struct Item { let id: String, text: String }
        let items = [Item(id: "1", text: "Old"), Item(id: "2", text: "Two"), Item(id: "3", text: "Three")]
        let result = try context.upsert(items, into: Article.self, by: Article.keys.articleId, key: \.id) {
            article, item in article.title = item.text
        }
        #expect("\(result)" == "2 inserted, 0 updated, 1 unchanged")
        struct Refused: Error {}
        #expect(throws: Refused.self) {
            try context.upsert([Item(id: "4", text: "x")], into: Article.self, by: "articleId", key: \.id) { _, _ in
                throw Refused()
            }
        }
        try context.save()
        #expect(try file.container.newContext().count(FetchRequest<Article>()) == 3)
    }

    @Test("Mistakes are named, and leave the context as it was")
    func mistakes() throws {
        func message(_ rows: [[String: Any?]], by key: some UpsertKey = "articleId") -> String {
            do {
                _ = try context.upsert(rows, into: Article.self, by: key)
                return ""
            } catch {
                #expect(!context.hasChanges)
                return "\(error)"
            }
        }
        let good: [String: Any?] = ["articleId": "9", "title": "Nine"]
        #expect(message([good, ["title": "x"]]).contains("element 1 has no value for articleId"))
        #expect(message([good, ["articleId": "8", "titel": "x"]]).contains("titel"))
        #expect(message([good, ["articleId": "8", "views": "x"]]).contains("Article.views"))
        #expect(message([good, ["articleId": "8", "title": nil]]).contains("Article.title"))
        #expect(
            message([good, ["articleId": "8", "author": "nobody"]]).contains("Article.author leads to \"nobody\""))
        #expect(message([good], by: "author").contains("author"))
        #expect(message([good], by: "status").contains("status"))
        Article(context: context, articleId: "7", title: "x")
        Article(context: context, articleId: "8", title: "x")
        try context.save()
        #expect(message([["title": "x"]], by: "title").contains("several"))
    }

    @Test("Text is told apart by its bytes, as in the store")
    func unicode() throws {
        let composed = "caf\u{E9}"
        let decomposed = "cafe\u{301}"
        let rows: [[String: Any?]] = [["articleId": composed, "title": "1"], ["articleId": decomposed, "title": "2"]]
        #expect(try context.upsert(rows, into: Article.self, by: "articleId").inserted.count == 2)
        try context.save()
        #expect(try context.upsert(rows, into: Article.self, by: "articleId").unchanged.count == 2)
    }

    /// A context with 401 new objects, of which 300 have the keys of rows, and the object of one of these rows.
    private func largeImport() throws -> (context: ManagedObjectContext, known: Article) {
        let seed = file.container.newContext()
        for number in 0..<300 { Article(context: seed, articleId: "x\(number)", title: "old", views: 5) }
        try seed.save()
        let importer = file.container.newContext()
        importer.mergePolicy = .objectWinsByProperty
        // One row is deleted in the same save, one gets another key, one is known, and two new objects have the same key.
        let known = try #require(try importer.find(Article.self, "x7"))
        importer.delete(try #require(try importer.find(Article.self, "x1")))
        try #require(try importer.find(Article.self, "x2")).articleId = "x2 before"
        let tag = Tag(context: importer, tagId: "imported", label: "imported")
        for number in 0..<400 {
            Article(context: importer, articleId: "x\(number)", title: "new \(number)").tags = [tag]
        }
        Article(context: importer, articleId: "x9", title: "second")
        return (importer, known)
    }

    private func checkLargeImport(_ importer: ManagedObjectContext, _ known: Article) throws {
        #expect(!importer.hasChanges)
        #expect(known.title == "new 7" && known.views == 5)
        let read = file.container.newContext()
        let articles = try read.fetch(
            FetchRequest<Article>(where: try FetchPredicate(format: "articleId BEGINSWITH 'x'")))
        #expect(articles.count == 401)
        for article in articles where article.articleId != "x2 before" {
            let number = try #require(Int(article.articleId.dropFirst()))
            #expect(article.title == (number == 9 ? article.title : "new \(number)"))
            // What was not assigned stays: but the deleted row and the one with another key no longer exist.
            #expect(article.views == (number < 300 && number != 1 && number != 2 ? 5 : 0), "\(number)")
            #expect(article.tags.map(\.tagId) == ["imported"] || number == 9)
        }
        #expect(try read.find(Article.self, "x2 before")?.title == "old")
        #expect(["new 9", "second"].contains(try read.find(Article.self, "x9")?.title))
        // The error policy refuses all of it.
        let refused = file.container.newContext()
        for number in 0..<200 { Article(context: refused, articleId: "x\(number)", title: "no") }
        #expect(throws: PersistenceError.self) { try refused.save() }
    }

    @Test(
        "Under a policy, a large import of mostly existing rows asks for them first, and comes to what a small one does"
    )
    func existingRows() throws {
        let (importer, known) = try largeImport()
        try importer.save()
        try checkLargeImport(importer, known)
    }

    @Test("A large import of mostly existing rows is the same with an asynchronous save")
    func existingRowsOfAnAsynchronousSave() async throws {
        let (importer, known) = try largeImport()
        try await importer.save()
        try checkLargeImport(importer, known)
    }

    @Test("Twice the rows take about twice the steps, also where all exist")
    func growth() throws {
        let statistics = StatementStatistics()
        var options = SQLiteStore.Options()
        options.trace = statistics.record
        let container = try PersistentContainer(BlogModel.self, at: .file(path: file.path), options: options)
        defer { container.close() }
        func runs(_ count: Int, _ prefix: String) throws -> Int {
            for round in 0..<2 {
                let context = container.newContext()
                context.mergePolicy = .objectWinsByProperty
                statistics.clear()
                for number in 0..<count {
                    Article(context: context, articleId: "\(prefix)\(number)", title: "\(round)")
                }
                try context.save()
            }
            return statistics.runs
        }
        let (small, large) = (try runs(200, "s"), try runs(400, "l"))
        #expect(large <= small * 5 / 2)
    }
}
