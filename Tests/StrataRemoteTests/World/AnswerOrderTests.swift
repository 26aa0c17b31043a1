import StrataStore
import Testing

@testable import StrataRemote

/// What is noted of answers while requests are under way.
@Suite struct AnswerOrderTests {
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
}
