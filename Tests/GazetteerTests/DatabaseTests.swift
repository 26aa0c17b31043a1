#if Postgres
    import Foundation
    import PostgresFixture
    import Strata
    import StrataPostgres
    import Testing

    @testable import Gazetteer

    @Suite("The tour in a PostgreSQL database", .needsPostgres)
    @MainActor
    struct DatabaseTests {
        private func run(_ data: GeoNamesData, _ options: TourOptions, at url: String, _ screen: Screen) async throws {
            let store = try tourStore(at: url)
            try store.removeOld(force: false)
            let tour = try Tour(data: data, store: store, options: options, terminal: screen.terminal(width: 120))
            try await tour.run()
            tour.close()
        }

        @Test("The whole world has the figures of the source, and the second run replaces the first")
        func wholeWorld() async throws {
            let url = try PostgresServer.shared.newDatabase()
            let data = try GeoNamesData(folder: DataFolder.find(asked: nil))
            for _ in 0..<2 {
                let screen = Screen()
                try await run(data, TourOptions(), at: url, screen)
                #expect(screen.out.contains("3,932,182,704"))
                #expect(!screen.out.contains("✗"))
                #expect(screen.out.contains("✓ Nothing was written: South America and all 252 countries are there."))
                #expect(screen.out.contains("Done: 13 steps, "))
                #expect(screen.error.isEmpty)
            }
        }

        @Test("A store of another model is left alone")
        func otherModel() async throws {
            let url = try PostgresServer.shared.newDatabase()
            var options = PostgresStore.Options()
            options.schema = "gazetteer"
            let model = try ManagedObjectModel(name: "Diary", entities: [Entity(name: "Day", location: nil)])
            try PersistentContainer(model: model, at: .postgres(url), options: options).close()
            let files = try SmallData()
            let data = try GeoNamesData(folder: files.url)
            withExtendedLifetime(files) {}
            await #expect {
                try await run(data, TourOptions(country: "AA"), at: url, Screen())
            } throws: { error in
                guard case GazetteerError.foreignDatabase(let name, "Diary") = error else { return false }
                return name.hasPrefix("postgres://") && !name.contains("strata@")
            }
            try PersistentContainer(model: model, at: .postgres(url), options: options).close()
        }
    }
#endif
