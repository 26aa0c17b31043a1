#if Postgres
    import Foundation
    import PostgresFixture
    import Strata
    import Testing

    @testable import StrataPostgres

    extension ReplicaTests {
        @Suite("Replicas that cannot be used", .serialized)
        struct Failures {
            let fixture: ReplicaFixture
            let replica: PostgresServer

            init() throws {
                fixture = try ReplicaFixture()
                try fixture.others().insert(("City", 1, ["count": .integer(1)]))
                replica = try fixture.replica()
            }

            private func count(_ store: PostgresStore) throws -> Int {
                try PersistentContainer(store: store).newContext(reading: .replica)
                    .count(FetchRequest<ManagedObject>(entity: "City"))
            }

            @Test("One that is down gives way to the primary, and is used again when it is back")
            func down() throws {
                let store = try fixture.store([replica])
                #expect(try count(store) == 1)
                try replica.stop()
                for _ in 0..<5 { #expect(try count(store) == 1) }
                try fixture.eventually("it is noticed") { store.replicaStates.allSatisfy { !$0.isUsable } }
                #expect(try #require(store.replicaStates.first?.problem).contains("08"))
                let late = try fixture.unready([replica])
                #expect(try count(late) == 1)
                try replica.start()
                let answers = Answers(store)
                try fixture.eventually("it is used again") {
                    let found = try count(store)
                    #expect(found == 1)
                    return answers.take() != ["primary"]
                }
                try fixture.eventually("a store that was opened meanwhile uses it, too") {
                    let found = try count(late)
                    #expect(found == 1)
                    return late.replicaStates.allSatisfy(\.isUsable)
                }
            }

            @Test("Of two replicas, the other one answers")
            func two() throws {
                let second = try fixture.replica()
                let store = try fixture.store([replica, second])
                let answers = Answers(store)
                for _ in 0..<4 { #expect(try count(store) == 1) }
                #expect(answers.take() == Set(store.replicaStates.map(\.address)))
                try replica.stop()
                for _ in 0..<6 { #expect(try count(store) == 1) }
                #expect(!answers.take().contains("primary"))
                try replica.start()
            }

            @Test("One that is promoted is not asked any more")
            func promoted() throws {
                let store = try fixture.store([replica])
                #expect(try count(store) == 1)
                try replica.run("SELECT pg_promote()")
                // Its rows are not in the store.
                let stray = try PostgresStore.open(at: replica.url(like: fixture.url))
                try stray.insert(("City", 2, [:]), ("City", 3, [:]))
                for _ in 0..<10 { #expect(try count(store) == 1) }
                try fixture.eventually("it is noticed") {
                    store.replicaStates.first?.problem?.contains("promoted") == true
                }
                try fixture.others().insert(("City", 4, [:]))
                #expect(try count(store) == 1 || count(store) == 2)
            }

            @Test("A server that is not a replica of the primary, and another database, are refused")
            func strangers() throws {
                let stranger = try PostgresServer.shared.newDatabase()
                let other = try ReplicaFixture()
                try fixture.catchUp(replica)
                let store = try fixture.unready([]) {
                    $0.addresses = [stranger, replica.url(like: other.url), replica.url(of: "nowhere")]
                }
                let answers = Answers(store)
                try fixture.eventually("all are known") {
                    store.replicaStates.allSatisfy { $0.problem?.contains("looked at") == false }
                }
                #expect(try count(store) == 1)
                #expect(answers.take() == ["primary"])
                let problems = store.replicaStates.map { $0.problem ?? "" }
                #expect(problems[0].contains("promoted") && problems[1].contains("another store"))
                #expect(problems[2].contains("nowhere"))
            }

            @Test("One with another version of the model waits until it has replayed the migration")
            func version() throws {
                try fixture.catchUp(replica)
                try replica.pauseReplay()
                let model = try TestModel.make {
                    $0[0].attributes.append(Attribute("nickname", .string, optional: true))
                }
                var options = PostgresStore.Options()
                options.replicas = PostgresStore.Replicas([replica.url(like: fixture.url)])
                options.replicas?.retryPause = .milliseconds(50)
                let store = try PostgresStore.open(model: model, at: fixture.url, options: options)
                try fixture.eventually("the old version is noticed") {
                    store.replicaStates.first?.problem?.contains("another version of the model") == true
                }
                #expect(try count(store) == 1)
                try replica.resumeReplay()
                try fixture.eventually("it is used") {
                    let found = try count(store)
                    #expect(found == 1)
                    return store.replicaStates.allSatisfy(\.isUsable)
                }
            }

            @Test("One that does not answer in time gives way to the primary")
            func slow() throws {
                let store = try fixture.store([replica]) { $0.timeout = .milliseconds(100) }
                #expect(try count(store) == 1)
                // Its processes are there, and do nothing.
                let connection = try PostgresConnection(PostgresSettings(address: replica.url(of: "postgres")))
                let found = try connection.execute(
                    "SELECT pid::bigint FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
                )
                let processes = found.integers(0).map(pid_t.init)
                for process in processes { kill(process, SIGSTOP) }
                defer { for process in processes { kill(process, SIGCONT) } }
                for _ in 0..<3 { #expect(try count(store) == 1) }
                #expect(store.replicaFallbacks > 0)
            }

            @Test("A replica that gives up a read because of the log gives way to the primary")
            func conflict() throws {
                let store = try fixture.store([replica]) { $0.timeout = .milliseconds(200) }
                // As long as nobody replays the end of the lock, readers of the table wait on the replica.
                let connection = try PostgresConnection(PostgresSettings(address: fixture.url))
                try connection.run(
                    "BEGIN; LOCK TABLE city IN ACCESS EXCLUSIVE MODE; SELECT pg_current_xact_id(); COMMIT")
                try fixture.catchUp(replica)
                try connection.run("BEGIN; LOCK TABLE city IN ACCESS EXCLUSIVE MODE")
                try connection.run("SELECT pg_switch_wal()")
                try fixture.eventually("the replica has the lock") {
                    let other = try PostgresConnection(PostgresSettings(address: replica.url(like: fixture.url)))
                    return try other.execute(
                        "SELECT 1 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND locktype = 'relation'"
                    ).rowCount > 0
                }
                try replica.pauseReplay()
                try connection.run("COMMIT")
                #expect(try count(store) == 1)
                #expect(store.replicaFallbacks > 0)
                try replica.resumeReplay()
            }
        }
    }
#endif
