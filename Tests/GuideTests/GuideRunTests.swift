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

    @Test("All ways to write a condition find the same")
    func waysToWriteConditions() throws {
        let world = try World(try file.open(AtlasModel.self))
        #expect(try counts(try PredicatesGuide.fourWays(limit: 1_000_000), world.context) == [2, 2, 2, 2])
    }

    @Test("The examples about contexts run")
    func contexts() async throws {
        let container = try file.open(AtlasModel.self)
        try await ContextsGuide.first(container)
        let strict = container.newContext()
        Country(context: strict, countryId: "PE", name: "Another Peru")
        var errors: [PersistenceError] = []
        await ContextsGuide.typedErrors(strict) { errors.append($0) }
        #expect(errors.count == 1)
        ContextsGuide.policy(container)
        let context = container.newContext()
        let (city, hasPorts, count, large) = try await ContextsGuide.finding(context)
        #expect(city?.name == "Lima" && !hasPorts && count == 1 && large.isEmpty)
        var output = Output()
        ContextsGuide.relationships(context, try #require(city).country) { output.print($0) }
        #expect(output.lines == ["true", "false"])
        output = Output()
        try ContextsGuide.upserting(context, [.init(code: "BR", title: "Brazil")]) { output.print($0, $1, $2) }
        #expect(output.lines == ["0 1 0"])
        try await context.save()
        #expect(try await ContextsGuide.largest(container).map(\.population) == [10_092_000])
        let (json, withSights) = try ContextsGuide.json(try #require(city))
        #expect(json.count > 20 && String(decoding: withSights, as: UTF8.self).contains("\"sights\":[]"))
        let (names, id) = try await ContextsGuide.serving(container)
        #expect(names.isEmpty)
        #expect(try container.newContext().existingObject(Country.self, with: id).name == "France")
    }

    @Test("The examples about history run")
    func history() throws {
        let (container, context) = try HistoryGuide.record(file.path)
        let index = HistoryGuide.Index()
        try HistoryGuide.read(container)
        let peru = Country(context: context, countryId: "PE", name: "Peru")
        let city = City(context: context, name: "Lima", position: World.lima, country: peru)
        try context.save()
        let token = try container.currentHistoryToken()
        try HistoryGuide.consume(container, index)
        #expect(index.ids == [city.objectID])
        #expect(try container.history(after: nil).map(\.author) == ["editor"])
        try HistoryGuide.past(container, city.objectID, token)
        city.population = 10_000_000
        try context.save()
        let counts = try HistoryGuide.filters(container).map { try container.history(after: token, where: $0).count }
        #expect(counts == [1, 0, 0])
        context.delete(city)
        try context.save()
        try container.purgeHistory(upTo: try container.currentHistoryToken())
        try HistoryGuide.restart(container, index) { _ in }
        #expect(index.ids.isEmpty)
        try HistoryGuide.consume(container, index)
    }

    @Test("A consumer that follows the commits gets what another container on the file commits")
    func followedHistory() async throws {
        let (container, _) = try HistoryGuide.record(file.path)
        let (names, continuation) = AsyncStream.makeStream(of: String.self)
        let following = Task {
            try await HistoryGuide.follow(container) { transactions in
                for change in transactions.flatMap(\.changes) { continuation.yield(change.entityName) }
            }
        }
        let (elsewhere, context) = try HistoryGuide.record(file.path)
        var iterator = names.makeAsyncIterator()
        for round in 1...3 {
            Country(context: context, countryId: "P\(round)", name: "Peru")
            try await context.save()
            #expect(await iterator.next() == "Country")
        }
        following.cancel()
        try await following.value
        elsewhere.close()
    }

    @Test("The examples about live results and change streams run")
    func liveResults() async throws {
        let container = try file.open(AtlasModel.self)
        let context = container.newContext(automaticallyMergesChanges: true)
        let peru = Country(context: context, countryId: "PE", name: "Peru")
        let city = City(context: context, name: "Lima", population: 50, position: World.lima, country: peru)
        try await context.save()
        let large = try LiveResultsGuide.live(context)
        let table = LiveResultsGuide.Table()
        large.delegate = table
        let totals = try LiveResultsGuide.totals(context)
        var steps = large.updates.makeAsyncIterator()
        _ = try await steps.next(isolation: #isolation)
        city.population = 10_000_000
        context.processPendingChanges()
        #expect(try await steps.next(isolation: #isolation)?.difference.inserts.count == 1)
        #expect(table.ids == [city.objectID] && large.sections.map(\.name) == ["Peru"])
        #expect(totals.rows.map { $0[City.keys.country.name] } == ["Peru"])
        peru.name = "Perú"
        try await context.save()
        #expect(large.sections.map(\.name) == ["Perú"])
        LiveResultsGuide.notifications(container)
    }

    @Test("The examples about undo run and print what the guide says")
    func undo() throws {
        let world = try World(try file.open(AtlasModel.self))
        let output = Output()
        let history = try UndoGuide.first(world.context, world.lima) { output.print($0) }
        #expect(try UndoGuide.grouping(history, world.lima) { output.print($0) }.skipped.isEmpty)
        #expect(output.lines == ["Lima", "Ciudad de los Reyes", "Make a port"])
        #expect(world.lima.isPort && world.lima.about == "The capital, without storms")
        let sights = Output()
        try UndoGuide.saving(world.context, history, world.lima) { sights.print(all: $0) }
        #expect(sights.lines == ["false 1"])
        let report = try history.undo()
        UndoGuide.reporting(report) { sights.print(all: $0) }
    }

    @Test("The examples about bulk operations change what they say")
    func bulkOperations() async throws {
        let container = try file.open(AtlasModel.self)
        let world = try World(container)
        #expect(try BulkOperationsGuide.update(world.context) == 162)
        // The villages of 1 to 98 people, who are one more now.
        #expect(try BulkOperationsGuide.delete(world.context) == 98)
        let ids = try BulkOperationsGuide.insert(
            world.context, [.init(name: "Nauta", position: World.lima)], world.peru)
        #expect(try world.context.existingObject(City.self, with: ids[0]).country == world.peru)
        #expect(try await BulkOperationsGuide.serving(container) == 1)
    }

    @Test("Two contexts merge as the guide says")
    func conflicts() async throws {
        let container = try file.open(AtlasModel.self)
        try await ContextsGuide.first(container)
        for (population, about) in try await ConflictsGuide.example(container) {
            #expect(population == 10_000_000 && about == "The capital")
        }
        let context = container.newContext()
        let lima = try #require(try await context.find(City.self, "lima"))
        let other = container.newContext()
        try #require(try await other.find(City.self, "lima")).population = 1
        try await other.save()
        lima.population = 2
        let output = Output()
        try await ConflictsGuide.looking(context) { output.print(all: $0) }
        #expect(output.lines.count == 1 && output.lines[0].hasPrefix("population was"), "\(output.lines)")
        #expect(try await container.newContext().find(City.self, "lima")?.population == 2)
    }

    @Test("Rules add up two changes of a number, and an object that a save depends on is checked")
    func conflictRules() async throws {
        let container = try file.open(AtlasModel.self)
        let world = try World(container)
        let (first, second) = (container.newContext(), container.newContext())
        let id = world.lima.objectID
        let mine = try first.existingObject(City.self, with: id)
        let theirs = try second.existingObject(City.self, with: id)
        let before = mine.population
        mine.population += 5
        theirs.population += 7
        try await second.save()
        try ConflictsGuide.rules(first)
        try await first.save()
        #expect(mine.population == before + 12)
        let peru = try first.existingObject(Country.self, with: world.peru.objectID)
        try await ConflictsGuide.checking(first, peru: peru)
        let there = try second.existingObject(Country.self, with: peru.objectID)
        there.name += "!"
        try await second.save()
        await #expect(throws: PersistenceError.self) { try await ConflictsGuide.checking(first, peru: peru) }
    }

    @Test("The examples for those who come from Core Data run")
    func comingFromCoreData() async throws {
        let container = try file.open(AtlasModel.self)
        var printed: [Bool] = []
        let (typed, formatted) = try await ComingFromCoreDataGuide.code(container) { printed.append($0) }
        #expect(printed == [true] && typed.map(\.name) == ["Lima"] && formatted == 1)
        try await ComingFromCoreDataGuide.background(container)
        #expect(try await container.newContext().find(City.self, "lima")?.population == 10_000_001)
    }

    @Test("The examples about concurrency run")
    func concurrency() async throws {
        let container = try file.open(AtlasModel.self)
        let ids = try await ConcurrencyGuide.queue(container) { [("FR", "France")] }
        #expect(ids.count == 1)
        let importer = ConcurrencyGuide.Importer(container)
        _ = try await importer.add("Brazil", code: "BR")
        _ = try await ConcurrencyGuide.addCountry(container, code: "CL", name: "Chile")
        #expect(try await ConcurrencyGuide.names(container).sorted() == ["Brazil", "Chile", "France", "Peru"])
        #expect(try await ConcurrencyGuide.largestPort(container) == nil)
        let context = container.newContext()
        let peru = try context.existingObject(Country.self, with: ids[0])
        let city = City(context: context, name: "Callao", position: World.lima, country: peru)
        try await context.save()
        let lines = Guarded([String]())
        try await ConcurrencyGuide.sending(container, city) { values in
            lines.withLock { $0.append(values.map { "\($0)" }.joined(separator: " ")) }
        }
        #expect(lines.withLock(\.self) == ["Callao 0", "Callao"])
        try await ConcurrencyGuide.rename(container, city.objectID)
        #expect(try await container.newContext().count(City.where { $0.name == "Lima" }) == 1)
    }

    @Test("Fetches run as many statements as the guide about performance says")
    func performance() async throws {
        _ = try World(try file.open(AtlasModel.self))
        let statements = Guarded(0)
        var options = SQLiteStore.Options()
        options.trace = { _ in statements.withLock { $0 += 1 } }
        let container = try file.open(AtlasModel.self, options: options)
        func count(_ body: (ManagedObjectContext) async throws -> Void) async throws -> Int {
            let context = container.newContext()
            statements.withLock { $0 = 0 }
            try await body(context)
            return statements.withLock(\.self)
        }
        let output = Output()
        #expect(try await count { try await PerformanceGuide.faulting($0) { output.print($0, $1) } } == 2)
        #expect(output.lines.count == 164)
        let prefetched = try await count { context in
            let cities = try await PerformanceGuide.prefetching(context)
            #expect(Set(cities.map(\.country.name)) == ["Peru", "France"])
        }
        #expect(prefetched == 2)
        let context = container.newContext()
        let (total, names) = try await PerformanceGuide.values(context)
        #expect(total == 13_412_880 && names.sorted() == ["Lima", "Marseille"])
        let peru = try #require(try await context.find(Country.self, "PE"))
        let (members, byCities) = try await PerformanceGuide.counting(context, peru)
        #expect(members == 162 && byCities.map(\.name) == ["Peru", "France"])
        let traced = try PerformanceGuide.tracing(file.path) { _ in }
        #expect(try await traced.newContext().count(FetchRequest<City>()) == 164)
    }

    @Test("The examples of the guides for users of other libraries run")
    func otherLibraries() async throws {
        let output = Output()
        let context = try await ComingFromSwiftDataGuide.task(file.path) { output.print($0) }
        #expect(try await ComingFromSwiftDataGuide.predicate(context).isEmpty)
        let container = try file.open(AtlasModel.self)
        #expect(try await ComingFromGRDBGuide.server(container) == ["Lima"])
        try ComingFromGRDBGuide.moving(context, [.init(code: "FR", name: "France")])
        try await ComingFromGRDBGuide.following(context) { output.print(all: $0) }
        #expect(output.lines.count == 3 && output.lines.contains(#"Peru ["Lima"]"#), "\(output.lines)")
        let watching = Task { @MainActor in try await ComingFromGRDBGuide.observing(container) { _ in } }
        watching.cancel()
        _ = try? await watching.value
    }

    @Test("The examples about errors run")
    func troubleshooting() async throws {
        let context = try file.open(AtlasModel.self).newContext()
        TroubleshootingGuide.faults(context) { _ in }
        let peru = Country(context: context, countryId: "PE", name: "Peru")
        City(context: context, name: "", position: World.lima, country: peru)
        let output = Output()
        try await TroubleshootingGuide.handling(context) { output.print($0, $1) }
        #expect(output.lines.count == 1 && output.lines[0].hasPrefix("name "))
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
        #expect(CatalogGuide.export(model) == yaml)
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
        let boats = try longBoats(at: file.path + "-boats")
        #expect(boats.map(\.name) == ["Uros"] && boats.map(\.length) == [12])
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
