#if Postgres
    import Foundation
    import MigrationWorld
    import PostgresFixture
    import Strata
    import StrataStore
    import Testing

    @testable import StrataPostgres

    @Suite("Deferred steps on PostgreSQL that create objects", .needsPostgres)
    struct DeferredKeysTests {
        @Test("If another process reserves keys for the same entity meanwhile, the batch is done again")
        func keysOfOthers() async throws {
            let url = try PostgresServer.shared.newDatabase()
            let first = try PersistentContainer(model: DeferredVersions.first(), at: .postgres(url))
            let writer = first.newContext()
            for number in 0..<25 { try writer.insert(entityNamed: "Person")["name"] = "A\(number) B\(number)" }
            try await writer.save()
            first.close()

            var options = PostgresStore.Options()
            options.migration.stages = [try DeferredVersions.stage()]
            let others = try PersistentContainer(
                model: DeferredVersions.second(), at: .postgres(url), options: options)
            defer { others.close() }
            let isFirst = Guarded(true)
            options.migration.stages = [
                try DeferredVersions.stage { person in
                    let isNow = isFirst.withLock { isFirst in
                        defer { isFirst = false }
                        return isFirst
                    }
                    if isNow {
                        let context = others.newContext()
                        try context.insert(entityNamed: "Entry")["text"] = "of another process"
                        try context.save()
                    }
                    try person.context?.insert(entityNamed: "Entry")["text"] = person["name"]
                }
            ]
            let container = try PersistentContainer(
                model: DeferredVersions.second(), at: .postgres(url), options: options)
            defer { container.close() }
            #expect(try await container.finishDeferredMigration() == 25)
            let people = try await container.newContext().fetch(FetchRequest<ManagedObject>(entity: "Person"))
            #expect(people.count == 25 && people.allSatisfy { $0["visits"] as? Int64 == 1 })
            #expect(try await container.newContext().count(FetchRequest<ManagedObject>(entity: "Entry")) == 26)
        }
    }
#endif
