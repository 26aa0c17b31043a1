import Foundation
import Strata
import Testing

/// The code of the guides is in files of this target, so the compiler reads it; and it does what the guides say.
@Suite struct GuideTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Lines without the indentation that all of them have, and without `static`.
    private static func plain(_ text: some StringProtocol) -> [String] {
        text.split(separator: "\n").map {
            $0.trimmingCharacters(in: .whitespaces).replacing("static func", with: "func")
        }
    }

    @Test("Every example of a guide is in the file that is compiled", arguments: ["Contexts", "LiveResults"])
    func compiled(guide: String) throws {
        let page = try String(contentsOf: Self.root.appending(path: "Documentation/\(guide).md"), encoding: .utf8)
        let file = try String(
            contentsOf: Self.root.appending(path: "Tests/EverydayTests/Guides/\(guide)Guide.swift"), encoding: .utf8)
        let code = Self.plain(file).joined(separator: "\n")
        let blocks = page.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
        #expect(!blocks.isEmpty)
        for block in blocks {
            #expect(code.contains(Self.plain(block).joined(separator: "\n")), "\(guide)Guide.swift lacks:\n\(block)")
        }
    }

    @Test("The examples about contexts run")
    func contexts() async throws {
        let file = try BlogFile()
        try ContextsGuide.first(file.container)
        ContextsGuide.policy(file.container)
        let context = file.container.newContext()
        let (article, hasDrafts, count, recent) = try ContextsGuide.finding(context)
        #expect(article?.title == "On Dragons" && hasDrafts && count == 1 && recent.isEmpty)
        try ContextsGuide.upserting(context, [.init(id: "2", title: "Two")])
        try await context.save()
        #expect(try ContextsGuide.latest(file.container).map(\.title).sorted() == ["Dragons", "Two"])
        let (json, withTags) = try ContextsGuide.json(try #require(article))
        #expect(json.count > 20 && String(decoding: withTags, as: UTF8.self).contains("\"tags\":[]"))
        let (titles, id) = try await ContextsGuide.serving(file.container)
        #expect(titles.isEmpty)
        #expect(try file.container.newContext().existingObject(Article.self, with: id).title == "News")
    }

    @Test("The examples about live results, changes, undo and bulk operations run")
    func liveResults() async throws {
        let file = try BlogFile()
        let context = file.container.newContext(automaticallyMergesChanges: true)
        let article = Article(context: context, articleId: "1", title: "One")
        article.views = 50
        try await context.save()
        let popular = try LiveResultsGuide.live(context)
        let table = LiveResultsGuide.Table()
        popular.delegate = table
        let totals = try LiveResultsGuide.totals(context)
        var steps = popular.updates.makeAsyncIterator()
        _ = try await steps.next(isolation: #isolation)
        article.views = 150
        context.processPendingChanges()
        #expect(try await steps.next(isolation: #isolation)?.difference.inserts.count == 1)
        #expect(table.ids == [article.objectID] && popular.sections.map(\.name) == ["draft"])
        #expect(totals.rows.map { $0[Article.keys.status] } == ["draft"])
        try await context.save()
        #expect(try LiveResultsGuide.undo(context, article).isEmpty)
        #expect(article.status == "live" && popular.sections.map(\.name) == ["live"])
        article.status = "draft"
        try await context.save()
        context.undoManager = nil
        #expect(try LiveResultsGuide.bulk(context, ["Two", "Three"]) == 1)
        #expect(article.status == "live" && article.views == 151)
        #expect(try await context.count(FetchRequest<Article>()) == 3)
        LiveResultsGuide.notifications(file.container)
    }
}
