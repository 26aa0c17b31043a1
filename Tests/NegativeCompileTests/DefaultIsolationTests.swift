import SnippetCompiler
import StrataModelFiles
import Testing

/// Generated code in targets whose declarations belong to the main actor unless they say otherwise, as new app targets have it.
@Suite struct DefaultIsolationTests {
    private static let model = """
        entities:
          Article:
            base: true
            attributes:
              title: string
              status: {type: string, enum: {name: Status, cases: [draft, live]}, default: draft}
              layout: {type: json, codable: {name: Layout, members: {theme: string, tags: [string]}}}
              mark: {elements: {kind: {type: string, enum: {name: Kind, cases: [a, b]}}, place: integer?}, type: composite?}
            relationships:
              issue: {to: Issue, inverse: articles}
          Issue:
            attributes:
              number: {type: integer, unique: true}
            relationships:
              articles: {toMany: Article, inverse: issue, ordered: true}
        """

    private static let app = """
        import Strata

        nonisolated class Article: ArticleBase {
            var shouting: String { title + "!" }
        }

        @MainActor func show(_ container: PersistentContainer) throws {
            let context = container.viewContext
            let issue = Issue(context: context, number: 1)
            issue.addToArticles(try context.fetch(Article.where { $0.status == .live && $0.layout.theme == "dark" }))
            for article in issue.articles { print(article.shouting, article.mark?.kind ?? .a, article.layout.tags) }
            try context.save()
        }

        actor Importer {
            func run(_ container: PersistentContainer) throws {
                let context = container.newContext()
                for article in try context.fetch(Article.where { $0.issue.number > 3 }) {
                    article.status = .draft
                    print(article.shouting, article.mark?.place ?? 0, Layout.zeroValue, Status.draft)
                }
                try context.save()
            }
        }

        nonisolated func model() -> ManagedObjectModel { MagazineModel.model }
        """

    @Test(
        "Generated classes serve the main actor and others, whatever the default isolation is",
        arguments: ["MainActor", "nonisolated"], [ModelFile.Access.internal, .public])
    func compiles(isolation: String, access: ModelFile.Access) throws {
        let file = try ModelFile.read(yaml: Self.model, path: "Magazine.strata.yaml")
        let generated = try CodeGenerator(file: file, access: access).files()
        let compiler = try SnippetCompiler()
        defer { compiler.finish() }
        let sources = generated.enumerated().map { SnippetCompiler.Source(name: "Model\($0)", text: $1.text) }
        let app =
            access == .public ? Self.app.replacing("nonisolated class", with: "nonisolated public class") : Self.app
        let report = try compiler.compile(
            sources + [.init(name: "App", text: app)], as: isolation,
            ["-typecheck", "-default-isolation", isolation])
        #expect(report.errors.isEmpty && report.warnings.isEmpty, "\(report.output.suffix(3_000))")
        #expect(report.exitCode == 0)
    }
}
