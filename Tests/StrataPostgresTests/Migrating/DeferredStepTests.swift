#if Postgres
    import Foundation
    import MigrationWorld
    import PostgresFixture
    import Strata
    import StrataStore
    import Testing

    @testable import StrataPostgres

    @Suite("Deferred steps on PostgreSQL", .needsPostgres)
    struct DeferredStepTests {
        private let url: String

        init() throws { url = try PostgresServer.shared.newDatabase() }

        private func container(
            _ model: ManagedObjectModel, _ stages: [MigrationStage] = [],
            _ change: (inout PostgresStore.Options) -> Void = { _ in }
        ) throws -> PersistentContainer {
            var options = PostgresStore.Options()
            options.migration.stages = stages
            change(&options)
            return try PersistentContainer(model: model, at: .postgres(url), options: options)
        }

        private func fill(_ count: Int) throws {
            let container = try container(try DeferredVersions.first())
            defer { container.close() }
            let context = container.newContext()
            for number in 0..<count {
                try context.insert(entityNamed: "Person")["name"] = "First\(number) Last\(number)"
            }
            try context.save()
        }

        private func people(_ container: PersistentContainer) throws -> [(ManagedObject)] {
            try container.newContext().fetch(FetchRequest<ManagedObject>(entity: "Person"))
                .sorted { $0.objectID.key < $1.objectID.key }
        }

        private func visits(_ container: PersistentContainer) throws -> [Int: Int] {
            Dictionary(grouping: try people(container)) { Int($0["visits"] as? Int64 ?? 0) }.mapValues(\.count)
        }

        private static func storeError(_ error: any Error) -> StoreError? {
            guard case PersistenceError.store(let reason) = error else { return nil }
            return reason
        }

        private func failure(_ body: () async throws -> Void) async -> StoreError? {
            do { try await body() } catch { return Self.storeError(error) }
            return nil
        }

        @Test("The store opens without the step, which is done later in batches, for the objects that were there")
        func later() async throws {
            try fill(35)
            let container = try container(try DeferredVersions.second(), [try DeferredVersions.stage()])
            defer { container.close() }
            #expect(try people(container).allSatisfy { $0["initials"] == nil })
            let context = container.newContext(automaticallyMergesChanges: true)
            let mine = try context.insert(entityNamed: "Person")
            mine["name"] = "New Person"
            mine["initials"] = "mine"
            try await context.save()
            #expect(
                try container.deferredMigrationSteps().map(\.description) == ["initials: 0 of 35 objects of Person"])
            #expect(try PostgresStore.storeInfo(at: url).deferredMigrationSteps.map(\.name) == ["initials"])

            let seen = Guarded<[String]>([])
            let count = try await container.finishDeferredMigration { progress in
                seen.withLock { $0.append("\(progress.text) \(progress.completed)/\(progress.total)") }
            }
            #expect(count == 35)
            #expect(
                seen.withLock(\.self) == ["initials 10/35", "initials 20/35", "initials 30/35", "initials 35/35"])
            #expect(try visits(container) == [1: 35, 0: 1])
            #expect(
                try people(container).map { $0["initials"] as? String } == Array(repeating: "FL", count: 35) + ["mine"])
            #expect(try container.deferredMigrationSteps().isEmpty)
            #expect(try await container.finishDeferredMigration() == 0)
            #expect(try PostgresStore.storeInfo(at: url, isChecked: true).problems == [])
        }

        @Test("Nothing is noted where there are no objects; a report and a dry run name what is left")
        func reports() throws {
            try fill(0)
            var options = PostgresStore.Options()
            options.migration.stages = [try DeferredVersions.stage()]
            #expect(
                try PostgresStore.migrate(url, to: DeferredVersions.second(), options: options).deferredSteps.isEmpty)
            let other = try DeferredStepTests()
            try other.fill(3)
            let trial = try PostgresStore.dryRun(other.url, to: DeferredVersions.second(), options: options)
            #expect(trial.deferredSteps.map(\.total) == [3])
            #expect(try PostgresStore.storeInfo(at: other.url).deferredMigrationSteps.isEmpty)
            let report = try PostgresStore.migrate(other.url, to: DeferredVersions.second(), options: options)
            #expect(report.deferredSteps.map(\.description) == ["initials: 0 of 3 objects of Person"])
            #expect(
                try PostgresStore.migrate(other.url, to: DeferredVersions.second(), options: options).deferredSteps
                    .count == 1)
        }

        @Test("A closure that throws takes back its batch only, and the next call goes on there")
        func throwing() async throws {
            struct Failure: Error {}
            try fill(25)
            let failing = try DeferredVersions.stage {
                if ($0["name"] as? String) == "First14 Last14" { throw Failure() }
            }
            let before = try container(try DeferredVersions.second(), [failing])
            let error = await failure { try await before.finishDeferredMigration() }
            guard case .migrationFailed(_, "deferred step initials", let reason)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason.contains("Failure"))
            #expect(try visits(before) == [1: 10, 0: 15])
            #expect(try before.deferredMigrationSteps().map(\.completed) == [10])
            before.close()
            let after = try container(try DeferredVersions.second(), [try DeferredVersions.stage()])
            defer { after.close() }
            #expect(try await after.finishDeferredMigration() == 15)
            #expect(try visits(after) == [1: 25])
        }

        /// A stage whose first visit of the fifteenth object does something before.
        private func interrupted(_ body: @escaping @Sendable () throws -> Void) throws -> MigrationStage {
            let isFirst = Guarded(true)
            return try DeferredVersions.stage { person in
                guard (person["name"] as? String) == "First14 Last14" else { return }
                let isNow = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                if isNow { try body() }
            }
        }

        @Test("If the server ends the session in the middle of a batch, the batch is done again with another session")
        func sessionEnds() async throws {
            try fill(25)
            let url = url
            let stage = try interrupted { try PostgresServer.shared.endSessions(of: url) }
            let container = try container(try DeferredVersions.second(), [stage])
            defer { container.close() }
            #expect(try await container.finishDeferredMigration() == 25)
            #expect(try visits(container) == [1: 25])
        }

        @Test("Without retries, that is an error, and the next call goes on")
        func sessionEndsWithoutRetries() async throws {
            try fill(25)
            let url = url
            let stage = try interrupted { try PostgresServer.shared.endSessions(of: url) }
            let container = try container(try DeferredVersions.second(), [stage]) { $0.retryLimit = 0 }
            defer { container.close() }
            #expect(await failure { try await container.finishDeferredMigration() } != nil)
            #expect(try visits(container) == [1: 10, 0: 15])
            #expect(try await container.finishDeferredMigration() == 15)
            #expect(try visits(container) == [1: 25])
        }

        @Test("A batch that takes longer than the server waits is an error, and not done again")
        func tooSlow() async throws {
            try fill(25)
            let stage = try interrupted { Thread.sleep(forTimeInterval: 0.6) }
            let container = try container(try DeferredVersions.second(), [stage]) { $0.idleTransactionTimeout = 0.3 }
            defer { container.close() }
            #expect(await failure { try await container.finishDeferredMigration() } != nil)
            #expect(try visits(container) == [1: 10, 0: 15])
        }

        @Test("What does not pass validation stops the step with the name of the property")
        func invalid() async throws {
            try fill(5)
            let container = try container(
                try DeferredVersions.second(), [try DeferredVersions.stage { $0["name"] = nil }])
            defer { container.close() }
            let error = await failure { try await container.finishDeferredMigration() }
            guard case .migrationFailed(_, _, let reason)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason.contains("name"))
            #expect(try visits(container) == [0: 5])
        }

        @Test("A cancelled task stops, and keeps the batches before")
        func cancelled() async throws {
            try fill(20)
            let started = Guarded(false)
            let slow = try DeferredVersions.stage { person in
                guard (person["name"] as? String) == "First15 Last15" else { return }
                started.withLock { $0 = true }
                Thread.sleep(forTimeInterval: 0.2)
            }
            let container = try container(try DeferredVersions.second(), [slow])
            defer { container.close() }
            let task = Task { try await container.finishDeferredMigration() }
            while !started.withLock(\.self) { await Task.yield() }
            task.cancel()
            _ = await task.result
            #expect(try [[1: 10, 0: 10], [1: 20]].contains(visits(container)))
            _ = try await container.finishDeferredMigration()
            #expect(try visits(container) == [1: 20])
        }

        @Test("Several servers do a step together while others write, and each object is visited once")
        func together() async throws {
            try fill(120)
            let later = try DeferredVersions.second()
            let stages = [try DeferredVersions.stage(batchSize: 3)]
            let containers = try (0..<4).map { _ in try container(later, stages) }
            defer { for container in containers { container.close() } }
            let writer = containers[0].newContext()
            writer.mergePolicy = .objectWinsByProperty
            let edited = try await writer.fetch(FetchRequest<ManagedObject>(entity: "Person")).filter {
                $0.objectID.key.isMultiple(of: 4)
            }
            async let total = withThrowingTaskGroup(of: Int.self) { group in
                for container in containers { group.addTask { try await container.finishDeferredMigration() } }
                return try await group.reduce(0, +)
            }
            for person in edited {
                person["name"] = "Other Name"
                try await writer.save()
            }
            #expect(try await total == 120)
            #expect(try visits(containers[1]) == [1: 120])
            let names = try people(containers[1]).map { ($0["name"] as? String, $0["initials"] as? String) }
            #expect(names.filter { $0.0 == "Other Name" }.count == 30)
            #expect(names.allSatisfy { $0.1 == "FL" || ($0.0 == "Other Name" && $0.1 == "ON") })
        }

        @Test("If another server changes an object of a batch meanwhile, the batch is done again with the new values")
        func overtaken() async throws {
            try fill(10)
            let other = try container(try DeferredVersions.second(), [try DeferredVersions.stage()])
            defer { other.close() }
            let isFirst = Guarded(true)
            let interrupted = try DeferredVersions.stage { person in
                let isNow = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                guard isNow else { return }
                let context = other.newContext()
                for person in try context.fetch(FetchRequest<ManagedObject>(entity: "Person")) {
                    person["name"] = "Other Name"
                }
                try context.insert(entityNamed: "Person")["name"] = "New Person"
                try context.save()
            }
            let container = try container(try DeferredVersions.second(), [interrupted])
            defer { container.close() }
            #expect(try await container.finishDeferredMigration() == 10)
            #expect(try visits(container) == [1: 10, 0: 1])
            let people = try people(container)
            #expect(
                people.prefix(10).allSatisfy {
                    $0["name"] as? String == "Other Name" && $0["initials"] as? String == "ON"
                })
        }

        @Test("A step may create and delete others, in the same transaction")
        func others() async throws {
            try fill(20)
            let stage = try DeferredVersions.stage(batchSize: 6) { person in
                guard let context = person.context else { return }
                try context.insert(entityNamed: "Entry")["text"] = person["name"]
                let number = person.objectID.key
                guard number % 2 == 1 else { return }
                let all = try context.fetch(FetchRequest<ManagedObject>(entity: "Person"))
                if let next = all.first(where: { $0.objectID.key == number + 1 }) { context.delete(next) }
            }
            let container = try container(try DeferredVersions.second(), [stage])
            defer { container.close() }
            try await container.finishDeferredMigration()
            #expect(try visits(container) == [1: 10])
            #expect(try await container.newContext().count(FetchRequest<ManagedObject>(entity: "Entry")) == 10)
            #expect(try PostgresStore.storeInfo(at: url, isChecked: true).problems == [])
        }

        @Test("History records what a step changes, by an author of its own")
        func history() async throws {
            try fill(12)
            let container = try container(try DeferredVersions.second(), [try DeferredVersions.stage()]) {
                $0.history = .on(keeping: .forever)
            }
            defer { container.close() }
            try await container.finishDeferredMigration()
            let transactions = try container.history(after: nil)
            #expect(transactions.map { $0.author ?? "" } == ["migration", "migration"])
            #expect(transactions.map { $0.changes.count } == [10, 2])
        }

        // MARK: Later migrations

        @Test("A later migration that only adds something leaves the step pending, and it is done with the later model")
        func additionMeanwhile() async throws {
            try fill(25)
            let stale = try container(try DeferredVersions.second(), [try DeferredVersions.stage()])
            let later = try DeferredVersions.second([Attribute("note", .string).optional()])
            let without = try container(later)
            #expect(try without.deferredMigrationSteps().map(\.name) == ["initials"])
            guard
                case .deferredStepPending(_, "initials", _)? = await failure({
                    try await without.finishDeferredMigration()
                })
            else {
                Issue.record("finished")
                return
            }
            guard case .migratedElsewhere? = await failure({ try await stale.finishDeferredMigration() }) else {
                Issue.record("finished by the older version")
                return
            }
            stale.close()
            without.close()
            let container = try container(later, [try DeferredVersions.stage()])
            defer { container.close() }
            #expect(try await container.finishDeferredMigration() == 25)
            #expect(try visits(container) == [1: 25])
        }

        @Test(
            "Any other migration does what is left of the step first, with history on or off", arguments: [false, true])
        func runsFirst(recordsHistory: Bool) async throws {
            try fill(25)
            let change: (inout PostgresStore.Options) -> Void = { options in
                if recordsHistory { options.history = .on(keeping: .forever) }
            }
            let failing = try DeferredVersions.stage {
                if ($0["name"] as? String) == "First12 Last12" { throw CancellationError() }
            }
            let before = try container(try DeferredVersions.second(), [failing], change)
            _ = try? await before.finishDeferredMigration()
            #expect(try visits(before) == [1: 10, 0: 15])
            before.close()
            let container = try container(try DeferredVersions.third(), [try DeferredVersions.stage()], change)
            defer { container.close() }
            let people = try people(container)
            #expect(Set(people.map { $0["initials"] as? String }) == ["FL"])
            #expect(Set(people.map { $0["visits"] as? Int64 }) == [1])
            #expect(people.first?["fullName"] as? String == "First0 Last0")
            #expect(try container.deferredMigrationSteps().isEmpty)
            #expect(try PostgresStore.storeInfo(at: url, isChecked: true).problems == [])
            guard recordsHistory else { return }
            let changed = try container.history(after: nil).filter { $0.author == "migration" }.flatMap(\.changes)
            #expect(changed.count == 25)
        }

        @Test("Without its stage the later migration is refused, and the store stays as it was")
        func refused() throws {
            try fill(5)
            try container(try DeferredVersions.second(), [try DeferredVersions.stage()]).close()
            let error = #expect(throws: PersistenceError.self) { try self.container(try DeferredVersions.third()) }
            guard case .store(.deferredStepPending(_, "initials", let reason))? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason.contains("options.migration.stages"))
            let container = try container(try DeferredVersions.second())
            defer { container.close() }
            #expect(try people(container).count == 5)
            #expect(try container.deferredMigrationSteps().map(\.completed) == [0])
        }

        @Test("A store of the first version goes through the step on its way to a later one")
        func onTheWay() throws {
            try fill(15)
            let container = try container(try DeferredVersions.third(), [try DeferredVersions.stage()])
            defer { container.close() }
            #expect(Set(try people(container).map { $0["initials"] as? String }) == ["FL"])
            #expect(try PostgresStore.storeInfo(at: url, isChecked: true).problems == [])
        }

        @Test("A custom stage and deferred steps between the same versions: the stage first, the steps in their order")
        func withCustomStage() async throws {
            try fill(4)
            let custom = MigrationStage.custom(from: try DeferredVersions.first(), to: try DeferredVersions.second()) {
                migration in
                try migration.forEach("Person") { _, new in new?["visits"] = Int64(100) }
            }
            let double = MigrationStage.deferred(
                "double", from: try DeferredVersions.first(), to: try DeferredVersions.second(), forEach: "Person"
            ) {
                $0["visits"] = ($0["visits"] as? Int64 ?? 0) * 2
            }
            let container = try container(
                try DeferredVersions.second(), [custom, try DeferredVersions.stage(), double])
            defer { container.close() }
            #expect(try container.deferredMigrationSteps().map(\.name) == ["initials", "double"])
            try await container.finishDeferredMigration()
            #expect(Set(try people(container).map { $0["visits"] as? Int64 }) == [202])
        }

        @Test("Stages that make no sense are refused, and an entry that cannot be read is a typed error")
        func nonsense() throws {
            try fill(1)
            #expect(throws: PersistenceError.self) {
                try self.container(
                    try DeferredVersions.second(), [try DeferredVersions.stage(), try DeferredVersions.stage()])
            }
            let container = try container(try DeferredVersions.second(), [try DeferredVersions.stage()])
            defer { container.close() }
            try PostgresConnection(PostgresSettings(address: url))
                .run("UPDATE \"_metadata\" SET value = '{}' WHERE key = 'deferred:initials'")
            #expect(throws: PersistenceError.self) { try container.deferredMigrationSteps() }
            let error = #expect(throws: PersistenceError.self) { try self.container(try DeferredVersions.third()) }
            guard case .store(.corrupt)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }

        @Test("The result is that of a SQLite file")
        func sameAsFile() async throws {
            let pair = try StorePair()
            try pair.fill(try DeferredVersions.first()) { context in
                for number in 0..<30 { try context.insert(entityNamed: "Person")["name"] = "A\(number) B\(number)" }
            }
            var fileOptions = SQLiteStore.Options()
            fileOptions.migration.stages = [try DeferredVersions.stage()]
            var options = pair.options()
            options.migration.stages = [try DeferredVersions.stage()]
            let model = try DeferredVersions.second()
            let file = try SQLiteStore.open(model: model, location: .file(path: pair.path), options: fileOptions)
            let database = try PostgresStore.open(model: model, at: pair.url, options: options)
            defer {
                file.close()
                database.close()
            }
            #expect(try file.deferredMigrationSteps() == database.deferredMigrationSteps())
            #expect(try await PersistentContainer(store: file).finishDeferredMigration() == 30)
            #expect(try await PersistentContainer(store: database).finishDeferredMigration() == 30)
            #expect(try StoreContent(database).differences(from: StoreContent(file)) == [])
        }
    }
#endif
