import Foundation
import GuidePages
import Strata
import StrataModelFiles
import StrataRemote
import StrataRemoteTesting
import Testing

#if Server
    import Logging
    import StrataServer
#endif

/// The tutorial and the example of the README do what they say, in the order of their steps.
@Suite(.serialized) struct GettingStartedRunTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test("The example of the README runs and leaves nothing behind")
    func readme() async throws {
        try await example(path: folder.path)
        let context = try PersistentContainer(GazetteerModel.self, at: .file(path: folder.path)).newContext()
        #expect(try await context.count(FetchRequest<City>()) == 0)
        #expect(try await context.count(FetchRequest<Country>()) == 0)
    }

    @Test("The steps print what the tutorial says, and the second version opens the file of the first")
    func steps() async throws {
        // The first version is the model as the tutorial has it before the eighth step.
        let first = try GettingStartedGuide.declared()
        _ = try PersistentContainer(model: first, at: .file(path: folder.path))
        #expect(try SQLiteStore.migrationPlan(for: folder.path, to: GazetteerModel.model).steps.count > 0)
        _ = Printed.take()
        try await GettingStartedGuide.main(folder.path)
        let lines = Printed.take()
        #expect(lines.prefix(3) == ["Lima in Peru", "Cusco in Peru", "2 large cities"])
        #expect(lines.count == 6 && lines[3].contains("name"), "\(lines)")
        #expect(lines.suffix(2) == ["Qosqo", "2 new, 0 changed"])
        let container = try PersistentContainer(GazetteerModel.self, at: .file(path: folder.path))
        try await GettingStartedGuide.visiting(container)
        #expect(try await container.newContext().fetch(FetchRequest<Visit>()).map(\.note) == ["Mind the traffic."])
        try await GettingStartedGuide.watching(container)
        #expect(Printed.take().first == #"["Arequipa", "Lima", "Rio"]"#)
        #expect(GettingStartedGuide.path() == "travel.sqlite")
    }

    @Test("A model that is declared in Swift has the version hash of the same model in YAML")
    func declared() throws {
        let page = try GuidePage("GettingStarted")
        let yaml = try #require(page.blocks.first { $0.language == "yaml" }).text
        let model = try ModelFile.read(yaml: yaml, path: "Gazetteer.strata.yaml").model()
        #expect(try GettingStartedGuide.declared().versionHash == model.versionHash)
        #expect(try GuidePage("README").blocks.contains { $0.text == yaml })
    }

    @Test("The examples of the landing pages run")
    func landingPages() async throws {
        try await CatalogGuide.strata(folder.path)
        let store = try CatalogGuide.testing(GazetteerModel.model)
        #expect(try PersistentContainer(store: store).newContext().model.name == "Gazetteer")
        let mirror = folder.url.appending(path: "mirror.sqlite").path
        #expect(try await CatalogGuide.remote(MemoryBackend(), mirror).model.name == "Gazetteer")
    }

    @Test("The examples about tests run")
    func testing() async throws {
        let context = try PersistentContainer(GazetteerModel.self, at: .file(path: folder.path)).newContext()
        let json = #"[{"cityId": "1", "name": "Lima", "country": {"countryId": "PE", "name": "Peru"}}]"#
        try TestingGuide.fill(context, Data(json.utf8))
        try TestingGuide.migrating(folder.path)
        try await tryMigration()
        try await TestingGuide.counting(folder.path)
        try TestingGuide.failing()
        let tablet = try await TestingGuide.synchronizing()
        let here = FetchRequest<Country>().options(RemoteOptions(fetchPolicy: .cacheOnly))
        let mirror = try PersistentContainer(store: tablet, classes: GazetteerModel.classes).newContext()
        #expect(try await mirror.fetch(here).map(\.name) == ["Peru"])
    }

    /// The trial of the page about tests.
    private func tryMigration() async throws {
        let before = try ManagedObjectModel(name: "Contacts") { Entity("Contact") { Attribute("name", .string) } }
        let after = try ManagedObjectModel(name: "Contacts") {
            Entity("Contact") { Attribute("lastName", .string).optional() }
        }
        let stage = MigrationStage.custom(from: before, to: after) { migration in
            try migration.forEach("Contact") { old, new in
                new?["lastName"] = (old["name"] as? String ?? "").split(separator: " ").last.map(String.init)
            }
        }
        try await TestingGuide.trying([before, after], [stage])
    }

    #if Server
        @Test("Two mirrors of the tutorial's server have the same objects", .timeLimit(.minutes(10)))
        func sharing() async throws {
            let server = try DataServer(
                folder: folder.url.appending(path: "server").path, model: GazetteerModel.model,
                logger: Logger(label: "guide") { _ in SwiftLogNoOpLogHandler() })
            let (ports, found) = AsyncStream.makeStream(of: Int.self)
            let serving = Task {
                defer { found.finish() }
                try await HTTPService(server).run(endsOnSignals: false) { found.yield($0) }
            }
            defer { serving.cancel() }
            var iterator = ports.makeAsyncIterator()
            let port = try #require(await iterator.next())
            _ = Printed.take()
            let ana = try openShared(folder.url.appending(path: "ana.sqlite").path, server: "localhost:\(port)")
            try await share(ana.0, ana.1)
            #expect(Printed.take().map { String($0.prefix(7)) } == ["4 sent,"])
            let ben = try openShared(folder.url.appending(path: "ben.sqlite").path, server: "localhost:\(port)")
            try await ben.1.synchronize()
            let visit = try #require(try await ben.0.newContext().fetchFirst(FetchRequest<Visit>()))
            #expect(visit.note == "Stay for the food." && visit.city?.country.name == "Peru")
        }
    #endif
}
