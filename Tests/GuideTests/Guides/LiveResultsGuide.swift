// The examples of Documentation/LiveResults.md, compiled and run by GuideTests.
import Foundation
import Strata

enum LiveResultsGuide {
    static func live(_ context: ManagedObjectContext) throws -> FetchedResults<Article> {
        let popular = try context.live(
            Article.where { $0.views >= 100 }.sorted(by: Article.keys.views.descending),
            sectionedBy: Article.keys.status)
        for section in popular.sections {
            print(section.name, popular[section].map(\.title))
        }
        return popular
    }

    final class Table: FetchedResultsDelegate {
        var ids: [ObjectID] = []

        func results<Object>(_ results: FetchedResults<Object>, didChange update: ResultsUpdate) {
            ids = update.difference.apply(to: ids)
        }
    }

    static func follow(_ popular: FetchedResults<Article>) async throws -> Int {
        for try await update in popular.updates {
            if update.isInitial { continue }
            return update.difference.inserts.count
        }
        return 0
    }

    static func totals(_ context: ManagedObjectContext) throws -> FetchedValues<Article, FetchedRow> {
        try context.live(
            FetchRequest<Article>()
                .select(Article.keys.status, Article.keys.views.sum)
                .grouped(by: Article.keys.status))
    }

    static func listen(_ context: ManagedObjectContext) async -> [String] {
        for await change in context.changes {
            return change.updated.values.flatMap(\.names)
        }
        return []
    }

    static func commits(_ container: PersistentContainer) async -> Int {
        for await change in container.changes {
            return change.deleted.count
        }
        return 0
    }

    static func notifications(_ container: PersistentContainer) {
        container.notificationCenter = .default
    }

    static func undo(_ context: ManagedObjectContext, _ article: Article) throws -> [UndoReport.Skipped] {
        let history = UndoHistory()
        context.undoManager = history
        history.group(named: "Publish") {
            article.status = "live"
            article.publishedAt = Date()
        }
        let report = try history.undo()
        try history.redo()
        return report.skipped
    }

    static func bulk(_ context: ManagedObjectContext, _ titles: [String]) throws -> Int {
        let changed = try context.update(Article.where { $0.status == "draft" }) { article in
            article.status = "live"
            article.views += 1
        }
        try context.deleteAll(Article.where { $0.views > 1_000_000 })
        try context.insertAll(Article.self, from: titles) { article, title in
            article.articleId = .value(UUID().uuidString)
            article.title = .value(title)
        }
        return changed
    }
}
