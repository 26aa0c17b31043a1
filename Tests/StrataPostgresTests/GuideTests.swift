#if Postgres
    import Foundation
    import GuidePages
    import PostgresFixture
    import Strata
    import StrataStore
    import Testing

    @testable import StrataPostgres

    @Suite("The page about PostgreSQL")
    struct PostgresGuideTests {
        @Test("Every example of the page is in a file that is compiled")
        func compiled() throws {
            let page = try GuidePage("PostgreSQL")
            #expect(try page.uncompiledBlocks().isEmpty)
            #expect(page.blocks.contains { $0.language == "swift" })
        }

        @Test("The page lists all options with their defaults")
        func options() throws {
            let page = try GuidePage("PostgreSQL").text
            for child in Mirror(reflecting: PostgresStore.Options()).children {
                let name = try #require(child.label)
                #expect(page.contains("`\(name)`"), "\(name)")
            }
            let options = PostgresStore.Options()
            #expect(page.contains("| `connectionLimit` | \(options.connectionLimit) |"))
            #expect(page.contains("| `retryLimit` | \(options.retryLimit) |"))
            #expect(page.contains("| `lockTimeout` | \(Int(options.lockTimeout)) |"))
            for child in Mirror(reflecting: PostgresStore.Replicas([])).children {
                let name = try #require(child.label)
                #expect(page.contains("| `\(name)` |"), "\(name)")
            }
            #expect(page.contains("| `idleTransactionTimeout` | \(Int(options.idleTransactionTimeout)) |"))
        }

        @Test("The examples about replicas run, even if the replica is not there", .needsPostgres)
        func replicas() async throws {
            var options = PostgresStore.Options()
            PostgreSQLGuide.nameReplicas(&options)
            options.replicas?.addresses = ["postgres://nobody@%2Fnowhere/none"]
            let store = try PostgresStore.open(
                model: try TestModel.make(), at: PostgresServer.shared.newDatabase(), options: options)
            #expect(try await PostgreSQLGuide.count(try PersistentContainer(store: store)) == 0)
            var told: [String] = []
            PostgreSQLGuide.reportReplicas(store, &told)
            #expect(told.count == 2 && told[0].hasPrefix("postgres://") && told[0].hasSuffix(" 0") && told[1] == "1")
        }

        @Test("The examples run", .needsPostgres)
        func run() throws {
            let url = try PostgresServer.shared.newDatabase()
            let container = try PostgreSQLGuide.openWithOptions(try TestModel.make(), url)
            let heard = Guarded<[String]>([])
            let observation = PostgreSQLGuide.observe(container) { text in heard.withLock { $0.append(text) } }
            let other = try PostgresStore.open(at: url) { $0.schema = "cities" }
            try other.insert(("City", 1, [:]))
            let end = Date(timeIntervalSinceNow: 10)
            while heard.withLock(\.isEmpty), Date() < end { Thread.sleep(forTimeInterval: 0.01) }
            #expect(heard.withLock(\.self) == ["another process has saved"])
            #expect(throws: PersistenceError.self) { try PostgreSQLGuide.open(TestModel.make()) }
            withExtendedLifetime(observation) {}
            let divided = try ManagedObjectModel(
                name: "Divided", configurations: [ModelConfiguration("Places", ["City"])]
            ) {
                Entity("City") { Attribute("name", .string) }
                Entity("Draft") { Attribute("text", .string) }
            }
            let error = #expect(throws: PersistenceError.self) {
                try PostgreSQLGuide.divide(divided, .init(), FileManager.default.temporaryDirectory.path)
            }
            guard case .store? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            var options = PostgresStore.Options()
            PostgreSQLGuide.record(&options)
            let recording = try PostgresStore.open(model: try TestModel.make(), at: url, options: options)
            #expect(try recording.history?.transactions(after: nil, where: .all, limit: nil).transactions == [])
            var told: [String] = []
            let nicknamed = try PostgresServer.shared.newDatabase()
            let model = try TestModel.make {
                $0[0].attributes.append(Attribute("nickname", .string, optional: true))
            }
            try PostgresStore.open(model: model, at: nicknamed).insert(("City", 1, ["nickname": "L"]))
            options = PostgresStore.Options()
            try PostgreSQLGuide.migrate(nicknamed, to: TestModel.make(), &options, &told)
            #expect(told.first?.hasPrefix("City.nickname: ") == true)
            #expect(try PostgresStore.open(at: nicknamed).count("City") == 1)
            told = []
            let sqlite = try SQLiteStore.open(model: try TestModel.make(), location: .memory(name: nil))
            try PostgreSQLGuide.copy(sqlite, to: PostgresStore.fresh().store, &told)
            #expect(told == ["City 0", "Land 0", "Port 0", "Street 0"])
        }
    }
#endif
