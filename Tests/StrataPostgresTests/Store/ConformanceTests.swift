#if Postgres
    import Foundation
    import PostgresFixture
    import StrataTesting
    import Testing

    @testable import StrataPostgres

    @Suite("The conformance suite on PostgreSQL", .needsPostgres)
    struct ConformanceTests {
        @Test func allChecksHold() async {
            let report = await ConformanceSuite.standard.run(PostgresSubject())
            #expect(report.failures.isEmpty, "\(report)")
            // Texts with U+0000 are refused; everything else must have been tried.
            for result in report.results where result.outcome != .passed {
                #expect(result.outcome == .omitted([.zeroCharacters]), "\(result.check.name)")
            }
        }
    }
#endif
