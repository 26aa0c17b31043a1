#if Postgres
    import Foundation
    import PostgresFixture
    import StrataStore
    import Testing

    @testable import StrataPostgres

    @Suite("Connections", .needsPostgres)
    struct ConnectionTests {
        private func settings() throws -> PostgresSettings {
            PostgresSettings(address: try PostgresServer.shared.newDatabase())
        }

        @Test func errorsHaveTheirState() throws {
            let connection = try PostgresConnection(settings())
            try connection.run("CREATE TABLE t(a int PRIMARY KEY)")
            try connection.run("INSERT INTO t VALUES(1)")
            let error = #expect(throws: PostgresError.self) { try connection.execute("INSERT INTO t VALUES(1)") }
            #expect(error?.sqlState == "23505")
            #expect(error?.isUniqueViolation == true)
            #expect(error?.table == "t")
            #expect(error?.constraint == "t_pkey")
            // The connection is as good as before.
            #expect(try connection.execute("SELECT count(*) FROM t").integer(0, 0) == 1)
            #expect(throws: PostgresError.self) { try connection.execute("SELEC") }
            #expect(try connection.execute("SELECT count(*) FROM t").integer(0, 0) == 1)
        }

        @Test func unknownPlacesAreRefused() throws {
            let server = try PostgresServer.shared
            let missing = #expect(throws: PostgresError.self) {
                try PostgresConnection(PostgresSettings(address: server.url(of: "missing")))
            }
            #expect(missing?.sqlState == "3D000")
            let nowhere = #expect(throws: PostgresError.self) {
                try PostgresConnection(PostgresSettings(address: "postgres://%2Fnowhere/x"))
            }
            #expect(nowhere?.isConnectionLost == true)
            #expect(throws: PostgresError.self) {
                try PostgresConnection(PostgresSettings(address: "postgres://host/x?nonsense=1"))
            }
        }

        @Test func manyStatementsAtOnce() throws {
            let connection = try PostgresConnection(settings())
            try connection.run("CREATE TABLE t(a bigint PRIMARY KEY)")
            func insert(_ number: Int64) -> PostgresConnection.Part {
                var parameters = StatementParameters()
                parameters.add(number)
                return PostgresConnection.Part(sql: "INSERT INTO t VALUES($1)", parameters: parameters)
            }
            let results = try connection.executeAll(
                [.init(sql: "BEGIN")] + (1...500).map(insert) + [
                    .init(sql: "SELECT count(*) FROM t"), .init(sql: "COMMIT"),
                ])
            #expect(results.count == 503)
            #expect(results[501].integer(0, 0) == 500)
            // One fails: the others are left out, and the connection goes on.
            let error = #expect(throws: PostgresError.self) {
                try connection.executeAll([insert(501), insert(1), insert(502)])
            }
            #expect(error?.sqlState == "23505")
            #expect(!connection.isInTransaction)
            #expect(try connection.execute("SELECT count(*) FROM t").integer(0, 0) == 500)
        }

        @Test func largeAnswersAndLargeParametersAtOnce() throws {
            let connection = try PostgresConnection(settings())
            // More than the buffers of a socket on both ways.
            let text = String(repeating: "x", count: 3_000_000)
            func part() -> PostgresConnection.Part {
                var parameters = StatementParameters()
                parameters.add(text)
                return PostgresConnection.Part(sql: "SELECT $1::text", parameters: parameters)
            }
            let results = try connection.executeAll((0..<10).map { _ in part() })
            #expect(results.allSatisfy { $0.text(0, 0) == text })
        }

        @Test("COPY writes a thousand rows in binary form")
        func copies() throws {
            let connection = try PostgresConnection(settings())
            try connection.run("CREATE TABLE t(a bigint, b text)")
            var next: Int64 = 0
            let fault: StoreError? = try connection.copy("COPY t(a, b) FROM STDIN (FORMAT binary)") {
                (writer) throws(StoreError) in
                for _ in 0..<1000 {
                    writer.append(Int16(2))
                    writer.appendSized { $0.append(next) }
                    if next % 3 == 0 { writer.appendNull() } else { writer.appendSized { $0.append("row \(next)") } }
                    next += 1
                }
                return next < 100_000
            }
            #expect(fault == nil)
            let result = try connection.execute("SELECT count(*), count(b), sum(a)::bigint FROM t")
            #expect(result.integer(0, 0) == 100_000)
            #expect(result.integer(0, 1) == 66_666)
            #expect(result.integer(0, 2) == 4_999_950_000)
            // A fault of the caller leaves nothing.
            let stopped: StoreError? = try connection.copy("COPY t(a, b) FROM STDIN (FORMAT binary)") {
                (_) throws(StoreError) in throw .cancelled
            }
            #expect(stopped == .cancelled)
            #expect(try connection.execute("SELECT count(*) FROM t").integer(0, 0) == 100_000)
        }

        @Test func aReadIsCancelled() throws {
            let connection = try PostgresConnection(settings())
            let cancellation = ReadCancellation()
            Thread.detachNewThread {
                Thread.sleep(forTimeInterval: 0.2)
                cancellation.cancel()
            }
            let start = ContinuousClock.now
            let error = #expect(throws: PostgresError.self) {
                try connection.execute("SELECT pg_sleep(30)", cancellation: cancellation)
            }
            #expect(error?.sqlState == PostgresError.cancelledState)
            #expect(ContinuousClock.now - start < .seconds(10))
            #expect(try connection.execute("SELECT 1::bigint").integer(0, 0) == 1)
        }

        @Test func aLostConnectionSaysSo() throws {
            let settings = try settings()
            let connection = try PostgresConnection(settings)
            let other = try PostgresConnection(settings)
            var parameters = StatementParameters()
            parameters.add(Int64(connection.backendProcess))
            _ = try other.execute("SELECT pg_terminate_backend($1::int)", parameters)
            let error = #expect(throws: PostgresError.self) { try connection.execute("SELECT 1") }
            #expect(error?.isConnectionLost == true)
            #expect(!connection.isOpen)
        }

        @Test func thePoolReplacesLostConnections() throws {
            let settings = try settings()
            let pool = PostgresPool(settings, limit: 3, timeout: 5, checkAge: 0)
            let process = try pool.use { (connection) throws(PostgresError) in connection.backendProcess }
            try PostgresServer.shared.endSessions(of: settings.address)
            let next = try pool.use { (connection) throws(PostgresError) in
                try connection.execute("SELECT 1")
                return connection.backendProcess
            }
            #expect(next != process)
        }

        @Test func thePoolHasALimitAndWaits() async throws {
            let pool = PostgresPool(try settings(), limit: 2, timeout: 0.3)
            let most = Counter()
            let error = #expect(throws: PostgresError.self) {
                try pool.use { (_) throws(PostgresError) in
                    try pool.use { (_) throws(PostgresError) in
                        try pool.use { (_) throws(PostgresError) in _ = most.next() }
                    }
                }
            }
            #expect(error?.sqlState == "53300")
            let patient = PostgresPool(try settings(), limit: 2, timeout: 30)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        await withCheckedContinuation { continuation in
                            DispatchQueue.global().async {
                                _ = try? patient.use { (connection) throws(PostgresError) in
                                    try connection.execute("SELECT pg_sleep(0.01)")
                                    _ = most.next()
                                }
                                continuation.resume()
                            }
                        }
                    }
                }
            }
            #expect(most.next() == 21)
        }

        @Test func aFailedTransactionIsTakenBackByThePool() throws {
            let pool = PostgresPool(try settings(), limit: 1, timeout: 1)
            try pool.use { (connection) throws(PostgresError) in try connection.run("CREATE TABLE t(a int)") }
            _ = try? pool.use { (connection) throws(PostgresError) in
                try connection.begin()
                try connection.run("INSERT INTO t VALUES(1)")
                try connection.run("SELEC")
            }
            let count = try pool.use { (connection) throws(PostgresError) in
                try connection.execute("SELECT count(*) FROM t").integer(0, 0)
            }
            #expect(count == 0)
        }

        @Test("Notifications of a channel reach its listener")
        func notificationsArrive() async throws {
            let settings = try settings()
            let received = Counter()
            let listener = PostgresListener(channel: "a channel") {
                try PostgresConnection(settings)
            } onNotification: { notification in
                if notification?.payload == "hello" { _ = received.next() }
            }
            try PostgresConnection(settings).run("NOTIFY \"a channel\", 'hello'")
            // The counter's own look counts, too.
            var looks = 1
            while received.next() == looks, looks < 500 {
                looks += 1
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(looks < 500)
            withExtendedLifetime(listener) {}
        }

        @Test func noticesAreHandedOn() throws {
            var settings = try settings()
            let heard = Counter()
            settings.onNotice = { if $0.contains("hear this") { _ = heard.next() } }
            try PostgresConnection(settings).run("DO $$ BEGIN RAISE NOTICE 'hear this'; END $$")
            #expect(heard.next() == 2)
        }

        @Test func hostsOfNetworksAreVerified() throws {
            func mode(_ address: String) throws -> String? {
                try PostgresSettings(address: address).parameters().last { $0.key == "sslmode" }?.value
            }
            #expect(try mode("postgres://example.com/x") == "verify-full")
            #expect(try mode("host=10.0.0.1 dbname=x") == "verify-full")
            #expect(try mode("postgres://%2Frun,example.com/x") == "verify-full")
            #expect(try mode("postgres://%2Frun%2Fpostgresql/x") == nil)
            // What the address says itself stays.
            #expect(try mode("postgres://example.com/x?sslmode=disable") == nil)
        }

        @Test func manyStatementsDoNotGrowTheSession() throws {
            let connection = try PostgresConnection(settings())
            for number in 0..<600 {
                #expect(try connection.execute("SELECT \(number)::bigint").integer(0, 0) == Int64(number))
            }
            #expect(try connection.execute("SELECT count(*) FROM pg_prepared_statements").integer(0, 0) <= 257)
        }
    }
#endif
