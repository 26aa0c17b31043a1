#if Postgres
    import Foundation
    import PostgresFixture
    import StrataStore
    import Testing

    @testable import StrataPostgres

    @Suite("Fetches on PostgreSQL are explained", .needsPostgres)
    struct ExplainTests {
        private func plan(
            _ store: PostgresStore, _ format: String?, _ arguments: [Value] = [], sort: String? = nil, limit: Int? = nil
        ) throws -> FetchPlan {
            var plan = FetchPlan(entityIndex: 0)
            plan.predicate = try format.map { try FetchPredicate(format: $0, arguments: arguments) }
            plan.sorts = try sort.map { [try FetchSort(format: $0)] } ?? []
            plan.limit = limit
            return plan
        }

        @Test("An index that serves is no full scan, however small the table is")
        func indexed() throws {
            let (store, _) = try PostgresStore.fresh()
            let plan = try plan(store, "code == %@", [.string("x")])
            let explanation = try store.explain(plan)
            #expect(explanation.sql.contains("$1"))
            #expect(explanation.bindings.map(\.text) == ["'x'"])
            #expect(!explanation.plan.isEmpty && explanation.plan[0].depth == 0)
            let advice = store.advice(plan, for: explanation)
            #expect(advice.fullScans.isEmpty && advice.suggestions.isEmpty)
        }

        @Test("A condition without an index is a full scan, and the index that helps is suggested")
        func unindexed() throws {
            let (store, url) = try PostgresStore.fresh()
            try store.insert(("City", 1, ["name": .string("a")]))
            let plan = try plan(store, "name == %@", [.string("x")])
            let explanation = try store.explain(plan)
            #expect(explanation.steps.contains { $0.hasPrefix("Seq Scan on city") })
            let advice = store.advice(plan, for: explanation)
            #expect(advice.fullScans.map(\.entity) == ["City"])
            #expect(advice.fullScans.first?.reasons.map(\.code) == [.noIndex])
            let changes = try #require(advice.suggestions.first?.changes)
            #expect(
                changes.contains { change in
                    guard case .attribute(let attribute, let entity) = change else { return false }
                    return entity == "City" && attribute.name == "name" && attribute.isIndexed
                })
            #expect(advice.suggestions.first?.plan.contains { $0.text.contains("Index") } == true)
            // Nothing is left of the trials.
            let schemas = try PostgresConnection(PostgresSettings(address: url)).execute(
                "SELECT 1 FROM pg_namespace WHERE nspname LIKE 'strata%'")
            #expect(schemas.rowCount == 0)
            #expect(try store.count("City") == 1)
        }

        @Test("An order for a page is served by an index, or sorts")
        func ordered() throws {
            let (store, _) = try PostgresStore.fresh()
            let indexed = try plan(store, nil, sort: "price", limit: 3)
            #expect(store.advice(indexed, for: try store.explain(indexed)).sorts == false)
            let sorted = try plan(store, nil, sort: "rate", limit: 3)
            let advice = store.advice(sorted, for: try store.explain(sorted))
            #expect(advice.sorts && !advice.suggestions.isEmpty)
        }

        @Test("What is evaluated in memory is said, and counting is explained")
        func memory() throws {
            let (store, _) = try PostgresStore.fresh()
            let plan = try plan(store, "code == %@ AND name MATCHES %@", [.string("x"), .string("a.*")])
            let explanation = try store.explain(plan)
            #expect(explanation.steps.last?.hasPrefix("In memory: name MATCHES") == true)
            let counted = try store.explain(try self.plan(store, "code == 'x'"), counting: true)
            #expect(counted.sql.contains("count(*)"))
            #expect(throws: StoreError.self) { try store.explain(try self.plan(store, "name == $missing")) }
        }

        @Test("A store that is opened only for reading is explained and read, and not written")
        func readOnly() throws {
            let (store, url) = try PostgresStore.fresh()
            try store.insert(("City", 1, [:]))
            let reader = try PostgresStore.openReadOnly(model: store.model, at: url)
            #expect(try reader.count("City") == 1)
            #expect(throws: StoreError.readOnly(path: reader.name)) { try reader.insert(("City", 2, [:])) }
            let plan = try plan(reader, "name == 'x'")
            #expect(!reader.advice(plan, for: try reader.explain(plan)).suggestions.isEmpty)
            let larger = try TestModel.make { $0[0].attributes.append(Attribute("extra", .string, optional: true)) }
            #expect {
                try PostgresStore.openReadOnly(model: larger, at: url)
            } throws: { error in
                guard case .incompatibleModel(_, let differences)? = error as? StoreError else { return false }
                return differences.contains { $0.contains("extra") }
            }
            let empty = try PostgresServer.shared.newDatabase()
            #expect(throws: StoreError.self) { try PostgresStore.openReadOnly(model: larger, at: empty) }
        }
    }
#endif
