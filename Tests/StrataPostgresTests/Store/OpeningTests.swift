#if Postgres
    import Foundation
    import PostgresFixture
    import StrataStore
    import Testing

    @testable import StrataPostgres

    @Suite("Opening a PostgreSQL store", .needsPostgres)
    struct OpeningTests {
        @Test func manyServersStartAtOnce() throws {
            let url = try PostgresServer.shared.newDatabase()
            let found = Guarded<[Result<UUID, any Error>]>([])
            onThreads(8) { _ in
                let result = Result { try PostgresStore.open(at: url).identifier }
                found.withLock { $0.append(result) }
            }
            let identifiers = Set(try found.withLock(\.self).map { try $0.get() })
            #expect(identifiers.count == 1)
        }

        @Test func aStoreIsTheSameEachTime() throws {
            let (store, url) = try PostgresStore.fresh()
            try store.insert(("City", 1, ["name": "Lima"]))
            store.close()
            #expect(throws: StoreError.closed(path: store.name)) { try store.count("City") }
            let again = try PostgresStore.open(at: url)
            #expect(again.identifier == store.identifier)
            #expect(try again.read("City", 1)?["name"] == "Lima")
        }

        @Test func whatIsMissingOrForeignIsRefused() throws {
            let server = try PostgresServer.shared
            let url = try server.newDatabase()
            #expect(throws: StoreError.notFound(path: "postgres:///\(url.split(separator: "/").last ?? "")")) {
                try PostgresStore.open(at: url) { $0.createIfMissing = false }
            }
            #expect(throws: StoreError.notFound(path: "postgres:///missing")) {
                try PostgresStore.open(at: server.url(of: "missing"))
            }
            try PostgresConnection(PostgresSettings(address: url)).run("CREATE TABLE city(a int)")
            let error = #expect(throws: StoreError.self) { try PostgresStore.open(at: url) }
            guard case .notAStore = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            // Nothing is left of the attempt.
            let left = try PostgresConnection(PostgresSettings(address: url)).execute(
                "SELECT to_regclass('\"_metadata\"') IS NULL")
            #expect(left.bytes(0, 0).first == 1)
            let nowhere = #expect(throws: StoreError.self) { try PostgresStore.open(at: "postgres://%2Fnowhere/x") }
            guard case .cannotOpen = nowhere else {
                Issue.record("\(String(describing: nowhere))")
                return
            }
        }

        @Test func indexesFollowTheModel() throws {
            let (store, url) = try PostgresStore.fresh()
            try store.insert(("City", 1, ["name": "Lima"]), ("City", 2, ["name": "Lima"]))
            store.close()
            func indexes() throws -> Set<String> {
                let result = try PostgresConnection(PostgresSettings(address: url)).execute(
                    "SELECT indexname FROM pg_indexes WHERE tablename = 'city'")
                return Set((0..<result.rowCount).map { result.text($0, 0) })
            }
            #expect(try indexes().contains("city_by_price"))
            let other = try TestModel.make {
                $0[0].attributes[3].isIndexed = false
                $0[0].attributes[0].isIndexed = true
            }
            try PostgresStore.open(model: other, at: url).close()
            #expect(try !indexes().contains("city_by_price"))
            #expect(try indexes().contains("city_by_name"))
            // A constraint that the rows do not meet is refused, and the store is as it was.
            let strict = try TestModel.make { $0[0].attributes[0].isUnique = true }
            #expect(throws: StoreError.self) { try PostgresStore.open(model: strict, at: url) }
            #expect(try indexes().contains("city_by_name"))
        }

        @Test func longNamesAreShortened() throws {
            let long = "a" + String(repeating: "b", count: 70)
            let model = try TestModel.make {
                $0[0].attributes.append(Attribute(long + "1", .string, optional: true))
                $0[0].attributes.append(Attribute(long + "2", .binary, optional: true).externalStorage())
            }
            let store = try PostgresStore.open(model: model, at: try PostgresServer.shared.newDatabase())
            try store.insert(("City", 1, [long + "1": "x", long + "2": .binary(Data([1]))]))
            #expect(try store.read("City", 1)?[long + "1"] == "x")
            #expect(try store.read("City", 1)?[long + "2"] == .binary(Data([1])))
        }

        @Test(arguments: ["connectionLimit", "schema", "lockTimeout", "retryLimit", "externalStorageThreshold"])
        func optionsAreChecked(name: String) throws {
            let error = #expect(throws: StoreError.self) {
                try PostgresStore.open(at: "postgres://%2Fnowhere/x") { options in
                    switch name {
                    case "connectionLimit": options.connectionLimit = 0
                    case "schema": options.schema = ""
                    case "lockTimeout": options.lockTimeout = -1
                    case "retryLimit": options.retryLimit = -1
                    default: options.externalStorageThreshold = -1
                    }
                }
            }
            guard case .invalidOption(name, _, _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }

        /// A change of the functions needs another version, so that existing stores get them.
        @Test func functionsHaveTheirVersion() {
            var hash: UInt64 = 0xcbf2_9ce4_8422_2325
            // The tables of folding depend on the version of Unicode, so only the others count.
            for byte in PostgresDialect().functions.dropLast().joined(separator: "\n").utf8 {
                hash = (hash ^ UInt64(byte)) &* 0x0100_0000_01b3
            }
            #expect(PostgresSchema.functionsVersion == 1)
            #expect(String(hash, radix: 16) == "d5d3c564947218cb")
        }

        @Test func schemasAreApart() throws {
            let url = try PostgresServer.shared.newDatabase()
            let one = try PostgresStore.open(at: url) { $0.schema = "one" }
            let two = try PostgresStore.open(at: url) { $0.schema = "t\"wo" }
            try one.insert(("City", 1, ["name": "Lima"]))
            #expect(one.identifier != two.identifier)
            #expect(try one.count("City") == 1)
            #expect(try two.count("City") == 0)
        }

        @Test func anOldFormatIsRead() throws {
            let (store, url) = try PostgresStore.fresh()
            store.close()
            let connection = try PostgresConnection(PostgresSettings(address: url))
            try connection.run("UPDATE \"_metadata\" SET value = '2' WHERE key = 'format_version'")
            let newer = #expect(throws: StoreError.self) { try PostgresStore.open(at: url) }
            #expect("\(String(describing: newer))".contains("newer version"))
            try connection.run("DELETE FROM \"_metadata\" WHERE key = 'store_uuid'")
            let damaged = #expect(throws: StoreError.self) { try PostgresStore.open(at: url) }
            guard case .corrupt = damaged else {
                Issue.record("\(String(describing: damaged))")
                return
            }
        }
    }
#endif
