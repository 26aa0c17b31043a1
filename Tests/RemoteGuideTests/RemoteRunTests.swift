import Foundation
import PlainJSONStore
import Strata
import StrataStackMob
import StrataStore
import StrataRemoteTesting
import Testing

/// The examples of the guide to remote stores, over servers in memory.
@Suite struct RemoteRunTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// A server with two cities, of which one is large, and one has the name of its country.
    private func server() async throws -> MemoryBackend {
        let server = MemoryBackend()
        let store = try RemoteStore.open(model: GazetteerModel.model, backend: server, location: .memory(name: nil))
        let context = try PersistentContainer(store: store, classes: GazetteerModel.classes).newContext()
        let peru = Country(context: context, countryId: "PE", name: "Peru")
        City(context: context, name: "Lima", population: 10_092_000, country: peru)
        let luxembourg = Country(context: context, countryId: "LU", name: "Luxembourg")
        City(context: context, name: "Luxembourg", population: 76_684, country: luxembourg)
        try await context.save()
        return server
    }

    private func cities(of server: MemoryBackend) -> Int { server.records.filter { $0.entity == "City" }.count }

    private func open(
        _ server: any RemoteBackend, _ change: (inout RemoteStore.Options) -> Void = { _ in }
    ) throws -> (RemoteStore, PersistentContainer) {
        var options = RemoteStore.Options()
        change(&options)
        let store = try RemoteStore.open(
            model: GazetteerModel.model, backend: server, location: .memory(name: nil), options: options)
        return (store, try PersistentContainer(store: store, classes: GazetteerModel.classes))
    }

    @Test("The first example fetches, changes and saves")
    @MainActor func first() async throws {
        let server = try await server()
        _ = try await RemoteGuide.first(server, path: folder.path)
        let (_, container) = try open(server)
        let names = try await container.newContext().fetch(FetchRequest<City>()).map(\.name)
        #expect(names.sorted() == ["Greater Lima", "Luxembourg"])
    }

    @Test("A fetch of both gives the mirror's result and the network's")
    func both() async throws {
        let (_, container) = try open(try await server())
        var seen: [[String]] = []
        try await RemoteGuide.both(container.newContext()) { seen.append($0.map(\.name)) }
        #expect(seen == [[], ["Lima"]])
    }

    @Test("A page tells how many cities there are, and brings their countries")
    func pages() async throws {
        let (_, container) = try open(try await server())
        var lines: [String] = []
        try await RemoteGuide.pages(container.newContext()) { lines.append("\($0), \($1)") }
        #expect(lines == ["1 of 1, Peru"])
    }

    @Test("A list reads its names alone")
    func names() async throws {
        let (_, container) = try open(try await server())
        var seen: [String] = []
        try await RemoteGuide.names(container.newContext()) { seen.append($0) }
        #expect(seen == ["Lima"])
    }

    @Test("Sub-queries find what they say, and a server without them refuses them")
    func subqueries() async throws {
        let (_, container) = try open(try await server())
        let (request, sameName) = try RemoteGuide.subqueries()
        let context = container.newContext()
        #expect(try await context.fetch(request).map(\.name) == ["Luxembourg"])
        let named = FetchRequest<City>().options(RemoteOptions(subqueries: [sameName]))
        #expect(try await context.fetch(named).map(\.name) == ["Luxembourg"])
        let (_, other) = try open(MemoryBackend(features: MemoryBackend.allFeatures.subtracting(.subqueries)))
        await #expect(throws: PersistenceError.self) { try await other.newContext().fetch(request) }
    }

    @Test("A store that watches the network sends what waits when it comes back")
    func watching() async throws {
        let server = try await server()
        let network = SwitchedBackend(server)
        let reachability = NetworkReachability { true }
        let (store, watch, monitor) = try RemoteGuide.watching(
            network, reachability, model: GazetteerModel.model, location: .memory(name: nil))
        monitor.cancel()
        let context = try PersistentContainer(store: store, classes: GazetteerModel.classes).newContext()
        network.isDown = true
        let chile = Country(context: context, countryId: "CL", name: "Chile")
        City(context: context, name: "Santiago", country: chile)
        try await context.save()
        #expect(cities(of: server) == 2)
        network.isDown = false
        reachability.note(.notReachable)
        reachability.note(.reachable)
        for _ in 0..<30_000 where cities(of: server) < 3 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(cities(of: server) == 3)
        watch.cancel()
    }

    @Test("A failed save names each object")
    func failures() async throws {
        let network = SwitchedBackend(try await server())
        let (_, container) = try open(network)
        let context = container.newContext()
        Country(context: context, countryId: "CL", name: "Chile")
        network.refuses = true
        var lines: [String] = []
        try await RemoteGuide.failures(context) { lines.append("\($0) \($1)") }
        #expect(lines.count == 1)
        #expect(context.hasChanges)
    }

    @Test("Objects that a loop reads are loaded before it")
    func loading() async throws {
        let (_, container) = try open(try await server())
        var names: [String] = []
        try await RemoteGuide.loading(container.newContext()) { names.append($0) }
        #expect(names.sorted() == ["Luxembourg", "Peru"])
    }

    @Test("Members are requested together with their owners")
    func members() async throws {
        let (_, container) = try open(try await server())
        var lines: [String] = []
        try await RemoteGuide.members(container.newContext()) { lines.append($0) }
        #expect(lines.sorted() == ["Luxembourg: 1", "Peru: 1"])
    }

    @Test("A back end over HTTP is put together as the guide says")
    func backend() {
        let backend = RemoteGuide.backend(PlainJSONDialect(authority: "localhost"), ScriptedTransport(), nil)
        #expect(backend.name == "Plain JSON" && backend.authorizer == nil)
    }

    @Test("The suite finds nothing wrong with the back end of the guide")
    func suite() async { await RemoteGuide.suite() }

    @Test("A synchronization reports its progress and its results")
    func synchronizing() async throws {
        let (store, container) = try open(try await server()) { $0.savePolicy = .cacheOnly }
        let context = container.newContext()
        Country(context: context, countryId: "CL", name: "Chile")
        try await context.save()
        let phases = Guarded<[String]>([])
        let actions = Guarded<[String]>([])
        var lines: [String] = []
        let (progress, outcomes) = try await RemoteGuide.synchronizing(
            store, show: { phase, _, _ in phases.withLock { $0.append("\(phase)") } },
            log: { identity, action in actions.withLock { $0.append("\(identity) \(action)") } },
            print: { lines.append($0.map { "\($0)" }.joined(separator: " ")) })
        while phases.withLock(\.isEmpty) || actions.withLock(\.isEmpty) { await Task.yield() }
        progress.cancel()
        outcomes.cancel()
        #expect(lines.count == 1 && lines[0].hasSuffix(" 0 []"))
        #expect(actions.withLock(\.count) == 1)
    }

    @Test("Failed changes are listed, sent again and given up")
    func failedChanges() async throws {
        let network = SwitchedBackend(try await server())
        let (store, container) = try open(network) { $0.savePolicy = .cacheOnly }
        let context = container.newContext()
        Country(context: context, countryId: "CL", name: "Chile")
        try await context.save()
        network.refuses = true
        _ = try? await store.sync.push()
        var lines: [String] = []
        try RemoteGuide.failedChanges(store) { lines.append($0.map { "\($0)" }.joined(separator: " ")) }
        #expect(lines.count == 1)
        #expect(try store.sync.failedChanges().isEmpty)
        _ = try? await store.sync.push()
        #expect(try store.sync.failedChanges().count == 1)
        try RemoteGuide.dropping(store)
        #expect(try store.sync.failedChanges().isEmpty)
        let here = FetchRequest<Country>().options(RemoteOptions(fetchPolicy: .cacheOnly))
        #expect(try await container.newContext().count(here) == 0)
    }

    @Test("The short example of the guide to StackMob fetches, saves offline and synchronizes")
    @MainActor func using() async throws {
        let server = ObjectServer()
        server.put(["country_id": "PE", "name": "Peru"], "country_id", in: "country")
        server.put(["city_id": "1", "name": "Lima", "population": 10_092_000, "country": "PE"], "city_id", in: "city")
        var configuration = try StackMobConfiguration(publicKey: testKey)
        configuration.transport = server.transport
        configuration.sessionStorage = MemorySessionStorage()
        let stack = try StackMobStore.open(
            model: GazetteerModel.model, client: StackMobClient(configuration), location: .memory(name: nil))
        let container = try PersistentContainer(store: stack.remote, classes: GazetteerModel.classes)
        try await StackMobGuide.using(container, stack)
        #expect(server.objects("city").map { $0["population"] } == [10_151_000])
        let opened = try StackMobGuide.open(path: folder.path)
        #expect(opened.client.configuration.dialect.publicKey == "7c1f0b6e-52d4-4b1e-9a36-0d6f2f0a9b55")
    }
}
