#if Postgres
    import Foundation
    import PostgresFixture
    import StrataStore
    import Testing

    @testable import StrataPostgres

    /// Connections look for an answer before they sleep, where answers come quickly.
    @Suite("The pace of answers", .needsPostgres)
    struct AnswerPaceTests {
        @Test("After some quick answers the next one is looked for, until a look is in vain")
        func pace() {
            var pace = AnswerPace()
            func answers(_ count: Int, _ duration: Duration) { for _ in 0..<count { pace.note(duration) } }
            answers(3, .microseconds(50))
            #expect(!pace.isQuick)
            answers(1, .microseconds(50))
            #expect(pace.isQuick)
            answers(1, .milliseconds(1))
            #expect(!pace.isQuick)
            answers(3, .microseconds(50))
            answers(1, .milliseconds(1))
            answers(3, .microseconds(50))
            #expect(!pace.isQuick)
            answers(1, .microseconds(50))
            #expect(pace.isQuick)
            pace.noteMiss()
            answers(60, .microseconds(50))
            #expect(!pace.isQuick)
            // Slow answers do not end the wait earlier.
            answers(100, .milliseconds(1))
            #expect(!pace.isQuick)
            answers(8, .microseconds(50))
            #expect(pace.isQuick)
        }

        @Test("Slow, large, cancelled and lost answers after quick ones")
        func others() throws {
            let settings = PostgresSettings(address: try PostgresServer.shared.newDatabase())
            let connection = try PostgresConnection(settings)
            func quickOnes() throws {
                for number in 0..<200 {
                    var parameters = StatementParameters()
                    parameters.add(Int64(number))
                    #expect(try connection.execute("SELECT $1::bigint", parameters).integer(0, 0) == Int64(number))
                }
            }
            try quickOnes()
            let start = ContinuousClock.now
            #expect(try connection.execute("SELECT pg_sleep(0.05), 7::bigint").integer(0, 1) == 7)
            #expect(ContinuousClock.now - start >= .milliseconds(50))
            try quickOnes()
            var large = StatementParameters()
            large.add(String(repeating: "x", count: 8_000_000))
            #expect(try connection.execute("SELECT $1::text", large).bytes(0, 0).count == 8_000_000)
            try quickOnes()
            let cancellation = ReadCancellation()
            Thread.detachNewThread {
                Thread.sleep(forTimeInterval: 0.1)
                cancellation.cancel()
            }
            let error = #expect(throws: PostgresError.self) {
                try connection.execute("SELECT pg_sleep(30)", cancellation: cancellation)
            }
            #expect(error?.sqlState == PostgresError.cancelledState)
            try quickOnes()
            try PostgresServer.shared.endSessions(of: settings.address)
            let lost = #expect(throws: PostgresError.self) { try connection.execute("SELECT 1::bigint") }
            #expect(lost?.isConnectionLost == true && !connection.isOpen)
        }
    }
#endif
