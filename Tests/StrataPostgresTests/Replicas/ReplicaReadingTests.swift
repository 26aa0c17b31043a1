#if Postgres
    import Foundation
    import PostgresFixture
    import Strata
    import StrataStore
    import Testing

    @testable import StrataPostgres

    @Suite("Replicas", .needsPostgres, .serialized)
    struct ReplicaTests {
        @Suite("Who answers", .serialized)
        struct Reading {
            let fixture: ReplicaFixture
            let replica: PostgresServer

            init() throws {
                fixture = try ReplicaFixture()
                try fixture.others().insert(
                    ("City", 1, ["name": .string("Lima"), "count": .integer(1)]),
                    ("City", 2, ["name": .string("Oslo")]),
                    ("Street", 1, ["name": .string("Jirón"), "city": .object(1)]))
                replica = try fixture.replica()
            }

            private func cities(_ format: String? = nil) throws -> FetchRequest<ManagedObject> {
                var request = FetchRequest<ManagedObject>(entity: "City")
                request.predicate = try format.map { try FetchPredicate(format: $0) }
                return request
            }

            @Test("A replica answers fetches, counts, values, faults and relationships of a context that may read it")
            func allKinds() throws {
                let store = try fixture.store([replica])
                let container = try PersistentContainer(store: store)
                let answers = Answers(store)
                let address = try #require(store.replicaStates.first?.address)
                let context = container.newContext(reading: .replica)
                #expect(context.readSource == .replica && container.newContext().readSource == .primary)
                func answered(_ what: String) { #expect(answers.take() == [address], "\(what)") }

                let found = try context.fetch(cities("name == 'Lima'"))
                answered("fetch")
                #expect(try context.count(cities()) == 2)
                answered("count")
                #expect(try context.fetch(cities("name MATCHES 'L.*'")).count == 1)
                answered("a condition without SQL")
                let names = try cities().select(FetchColumn("name", FetchExpression(format: "name")))
                #expect(try context.fetchValues(names).count == 2)
                answered("values")
                let lima = try #require(found.first)
                #expect((lima["streets"] as? [ManagedObject])?.count == 1)
                answered("members")
                try context.refresh(lima, mergingChanges: false)
                #expect(lima["name"] as? String == "Lima")
                answered("fault")
                #expect(try context.makeChild().count(cities()) == 2)
                answered("a child")
                #expect(try container.newContext().count(cities()) == 2)
                #expect(answers.take() == ["primary"])
                #expect(try #require(store.replicaStates.first).answers > 7)
            }

            @Test("So it does for calls that wait without blocking")
            func withoutBlocking() async throws {
                let store = try fixture.store([replica])
                let container = try PersistentContainer(store: store)
                let answers = Answers(store)
                let address = try #require(store.replicaStates.first?.address)
                let context = container.newContext(reading: .replica)
                func answered(_ what: String) { #expect(answers.take() == [address], "\(what)") }
                #expect(try await context.fetch(cities()).count == 2)
                answered("fetch")
                #expect(try await context.count(cities("name != 'Lima'")) == 1)
                answered("count")
                let names = try cities().select(FetchColumn("name", FetchExpression(format: "name")))
                #expect(try await context.fetchValues(names).count == 2)
                answered("values")
                let read = try await container.read(from: .replica) { try $0.count(FetchRequest(entity: "City")) }
                #expect(read == 2)
                answered("container.read")
                let background = container.newBackgroundContext()
                let count = try await background.perform { context in
                    context.readSource = .replica
                    // It may have read the primary before.
                    return try context.count(FetchRequest(entity: "City"))
                }
                #expect(count == 2)
            }

            @Test("A context sees what this process has saved, even if the replica does not show it yet")
            func ownWrites() throws {
                let store = try fixture.store([replica])
                let container = try PersistentContainer(store: store)
                let answers = Answers(store)
                try replica.pauseReplay()
                let writer = container.newContext()
                let lima = try #require(try writer.fetch(cities("name == 'Lima'")).first)
                lima["name"] = "Callao"
                try writer.save()
                _ = answers.take()
                let reader = container.newContext(reading: .replica)
                #expect(try reader.fetch(cities("name == 'Callao'")).count == 1)
                #expect(answers.take() == ["primary"])
                #expect(store.replicaFallbacks > 0)

                // One that has read the replica before, and saves by itself.
                reader.readSource = .primary
                reader.readSource = .replica
                let oslo = try #require(try reader.fetch(cities("name == 'Oslo'")).first)
                oslo["name"] = "Bergen"
                try reader.save()
                #expect(try reader.count(cities("name == 'Bergen'")) == 1)
                let entity = try #require(store.model.entity(named: "City"))
                _ = try store.perform(.delete(FetchPlan(entityIndex: entity.index)), by: ChangeOrigin())
                #expect(try container.newContext(reading: .replica).count(cities()) == 0)

                try replica.resumeReplay()
                try fixture.catchUp(replica)
                _ = answers.take()
                try fixture.eventually("the replica answers again") {
                    let found = try container.newContext(reading: .replica).count(cities())
                    #expect(found == 0)
                    return answers.take() != ["primary"]
                }
            }

            @Test("What others have committed is shown at the latest when the bound has passed")
            func bounded() throws {
                let patient = try fixture.store([replica])
                let strict = try fixture.store([replica], staleness: .milliseconds(200))
                let before = try PersistentContainer(store: patient).newContext(reading: .replica)
                #expect(try before.count(cities()) == 2)
                try replica.pauseReplay()
                try fixture.others().insert(("City", 3, [:]))
                // It was up to date less than ten minutes ago.
                let answers = Answers(patient)
                #expect(try before.count(cities()) == 2)
                #expect(!answers.take().contains("primary"))
                Thread.sleep(forTimeInterval: 0.21)
                let container = try PersistentContainer(store: strict)
                for _ in 0..<20 {
                    #expect(try container.newContext(reading: .replica).count(cities()) == 3)
                    Thread.sleep(forTimeInterval: 0.02)
                }
                #expect(try #require(strict.replicaStates.first?.missingBytes) > 0)
                try replica.resumeReplay()
            }

            @Test("A context that has seen a commit of others goes on to see it, whichever server answers next")
            func noWayBack() throws {
                let second = try fixture.replica()
                let store = try fixture.store([replica, second])
                let container = try PersistentContainer(store: store)
                try replica.pauseReplay()
                try fixture.others().insert(("City", 3, [:]))
                try fixture.catchUp(second)
                // The old state is recent enough for a context that knows nothing.
                var seen: [Int: ManagedObjectContext] = [:]
                try fixture.eventually("each replica has answered") {
                    let context = container.newContext(reading: .replica)
                    seen[try context.count(cities())] = context
                    return seen.count == 2
                }
                #expect(Set(seen.keys) == [2, 3])
                let fromPrimary = container.newContext()
                #expect(try fromPrimary.count(cities()) == 3)
                try second.stop()
                fromPrimary.readSource = .replica
                for _ in 0..<4 { #expect(try fromPrimary.count(cities()) == 3) }
                let fromSecond = try #require(seen[3])
                for _ in 0..<4 { #expect(try fromSecond.count(cities()) == 3) }
                #expect(try #require(seen[2]).count(cities()) == 2)
                try replica.resumeReplay()
            }

            @Test("An idle primary does not make a replica old, and one that has lost its primary is found out")
            func idleAndCutOff() throws {
                let store = try fixture.store([replica], staleness: .milliseconds(100))
                let container = try PersistentContainer(store: store)
                let answers = Answers(store)
                try fixture.catchUp(replica)
                Thread.sleep(forTimeInterval: 0.5)
                try fixture.eventually("the replica answers though its last transaction is old") {
                    let found = try container.newContext(reading: .replica).count(cities())
                    #expect(found == 2)
                    return answers.take() != ["primary"]
                }
                // From now on it has replayed all that it has received.
                try replica.run("ALTER SYSTEM SET primary_conninfo TO ''")
                try replica.run("SELECT pg_reload_conf()")
                try fixture.eventually("the receiver is gone") {
                    let connection = try PostgresConnection(PostgresSettings(address: replica.url(of: "postgres")))
                    return try connection.execute("SELECT 1 FROM pg_stat_wal_receiver").rowCount == 0
                }
                try fixture.others().insert(("City", 3, [:]))
                Thread.sleep(forTimeInterval: 0.11)
                for _ in 0..<20 {
                    #expect(try container.newContext(reading: .replica).count(cities()) == 3)
                    Thread.sleep(forTimeInterval: 0.02)
                }
            }

            @Test("A save compares versions on the primary")
            func locking() throws {
                let store = try fixture.store([replica])
                let container = try PersistentContainer(store: store)
                let context = container.newContext(reading: .replica)
                try replica.pauseReplay()
                let others = try fixture.others()
                var changes = ChangeSet()
                changes.updates = [try others.update("City", 1, base: 1, ["count": .integer(7)])]
                _ = try others.commit(changes)
                let lima = try #require(try context.fetch(cities("name == 'Lima'")).first)
                #expect(lima["count"] as? Int64 == 1)
                lima["count"] = Int64(2)
                #expect(throws: PersistenceError.self) { try context.save() }
                #expect(try others.version("City", 1) == 2)
                // What stands in the way is shown now.
                context.rollback()
                try context.refresh(lima)
                #expect(lima["count"] as? Int64 == 7)
                lima["count"] = Int64(8)
                try context.save()

                let merging = container.newContext(reading: .replica)
                merging.mergePolicy = .objectWinsByProperty
                let again = try #require(try merging.fetch(cities("name == 'Lima'")).first)
                changes.updates = [try others.update("City", 1, base: 3, ["name": .string("Callao")])]
                _ = try others.commit(changes)
                again["count"] = Int64(9)
                try merging.save()
                #expect(again["name"] as? String == "Callao" && again["count"] as? Int64 == 9)
                #expect(try others.read("City", 1)?["count"] == .integer(9))
                try replica.resumeReplay()
            }

            @Test("A context that merges the commits of others does not miss them because of a replica")
            func merging() async throws {
                let store = try fixture.store([replica])
                let container = try PersistentContainer(store: store)
                var changes = container.changes.makeAsyncIterator()
                let context = container.newContext(automaticallyMergesChanges: true, reading: .replica)
                let lima = try #require(try await context.fetch(cities("name == 'Lima'")).first)
                try replica.pauseReplay()
                let others = try fixture.others()
                var update = ChangeSet()
                update.updates = [try others.update("City", 1, base: 1, ["name": .string("Callao")])]
                _ = try others.commit(update)
                #expect(await changes.next() != nil)
                context.processPendingChanges()
                #expect(lima["name"] as? String == "Callao")
                try replica.resumeReplay()
            }

            @Test("Diagnostics name the server")
            func diagnostics() throws {
                let store = try fixture.store([replica])
                let plan = FetchPlan(entityIndex: try #require(store.model.entity(named: "City")).index)
                let address = try #require(store.replicaStates.first?.address)
                #expect(try store.explain(plan, reading: .replica).replica == address)
                #expect(try store.explain(plan, reading: .primary).replica == nil)
                try fixture.eventually("the replica reports to the primary") {
                    let primary = try PostgresStore.storeInfo(at: fixture.url).server
                    return !primary.isReplica && primary.replicas.contains { $0.state == "streaming" }
                }
                let info = try PostgresStore.storeInfo(at: replica.url(like: fixture.url))
                #expect(info.server.isReplica && info.entities.contains { $0.name == "City" && $0.count == 2 })
            }

            @Test("Options that make no sense are refused, and a store without replicas ignores the wish")
            func options() throws {
                for change: (inout PostgresStore.Replicas) -> Void in [
                    { $0.maximumStaleness = .zero }, { $0.maximumStaleness = .seconds(4000) },
                    { $0.retryPause = .zero }, { $0.timeout = .seconds(-1) }, { $0.connectionLimit = 0 },
                ] {
                    #expect {
                        try fixture.unready([replica], change)
                    } throws: { error in
                        guard case .invalidOption(let name, _, _)? = error as? StoreError else { return false }
                        return name.hasPrefix("replicas.")
                    }
                }
                let container = try PersistentContainer(store: fixture.others())
                let context = container.newContext(reading: .replica)
                #expect(context.readSource == .primary)
                #expect(try context.count(cities()) == 2)
            }
        }
    }
#endif
