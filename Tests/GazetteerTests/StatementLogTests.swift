import Testing

@testable import Gazetteer

@Suite("The log of statements")
struct StatementLogTests {
    @Test("Statements come in order, once, with white space in one line")
    func drain() {
        let log = StatementLog()
        log.record(sql: "SELECT *\n  FROM city", seconds: 0.5, rows: 3)
        log.record(sql: "COMMIT", seconds: 0.25, rows: 0)
        #expect(
            log.drain() == [
                .init(sql: "SELECT * FROM city", seconds: 0.5, rows: 3), .init(sql: "COMMIT", seconds: 0.25, rows: 0),
            ])
        #expect(log.drain().isEmpty)
    }

    @Test("Statements of the same text are added up")
    func groups() {
        let log = StatementLog()
        for _ in 1...4 { log.record(sql: "INSERT", seconds: 0.25, rows: 1) }
        log.record(sql: "COMMIT", seconds: 1, rows: 0)
        log.record(sql: "INSERT", seconds: 0.25, rows: 1)
        #expect(
            StatementLog.grouped(log.drain()) == [
                .init(sql: "INSERT", count: 5, seconds: 1.25, rows: 5),
                .init(sql: "COMMIT", count: 1, seconds: 1, rows: 0),
            ])
    }
}
