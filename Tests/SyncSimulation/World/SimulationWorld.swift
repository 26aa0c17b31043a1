import Foundation
import StrataRemote

/// Clients, a server and the network between them, all of it decided by one seed.
///
/// `@unchecked Sendable`: everything happens on one thread.
public final class SimulationWorld: @unchecked Sendable {
    let executor: SeededExecutor
    /// The models of all versions of the app; the server knows the last one.
    let models: [ManagedObjectModel]
    var model: ManagedObjectModel { models[models.count - 1] }
    let server: ModelServer
    var weather = Weather()
    let variant: ServerVariant
    private(set) var clients: [SimulatedClient] = []
    private var violations: [String] = []
    /// What clients saved and deleted.
    let ledger = Ledger()
    /// What clients did to the tallies, and whether there are any.
    let tallies = Tallies()
    let operates: Bool
    let subjects: Subjects

    /// How often each fault met a request that mattered, over all simulations of the process.
    public static let strikes = Strikes()

    /// The faults that this simulation may have, and those that it had.
    private var armed: Set<Fault> = []
    private var struckFaults: Set<Fault> = []

    /// What is wrong with the clients.
    private(set) var defect: Defect?

    /// Runs one simulation to its end.
    /// - Returns: What went wrong; empty if nothing did.
    /// - Parameters:
    ///   - operates: Whether clients count and mark, too, besides assigning values.
    public static func run(
        seed: UInt64, variant: ServerVariant, defect: Defect? = nil, operates: Bool = false
    ) throws -> [String] {
        let world = try SimulationWorld(seed: seed, variant: variant, operates: operates)
        world.defect = defect
        return try world.run()
    }

    private init(seed: UInt64, variant: ServerVariant, operates: Bool) throws {
        executor = SeededExecutor(seed: seed)
        // The dialect of those over HTTP has no arrays.
        let operates = operates && !variant.isHTTP
        self.operates = operates
        models = try SimulationModel.all(operates: operates)
        let variant = operates ? variant.computing(&executor.random) : variant
        self.variant = variant
        subjects = Subjects(&executor.random)
        server = ModelServer(
            variant: variant, model: models[models.count - 1], clock: SimulatedClock(executor: executor))
        server.onViolation = { [unowned self] in violate($0) }
        server.onReplace = { [unowned self] in check($0, replaces: $1) }
        server.onDelete = { [unowned self] in check(deletionOf: $0, with: $1) }
        server.onTake = { [unowned self] in ledger.reached($0) }
        server.onChange = { [unowned self] in struck($0 ? .renamed : .marked) }
        server.onRepeat = { [unowned self] in if $0 { struck(.oldAnswer) } }
        server.mayReturn = { [unowned self] in mayReturn($0) }
        server.placeTallies()
    }

    func violate(_ text: String) {
        violations.append(text)
        trace("VIOLATION \(text)")
    }

    func struck(_ fault: Fault) {
        Self.strikes.add(fault)
        struckFaults.insert(fault)
    }

    func struck(_ fault: Fault, _ operation: RemoteOperation) {
        struck(fault)
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
                try SimulatedClient(number: number, world: self, habits: Habits(&executor.random)))
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
        Self.strikes.end(armed: armed, struck: struckFaults, endedWell: violations.isEmpty)
        // They hold the world.
        clients = []
        return violations
    }

    /// `@unchecked Sendable`: everything happens on one thread.
    private final class UnsafeFlag: @unchecked Sendable { var isSet = false }

    private func drive() async {
        server.tellsTime = !variant.isConditional || executor.random.chance(0.6)
        server.marksTexts = variant.isConditional && executor.random.chance(0.2)
        server.renamesFolders = variant.hasTokens && executor.random.chance(0.2)
        server.repeatsAnswers = variant.hasTokens && executor.random.chance(0.5)
        let storms = executor.random.chance(0.3) ? 2 : 1
        for storm in 1...storms {
            if storm > 1 { struck(.nextStorm) }
            weather = stormyWeather()
            armed.formUnion(armedFaults(weather))
            if executor.random.chance(0.3) { scheduleRestore() }
            if executor.random.chance(0.3) { scheduleClockStep() }
            await withTaskGroup(of: Void.self) { group in
                for client in clients {
                    group.addTask { [self] in await live(client, steps: (8 + executor.random.below(20)) / storms) }
                }
            }
            weather = .calm
            // What is still under way arrives.
            try? await SimulatedClock(executor: executor).sleep(seconds: 200)
            await settle()
        }
        for client in clients { await client.collectResults() }
        await checkEnd()
        checkTallies()
    }

    private func stormyWeather() -> Weather {
        var weather = Weather(
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
        return weather
    }

    /// Somebody sets a clock, by up to an hour.
    private func scheduleClockStep() {
        var clocks = clients.map(\.clock)
        // Clients of other servers have nothing but its clock to go by.
        if variant.isConditional { clocks.append(server.clock) }
        let clock = executor.random.one(of: clocks)
        let step = (executor.random.unit() - 0.5) * 7200
        executor.after(executor.random.unit() * 40) { [self] in
            trace("a clock is set by \(step)")
            struck(.clockStep)
            clock.skew += step
        }
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
    private func live(_ client: SimulatedClient, steps: Int) async {
        let clock = SimulatedClock(executor: executor)
        for _ in 0..<steps {
            try? await clock.sleep(seconds: executor.random.unit() * 4)
            do {
                try client.checkVersions()
                if executor.random.chance(weather.forgetting) { try client.forget() }
                if operates, executor.random.chance(0.5) { try client.operate() }
                switch executor.random.below(20) {
                case 0..<11 where client.habits.usesContext:
                    // It is not awaited: the next step may come in between.
                    let isFetch = executor.random.chance(0.4)
                    Task(executorPreference: executor) {
                        if isFetch { await client.fetch() } else { await client.actInContext() }
                    }
                    // A screen that loads while the engine sends what waits.
                    if isFetch, executor.random.chance(0.3) { synchronize(client) }
                case 0..<11: try client.act()
                case 11..<18: synchronize(client)
                default: try client.restart()
                }
            } catch {
                violate("client \(client.number): \(error)")
            }
        }
    }

    private func synchronize(_ client: SimulatedClient) {
        let engine = client.engine
        let kind = executor.random.below(3)
        let task = Task(executorPreference: executor) {
            switch kind {
            case 0: _ = try? await engine.push()
            case 1: _ = try? await engine.pull()
            default: _ = try? await engine.synchronize()
            }
        }
        if executor.random.chance(0.1) { executor.after(executor.random.unit() * 3) { task.cancel() } }
    }

    /// Lets everybody synchronize until nothing changes any more.
    private func settle() async {
        var before = -1
        for _ in 0..<40 {
            for client in clients {
                await client.finishContexts()
                do throws(SyncError) {
                    // What was refused by a stranger is sent again, or given up now that others have changed the same.
                    if let failed = try? client.engine.failedChanges(), !failed.isEmpty {
                        if executor.random.chance(0.5) {
                            client.giveUpFailed()
                        } else {
                            try? client.engine.retry(failed)
                        }
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
}
