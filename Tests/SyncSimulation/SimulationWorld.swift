import Foundation
import StrataRemote

/// Clients, a server and the network between them, all of it decided by one seed.
///
/// `@unchecked Sendable`: everything happens on one thread.
public final class SimulationWorld: @unchecked Sendable {
    let executor: SeededExecutor
    let model: ManagedObjectModel
    let server: ModelServer
    var weather = Weather()
    private let variant: ServerVariant
    private var clients: [SimulatedClient] = []
    private var violations: [String] = []
    /// What each saved value took the place of, and who saved it.
    private var saves: [ModelServer.Write: (client: Int, seen: RemoteValue)] = [:]

    /// A kind of fault beside those of a bad network.
    public enum Fault: String, Sendable, CaseIterable {
        case portal, swallowedAnswer, endedSession, expiredCursor, refusedGroup, proxy404, refusal
        case reset, purgedEntity, purgedObject, drop
        /// The server goes back to what it had some time ago, and has forgotten whom it answered.
        case restore
    }

    /// A defect that is put into a client on purpose, to see that the simulation finds it.
    public enum Defect: Sendable, CaseIterable {
        /// A reset forgets the objects, but not how far pulls came.
        case resetKeepsCursors
        /// What was given up is not asked for again.
        case dropKeepsOldState
    }

    /// How often each fault met a request that mattered, over all simulations of the process.
    public static let strikes = Strikes()

    /// What is wrong with the clients.
    private(set) var defect: Defect?
    /// Saves that were given up on the client that made them.
    private var forgotten: Set<ModelServer.Write> = []

    /// Who deleted what.
    private var deletes: [RemoteIdentity: Set<Int>] = [:]

    /// Runs one simulation to its end.
    /// - Returns: What went wrong; empty if nothing did.
    public static func run(seed: UInt64, variant: ServerVariant, defect: Defect? = nil) throws -> [String] {
        let world = try SimulationWorld(seed: seed, variant: variant)
        world.defect = defect
        return try world.run()
    }

    private init(seed: UInt64, variant: ServerVariant) throws {
        executor = SeededExecutor(seed: seed)
        model = try SimulationModel.make()
        self.variant = variant
        server = ModelServer(variant: variant, model: model, clock: SimulatedClock(executor: executor))
        server.onViolation = { [unowned self] in violate($0) }
        server.onReplace = { [unowned self] in check($0, replaces: $1) }
    }

    func violate(_ text: String) {
        violations.append(text)
        trace("VIOLATION \(text)")
    }

    func struck(_ fault: Fault) { Self.strikes.add(fault) }

    func struck(_ fault: Fault, _ operation: RemoteOperation) {
        Self.strikes.add(fault)
        trace("    \(fault.rawValue): \(Self.text(operation))")
    }

    private static let traces = ProcessInfo.processInfo.environment["STRATA_SIMULATION_TRACE"] != nil

    /// Prints what happens, if that is asked for.
    func trace(_ text: @autoclosure () -> String) {
        if Self.traces { print("\(executor.time.formatted(.number.precision(.fractionLength(3)))) \(text())") }
    }

    private func run() throws -> [String] {
        for number in 1...(2 + executor.random.below(2)) {
            clients.append(
                try SimulatedClient(number: number, world: self, skew: (executor.random.unit() - 0.5) * 600))
        }
        var isDone = false
        let finish = UnsafeFlag()
        Task(executorPreference: executor) {
            await self.drive()
            finish.isSet = true
        }
        isDone = executor.run { finish.isSet }
        if !isDone { violate("the simulation came to a halt") }
        for client in clients { client.close() }
        // They hold the world.
        clients = []
        return violations
    }

    /// `@unchecked Sendable`: everything happens on one thread.
    private final class UnsafeFlag: @unchecked Sendable { var isSet = false }

    private func drive() async {
        weather = Weather(
            lostRequests: executor.random.unit() * 0.3, lostAnswers: executor.random.unit() * 0.3,
            duplicates: executor.random.unit() * 0.2, serverErrors: executor.random.unit() * 0.2,
            delay: executor.random.unit() * 3)
        // Armed by the seed, each by itself, so that they do not hide each other.
        func armed(_ most: Double) -> Double { executor.random.chance(0.4) ? executor.random.unit() * most : 0 }
        weather.portals = armed(0.2)
        weather.endedSessions = armed(0.1)
        weather.refusedGroups = armed(0.5)
        weather.proxies404 = armed(0.15)
        weather.refusals = armed(0.15)
        weather.expiredCursors = armed(0.2)
        weather.forgetting = armed(0.3)
        server.tellsTime = !variant.isConditional || executor.random.chance(0.6)
        if executor.random.chance(0.3) { scheduleRestore() }
        await withTaskGroup(of: Void.self) { group in
            for client in clients {
                group.addTask { [self] in await live(client) }
            }
        }
        weather = .calm
        // What is still under way arrives.
        try? await SimulatedClock(executor: executor).sleep(seconds: 200)
        await settle()
        for client in clients { await client.collectResults() }
        checkEnd()
    }

    /// A backup some time in the life of the clients, and the way back to it later.
    private func scheduleRestore() {
        let first = executor.random.unit() * 30
        executor.after(first) { [self] in server.backUp() }
        executor.after(first + executor.random.unit() * 20) { [self] in
            guard server.restore() else { return }
            trace("the server is restored")
            struck(.restore)
        }
    }

    /// The life of a client while the network is bad.
    private func live(_ client: SimulatedClient) async {
        let clock = SimulatedClock(executor: executor)
        for _ in 0..<(8 + executor.random.below(20)) {
            try? await clock.sleep(seconds: executor.random.unit() * 4)
            do {
                if executor.random.chance(weather.forgetting) { try client.forget() }
                switch executor.random.below(20) {
                case 0..<11: try client.act()
                case 11..<18:
                    let engine = client.engine
                    let kind = executor.random.below(3)
                    let task = Task(executorPreference: executor) {
                        switch kind {
                        case 0: _ = try? await engine.push()
                        case 1: _ = try? await engine.pull()
                        default: _ = try? await engine.synchronize()
                        }
                    }
                    if executor.random.chance(0.1) {
                        executor.after(executor.random.unit() * 3) { task.cancel() }
                    }
                default: try client.crash()
                }
            } catch {
                violate("client \(client.number): \(error)")
            }
        }
    }

    /// Lets everybody synchronise until nothing changes any more.
    private func settle() async {
        var before = -1
        for _ in 0..<40 {
            for client in clients {
                do throws(SyncError) {
                    // What was refused by a stranger is sent again.
                    if let failed = try? client.engine.failedChanges(), !failed.isEmpty {
                        try? client.engine.retry(failed)
                    }
                    try await client.engine.synchronize()
                } catch {
                    // A server that was restored may have nothing of what it had. People are asked then, and go by the server.
                    if case .remote(let cause) = error, cause.kind == .notFound, cause.domain == "Strata",
                        server.wasRestored
                    {
                        try? client.reset()
                    } else {
                        violate("client \(client.number) in calm weather: \(error)")
                    }
                }
            }
            let waiting = clients.contains {
                ((try? $0.engine.pendingCount()) ?? 1) > 0
                    || ((try? $0.engine.failedChanges().isEmpty) ?? false) == false
            }
            if !waiting, before == server.changeCount { return }
            before = server.changeCount
        }
        violate("the outboxes do not get empty")
    }

    // MARK: What must hold

    /// A client saved a value over another one.
    func saved(_ write: ModelServer.Write, by client: Int, seen: RemoteValue) {
        saves[write] = (client, seen)
        trace("\(client) saves \(write.identity).\(write.property) = \(write.value) over \(seen)")
    }

    /// A client forgets objects, and what it saved of them.
    func forgot(by client: Int, _ isForgotten: (RemoteIdentity) -> Bool) {
        for (write, save) in saves where save.client == client && isForgotten(write.identity) {
            forgotten.insert(write)
        }
    }

    /// A client deleted an object.
    func deleted(_ identity: RemoteIdentity, by client: Int) {
        deletes[identity, default: []].insert(client)
        trace("\(client) deletes \(identity)")
    }

    /// A value may replace another one only if those who wrote it had seen that, or it is of the same client.
    private func check(_ write: ModelServer.Write, replaces old: RemoteValue) {
        guard variant.isConditional, saves[write] != nil else { return }
        var value = write.value
        while true {
            if value == old { return }
            guard
                let save = saves[ModelServer.Write(identity: write.identity, property: write.property, value: value)]
            else { break }
            value = save.seen
        }
        violate("\(write.identity).\(write.property): \(old) was lost under \(write.value)")
    }

    private func checkEnd() {
        let truth = contents()
        for client in clients {
            do {
                let found = try client.contents()
                for identity in Set(truth.keys).union(found.keys).sorted(by: { $0.id < $1.id })
                where truth[identity] != found[identity] {
                    violate(
                        "client \(client.number) has \(identity) as \(text(found[identity])), the server as \(text(truth[identity]))"
                    )
                }
                let failed = try client.engine.failedChanges()
                for change in failed { violate("client \(client.number): \(change.identity) failed: \(change.error)") }
            } catch {
                violate("client \(client.number): \(error)")
            }
        }
        if variant.isConditional { checkSaves() }
    }

    private func text(_ values: [String: RemoteValue]?) -> String {
        guard let values else { return "nothing" }
        return values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
    }

    /// What the server has; references to what it has not are nil.
    private func contents() -> [RemoteIdentity: [String: RemoteValue]] {
        var result: [RemoteIdentity: [String: RemoteValue]] = [:]
        for (identity, object) in server.objects where !object.isDeleted {
            guard let entity = model.entity(named: identity.entity) else { continue }
            var values: [String: RemoteValue] = [:]
            for slot in entity.slots where slot.name != entity.primaryKeyField {
                if let index = slot.relationshipIndex {
                    var target: String?
                    if case .reference(let id?) = object.values[slot.name],
                        server.record(RemoteIdentity(entity: entity.relationships[index].destination, id: id)) != nil
                    {
                        target = id
                    }
                    values[slot.name] = .reference(target)
                } else {
                    values[slot.name] = object.values[slot.name] ?? .value(.null)
                }
            }
            if entity.relationship(named: "tags") != nil {
                var members: [String] = []
                if case .references(let list) = object.values["tags"] {
                    members = list.filter { server.record(RemoteIdentity(entity: "Tag", id: $0)) != nil }
                }
                values["tags"] = .references(members.sorted())
            }
            result[identity] = values
        }
        return result
    }

    /// Every value that was saved reached the server, or another one was saved over it, or its object was deleted, or
    /// it was reported to have lost.
    private func checkSaves() {
        let covered = Set(
            saves.map { ModelServer.Write(identity: $0.key.identity, property: $0.key.property, value: $0.value.seen) })
        for (write, save) in saves
        where !server.history.contains(write) && !covered.contains(write) && !forgotten.contains(write) {
            // A server without tokens makes an object again whose creation it is told twice, and one that is restored has again
            // what was deleted.
            if !variant.hasTokens || server.wasRestored, deletes[write.identity]?.contains(save.client) == true {
                continue
            }
            guard server.record(write.identity) != nil, let client = clients.first(where: { $0.number == save.client })
            else { continue }
            // Nobody is in conflict with himself, but with a server that takes back what it has.
            let isContested =
                server.wasRestored
                || saves.contains {
                    $0.key.identity == write.identity && $0.key.property == write.property
                        && ($0.value.client != save.client || forgotten.contains($0.key))
                }
            let isReported = client.results.contains { result in
                guard result.identity == write.identity else { return false }
                switch result.action {
                case .merged(let overridden): return isContested && overridden.contains(write.property)
                case .serverWon, .deletedHere, .failed: return true
                default: return false
                }
            }
            if !isReported { violate("\(write.identity).\(write.property): \(write.value) went without a word") }
        }
    }
}

/// Counts by kind of fault.
public final class Strikes: Sendable {
    private let counts = Guarded<[SimulationWorld.Fault: Int]>([:])

    func add(_ fault: SimulationWorld.Fault) { counts.withLock { $0[fault, default: 0] += 1 } }

    /// How often each fault struck.
    public var all: [SimulationWorld.Fault: Int] { counts.withLock { $0 } }
}
