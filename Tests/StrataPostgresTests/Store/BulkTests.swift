#if Postgres
    import Foundation
    import PostgresFixture
    import StrataStore
    import Testing

    @testable import StrataPostgres

    @Suite("Bulk operations in PostgreSQL", .needsPostgres)
    struct BulkTests {
        private func model() throws -> ManagedObjectModel {
            try TestModel.make { entities in
                entities[0].attributes[2] = Attribute("count", .integer16, optional: true).range(-10...1000)
                entities[0].relationships[1].deleteRule = .cascade
                entities[2].relationships[0].deleteRule = .deny
            }
        }

        private func filled() throws -> PostgresStore {
            let store = try PostgresStore.open(model: try model(), at: try PostgresServer.shared.newDatabase())
            var changes = ChangeSet()
            for key in 1...30 as ClosedRange<Int64> {
                changes.inserts.append(
                    .init(
                        row: try store.row(
                            key % 3 == 0 ? "Port" : "City", key,
                            ["name": .string("c\(key)"), "count": .integer(key), "land": .object(key <= 20 ? 1 : 2)])))
                changes.inserts.append(.init(row: try store.row("Street", key, ["city": .object(key)])))
            }
            for key in 1...3 as ClosedRange<Int64> {
                changes.inserts.append(.init(row: try store.row("Land", key, [:])))
            }
            _ = try store.commit(changes)
            return store
        }

        private func plan(_ format: String, _ entity: Int = 0) throws -> FetchPlan {
            var plan = FetchPlan(entityIndex: entity)
            plan.predicate = try FetchPredicate(format: format)
            return plan
        }

        private func update(
            _ store: PostgresStore, _ format: String, _ expressions: [String: String], constants: [String: Value] = [:]
        ) throws -> BulkUpdate {
            let city = store.model.entities[0]
            var assignments: [Int: BulkUpdate.Assignment] = [:]
            for (name, text) in expressions {
                assignments[try #require(city.slot(named: name)).index] = .expression(try FetchExpression(format: text))
            }
            for name in constants.keys { assignments[try #require(city.slot(named: name)).index] = .constant }
            let count = try #require(city.slot(named: "count")).index
            return BulkUpdate(
                fetch: try plan(format), assignments: assignments, constants: try store.row("City", 0, constants),
                checks: [count: { ValueComparison.order($0, 1000) == .orderedDescending ? "above 1000" : nil }])
        }

        @Test func objectsAreChangedWhereTheyDiffer() throws {
            let store = try filled()
            let result = try store.perform(
                .update(
                    update(store, "name MATCHES 'c[12].*'", ["count": "count * 2"], constants: ["rate": .double(1)])),
                by: ChangeOrigin())
            #expect(result.count == 22)
            #expect(result.change?.changes.updates.count == 22)
            #expect(try store.read("City", 12)?["count"] == 24)
            #expect(try store.read("City", 12)?["rate"] == .double(1))
            #expect(try store.version("City", 12) == 2)
            #expect(try store.version("City", 3) == 1)
            // Those that have the values already stay as they are.
            let again = try store.perform(
                .update(update(store, "count > 0", [:], constants: ["rate": .double(1)])), by: ChangeOrigin())
            #expect(again.count == 8)
        }

        @Test func wrongValuesAreNamedAndNothingIsChanged() throws {
            let store = try filled()
            for (expression, word) in [
                ("count * 100", "above 1000"), ("count * 100000", "integer16"),
            ] {
                let error = #expect(throws: StoreError.self) {
                    try store.perform(.update(update(store, "count > 0", ["count": expression])), by: ChangeOrigin())
                }
                #expect("\(String(describing: error))".contains(word), "\(String(describing: error))")
            }
            let unique = #expect(throws: StoreError.self) {
                try store.perform(
                    .update(update(store, "count > 0", [:], constants: ["code": "x"])), by: ChangeOrigin())
            }
            guard case .constraint("City", _) = unique else {
                Issue.record("\(String(describing: unique))")
                return
            }
            #expect(try store.count("City") == 30)
            #expect(try store.version("City", 1) == 1)
        }

        @Test func deleteRulesApply() throws {
            let store = try filled()
            let denied = #expect(throws: StoreError.self) {
                try store.perform(.delete(try plan("SELF != NULL", 2)), by: ChangeOrigin())
            }
            #expect("\(String(describing: denied))".contains("denies"))
            #expect(try store.count("Land") == 3)
            // The streets are deleted with their cities.
            let result = try store.perform(.delete(try plan("count > 20")), by: ChangeOrigin())
            #expect(result.count == 20)
            #expect(try store.count("City") == 20)
            #expect(try store.count("Street") == 20)
            #expect(result.change?.deletedRows.allSatisfy { $0 != nil } == true)
            #expect(try store.perform(.delete(try plan("cities.@count == 0", 2)), by: ChangeOrigin()).count == 2)
            #expect(try store.perform(.delete(try plan("count > 1000")), by: ChangeOrigin()).count == 0)
        }

        @Test func twoProcessesCountTogether() throws {
            let url = try PostgresServer.shared.newDatabase()
            let one = try PostgresStore.open(at: url)
            let two = try PostgresStore.open(at: url)
            try one.insert(("City", 1, ["count": 0]))
            let errors = Guarded<[String]>([])
            onThreads(4) { number in
                let mine = number % 2 == 0 ? one : two
                for _ in 0..<10 {
                    do {
                        let update = try self.update(mine, "SELF != NULL", ["count": "count + 1"])
                        _ = try mine.perform(.update(update), by: ChangeOrigin())
                    } catch {
                        errors.withLock { $0.append("\(error)") }
                    }
                }
            }
            #expect(errors.withLock(\.self).isEmpty, "\(errors.withLock(\.self))")
            #expect(try one.read("City", 1)?["count"] == 40)
        }
    }
#endif
