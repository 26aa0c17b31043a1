import Foundation
import Strata
import StrataStore
import StrataTesting
import Testing

/// Strict loading makes unplanned loads errors, and reports find them.
@Suite struct LoadWatchTests {
    let file: ZooFile

    init() throws {
        file = try ZooFile()
        let context = file.container.newContext()
        for index in 0..<20 {
            let home = Enclosure(context, code: "AA-\(index)")
            home.wardens = [Keeper(context, name: "warden \(index)")]
            _ = Cat(context, name: "cat \(index)", enclosure: home)
        }
        try context.save()
    }

    /// A container whose row cache knows nothing yet.
    private func fresh() throws -> ManagedObjectContext { try file.secondContainer().newContext() }

    private func enclosures(prefetch paths: any PrefetchPath...) -> FetchRequest<Enclosure> {
        FetchRequest<Enclosure>(prefetch: paths)
    }

    // MARK: Strict loading

    @Test("Under strict loading, what was prefetched can be walked, and saves and deletes may read")
    func planned() throws {
        let context = try fresh()
        let homes = try context.fetch(enclosures(prefetch: "animals", "wardens"))
        let names = try context.withStrictLoading {
            homes.flatMap { home in home.animals.map(\.name) + home.wardens.map(\.name) }
        }
        #expect(names.count == 40)
        try context.withStrictLoading {
            for animal in homes[0].animals { context.delete(animal) }
            context.delete(homes[0])
            try context.save()
        }
        #expect(try context.count(FetchRequest<Enclosure>()) == 19)
    }

    @Test("A relationship that was not prefetched is an error under strict loading, and its members are right")
    func relationship() throws {
        let context = try fresh()
        let homes = try context.fetch(FetchRequest<Enclosure>())
        var count = 0
        let error = persistenceError {
            try context.withStrictLoading { count = homes.reduce(0) { $0 + $1.animals.count } }
        }
        #expect(count == 20)
        guard case .unplannedLoads(let loads)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        // One statement reads the members of all objects that were fetched together.
        #expect(loads.map(\.relationshipName) == ["animals"])
        #expect(loads.map(\.entityName) == ["Enclosure"])
        #expect(loads.map(\.objectCount) == [20])
        #expect("\(error!)".contains("prefetch the relationship in the fetch"))
    }

    @Test("A fault that is filled is an error under strict loading")
    func fault() throws {
        let context = try fresh()
        var request = FetchRequest<Keeper>(sortedBy: [FetchSort("name")])
        request.returnsObjectsAsFaults = true
        let keepers = try context.fetch(request)
        var name = ""
        let error = persistenceError { try context.withStrictLoading { name = keepers[3].name } }
        #expect(name == keepers[3].name && !name.isEmpty)
        guard case .unplannedLoads(let loads)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(loads.map(\.relationshipName) == [nil])
        #expect(loads.first?.objectID == keepers[3].objectID)
        #expect(loads.first?.objectCount == keepers.count)
    }

    @Test("A target whose class only its row tells is an error under strict loading unless it was prefetched")
    func target() throws {
        let writer = file.container.newContext()
        let animals = try writer.fetch(FetchRequest<Animal>(sortedBy: [FetchSort("name")]))
        animals[0].friend = animals[1]
        try writer.save()
        let id = animals[0].objectID
        let context = try fresh()
        let animal = try #require(try context.object(with: id) as? Animal)
        _ = animal.name
        let error = persistenceError { try context.withStrictLoading { _ = animal.friend } }
        guard case .unplannedLoads(let loads)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(loads.map(\.relationshipName) == ["friend"])
        let other = try fresh()
        let found = try other.fetch(FetchRequest<Animal>(prefetch: ["friend"]))
        #expect(throws: Never.self) { try other.withStrictLoading { for animal in found { _ = animal.friend?.name } } }
    }

    @Test("The error of the closure comes before that of strict loading, and the scope ends with it")
    func thrown() throws {
        struct Mine: Error {}
        let context = try fresh()
        let homes = try context.fetch(FetchRequest<Enclosure>())
        #expect(throws: Mine.self) {
            try context.withStrictLoading {
                _ = homes[0].animals
                throw Mine()
            }
        }
        #expect(homes[0].wardens.count == 1)
    }

    @Test("Strict scopes nest, and each reports the loads of those within it")
    func nested() throws {
        let context = try fresh()
        let homes = try context.fetch(FetchRequest<Enclosure>())
        let (_, outer) = context.recordingLoads {
            _ = homes[0].wardens
            #expect(persistenceError { try context.withStrictLoading { _ = homes[0].animals } } != nil)
        }
        #expect(outer.loads.map(\.relationshipName) == ["wardens", "animals"])
    }

    @Test("Objects whose context is gone report nothing and are read as ever; a child reports its own loads")
    func otherContexts() throws {
        let parent = try fresh()
        let child = parent.makeChild()
        let homes = try child.fetch(FetchRequest<Enclosure>())
        let (_, inParent) = parent.recordingLoads { _ = homes[0].animals }
        #expect(inParent.isClean)
        let (_, inChild) = child.recordingLoads { _ = homes[0].wardens }
        #expect(inChild.loads.map(\.relationshipName) == ["wardens"])
        let orphans = try fresh().fetch(FetchRequest<Enclosure>())
        #expect(orphans.reduce(0) { $0 + $1.animals.count } == 20)
    }

    // MARK: Reports

    @Test("Objects that were fetched one by one and whose relationship is read one by one are a repeated load")
    func repeated() throws {
        let context = try fresh()
        let ids = try context.fetchIDs(FetchRequest<Enclosure>())
        let (_, report) = try context.recordingLoads {
            for id in ids { _ = (try context.object(with: id) as? Enclosure)?.animals.count }
        }
        let members = try #require(report.repeatedLoads.first { $0.relationshipName == "animals" })
        #expect(members.count == 20)
        #expect(members.description.contains("Enclosure.animals was loaded 20 times for one object each"))
        #expect(report.description.hasPrefix(report.repeatedLoads[0].description))
        #expect(!report.isClean)
    }

    @Test("A relationship that was prefetched and not read is reported; one that was read is not")
    func unread() throws {
        let context = try fresh()
        let (_, report) = try context.recordingLoads {
            let homes = try context.fetch(enclosures(prefetch: "animals", "wardens"))
            for home in homes { _ = home.wardens.count }
        }
        #expect(report.loads.isEmpty)
        #expect(report.unreadRelationships.map(\.relationshipName) == ["animals"])
        #expect(report.unreadRelationships.first?.objectCount == 20)
        #expect(report.description.contains("Enclosure.animals was prefetched for 20 objects and never read"))
    }

    @Test("A to-one relationship that was prefetched and read is not reported, also if it is nil")
    func unreadTarget() throws {
        let context = try fresh()
        let (_, report) = try context.recordingLoads {
            for cat in try context.fetch(FetchRequest<Cat>(prefetch: ["enclosure", "mother", "friend"])) {
                _ = cat.enclosure?.code
                _ = cat.mother
            }
        }
        #expect(report.unreadRelationships.map(\.relationshipName) == ["friend"])
    }

    @Test("Reads of objects that were counted up and saved are noted, too")
    func unreadAfterOperations() throws {
        let context = try fresh()
        let cats = try context.recordingLoads { try context.fetch(FetchRequest<Cat>()) }.result
        for cat in cats { try cat.increment("weight", by: 1) }
        try context.save()
        let (_, report) = try context.recordingLoads {
            for cat in try context.fetch(FetchRequest<Cat>(prefetch: ["enclosure"])) { _ = cat.enclosure }
        }
        #expect(report.unreadRelationships.isEmpty)
    }

    @Test("A report names the source line of a load")
    func sourceLines() throws {
        let context = try fresh()
        let homes = try context.fetch(FetchRequest<Enclosure>())
        let (_, report) = context.recordingLoads(callers: .sourceLines) { _ = homes[0].animals }
        let caller = try #require(report.loads.first?.caller)
        #if os(Linux)
            // The accessors of these classes are written by hand; those that are generated are left out.
            #expect(caller.hasPrefix("StrataTests/Zoo.swift:"))
        #endif
    }

    @Test("A handler of the container hears of the loads of contexts that are made afterwards, children included")
    func handler() throws {
        let container = try file.secondContainer()
        let before = container.newContext()
        let heard = Guarded<[String]>([])
        container.onUnplannedLoad = { load in heard.withLock { $0.append(load.relationshipName ?? "row") } }
        let context = container.newContext()
        _ = try before.fetch(FetchRequest<Enclosure>())[0].animals
        #expect(heard.withLock(\.self) == [])
        _ = try context.fetch(FetchRequest<Enclosure>())[0].animals
        _ = try context.makeChild().fetch(FetchRequest<Enclosure>())[0].wardens
        #expect(heard.withLock(\.self) == ["animals", "wardens"])
        context.onUnplannedLoad = nil
        _ = try context.fetch(FetchRequest<Enclosure>())[0].keepers
        #expect(heard.withLock { $0.count } == 2)
    }

    @Test("A context that is reset goes on telling its handler")
    func reset() throws {
        let context = try fresh()
        var heard = 0
        context.onUnplannedLoad = { _ in heard += 1 }
        _ = try context.fetch(FetchRequest<Enclosure>())[0].animals
        context.reset()
        _ = try context.fetch(FetchRequest<Enclosure>())[0].animals
        #expect(heard == 2)
    }

    // MARK: Statements

    @Test("A test can expect a number of statements, and gets those that ran if there were others")
    func statements() throws {
        let container = try file.secondContainer()
        let context = container.newContext()
        let homes = try expectStatements(2, in: container) {
            try context.fetch(enclosures(prefetch: "animals"))
        }
        try expectStatements(0, in: container) { #expect(homes.reduce(0) { $0 + $1.animals.count } == 20) }
        let error = #expect(throws: UnexpectedStatements.self) {
            try expectStatements(3, in: container) { _ = homes[0].wardens }
        }
        #expect(error?.statements.count == 1)
        #expect("\(error!)".hasPrefix("expected 3 statements, but 1 ran:\n1. SELECT"))
        homes[0].code = "BB-1"
        try expectStatements(1, in: container) { try context.save() }
    }

    @Test("Statements that run on other threads count, too")
    func asynchronousStatements() async throws {
        let container = try file.secondContainer()
        let count = try await expectStatements(1, in: container) {
            try await container.read { context in try context.fetch(FetchRequest<Enclosure>()).count }
        }
        #expect(count == 20)
    }

    @Test("Observers of statements come and go beside the trace that the store was opened with")
    func observers() throws {
        let traced = Guarded(0)
        var options = SQLiteStore.Options()
        options.trace = { _ in traced.withLock { $0 += 1 } }
        let container = try PersistentContainer(Zoo.self, at: .file(path: file.path), options: options)
        let context = container.newContext()
        _ = try context.count(FetchRequest<Enclosure>())
        let before = traced.withLock(\.self)
        let seen = Guarded<[String]>([])
        var observation = container.store.observeStatements { trace in seen.withLock { $0.append(trace.sql) } }
        _ = try context.count(FetchRequest<Keeper>())
        #expect(observation != nil)
        observation = nil
        _ = try context.count(FetchRequest<Keeper>())
        #expect(seen.withLock { $0.count } == 1)
        #expect(traced.withLock(\.self) == before + 2)
    }

    @Test("A store that runs no statements refuses to count them")
    func noStatements() throws {
        let container = try PersistentContainer(store: SlowStore(file.container.store), classes: Zoo.classes)
        #expect(throws: StoreError.self) { try expectStatements(0, in: container) {} }
    }
}
