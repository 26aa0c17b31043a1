#if Postgres
    import Foundation
    import PostgresFixture
    import StrataStore
    import Testing

    @testable import StrataPostgres

    @Suite("What a store in PostgreSQL holds", .needsPostgres)
    struct InfoTests {
        @Test("Entities, counts, sizes and versions are read without the model")
        func info() throws {
            let (store, url) = try PostgresStore.fresh { $0.externalStorageThreshold = 10 }
            try store.insert(
                ("City", 1, ["photo": .binary(Data(count: 1000))]), ("Port", 2, [:]), ("Land", 1, [:]))
            let info = try PostgresStore.storeInfo(at: url, isChecked: true)
            #expect(info.identifier == store.identifier && info.modelName == "Test")
            #expect(info.versionHash == store.model.versionHash)
            #expect(info.server.version.first?.isNumber == true)
            #expect(
                info.entities.map { "\($0.name) \($0.count) \($0.table) \($0.parent ?? "")" }
                    == ["City 1 city ", "Land 1 land ", "Port 1 city City", "Street 0 street "])
            #expect(info.externalCount == 1 && info.externalSize == 1000)
            #expect(info.size > 8192 && info.server.sessionCount >= 1 && info.server.longTransactions.isEmpty)
            #expect(info.history == nil && info.problems == [])
            #expect(try PostgresStore.storeInfo(at: url).problems == nil)
            _ = try PostgresStore.open(at: url) { $0.history = .on(keeping: .days(3)) }
            #expect(try PostgresStore.storeInfo(at: url).history == .days(3))
        }

        @Test("What is missing or damaged is named")
        func problems() throws {
            let (store, url) = try PostgresStore.fresh { $0.externalStorageThreshold = 10 }
            try store.insert(("City", 1, ["photo": .binary(Data(count: 1000))]))
            let connection = try PostgresConnection(PostgresSettings(address: url))
            try connection.run(
                """
                DELETE FROM "_blobs"; INSERT INTO city(_id, _version, _entity) VALUES (7, 1, 'Village'); \
                DROP INDEX city_by_price; ALTER TABLE land DROP COLUMN name; DROP TABLE street CASCADE
                """)
            let problems = try #require(try PostgresStore.storeInfo(at: url, isChecked: true).problems)
            for part in [
                "the table street is missing", "the column name of land is missing", "city_by_price is missing",
                "1 rows of the unknown entity Village", "the value of photo in row 1 is gone",
            ] {
                #expect(problems.contains { $0.contains(part) }, "\(part) in \(problems)")
            }
            #expect(try PostgresStore.storeInfo(at: url).entities.count == 4)
        }

        @Test("A database without a store, and one that cannot be reached, are told apart")
        func missing() throws {
            let url = try PostgresServer.shared.newDatabase()
            #expect {
                try PostgresStore.storeInfo(at: url)
            } throws: { error in
                guard case .notFound? = error as? StoreError else { return false }
                return true
            }
            #expect {
                try PostgresStore.storeInfo(at: "postgres://nobody@%2Fnowhere/none")
            } throws: { error in
                guard case .cannotOpen? = error as? StoreError else { return false }
                return true
            }
            #expect(try PostgresStore.storedModel(at: url) == nil)
        }
    }
#endif
