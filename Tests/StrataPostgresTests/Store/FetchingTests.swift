#if Postgres
    import Foundation
    import PostgresFixture
    import Strata
    import StrataStore
    import Testing

    @testable import StrataPostgres

    @Suite("Fetching from PostgreSQL", .needsPostgres)
    struct FetchingTests {
        private func filled() throws -> PostgresStore {
            let (store, _) = try PostgresStore.fresh()
            var changes = ChangeSet()
            for key in 1...200 as ClosedRange<Int64> {
                changes.inserts.append(
                    .init(
                        row: try store.row(
                            "City", key,
                            ["name": .string("City \(key)"), "count": .integer(key % 10), "land": .object(key % 5 + 1)])
                    ))
            }
            for key in 1...5 as ClosedRange<Int64> {
                changes.inserts.append(.init(row: try store.row("Land", key, ["name": .string("Land \(key)")])))
            }
            _ = try store.commit(changes)
            return store
        }

        private func plan(_ format: String, _ store: PostgresStore) throws -> FetchPlan {
            var plan = FetchPlan(entityIndex: 0)
            plan.predicate = try FetchPredicate(format: format)
            return plan
        }

        @Test(arguments: [
            "count == 3", "count != 3", "count IN {1, 2, NULL}", "NOT (count < 3)", "count BETWEEN {2, 4}",
            "name CONTAINS 'ty 1'",
            "name BEGINSWITH 'City 2' AND count > 2", "land.name == 'Land 2'", "land == NULL OR land.name != 'Land 2'",
            "SELF IN {}", "3 <= count", "name ==[c] 'CITY 7'", "ANY streets.name == 'x'", "land.cities.@count > 39",
            "name LIKE[cd] 'cit?*'",
        ])
        func whatPostgresCanSayItSays(format: String) throws {
            let store = try filled()
            let query = try FetchQuery(store: store, plan: plan(format, store))
            #expect(query.isExact, "\(format)")
        }

        @Test(arguments: [
            "name MATCHES[c] 'city [0-9]'", "name MATCHES 'City.*' AND count == 3", "land.name MATCHES 'Land 2'",
            "ANY land.cities.name MATCHES 'City 7'",
        ])
        func theRestIsEvaluatedInMemory(format: String) throws {
            let store = try filled()
            var wanted = try plan(format, store)
            #expect(try !FetchQuery(store: store, plan: wanted).isExact)
            let found = try store.fetchKeys(wanted)
            #expect(try store.count(wanted) == found.count)
            wanted.limit = 2
            wanted.offset = 1
            #expect(try store.fetchKeys(wanted) == Array(found.dropFirst().prefix(2)))
        }

        @Test func objectsThatAPathLeadsToAreReadTogether() throws {
            let store = try filled()
            let statements = Guarded(0)
            let observation = store.observeStatements { trace in
                if !trace.isTransactionControl { statements.withLock { $0 += 1 } }
            }
            let wanted = try plan("land.name MATCHES 'Land 2' AND land.cities.@count == 40", store)
            #expect(try store.count(wanted) == 40)
            // The cities, their lands, and the keys of the lands' cities, whose rows have been read.
            #expect(statements.withLock(\.self) == 3)
            withExtendedLifetime(observation) {}
        }

        @Test func whatHasNoMeaningIsAnErrorOfEmptyTables() throws {
            let (store, _) = try PostgresStore.fresh()
            #expect(throws: StoreError.self) { try store.count(plan("name MATCHES '('", store)) }
            #expect(throws: StoreError.self) { try store.count(plan("name == $missing", store)) }
        }

        @Test func rowsThatAreKnownAreHeaders() throws {
            let store = try filled()
            for format in ["count == 3", "name MATCHES[c] 'CITY 7'"] {
                let batch = try store.fetch(
                    plan(format, store), known: { _, key, version in key == 13 || (key == 7 && version == 1) },
                    cancellation: nil)
                for row in batch.rows { #expect(row.isHeaderOnly == (row.key == 13 || row.key == 7)) }
            }
        }

        @Test("A container writes and fetches objects")
        func containersWork() async throws {
            let url = try PostgresServer.shared.newDatabase()
            let container = try PersistentContainer(model: try TestModel.make(), at: .postgres(url))
            let key = try await container.write { context in
                let land = try context.insert(entityNamed: "Land")
                try land.setValue("Peru", forKey: "name")
                let city = try context.insert(entityNamed: "City")
                try city.setValue("Lima", forKey: "name")
                try city.setValue(land, forKey: "land")
                return city.objectID.key
            }
            let names = try await container.read { context in
                let request = FetchRequest<ManagedObject>(entity: "City")
                return try context.fetch(request).map { city in
                    let land = try city.value(forKey: "land") as? ManagedObject
                    return try
                        "\(city.objectID.key) \(city.value(forKey: "name") as? String ?? ""), \(land?.value(forKey: "name") as? String ?? "")"
                }
            }
            #expect(names == ["\(key) Lima, Peru"])
            // Without a server, there is no container.
            #expect(throws: PersistenceError.self) {
                try PersistentContainer(model: TestModel.make(), at: .postgres("postgres://%2Fnowhere/x"))
            }
        }

        @Test func manyTasksReadAtOnce() async throws {
            let url = try PostgresServer.shared.newDatabase()
            let container = try PersistentContainer(model: try TestModel.make(), at: .postgres(url))
            try await container.write { context in
                for number in 0..<50 {
                    try context.insert(entityNamed: "City").setValue("City \(number)", forKey: "name")
                }
            }
            // More than the pool has connections, and than the machine has threads for tasks.
            let counts = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        try await container.newContext().count(FetchRequest<ManagedObject>(entity: "City"))
                    }
                }
                var counts: [Int] = []
                for try await count in group { counts.append(count) }
                return counts
            }
            #expect(counts == Array(repeating: 50, count: 100))
        }
    }
#endif
