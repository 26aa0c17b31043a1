#if Postgres
    import Foundation
    import PostgresFixture
    import SeededRandom
    import Strata
    import StrataStore
    import Testing

    @testable import StrataPostgres

    extension ReplicaTests {
        @Suite("Replicas at random", .serialized)
        struct Randomly {
            @Test("No context goes back, none misses what this process has saved, none is older than the bound")
            func order() throws {
                let fixture = try ReplicaFixture()
                try fixture.others().insert(("City", 1, ["count": .integer(0)]))
                let replicas = [try fixture.replica(), try fixture.replica()]
                let seed = RunSeed.value()
                var random = SplitMix64(seed: seed)
                let bound = Duration.milliseconds(300)
                let store = try fixture.store(replicas, staleness: bound)
                let container = try PersistentContainer(store: store)
                let others = try fixture.others()
                let answers = Answers(store)
                var count: Int64 = 0
                // What was committed, and when that was known.
                var log: [(count: Int64, moment: ContinuousClock.Instant)] = [(0, .now)]
                var own: Int64 = 0
                var contexts = (0..<3).map { _ in (container.newContext(reading: .replica), shown: Int64(0)) }
                var version: Int64 = 1

                for step in 0..<400 {
                    switch Int.random(in: 0..<12, using: &random) {
                    case 0...2:
                        // Somebody writes.
                        let isOwn = Bool.random(using: &random)
                        count += 1
                        var changes = ChangeSet()
                        changes.updates = [try others.update("City", 1, base: version, ["count": .integer(count)])]
                        let result = try (isOwn ? store : others).commit(changes)
                        #expect(result.effects != nil, "seed \(seed), step \(step)")
                        version += 1
                        log.append((count, .now))
                        if isOwn { own = count }
                    case 3:
                        let replica = replicas[Int.random(in: replicas.indices, using: &random)]
                        if Bool.random(using: &random) { try replica.pauseReplay() } else { try replica.resumeReplay() }
                    case 4:
                        Thread.sleep(forTimeInterval: Double.random(in: 0...0.1, using: &random))
                    default:
                        let index = Int.random(in: contexts.indices, using: &random)
                        if Int.random(in: 0..<8, using: &random) == 0 {
                            contexts[index] = (container.newContext(reading: .replica), 0)
                        }
                        let start = ContinuousClock.now
                        let needed = log.last { $0.moment <= start - bound }?.count ?? 0
                        let context = contexts[index].0
                        var request = FetchRequest<ManagedObject>(entity: "City")
                        request.refreshesRefetchedObjects = true
                        let object = try #require(try context.fetch(request).first)
                        let shown = try #require(object["count"] as? Int64)
                        #expect(shown >= contexts[index].shown, "it went back: seed \(seed), step \(step)")
                        #expect(shown >= own, "an own commit is missing: seed \(seed), step \(step)")
                        #expect(shown >= needed, "it is too old: seed \(seed), step \(step)")
                        contexts[index].shown = shown
                    }
                }
                for replica in replicas { try replica.resumeReplay() }
                let all = answers.take()
                #expect(all.contains("primary") && all.count > 1, "seed \(seed): \(all)")
            }
        }
    }
#endif
