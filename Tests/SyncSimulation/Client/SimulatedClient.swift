import Foundation
import Strata
import StrataRemote

/// One device: a mirror that outlives crashes, and a store with an engine that does not.
///
/// `@unchecked Sendable`: everything happens on one thread.
final class SimulatedClient: @unchecked Sendable {
    let number: Int
    let world: SimulationWorld
    /// How it works, for its whole life.
    let habits: Habits
    let clock: SimulatedClock
    /// Where the mirror is, and what keeps that alive.
    let disk: SimulatedDisk
    /// The process that runs now.
    private(set) var process: Process
    /// The versions that the mirror had when it was last examined.
    var seenVersions: [String: [Int]] = [:]
    private var savedValues = 0
    /// What engines of this client reported, including those that crashed.
    private(set) var results: [SyncResult] = []
    private var streams: [AsyncStream<SyncResult>] = []

    /// What a crash takes away.
    struct Process {
        let number: Int
        let network: SimulatedNetwork
        let store: RemoteStore
        /// None for a client that writes to its mirror itself.
        let contexts: [ClientContext]
        /// Others, in which tallies are changed.
        let tallies: [TallyContext]
        /// Whether a save has failed, and whether something was given up since: if the server has a new object from it, the
        /// store leaves that out of answers until the process ends.
        var hasFailed = false
        var hasGivenUp = false

        /// Whether saves of contexts are under way.
        var isSaving: Bool { contexts.contains { $0.saving > 0 } }
    }

    var store: RemoteStore { process.store }
    var engine: SyncEngine { process.store.sync }
    var mirror: Mirror { process.store.mirror }
    var model: ManagedObjectModel { process.store.model }

    init(number: Int, world: SimulationWorld, habits: Habits) throws {
        self.number = number
        self.world = world
        self.habits = habits
        clock = SimulatedClock(executor: world.executor, skew: habits.skew)
        disk = try SimulatedDisk(isFile: habits.usesFile, model: world.models[0])
        process = try Self.start(number, 0, world.models[0], world, habits, clock, disk)
        streams = [engine.results]
        if habits.usesContext {
            let merges = habits.mergesAutomatically ? " that merges" : ""
            world.trace("\(number) has a context\(merges), \(habits.mergePolicy)")
        }
    }

    private static func start(
        _ number: Int, _ process: Int, _ model: ManagedObjectModel, _ world: SimulationWorld, _ habits: Habits,
        _ clock: SimulatedClock, _ disk: SimulatedDisk
    ) throws -> Process {
        let network = SimulatedNetwork(client: number, clock: clock, world: world)
        let backend: any RemoteBackend = world.defect.map { DefectiveNetwork(network, $0, world: world) } ?? network
        var options = RemoteStore.Options()
        options.sync.retries = 3
        options.sync.firstDelay = 0.5
        options.sync.pageSize = 3
        options.sync.policies = habits.policies
        options.pushesAutomatically = habits.pushesAutomatically
        // Unspecified work is done here: a save that blocks would stop the world.
        options.savePolicy = .cacheOnly
        options.fetchPolicy = .cacheOnly
        let executor = world.executor
        let store = try RemoteStore.open(
            model: model, backend: backend, location: disk.location, options: options,
            surroundings: Surroundings(clock: clock, random: { executor.random.unit() }, executor: executor))
        var contexts: [ClientContext] = []
        var tallies: [TallyContext] = []
        if habits.usesContext {
            let container = try PersistentContainer(store: SimulatedStore(store, executor: executor))
            container.defaultMergePolicy = habits.mergePolicy
            for number in 0..<habits.contexts {
                let context = container.newContext(automaticallyMergesChanges: habits.mergesAutomatically)
                contexts.append(ClientContext(context, number))
            }
            if world.operates {
                // Operations are in conflict with nobody; notes are.
                container.defaultMergePolicy = .objectWinsByProperty
                for _ in 0..<habits.tallyContexts {
                    tallies.append(
                        TallyContext(container.newContext(automaticallyMergesChanges: habits.mergesAutomatically)))
                }
            }
        }
        return Process(number: process, network: network, store: store, contexts: contexts, tallies: tallies)
    }

    /// The process dies and starts again, with another version of the app perhaps.
    func crash(_ model: ManagedObjectModel? = nil) throws {
        world.trace("\(number) crashes\(model == nil ? "" : " and is updated")")
        let model = model ?? self.model
        for context in process.contexts { abandon(context) }
        for tallies in process.tallies { tallies.abandon() }
        store.close()
        process = try Self.start(number, process.number + 1, model, world, habits, clock, disk)
        streams.append(engine.results)
    }

    /// Dies and starts again; now and then as the next version of the app, where mirrors can take one.
    func restart() throws {
        guard habits.usesFile else { return try crash() }
        if world.defect == .lockIsIgnored, case .file(let path) = disk.location {
            try? FileManager.default.removeItem(atPath: path + "-owner")
        }
        do {
            let second = try RemoteStore.open(model: model, backend: process.network, location: disk.location)
            world.violate("client \(number): a second process has the mirror, too")
            second.close()
        } catch {
            guard case .locked = error else { throw error }
            world.struck(.secondProcess)
        }
        let version = world.models.firstIndex { $0 === model } ?? 0
        guard version + 1 < world.models.count, world.executor.random.chance(0.4) else { return try crash() }
        if try engine.pendingCount() > 0 { world.struck(.update) }
        try crash(world.models[version + 1])
    }

    /// What a context had that is not saved is gone, or has been sent with an unknown outcome.
    func abandon(_ context: ClientContext) {
        world.forget(context.unsaved)
        context.unsaved = []
    }

    /// A save of the context failed.
    func noteFailure() { process.hasFailed = true }

    /// The store has forgotten what it sent.
    func forgetFailures() { (process.hasFailed, process.hasGivenUp) = (false, false) }

    /// Something is given up that a save may have sent.
    func noteGivenUp() {
        if process.hasFailed || process.isSaving { process.hasGivenUp = true }
    }

    func close() {
        store.close()
        disk.close()
    }

    /// Reads what all engines reported; they must have ended.
    func collectResults() async {
        for stream in streams {
            let reader = Task(executorPreference: world.executor) {
                var list: [SyncResult] = []
                for await result in stream { list.append(result) }
                return list
            }
            // What is there comes at once; the stream of an engine that lives has no end.
            try? await clock.sleep(seconds: 0.001)
            reader.cancel()
            results += await reader.value
        }
        streams = []
    }

    /// A text that nobody else gives to anything.
    func newText() -> String {
        savedValues += 1
        return "\(number)-\(savedValues)"
    }

    func entity(_ name: String) -> EntityDescription {
        guard let entity = model.entity(named: name) else { fatalError("the model has no \(name)") }
        return entity
    }
}

/// A context of a client, and what it has that is not saved. Two of them may change the same objects at the same time.
///
/// `@unchecked Sendable`: everything happens on one thread.
final class ClientContext: @unchecked Sendable {
    let context: ManagedObjectContext
    /// Its place among those of the client.
    let number: Int
    /// What the context has, and no save has confirmed.
    var unsaved: Set<ModelServer.Write> = []
    /// How many saves are under way.
    var saving = 0
    /// Objects that the app shows, and changes at any time without fetching them again. Contexts hold unchanged objects weakly.
    private(set) var shown: [ManagedObject] = []

    func show(_ object: ManagedObject) { shown = shown.filter { $0 !== object }.suffix(7) + [object] }

    init(_ context: ManagedObjectContext, _ number: Int) {
        self.context = context
        self.number = number
    }
}

/// What stays of a device when its process dies: a file, or memory that stands for one.
final class SimulatedDisk {
    let location: SQLiteStore.Location
    private let memory: SQLiteStore?
    private let folder: URL?

    init(isFile: Bool, model: ManagedObjectModel) throws {
        guard isFile else {
            location = .memory(name: "simulation-\(UUID().uuidString)")
            var options = SQLiteStore.Options()
            options.isMirror = true
            memory = try SQLiteStore.open(model: model, location: location, options: options)
            folder = nil
            return
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "simulation-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.folder = folder
        location = .file(path: folder.appending(path: "mirror").path)
        memory = nil
    }

    func close() {
        memory?.close()
        if let folder { try? FileManager.default.removeItem(at: folder) }
    }
}
