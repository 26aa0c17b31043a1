#if Postgres
    import Foundation
    import PostgresFixture
    import StrataStore
    import Testing

    @testable import StrataPostgres

    @Suite("What goes wrong between a store and PostgreSQL", .needsPostgres, .serialized)
    struct FailureTests {
        /// A commit whose connection is cut is made exactly once, whatever the server had done by then.
        @Test(arguments: [UnixProxy.Cut.beforeCommit, .afterCommit])
        func aLostCommitIsMadeOnce(cut: UnixProxy.Cut) throws {
            let server = try PostgresServer.shared
            let url = try server.newDatabase()
            let proxy = try UnixProxy(target: server.folder)
            let store = try PostgresStore.open(at: proxy.address(of: url)) { $0.preparesStatements = false }
            try store.insert(("City", 1, ["count": 0]))
            for round in 1...10 as ClosedRange<Int64> {
                proxy.cuts.withLock { $0 = (cut, 1) }
                var changes = ChangeSet()
                changes.updates = [try store.update("City", 1, base: round, ["count": .integer(round)])]
                #expect(try store.commit(changes).effects != nil)
                #expect(proxy.cuts.withLock(\.count) == 0)
                #expect(try store.version("City", 1) == round + 1)
                #expect(try store.read("City", 1)?["count"] == .integer(round))
            }
        }

        /// A server that is gone for longer is an error, and nothing was written.
        @Test func aServerThatStaysAwayIsAnError() throws {
            let server = try PostgresServer.shared
            let url = try server.newDatabase()
            let proxy = try UnixProxy(target: server.folder)
            let store = try PostgresStore.open(at: proxy.address(of: url)) {
                $0.preparesStatements = false
                $0.retryLimit = 2
            }
            proxy.cuts.withLock { $0 = (.beforeCommit, 100) }
            let error = #expect(throws: StoreError.self) { try store.insert(("City", 1, [:])) }
            guard case .io = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            proxy.cuts.withLock { $0 = (.never, 0) }
            #expect(try store.count("City") == 0)
            #expect(try store.insert(("City", 1, [:])).effects != nil)
        }

        @Test func readsGoOnAfterAFailover() throws {
            let (store, url) = try PostgresStore.fresh()
            try store.insert(("City", 1, ["name": "Lima"]))
            for _ in 0..<5 {
                try PostgresServer.shared.endSessions(of: url)
                #expect(try store.read("City", 1)?["name"] == "Lima")
                try PostgresServer.shared.endSessions(of: url)
                #expect(
                    try store.insert(("Land", try store.allocateKeys(1, rootIndex: 2).lowerBound, [:])).effects != nil)
            }
            #expect(try store.count("Land") == 5)
        }

        /// Writers of one object, and of others, while the server ends sessions all the time: what was acknowledged is there once.
        @Test func nothingAcknowledgedIsLostOrAppliedTwice() throws {
            let (store, url) = try PostgresStore.fresh()
            let other = try PostgresStore.open(at: url)
            try store.insert(("City", 1, ["count": 0]))
            let seconds = ProcessInfo.processInfo.environment["STRATA_POSTGRES_SECONDS"].flatMap(Double.init) ?? 4
            let end = Date(timeIntervalSinceNow: seconds)
            let acknowledged = Guarded<(counts: Int64, inserts: [Int64], failures: [String], kills: Int)>(
                (0, [], [], 0))
            onThreads(5) { number in
                if number == 4 {
                    while Date() < end {
                        Thread.sleep(forTimeInterval: .random(in: 0.02...0.1))
                        if (try? PostgresServer.shared.endSessions(of: url)) != nil {
                            acknowledged.withLock { $0.kills += 1 }
                        }
                    }
                    return
                }
                let mine = number % 2 == 0 ? store : other
                while Date() < end {
                    do {
                        let base = try #require(try mine.version("City", 1))
                        guard case .integer(let count)? = try mine.read("City", 1)?["count"] else { continue }
                        let key = try mine.allocateKeys(1, rootIndex: 2).lowerBound
                        var changes = ChangeSet()
                        changes.updates = [try mine.update("City", 1, base: base, ["count": .integer(count + 1)])]
                        changes.inserts = [.init(row: try mine.row("Land", key, [:]))]
                        if case .committed = try mine.commit(changes) {
                            acknowledged.withLock {
                                $0.counts += 1
                                $0.inserts.append(key)
                            }
                        }
                    } catch {
                        acknowledged.withLock { $0.failures.append("\(error)") }
                    }
                }
            }
            let result = acknowledged.withLock(\.self)
            print(
                "nothingAcknowledgedIsLost: \(result.counts) commits, \(result.kills) kills, \(result.failures.count) failures"
            )
            #expect(result.counts > 10)
            #expect(result.kills > 3)
            // No outcome stayed unknown.
            #expect(result.failures.isEmpty, "\(result.failures.prefix(3))")
            #expect(try store.read("City", 1)?["count"] == .integer(result.counts))
            #expect(try store.version("City", 1) == result.counts + 1)
            let keys = try store.fetchKeys(FetchPlan(entityIndex: 2))
            #expect(keys == result.inserts.sorted())
        }

        /// Commits that lock the same rows in opposite orders are tried again.
        @Test func deadlocksAreTriedAgain() throws {
            let (store, url) = try PostgresStore.fresh()
            let other = try PostgresStore.open(at: url)
            try store.insert(("City", 1, ["count": 0]), ("Land", 1, ["name": "0"]))
            let done = Guarded((committed: 0, errors: [String]()))
            onThreads(4) { number in
                let mine = number % 2 == 0 ? store : other
                for _ in 0..<15 {
                    do {
                        var changes = ChangeSet()
                        let city = ChangeSet.Check(entityIndex: 0, key: 1, version: try mine.version("City", 1) ?? 0)
                        let land = ChangeSet.Check(entityIndex: 2, key: 1, version: try mine.version("Land", 1) ?? 0)
                        // Each checks what the other writes.
                        if number % 2 == 0 {
                            changes.checks = [city]
                            changes.updates = [try mine.update("Land", 1, base: land.version, ["name": "x"])]
                        } else {
                            changes.checks = [land]
                            changes.updates = [try mine.update("City", 1, base: city.version, ["count": 1])]
                        }
                        if case .committed = try mine.commit(changes) { done.withLock { $0.committed += 1 } }
                    } catch {
                        done.withLock { $0.errors.append("\(error)") }
                    }
                }
            }
            let result = done.withLock(\.self)
            #expect(result.errors.isEmpty, "\(result.errors.prefix(3))")
            let versions = try (store.version("City", 1) ?? 0) + (store.version("Land", 1) ?? 0)
            #expect(versions == Int64(result.committed) + 2)
        }

        @Test func foreignCommitsAreHeardOf() throws {
            let (store, url) = try PostgresStore.fresh()
            let other = try PostgresStore.open(at: url)
            let heard = Guarded(0)
            let observation = try #require(store.observeForeignCommits { heard.withLock { $0 += 1 } })
            func wait(for count: Int) -> Bool {
                let end = Date(timeIntervalSinceNow: 10)
                while heard.withLock(\.self) < count, Date() < end { Thread.sleep(forTimeInterval: 0.01) }
                return heard.withLock(\.self) >= count
            }
            // Its own commits do not count.
            try store.insert(("City", 1, [:]))
            try other.insert(("City", 2, [:]))
            #expect(wait(for: 1))
            #expect(heard.withLock(\.self) == 1)
            // The observer is called after a reconnection, because it may have missed notifications.
            try PostgresServer.shared.endSessions(of: url)
            #expect(wait(for: 2))
            let before = heard.withLock(\.self)
            try other.insert(("City", 3, [:]))
            #expect(wait(for: before + 1))
            withExtendedLifetime(observation) {}
        }

        @Test func aFetchIsCancelled() throws {
            let (store, url) = try PostgresStore.fresh()
            try store.insert(("City", 1, [:]))
            // Somebody else holds the table.
            let other = try PostgresConnection(PostgresSettings(address: url))
            try other.run("BEGIN; LOCK TABLE city IN ACCESS EXCLUSIVE MODE")
            let cancellation = ReadCancellation()
            Thread.detachNewThread {
                Thread.sleep(forTimeInterval: 0.2)
                cancellation.cancel()
            }
            #expect(throws: StoreError.cancelled) {
                try store.fetch(FetchPlan(entityIndex: 0), known: nil, cancellation: cancellation)
            }
            try other.run("COMMIT")
            #expect(try store.count("City") == 1)
        }

        @Test func aHeldLockIsAnErrorInTheEnd() throws {
            let url = try PostgresServer.shared.newDatabase()
            let store = try PostgresStore.open(at: url) { $0.lockTimeout = 0.2 }
            let other = try PostgresConnection(PostgresSettings(address: url))
            try other.run("BEGIN; LOCK TABLE city IN ACCESS EXCLUSIVE MODE")
            #expect(throws: StoreError.locked(path: store.name)) { try store.insert(("City", 1, [:])) }
            try other.run("COMMIT")
            #expect(try store.insert(("City", 1, [:])).effects != nil)
        }

        @Test("A read that ends among many rows, by a damaged one or by a cancellation, leaves its connection usable")
        func readsThatEndEarly() throws {
            let url = try PostgresServer.shared.newDatabase()
            let store = try PostgresStore.open(at: url) { $0.connectionLimit = 1 }
            let connection = try PostgresConnection(PostgresSettings(address: url))
            try connection.run(
                "INSERT INTO city(_id, _entity, _version) SELECT i, 'City', 1 FROM generate_series(1, 50000) AS i")
            let plan = FetchPlan(entityIndex: 0)
            let cancellation = ReadCancellation()
            var seen = 0
            #expect(throws: StoreError.cancelled) {
                try store.fetch(
                    plan,
                    known: { _, _, _ in
                        seen += 1
                        if seen == 100 { cancellation.cancel() }
                        return true
                    }, cancellation: cancellation)
            }
            #expect(seen >= 100 && seen < 50_000)
            #expect(try store.fetch(plan).count == 50_000)
            try connection.run("UPDATE city SET _entity = 'Town' WHERE _id = 25000")
            let error = #expect(throws: StoreError.self) { try store.fetch(plan) }
            guard case .invalidData("City", "_entity", 25_000, _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(try store.count("City") == 50_000)
        }

        @Test func rowsThatOthersHaveDamagedAreNamed() throws {
            let (store, url) = try PostgresStore.fresh()
            let connection = try PostgresConnection(PostgresSettings(address: url))
            try connection.run("INSERT INTO city(_id, _entity, _version) VALUES(1, 'Town', 1)")
            let plan = FetchPlan(entityIndex: 0)
            for read in [{ _ = try store.fetch(plan) }, { _ = try store.fetchIdentities(plan, cancellation: nil) }] {
                let error = #expect(throws: StoreError.self) { try read() }
                guard case .invalidData("City", "_entity", 1, _) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
            try connection.run("UPDATE city SET _entity = 'City', price = 'NaN'")
            let error = #expect(throws: StoreError.self) { try store.fetch(plan) }
            guard case .invalidData("City", "price", 1, _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }
#endif
