import Foundation
import Strata
import StrataRemote
import StrataStore
import StrataRemoteTesting
import Testing

@Suite struct ServerChangeTests {
    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Notes") {
            Entity("Note") {
                Attribute("noteId", .string)
                Attribute("text", .string, default: .value(""))
            }
        }
    }

    private let server = CountingBackend()
    private let container: PersistentContainer
    private let store: RemoteStore

    init() throws {
        var options = RemoteStore.Options()
        options.fetchPolicy = .cacheOnly
        options.sync.changeDelay = 0.05
        store = try RemoteStore.open(
            model: Self.model(), backend: server, location: .memory(name: nil), options: options)
        container = try PersistentContainer(store: store)
    }

    /// Somebody else makes a note.
    private func others(_ id: String) async throws {
        let entity = try #require(try Self.model().entity(named: "Note"))
        _ = try await server.memory.perform(
            .create(entity: entity, [RemoteWrite(id: id, values: ["text": .value(.string(id))])]),
            options: RequestOptions())
    }

    private func notes() throws -> [String] {
        try container.newContext().fetch(FetchRequest<ManagedObject>(entity: "Note"))
            .compactMap { $0["noteId"] as? String }.sorted()
    }

    private func eventually(_ what: String, _ condition: () throws -> Bool) async throws {
        for _ in 0..<1000 {
            if try condition() { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("\(what) did not come")
    }

    @Test("However often it is said, the mirror synchronizes once, and has what is new")
    func burst() async throws {
        try await others("a")
        for _ in 0..<200 { store.sync.serverHasChanges() }
        try await eventually("the note") { try notes() == ["a"] }
        try await eventually("the end") { store.sync.status.phase == .idle }
        try await Task.sleep(for: .milliseconds(200))
        #expect(server.pulls == 1)
        // And again later.
        try await others("b")
        store.sync.serverHasChanges()
        try await eventually("the second note") { try notes() == ["a", "b"] }
        #expect(server.pulls == 2)
    }

    @Test("What is said while the mirror synchronizes leads to one more synchronization")
    func meanwhile() async throws {
        server.hold(true)
        store.sync.serverHasChanges()
        try await eventually("a pull") { server.pulls == 1 }
        for _ in 0..<50 { store.sync.serverHasChanges() }
        try await others("late")
        server.hold(false)
        try await eventually("the note") { try notes() == ["late"] }
        try await eventually("the second pull") { server.pulls == 2 }
        try await Task.sleep(for: .milliseconds(200))
        #expect(server.pulls == 2)
    }

    @Test("A server that cannot be reached is no trap: the next word is heard")
    func failing() async throws {
        server.fail(true)
        store.sync.serverHasChanges()
        try await eventually("the error") { store.sync.status.error != nil }
        server.fail(false)
        try await others("a")
        store.sync.serverHasChanges()
        try await eventually("the note") { try notes() == ["a"] }
    }

    @Test("A feed is heard for as long as the watch is kept")
    func feed() async throws {
        let feed = Feed()
        var watch: ServerChangeWatch? = store.synchronizes(with: feed)
        try await others("a")
        feed.say()
        try await eventually("the note") { try notes() == ["a"] }
        _ = watch
        watch = nil
        try await eventually("the end of the feed") { feed.hasEnded }
        try await others("b")
        feed.say()
        try await Task.sleep(for: .milliseconds(300))
        #expect(try notes() == ["a"])
    }
}

private final class Feed: ServerChangeFeed {
    private let listeners = Guarded<[AsyncStream<Void>.Continuation]>([])
    private let ended = Guarded(false)

    var hasEnded: Bool { ended.withLock { $0 } }
    func say() { listeners.withLock { for listener in $0 { listener.yield() } } }

    func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        continuation.onTermination = { [ended] _ in ended.withLock { $0 = true } }
        listeners.withLock { $0.append(continuation) }
        return stream
    }
}

/// A server in memory that counts pulls, and can hold and fail them.
private final class CountingBackend: RemoteBackend {
    private struct State {
        var pulls = 0
        var isHeld = false
        var fails = false
    }

    let memory = MemoryBackend()
    private let state = Guarded(State())

    var pulls: Int { state.withLock(\.pulls) }
    func hold(_ isHeld: Bool) { state.withLock { $0.isHeld = isHeld } }
    func fail(_ fails: Bool) { state.withLock { $0.fails = fails } }

    var name: String { memory.name }
    var capabilities: RemoteCapabilities { memory.capabilities }
    func check(_ operation: RemoteOperation) throws(RemoteError) { try memory.check(operation) }

    func perform(_ operation: RemoteOperation, options: RequestOptions) async throws(RemoteError) -> RemoteAnswer {
        if case .pull = operation {
            let fails = state.withLock { state in
                state.pulls += 1
                return state.fails
            }
            if fails { throw RemoteError(.forbidden, message: "not now") }
            while state.withLock(\.isHeld) { try? await Task.sleep(for: .milliseconds(5)) }
        }
        return try await memory.perform(operation, options: options)
    }
}
