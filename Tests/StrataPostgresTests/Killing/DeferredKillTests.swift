#if Postgres
    import Foundation
    import MigrationWorld
    import PostgresFixture
    import SeededRandom
    import Strata
    import Testing

    @testable import StrataPostgres

    extension PostgresKills {
        /// A process that is killed while it does a deferred step leaves whole batches, and the next one goes on there. So it is where
        /// the server ends sessions, or ends itself.
        @Suite("Deferred steps", .serialized)
        struct DeferredKillTests {
            /// How often something is killed in each test; `STRATA_MIGRATION_KILLS` sets another number.
            static let kills = ProcessInfo.processInfo.environment["STRATA_MIGRATION_KILLS"].flatMap(Int.init) ?? 4
            private static let count = 330
            private static let batch = 20

            private let server: PostgresServer
            /// A database with the first version.
            private let original: String

            init() throws {
                server = try PostgresKills.server
                original = try server.newDatabase()
                let container = try PersistentContainer(model: DeferredVersions.first(), at: .postgres(original))
                let context = container.newContext()
                for number in 0..<Self.count {
                    try context.insert(entityNamed: "Person")["name"] = "First\(number) Last\(number)"
                }
                try context.save()
                container.close()
            }

            @Test("Killed at any visit, a step has done the batches before it, and goes on there")
            func killAtVisits() throws {
                for visit in [1, 20, 21, 150, 330] {
                    let url = try server.copy(of: original)
                    #expect(try probe(url, dyingAt: visit).end() == SIGKILL)
                    let done = (visit - 1) / Self.batch * Self.batch
                    #expect(try look(url, "visit \(visit)") == done)
                    try finish(url, "visit \(visit)")
                    try server.drop(url)
                }
            }

            @Test("Killed at random moments, and with several processes at the same time, each object is visited once")
            func killAtRandom() throws {
                try repeatedly("killed") { url, times, random, label in
                    let probes = try (0..<2).map { _ in try probe(url) }
                    for probe in probes { try probe.wait(for: "opening") }
                    Thread.sleep(forTimeInterval: times.whole * Double.random(in: 0...1.05, using: &random))
                    probes[0].kill()
                    if random.oneIn(2) {
                        probes[1].kill()
                        return try look(url, label)
                    }
                    #expect(probes[1].end() == 0, "\(label): \(probes[1].output)")
                    #expect(try look(url, label) == Self.count, "\(label): \(probes[1].output)")
                    return Self.count
                }
            }

            @Test("Where the server ends sessions at random moments, processes go on with new ones")
            func sessionsEnd() throws {
                try repeatedly("sessions") { url, times, random, label in
                    let probes = try (0..<2).map { _ in try probe(url) }
                    for probe in probes { try probe.wait(for: "opened") }
                    Thread.sleep(forTimeInterval: times.step * Double.random(in: 0...1.05, using: &random))
                    try server.endSessions(of: url)
                    for probe in probes { #expect(probe.end() == 0, "\(label): \(probe.output)") }
                    return try look(url, label)
                }
            }

            @Test("When the server crashes and is back soon, what is left is done once")
            func serverCrashes() throws {
                let url = try server.copy(of: original)
                let probes = try (0..<2).map { _ in try probe(url) }
                for probe in probes { try probe.wait(for: "opened") }
                Thread.sleep(forTimeInterval: 0.05)
                try server.stop()
                try server.start()
                for probe in probes {
                    let status = probe.end()
                    print("crash of the server: \(status) \(probe.output.split(separator: "\n").last ?? "")")
                }
                _ = try look(url, "crash")
                try finish(url, "crash")
                try server.drop(url)
            }

            // MARK: What they do

            /// How long a process takes from before the migration, and for the step only, in seconds.
            private typealias Times = (whole: Double, step: Double)

            private func probe(_ url: String, dyingAt visit: Int = 0) throws -> KillProbe {
                try KillProbe("deferred", url, String(Self.batch), String(visit))
            }

            /// Does something to a copy of the original many times, each time at another moment, and lets a process do what it leaves.
            /// - Parameter body: Gets the URL, how long a process takes, and what to call the case. It returns how many objects are
            ///   visited then.
            private func repeatedly(
                _ name: String, _ body: (String, Times, inout SplitMix64, String) throws -> Int
            ) throws {
                let seed = RunSeed.value()
                let whole = try server.copy(of: original)
                let times = try measure(whole)
                try server.drop(whole)
                var random = SplitMix64(seed: seed)
                var outcomes: [String: Int] = [:]
                for number in 0..<Self.kills {
                    let url = try server.copy(of: original)
                    let label = "\(name), seed \(seed), number \(number)"
                    let done = try body(url, times, &random, label)
                    outcomes[done == 0 ? "none" : done == Self.count ? "all" : "some", default: 0] += 1
                    try finish(url, label)
                    try server.drop(url)
                }
                print("deferred steps on PostgreSQL, \(name), seed \(seed), \(times): \(outcomes)")
            }

            /// Lets a process do everything.
            private func measure(_ url: String) throws -> Times {
                let probe = try probe(url)
                try probe.wait(for: "opening")
                let start = ContinuousClock.now
                try probe.wait(for: "opened")
                let middle = ContinuousClock.now
                #expect(probe.end() == 0, "\(probe.output)")
                let end = ContinuousClock.now
                return ((end - start).inSeconds, (end - middle).inSeconds)
            }

            /// Lets a process do what is left, and looks at every object.
            private func finish(_ url: String, _ label: String) throws {
                let rest = try probe(url)
                #expect(rest.end() == 0, "\(label): \(rest.output)")
                #expect(try look(url, label) == Self.count, "\(label)")
                #expect(try PostgresStore.storeInfo(at: url, isChecked: true).problems == [], "\(label)")
            }

            /// Looks at every object, which must have been visited once or not at all.
            /// - Returns: How many have been visited.
            private func look(_ url: String, _ label: String) throws -> Int {
                try server.settle(url)
                var options = PostgresStore.Options()
                options.migration.stages = [try DeferredVersions.stage(batchSize: Self.batch)]
                let container = try PersistentContainer(
                    model: DeferredVersions.second(), at: .postgres(url), options: options)
                defer { container.close() }
                let context = container.newContext()
                let people = try context.fetch(FetchRequest<ManagedObject>(entity: "Person"))
                let visited = people.filter { $0["visits"] as? Int64 == 1 && $0["initials"] as? String == "FL" }
                let others = people.filter { $0["visits"] == nil && $0["initials"] == nil }
                #expect(people.count == Self.count && visited.count + others.count == Self.count, "\(label)")
                // The objects that a batch creates are made once, too.
                let entries = try context.fetch(FetchRequest<ManagedObject>(entity: "Entry"))
                    .compactMap { $0["text"] as? String }.sorted()
                #expect(entries == visited.compactMap { $0["name"] as? String }.sorted(), "\(label)")
                let steps = try container.deferredMigrationSteps()
                #expect(steps.first?.completed ?? Self.count == visited.count, "\(label)")
                return visited.count
            }
        }
    }
#endif
