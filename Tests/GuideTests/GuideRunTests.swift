import Foundation
import Strata
import StrataModelExport
import StrataModelFiles
import StrataStore
import Testing

/// The examples of the guides do what the guides say.
@Suite struct GuideRunTests {
    private let file: GuideFile

    init() throws { file = try GuideFile() }

    /// What an example prints.
    private final class Output {
        var lines: [String] = []
        func print(_ values: Any...) { lines.append(values.map { "\($0)" }.joined(separator: " ")) }
        func print(all values: [Any]) { lines.append(values.map { "\($0)" }.joined(separator: " ")) }
    }

    private func counts(_ examples: [Example], _ context: ManagedObjectContext) throws -> [Int] {
        try examples.map { try $0(context) }
    }

    @Test("The examples of the README run")
    func readme() throws {
        try example(path: file.path)
        let library = try file.open(LibraryModel.self)
        let context = library.newContext()
        #expect(try context.count(FetchRequest<Author>()) == 0)
        #expect(try context.count(FetchRequest<Book>()) == 0)
        #expect(try ReadmeGuide.model().versionHash == LibraryModel.model.versionHash)
        Book(context: context, title: "Without an author", pages: -1, author: Author(context: context, name: "A"))
        var errors: [PersistenceError] = []
        ReadmeGuide.typedErrors(context) { errors.append($0) }
        #expect(errors.count == 1)
    }

    @Test("The examples about unplanned reads run")
    func unplannedReads() throws {
        let container = try file.open(AtlasModel.self)
        let world = try World(container)
        try FetchingGuide.counting(container)
        let output = Output()
        try FetchingGuide.strictly(container.newContext()) { output.print(all: $0) }
        #expect(!output.lines.isEmpty)
        let reader = container.newContext()
        let country = try #require(try reader.fetchFirst(FetchRequest<Country>()))
        let (_, loads) = reader.recordingLoads(callers: .sourceLines) { _ = country.cities }
        #if os(Linux)
            #expect(loads.loads.first?.caller?.hasPrefix("GuideTests/GuideRunTests.swift:") == true)
        #endif
        let report = Output()
        try FetchingGuide.reporting(world.context) { report.print($0) }
        let count = try world.context.count(FetchRequest<City>())
        #expect(
            report.lines.last
                == "City.country was prefetched for \(count) objects and never read; leave it out of the fetch")
    }

    @Test("The requests of the README find what they say")
    func readmeRequests() throws {
        let world = try World(try file.open(AtlasModel.self))
        #expect(try counts(try ReadmeGuide.fetching(limit: 1_000_000), world.context) == [2, 2, 2, 2])
    }

    @Test("The examples about contexts run")
    func contexts() async throws {
        let container = try file.open(BlogModel.self)
        try ContextsGuide.first(container)
        ContextsGuide.policy(container)
        let context = container.newContext()
        let (article, hasDrafts, count, recent) = try ContextsGuide.finding(context)
        #expect(article?.title == "On Dragons" && hasDrafts && count == 1 && recent.isEmpty)
        try ContextsGuide.upserting(context, [.init(id: "2", title: "Two")])
        try await context.save()
        #expect(try ContextsGuide.latest(container).map(\.title).sorted() == ["Dragons", "Two"])
        let (json, withTags) = try ContextsGuide.json(try #require(article))
        #expect(json.count > 20 && String(decoding: withTags, as: UTF8.self).contains("\"tags\":[]"))
        let (titles, id) = try await ContextsGuide.serving(container)
        #expect(titles.isEmpty)
        #expect(try container.newContext().existingObject(Article.self, with: id).title == "News")
    }

    @Test("The examples about history run")
    func history() throws {
        let (container, context) = try HistoryGuide.record(file.path)
        let index = HistoryGuide.Index()
        try HistoryGuide.read(container)
        let article = Article(context: context, articleId: "1", title: "One")
        try context.save()
        let token = try container.currentHistoryToken()
        try HistoryGuide.consume(container, index)
        #expect(index.ids == [article.objectID])
        #expect(try container.history(after: nil).map(\.author) == ["editor"])
        try HistoryGuide.past(container, article.objectID, token)
        article.status = "live"
        try context.save()
        let counts = try HistoryGuide.filters(container).map { try container.history(after: token, where: $0).count }
        #expect(counts == [1, 0, 0])
        context.delete(article)
        try context.save()
        try container.purgeHistory(upTo: try container.currentHistoryToken())
        try HistoryGuide.restart(container, index) { _ in }
        #expect(index.ids.isEmpty)
        try HistoryGuide.consume(container, index)
    }

    @Test("The examples about live results, changes, undo and bulk operations run")
    func liveResults() async throws {
        let container = try file.open(BlogModel.self)
        let context = container.newContext(automaticallyMergesChanges: true)
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
        LiveResultsGuide.notifications(container)
    }

    @Test("The forms of a fetch give what the guide says")
    func forms() throws {
        let world = try World(try file.open(AtlasModel.self))
        let forms = try FetchingGuide.forms(world.context)
        let names = ["Cusco", "Lima", "Marseille", "Paris"]
        #expect(forms.cities.map(\.name) == names)
        #expect(forms.first?.name == "Cusco")
        #expect(forms.ids == forms.cities.map(\.objectID))
        #expect(forms.count == 4)
        #expect(forms.pages.map(\.name) == names)
        #expect(forms.rows.map { $0[City.keys.name] } == names)
        #expect(try FetchingGuide.named(world.context).map(\.name) == ["Lima", "Paris", "Marseille", "Cusco"])
        #expect(try world.context.fetch(try FetchingGuide.namedAtRunTime(world.context)).count == 4)
        let (cities, others) = try FetchingGuide.objects(world.context, peru: world.peru)
        #expect(cities.count == 162)
        #expect(try world.context.count(others) == 2)
    }

    @Test("A lazy fetch runs as many statements as the guide says")
    func pages() throws {
        _ = try World(try file.open(AtlasModel.self))
        let statements = Guarded(0)
        var options = SQLiteStore.Options()
        options.trace = { _ in statements.withLock { $0 += 1 } }
        let context = try file.open(AtlasModel.self, options: options).newContext()
        var seen: [(String, Int)] = []
        statements.withLock { $0 = 0 }
        try FetchingGuide.pages(context) { value in seen.append(("\(value)", statements.withLock { $0 })) }
        #expect(seen.map(\.0) == ["164", "Village 1117"])
        #expect(seen.map(\.1) == [1, 2])
    }

    @Test("Values, groups and tuples are what the guide says")
    func values() throws {
        let world = try World(try file.open(AtlasModel.self))
        let groups = Output()
        try FetchingGuide.groups(world.context) { groups.print(all: $0) }
        #expect(groups.lines == ["PE 10442880 162"])
        let tuples = Output()
        #expect(try FetchingGuide.tuples(world.context) { tuples.print(all: $0) } == 10_000_000)
        #expect(tuples.lines.contains("Lima 10000000 Peru"))
        #expect(tuples.lines.count == 4)
        let neighbours = Output()
        let same = try FetchingGuide.fetchedProperty(world.lima) { neighbours.print($0) }
        #expect(neighbours.lines.first == "Cusco" && neighbours.lines.count == 161)
        #expect(same.count == 161)
    }

    @Test("A request that refreshes shows what others saved")
    func refreshing() throws {
        let container = try file.open(AtlasModel.self)
        let world = try World(container)
        let other = container.newContext()
        try #require(try other.fetchFirst(City.where { $0.name == "Lima" })).about = "Changed"
        try other.save()
        #expect(world.lima.about != "Changed")
        let cities = try FetchingGuide.refreshing(world.context)
        #expect(cities.contains { $0 === world.lima })
        #expect(world.lima.about == "Changed")
    }

    @Test("A cancelled fetch throws that it was cancelled, or was faster")
    func searching() async throws {
        let container = try file.open(AtlasModel.self)
        _ = try World(container)
        switch await FetchingGuide.searching(container, City.where { $0.isPort }).result {
        case .success(let names): #expect(Set(names) == ["Lima", "Marseille"])
        case .failure(PersistenceError.cancelled): break
        case .failure(let error): Issue.record("\(error)")
        }
    }

    @Test("The classes of the guide's model work as it says")
    func models() throws {
        let (lima, condition, container) = try ModelsGuide.classes(file.path)
        #expect(lima.label == "Lima, Peru")
        let context = container.newContext()
        #expect(try context.count(FetchRequest<City>(where: condition)) == 0)
        let sight = Sight(context: context, name: "Plaza Mayor")
        #expect(sight.added != nil && sight.kind == .museum)
        let model = try ModelsGuide.model()
        #expect(model.fetchRequestTemplate(named: "largeCities")?.variables == ["minimum"])
        let yaml = ModelFile(model: model).yaml()
        #expect(try ModelFile.read(yaml: yaml, path: "a.strata.yaml").model().versionHash == model.versionHash)
    }

    @Test("The conditions of the guide find what they say")
    func conditions() throws {
        let world = try World(try file.open(AtlasModel.self))
        let context = world.context
        let output = Output()
        try PredicatesGuide.typed(context) { output.print($0) }
        #expect(output.lines == ["Lima", "Cusco"])
        #expect(try counts(try PredicatesGuide.orders(lima: World.lima), context) == [164, 2, 2, 164])
        #expect(
            try counts(try PredicatesGuide.textOrders(), context) == [2, 2, 164])
        #expect(try counts(try PredicatesGuide.toMany(), context) == [1, 0, 1, 2, 1])
        #expect(try context.fetch(try PredicatesGuide.foundation()).count == 2)
        #expect(try context.fetch(try PredicatesGuide.foundation(world.peru)).count == 162)
        #expect(try context.fetch(try PredicatesGuide.format()).count == 2)
        let values = try counts(PredicatesGuide.values(date: .now), context)
        #expect(values == [159, 163, 1, 163, 1, 0, 164, 0, 2, 162, 2, 1, 164, 0])
        let calculations = try counts(PredicatesGuide.calculations(names: ["Lima", "Paris"]), context)
        #expect(calculations == [161, 153, 55, 159, 2, 2, 163, 2, 5, 5, 4])
        #expect(try counts(PredicatesGuide.texts(), context) == [1, 1, 1, 1, 0, 1, 1, 1, 1])
        let objects = PredicatesGuide.objects(
            lima: world.lima, peru: world.peru, countries: [world.peru], ids: [world.france.objectID])
        #expect(try counts(objects, context) == [0, 162, 162, 0, 162, 2, 1, 162, 1])
        #expect(try counts(PredicatesGuide.places(point: World.lima), context) == [1, 1, 1, 1, 1, 164])
    }

    @Test("A class written by hand takes part in Foundation's predicates")
    func handWritten() throws {
        let model = try ManagedObjectModel(name: "Harbours") {
            Entity("Harbour") {
                Attribute("name", .string)
                Attribute("depth", .double, default: .value(0))
            }
        }
        let container = try PersistentContainer(model: model, classes: [Harbour.self], at: .file(path: file.path))
        let context = container.newContext()
        for (name, depth) in [("Callao", 14.0), ("Chancay", 17.8)] {
            let harbour = Harbour(inserting: context)
            harbour["name"] = name
            harbour["depth"] = depth
        }
        try context.save()
        let deep = try FetchRequest(predicate: #Predicate<Harbour> { $0.depth > 15 })
        #expect(try context.fetch(deep).map(\.name) == ["Chancay"])
    }
}
