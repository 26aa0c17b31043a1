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

    /// A server with two todos, of which one is on a list.
    private func server() async throws -> MemoryBackend {
        let server = MemoryBackend()
        let store = try RemoteStore.open(model: TodoModel.model, backend: server, location: .memory(name: nil))
        let context = try PersistentContainer(store: store, classes: TodoModel.classes).newContext()
        let list = TodoList(context: context, name: "Home")
        Todo(context: context, title: "Buy milk", list: list)
        Todo(context: context, title: "Sleep", isDone: true)
        try await context.save()
        return server
    }

    private func todos(of server: MemoryBackend) -> Int { server.records.filter { $0.entity == "Todo" }.count }

    private func open(
        _ server: any RemoteBackend, _ change: (inout RemoteStore.Options) -> Void = { _ in }
    ) throws -> (RemoteStore, PersistentContainer) {
        var options = RemoteStore.Options()
        change(&options)
        let store = try RemoteStore.open(
            model: TodoModel.model, backend: server, location: .memory(name: nil), options: options)
        return (store, try PersistentContainer(store: store, classes: TodoModel.classes))
    }

    @Test("The first example fetches, changes and saves")
    @MainActor func first() async throws {
        let server = try await server()
        _ = try await RemoteGuide.first(server, path: folder.path)
        let (_, container) = try open(server)
        let titles = try await container.newContext().fetch(FetchRequest<Todo>()).map(\.title)
        #expect(titles.sorted() == ["Call Ann", "Sleep"])
    }

    @Test("A fetch of both gives the mirror's result and the network's")
    func both() async throws {
        let (_, container) = try open(try await server())
        var seen: [[String]] = []
        try await RemoteGuide.both(container.newContext()) { seen.append($0.map(\.title)) }
        #expect(seen == [[], ["Buy milk"]])
    }

    @Test("A page tells how many todos there are, and brings their lists")
    func pages() async throws {
        let (_, container) = try open(try await server())
        var lines: [String] = []
        try await RemoteGuide.pages(container.newContext()) { lines.append("\($0), \($1)") }
        #expect(lines == ["1 of 1, Home"])
    }

    @Test("A list reads its titles alone")
    func titles() async throws {
        let (_, container) = try open(try await server())
        var seen: [String] = []
        try await RemoteGuide.titles(container.newContext()) { seen.append($0) }
        #expect(seen == ["Buy milk"])
    }

    @Test("Sub-queries find what they say, and a server without them refuses them")
    func subqueries() async throws {
        let (_, container) = try open(try await server())
        let (request, sameName) = try RemoteGuide.subqueries()
        let context = container.newContext()
        #expect(try await context.fetch(request).map(\.title).sorted() == ["Buy milk", "Sleep"])
        let named = FetchRequest<Todo>().options(RemoteOptions(subqueries: [sameName]))
        #expect(try await context.fetch(named).isEmpty)
        let (_, other) = try open(MemoryBackend(features: MemoryBackend.allFeatures.subtracting(.subqueries)))
        await #expect(throws: PersistenceError.self) { try await other.newContext().fetch(request) }
    }

    @Test("A store that watches the network sends what waits when it comes back")
    func watching() async throws {
        let server = try await server()
        let network = SwitchedBackend(server)
        let reachability = NetworkReachability { true }
        let (store, watch, monitor) = try RemoteGuide.watching(
            network, reachability, model: TodoModel.model, location: .memory(name: nil))
        monitor.cancel()
        let context = try PersistentContainer(store: store, classes: TodoModel.classes).newContext()
        network.isDown = true
        Todo(context: context, title: "Offline")
        try await context.save()
        #expect(todos(of: server) == 2)
        network.isDown = false
        reachability.note(.notReachable)
        reachability.note(.reachable)
        for _ in 0..<30_000 where todos(of: server) < 3 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(todos(of: server) == 3)
        watch.cancel()
    }

    @Test("A failed save names each object")
    func failures() async throws {
        let network = SwitchedBackend(try await server())
        let (_, container) = try open(network)
        let context = container.newContext()
        Todo(context: context, title: "Refused")
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
        #expect(names.sorted() == ["-", "Home"])
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
        Todo(context: context, title: "Here")
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
        Todo(context: context, title: "Refused")
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
        let here = FetchRequest<Todo>().options(RemoteOptions(fetchPolicy: .cacheOnly))
        #expect(try await container.newContext().count(here) == 0)
    }

    @Test("The short example of the guide to StackMob fetches, saves offline and synchronizes")
    @MainActor func using() async throws {
        let server = ObjectServer()
        server.put(["todo_id": "1", "title": "Buy milk", "is_done": false], "todo_id", in: "todo")
        var configuration = try StackMobConfiguration(publicKey: testKey)
        configuration.transport = server.transport
        configuration.sessionStorage = MemorySessionStorage()
        let stack = try StackMobStore.open(
            model: TodoModel.model, client: StackMobClient(configuration), location: .memory(name: nil))
        let container = try PersistentContainer(store: stack.remote, classes: TodoModel.classes)
        try await StackMobGuide.using(container, stack)
        #expect(server.objects("todo").map { $0["is_done"] } == [true])
        let opened = try StackMobGuide.open(path: folder.path)
        #expect(opened.client.configuration.dialect.publicKey == "7c1f0b6e-52d4-4b1e-9a36-0d6f2f0a9b55")
    }
}
