#if Postgres
    import Foundation
    import MigrationWorld
    import PostgresFixture
    import Strata
    import StrataStore
    import Testing

    @testable import StrataPostgres

    @Suite("Deferred steps of several stores", .needsPostgres)
    struct SeveralStoresDeferredTests {
        /// Notes are first, so that no store has its entities at the positions that the container's model gives them.
        private func model() throws -> ManagedObjectModel {
            try ManagedObjectModel(name: "All", configurations: [ModelConfiguration("People", ["Person", "Entry"])]) {
                Entity("Note") { Attribute("text", .string) }
                Entity("Person") {
                    Attribute("name", .string)
                    Attribute("initials", .string).optional()
                    Attribute("visits", .integer64).optional()
                }
                Entity("Entry") { Attribute("text", .string) }
            }
        }

        private func fill(_ container: PersistentContainer) throws {
            defer { container.close() }
            let context = container.newContext()
            for number in 0..<25 { try context.insert(entityNamed: "Person")["name"] = "A\(number) B\(number)" }
            try context.save()
        }

        /// - Parameter people: The store of the people.
        private func check(_ people: PersistentStoreDescription) async throws {
            let container = try PersistentContainer(
                model: model(), stores: [PersistentStoreDescription(at: .memory(name: nil)), people])
            defer { container.close() }
            let reader = container.newContext(automaticallyMergesChanges: true)
            let person = try #require(try await reader.fetch(FetchRequest<ManagedObject>(entity: "Person")).first)
            #expect(person["initials"] == nil)
            #expect(
                try container.deferredMigrationSteps().map(\.description) == ["initials: 0 of 25 objects of Person"])
            let reports = Guarded(0)
            #expect(try await container.finishDeferredMigration { _ in reports.withLock { $0 += 1 } } == 25)
            #expect(reports.withLock(\.self) == 3)
            // Contexts are told which objects have changed.
            reader.processPendingChanges()
            #expect(person["initials"] as? String == "AB")
            let visited = try await reader.fetch(FetchRequest<ManagedObject>(entity: "Person"))
            #expect(visited.allSatisfy { $0["visits"] as? Int64 == 1 } && visited.count == 25)
            #expect(try container.deferredMigrationSteps().isEmpty)
            #expect(try await container.finishDeferredMigration() == 0)
        }

        @Test("A step of one of the stores is done by the container: in a database")
        func database() async throws {
            let url = try PostgresServer.shared.newDatabase()
            try fill(try PersistentContainer(model: DeferredVersions.first(), at: .postgres(url)))
            var options = PostgresStore.Options()
            options.migration.stages = [try DeferredVersions.stage()]
            try await check(
                PersistentStoreDescription(configuration: "People") { [options] (model) throws(StoreError) in
                    try PostgresStore.open(model: model, at: url, options: options)
                })
        }

        @Test("A step of one of the stores is done by the container: in a file")
        func file() async throws {
            let path = FileManager.default.temporaryDirectory.appending(path: "deferred-\(UUID().uuidString).sqlite")
                .path
            defer {
                for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
            }
            try fill(try PersistentContainer(model: DeferredVersions.first(), at: .file(path: path)))
            var options = SQLiteStore.Options()
            options.migration.stages = [try DeferredVersions.stage()]
            try await check(
                PersistentStoreDescription(configuration: "People", at: .file(path: path), options: options))
        }
    }
#endif
