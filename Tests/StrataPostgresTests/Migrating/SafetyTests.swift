#if Postgres
    import Foundation
    import PostgresFixture
    import Strata
    import StrataStore
    import Testing

    @testable import StrataPostgres

    /// What the world can do to a migration.
    @Suite("Migrations on PostgreSQL that meet trouble", .needsPostgres, .serialized)
    struct MigrationSafetyTests {
        private static func next() throws -> ManagedObjectModel {
            try TestModel.make { entities in
                entities[0].attributes[0] = Attribute("title", .string, optional: true).renamed(from: "name")
                entities[0].attributes[2] = Attribute("count", .string, optional: true)
                entities[0].attributes.remove(at: 5)
            }
        }

        private static func options(_ change: (inout MigrationOptions) -> Void = { _ in }) -> PostgresStore.Options {
            var options = PostgresStore.Options()
            options.migration.answers = ["City.rate": .accept]
            change(&options.migration)
            return options
        }

        private func filled() throws -> (store: PostgresStore, url: String) {
            let (store, url) = try PostgresStore.fresh()
            try store.insert(
                ("Land", 1, ["name": "Peru"]),
                ("City", 1, ["name": "Lima", "count": 5, "rate": 0.5, "code": "a", "land": .object(1)]),
                ("Port", 2, ["name": "Callao", "count": 6, "code": "b"]))
            return (store, url)
        }

        private func isOld(_ url: String) throws -> Bool {
            let store = try PostgresStore.open(at: url)
            let city = try store.read("City", 1)
            return try city?["name"] == "Lima" && city?["count"] == 5 && city?["rate"] == 0.5
                && PostgresStore.storeInfo(at: url, isChecked: true).problems == []
        }

        private func isNew(_ url: String) throws -> Bool {
            let store = try PostgresStore.open(model: Self.next(), at: url)
            let city = try store.read("City", 1)
            return try city?["title"] == "Lima" && city?["count"] == "5" && city?["land"] == .object(1)
                && PostgresStore.storeInfo(at: url, isChecked: true).problems == []
        }

        @Test func aLostConnectionLeavesTheOldStore() throws {
            let (_, url) = try filled()
            let model = try Self.next()
            let steps = Counter()
            _ = try PostgresStore.dryRun(
                url, to: model, options: Self.options { $0.onProgress = { _ in _ = steps.next() } })
            let count = steps.next() - 1
            #expect(count > 2)
            for cut in 1...count {
                let own = Counter()
                #expect(throws: StoreError.self) {
                    try PostgresStore.migrate(
                        url, to: model,
                        options: Self.options {
                            $0.onProgress = { _ in
                                if own.next() == cut { try? PostgresServer.shared.endSessions(of: url) }
                            }
                        })
                }
                #expect(try isOld(url), "\(cut)")
            }
            try PostgresStore.migrate(url, to: model, options: Self.options())
            #expect(try isNew(url))
        }

        @Test func aCancelledMigrationLeavesTheOldStore() throws {
            let (_, url) = try filled()
            let model = try Self.next()
            for cut in 1...3 {
                let own = Counter()
                let cancellation = ReadCancellation()
                #expect(throws: StoreError.cancelled) {
                    try PostgresStore.migrate(
                        url, to: model,
                        options: Self.options {
                            $0.cancellation = cancellation
                            $0.onProgress = { _ in if own.next() == cut { cancellation.cancel() } }
                        })
                }
                #expect(try isOld(url))
            }
        }

        @Test func aTrialChangesNothing() throws {
            let (_, url) = try filled()
            let report = try PostgresStore.dryRun(url, to: Self.next(), options: Self.options())
            #expect(report.steps.contains { $0.kind == .changeType })
            #expect(try isOld(url))
            // What a trial cannot do, it says.
            #expect(throws: StoreError.self) { try PostgresStore.dryRun(url, to: Self.next()) }
        }

        @Test func manyServersMigrateAtOnce() throws {
            let (old, url) = try filled()
            let errors = Guarded<[String]>([])
            onThreads(6) { _ in
                do {
                    let store = try PostgresStore.open(model: Self.next(), at: url, options: Self.options())
                    if try store.read("City", 1)?["title"] != "Lima" { errors.withLock { $0.append("wrong") } }
                } catch {
                    errors.withLock { $0.append("\(error)") }
                }
            }
            #expect(errors.withLock(\.self) == [])
            #expect(try isNew(url))
            // A server with the older version gets an error that says what happened.
            let error = #expect(throws: StoreError.self) { try old.insert(("City", 9, ["name": "Cusco"])) }
            guard case .migratedElsewhere = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }

        /// Others write all the time, in another order than the migration takes its locks.
        @Test func othersWriteMeanwhile() throws {
            let (store, url) = try PostgresStore.fresh()
            try store.insert(("Land", 1, ["name": "Peru"]), ("City", 1, ["name": "Lima", "count": 0]))
            let isDone = Guarded(false)
            let errors = Guarded<[String]>([])
            onThreads(5) { thread in
                do {
                    if thread == 0 {
                        defer { isDone.withLock { $0 = true } }
                        for round in 0..<10 {
                            let on = round % 2 == 0
                            try PostgresStore.open(at: url) { $0.history = on ? .on(keeping: .forever) : .off }.close()
                        }
                        return
                    }
                    let own = try PostgresStore.open(at: url)
                    while !isDone.withLock(\.self) {
                        let key = try own.allocateKeys(1, rootIndex: thread % 2 == 0 ? 0 : 2).lowerBound
                        if thread % 2 == 0 {
                            try own.insert(("City", key, ["land": .object(1)]))
                        } else {
                            try own.insert(("Land", key, [:]))
                        }
                    }
                } catch {
                    errors.withLock { $0.append("\(thread): \(error)") }
                }
            }
            #expect(errors.withLock(\.self) == [])
        }

        @Test func whatPostgreSQLCannotDoIsRefused() throws {
            let (_, url) = try filled()
            let model = try Self.next()
            func refusal(_ change: (inout MigrationOptions) -> Void) -> String {
                let error = #expect(throws: StoreError.self) {
                    try PostgresStore.open(model: model, at: url, options: Self.options(change))
                }
                return "\(String(describing: error))"
            }
            #expect(refusal { $0.policy = .never }.contains("City.title"))
            #expect(refusal { $0.keepsOriginal = true }.contains("keepsOriginal"))
            #expect(refusal { $0.erasesOnMismatch = true }.contains("erasesOnMismatch"))
            #expect(throws: StoreError.self) { try PostgresStore.migrate(url + "_missing", to: model) }
            #expect(try isOld(url))
        }

        @Test func historyFollowsTheNames() throws {
            let url = try PostgresServer.shared.newDatabase()
            let old = try PostgresStore.open(at: url) { $0.history = .on(keeping: .forever) }
            try old.insert(("City", 1, ["name": "Lima", "count": 5, "rate": 0.5]))
            var changes = ChangeSet()
            changes.updates = [try old.update("City", 1, base: 1, ["name": "Cusco"])]
            #expect(try old.commit(changes).effects != nil)
            old.close()
            let store = try PostgresStore.open(model: Self.next(), at: url, options: Self.options())
            changes.updates = [try store.update("City", 1, base: 2, ["count": "7"])]
            #expect(try store.commit(changes).effects != nil)
            let history = try #require(store.history)
            let lines = try history.transactions(after: nil, where: .all, limit: nil).transactions.flatMap(\.lines)
            #expect(lines == ["+City/1", "City/1 title", "City/1 count"])
        }

        /// A batch of a deferred step may see the step as it was before another process has ended it.
        @Test func anEndedStepIsNotNotedAgain() throws {
            let (store, url) = try PostgresStore.fresh()
            let connections = try (0..<2).map { _ in try PostgresConnection(PostgresSettings(address: url)) }
            let notes = connections.map { DatabaseNotes(connection: $0, path: store.name) }
            try notes[0].setNote("deferred:x", "1")
            try connections[0].begin("ISOLATION LEVEL REPEATABLE READ")
            #expect(try notes[0].note("deferred:x") == "1")
            try notes[1].setNote("deferred:x", nil)
            #expect(throws: StoreError.locked(path: store.name)) { try notes[0].setNote("deferred:x", "2") }
            connections[0].rollback()
            #expect(try notes[0].note("deferred:x") == nil)
        }
    }
#endif
