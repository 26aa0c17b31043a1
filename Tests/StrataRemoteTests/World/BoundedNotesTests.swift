import StrataStore
import Testing

@testable import StrataRemote

/// What is noted in memory of requests does not grow without bound.
@Suite struct BoundedNotesTests {
    private func record(_ number: Int) -> (RemoteIdentity, RemoteRecord) {
        let record = RemoteRecord(entity: "City", id: "\(number)", values: [:], version: "1")
        return (record.identity, record)
    }

    @Test("Requests that overlap all the time do not note ever more objects")
    func overlapping() {
        let order = AnswerOrder()
        var last = order.ticket()
        for round in 0..<100 {
            let next = order.ticket()
            order.noteRead((0..<1000).map { record(1000 * round + $0) })
            last = next
        }
        #expect(order.count <= 20_000)
        #expect(!order.isOvertaken(record(0).0, last))
    }

    @Test("What was told since the oldest request that is under way stays noted")
    func oldest() {
        let order = AnswerOrder()
        let (first, second) = (order.ticket(), order.ticket())
        for round in 0..<30 { order.noteRead((0..<1000).map { record(1000 * round + $0) }) }
        #expect(order.count == 30_000)
        #expect((0..<30_000).allSatisfy { order.isOvertaken(record($0).0, first) })
        #expect(order.isOvertaken(record(0).0, second))
    }

    @Test("New objects whose saves got no answer are forgotten once their contexts are gone")
    func lostBirths() {
        let births = Births()
        for number in 0..<10_000 {
            let context = ChangeSource()
            births.begin([record(number).0], of: context)
            births.leave(record(number).0, context.draft)
        }
        #expect(births.count <= 2000)
        let context = ChangeSource()
        births.leave(record(0).0, context.draft)
        for number in 1..<10_000 { births.leave(record(number).0, ChangeSource().draft) }
        withExtendedLifetime(context) { #expect(births.isUnderWay(record(0).0)) }
    }
}
