#if Postgres
    import Foundation
    import PostgresFixture
    import Strata
    import StrataStore
    import Testing

    @testable import StrataPostgres

    @Suite("History on PostgreSQL", .needsPostgres)
    struct HistoryOrderTests {
        private func recording(_ url: String? = nil) throws -> (store: PostgresStore, url: String) {
            let url = try url ?? PostgresServer.shared.newDatabase()
            return (try PostgresStore.open(at: url) { $0.history = .on(keeping: .forever) }, url)
        }

        private func history(_ store: PostgresStore) throws -> any StoreHistory { try #require(store.history) }

        private func connection(_ url: String) throws -> PostgresConnection {
            try PostgresConnection(PostgresSettings(address: url))
        }

        @Test("A reader skips no transaction, however those of several writers overlap, and gets each once")
        func noneIsSkipped() throws {
            let (store, url) = try recording()
            let history = try history(store)
            let start = try history.currentToken()
            let done = Guarded(0)
            let failures = Guarded<[String]>([])
            let writers = 8
            let each = 40
            let seen = Guarded<[Int64]>([])
            let tokens = Guarded<[HistoryToken]>([])
            let reader = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                var token = start
                while true {
                    let isLast = done.withLock { $0 } == writers
                    do {
                        let page = try history.transactions(after: token, where: .all, limit: 7)
                        seen.withLock { $0 += page.transactions.flatMap(\.changes).map(\.key) }
                        tokens.withLock { $0 += page.transactions.map(\.token) }
                        token = page.token
                        if isLast, !page.hasMore { break }
                    } catch {
                        failures.withLock { $0.append("\(error)") }
                        break
                    }
                }
                reader.signal()
            }
            onThreads(writers) { writer in
                defer { done.withLock { $0 += 1 } }
                do {
                    if writer.isMultiple(of: 2) {
                        // Transactions that stay open for a while, begin in one order and commit in another, or fail.
                        let connection = try PostgresConnection(PostgresSettings(address: url))
                        for number in 0..<each {
                            let key = Int64(1_000_000 * (writer + 1) + number)
                            try connection.begin()
                            try connection.run("INSERT INTO land(_id, _version, name) VALUES (\(key), 1, 'x')")
                            Thread.sleep(forTimeInterval: .random(in: 0...0.01))
                            if number % 5 == 4 { connection.rollback() } else { try connection.commit() }
                        }
                    } else {
                        let own = try PostgresStore.open(at: url)
                        for number in 0..<each {
                            try own.insert(("Land", Int64(1_000_000 * (writer + 1) + number), ["name": .string("s")]))
                        }
                    }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            reader.wait()
            #expect(failures.withLock(\.self) == [])
            let keys = seen.withLock(\.self)
            let all = try store.fetch(FetchPlan(entityIndex: 2)).rows.map(\.key)
            #expect(all.count == writers / 2 * each + writers / 2 * each * 4 / 5)
            #expect(keys.count == all.count)
            #expect(Set(keys) == Set(all))
            let order = tokens.withLock(\.self)
            #expect(order == order.sorted() && Set(order).count == order.count)
            #expect(try history.transactions(after: start, where: .all, limit: nil).transactions.map(\.token) == order)
        }

        @Test("The order is that of the commits, and what has not committed is not there")
        func commitOrder() throws {
            let (store, url) = try recording()
            let history = try history(store)
            let start = try history.currentToken()
            let (first, second) = (try connection(url), try connection(url))
            for (connection, key) in [(first, 1), (second, 2)] {
                try connection.begin()
                try connection.run("INSERT INTO land(_id, _version) VALUES (\(key), 1)")
            }
            #expect(try history.currentToken() == start)
            try second.commit()
            let between = try history.transactions(after: start, where: .all, limit: nil)
            #expect(between.transactions.flatMap(\.changes).map(\.key) == [2])
            try first.commit()
            let rest = try history.transactions(after: between.token, where: .all, limit: nil)
            #expect(rest.transactions.flatMap(\.changes).map(\.key) == [1])
            #expect(rest.transactions[0].date >= between.transactions[0].date)
        }

        @Test("Changes with any other tool are transactions of their own, with what that calls itself")
        func otherTools() throws {
            let (store, url) = try recording()
            let history = try history(store)
            let start = try history.currentToken()
            let connection = try connection(url)
            try connection.run("SET application_name = 'psql'")
            try connection.begin()
            try connection.run("INSERT INTO land(_id, _version, name) SELECT n, 1, 'a' FROM generate_series(1, 3) AS n")
            try connection.run("SAVEPOINT here; DELETE FROM land; ROLLBACK TO here")
            try connection.run("UPDATE land SET name = 'b' WHERE _id = 2")
            try connection.commit()
            try connection.run("UPDATE land SET _version = _version + 1")
            try connection.run("DELETE FROM land WHERE _id > 1")
            let told = try history.transactions(after: start, where: .all, limit: nil).transactions
            #expect(
                told.map { $0.changes.map { "\($0.kind) \($0.key)" }.sorted() }
                    == [["inserted 1", "inserted 2", "inserted 3"], ["deleted 2", "deleted 3"]])
            #expect(told.map(\.processName) == ["psql", "psql"])
            #expect(told.allSatisfy { $0.author == nil && $0.processID == 0 && $0.origin == 0 })
        }

        @Test("A transaction whose deferred checks fail leaves nothing, and nobody waits for it")
        func failing() throws {
            let (store, url) = try recording()
            let history = try history(store)
            let start = try history.currentToken()
            let connection = try connection(url)
            try connection.begin()
            try connection.run("INSERT INTO street(_id, _version, city) VALUES (1, 1, 99)")
            #expect(throws: PostgresError.self) { try connection.commit() }
            try connection.run("INSERT INTO land(_id, _version) VALUES (1, 1)")
            let page = try history.transactions(after: start, where: .all, limit: nil)
            #expect(page.transactions.map { $0.changes.map(\.entityName) } == [["Land"]])
        }

        @Test("The setting belongs to the database: every process records, until it is switched off")
        func setting() throws {
            let url = try PostgresServer.shared.newDatabase()
            let early = try PostgresStore.open(at: url)
            #expect(throws: HistoryError.notRecorded(store: early.name)) { try history(early).currentToken() }
            let (store, _) = try recording(url)
            let start = try history(store).currentToken()
            // It was opened before the recording began.
            var changes = ChangeSet()
            changes.author = "early \u{0}bird"
            changes.contextName = "c"
            changes.inserts = [.init(row: try early.row("Land", 1, ["name": .string("x")]))]
            _ = try early.commit(changes)
            let third = try PostgresStore.open(at: url)
            try third.insert(("Land", 2, [:]))
            let told = try history(third).transactions(after: start, where: .all, limit: nil).transactions
            #expect(told.map(\.author) == ["early bird", nil])
            #expect(told.map(\.contextName) == ["c", nil])
            #expect(told.map(\.origin) == [early.recorder.origin, third.recorder.origin])
            let statements = Counter()
            let same = try PostgresStore.open(at: url) { options in
                options.history = .on(keeping: .forever)
                options.trace = { if $0.sql.contains("TRIGGER") { _ = statements.next() } }
            }
            #expect(statements.next() == 1)
            #expect(try history(same).currentToken() == told[1].token)
            let off = try PostgresStore.open(at: url) { $0.history = .off }
            #expect(throws: HistoryError.notRecorded(store: off.name)) { try history(off).currentToken() }
            try early.insert(("Land", 3, [:]))
            #expect(try PostgresStore.storeInfo(at: url, isChecked: true).problems == [])
            let (again, _) = try recording(url)
            #expect(throws: HistoryError.expired(token: told[0].token)) {
                try history(again).transactions(after: told[0].token, where: .all, limit: nil)
            }
            try early.insert(("Land", 4, [:]))
            #expect(try history(again).transactions(after: nil, where: .all, limit: nil).transactions.count == 1)
        }

        @Test("A new version of the model is recorded from then on; the migration is not")
        func migration() throws {
            let (store, url) = try recording()
            try store.insert(("Land", 1, ["name": .string("a")]))
            let token = try history(store).currentToken()
            let larger = try TestModel.make { entities in
                entities[2].attributes.append(
                    Attribute("area", .double, default: .value(1.5)).preservesValueInHistory())
            }
            let newer = try PostgresStore.open(model: larger, at: url)
            #expect(try history(newer).currentToken() == token)
            let land = try PersistentContainer(store: newer).newContext()
            let object = try #require(try land.fetch(FetchRequest<ManagedObject>(entity: "Land")).first)
            try object.setValue(2.5, forKey: "area")
            try land.save()
            // The older version, which is still open, is recorded as well.
            _ = try store.commit(
                {
                    var changes = ChangeSet()
                    changes.updates = [try store.update("Land", 1, base: 2, ["name": .string("b")])]
                    return changes
                }())
            let changes = try history(newer).transactions(after: token, where: .all, limit: nil).transactions.flatMap(
                \.changes)
            #expect(changes.map(\.properties) == [["area"], ["name"]])
            #expect(changes[0].oldValues == ["area": .double(1.5)])
        }

        @Test("What is too old or too much is removed, but not what a consumer has not read")
        func retention() throws {
            let url = try PostgresServer.shared.newDatabase()
            let store = try PostgresStore.open(at: url) {
                $0.history = .on(keeping: HistoryRetention(age: nil, changes: 10))
            }
            let history = try history(store)
            func save(_ keys: ClosedRange<Int64>) throws {
                for key in keys { try store.insert(("Land", key, [:])) }
            }
            func count() throws -> Int {
                try history.transactions(after: nil, where: .all, limit: nil).transactions.count
            }
            try save(1...30)
            try history.purge()
            #expect(try count() == 10)
            let first = try #require(try history.transactions(after: nil, where: .all, limit: 1).transactions.first)
            try history.setPosition(first.token, of: "x")
            try save(31...60)
            try history.purge()
            #expect(try count() == 39)
            let aged = try PostgresStore.open(at: url) {
                $0.history = .on(keeping: HistoryRetention(age: 0, changes: nil, patience: 0))
            }
            #expect(try self.history(aged).transactions(after: nil, where: .all, limit: nil).transactions.isEmpty)
            let rows = try connection(url).execute("SELECT count(*) FROM \"_history_changes\"")
            #expect(rows.integer(0, 0) == 0)
        }

        @Test("Containers are told which objects other processes have changed", .timeLimit(.minutes(10)))
        func foreignChanges() async throws {
            let (store, url) = try recording()
            try store.insert(("Land", 1, ["name": .string("a")]), ("Land", 2, [:]))
            let container = try PersistentContainer(store: store)
            var changes = container.changes.makeAsyncIterator()
            let reader = container.newContext(automaticallyMergesChanges: true)
            let lands = try await reader.fetch(FetchRequest<ManagedObject>(entity: "Land"))
            let land = try #require(lands.first)
            #expect(try land.value(forKey: "name") as? String == "a")

            let other = try PostgresStore.open(at: url)
            var set = ChangeSet()
            set.author = "other"
            set.inserts = [.init(row: try other.row("Land", 3, [:]))]
            set.updates = [try other.update("Land", 1, base: 1, ["name": .string("b")])]
            set.deletes = [.init(entityIndex: 2, key: 2, baseVersion: 1)]
            _ = try other.commit(set)
            let change = try #require(await changes.next())
            #expect(change.isFromElsewhere && !change.isEverything)
            #expect(change.inserted.map(\.key) == [3])
            #expect(change.updated.map { "\($0.key.key) \($0.value.sorted())" } == ["1 [\"name\"]"])
            #expect(change.deleted.map(\.key) == [2])
            #expect(change.authors == ["other"])
            try await reader.save()
            #expect(try land.value(forKey: "name") as? String == "b")

            // Nothing is missed while the connections are lost.
            try PostgresServer.shared.endSessions(of: url)
            try await Task.sleep(for: .milliseconds(10))
            try other.insert(("Land", 4, [:]))
            let next = try #require(await changes.next())
            #expect(next.inserted.map(\.key) == [4] && !next.isEverything)
        }

        @Test("A copy to a store that records is one transaction there")
        func copies() throws {
            let (store, _) = try recording()
            let source = try PostgresStore.fresh().store
            try source.insert(("Land", 1, [:]), ("Land", 2, [:]))
            let start = try history(store).currentToken()
            try source.copy(to: store)
            let told = try history(store).transactions(after: start, where: .all, limit: nil).transactions
            #expect(told.map { $0.changes.map(\.kind) } == [[.inserted, .inserted]])
        }
    }
#endif
