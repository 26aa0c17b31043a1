import Foundation
import StrataSQLite
import StrataStore
import Testing

/// Reads that are stopped from elsewhere.
@Suite struct CancellationTests {
    /// A store with one connection, so that what follows uses the one that was stopped.
    let store: SQLiteStore

    init() throws {
        store = try SQLiteStore.open(model: try TestModel.make(), location: .memory(name: nil))
        var changes = ChangeSet()
        for key in 1...20_000 {
            changes.inserts.append(.init(row: try store.row("Person", Int64(key), ["name": .string("person \(key)")])))
        }
        _ = try store.commit(changes)
    }

    private func plan() throws -> FetchPlan { FetchPlan(entityIndex: try store.entity("Person").index) }

    @Test("A statement stops within a bounded number of steps, and its connection goes on")
    func stops() throws {
        let cancellation = ReadCancellation()
        let asked = Counter()
        #expect(throws: StoreError.cancelled) {
            try store.fetch(
                plan(),
                known: { _, _, _ in
                    asked.count += 1
                    if asked.count == 10 { cancellation.cancel() }
                    return false
                }, cancellation: cancellation)
        }
        #expect(asked.count >= 10 && asked.count < 1000, "\(asked.count) of 20,000 rows")
        #expect(try store.fetch(plan()).count == 20_000)
        #expect(try store.count(plan()) == 20_000)
    }

    @Test("What was cancelled before does not begin, whatever is read")
    func beforehand() throws {
        let cancellation = ReadCancellation()
        cancellation.cancel()
        #expect(throws: StoreError.cancelled) { try store.fetch(plan(), known: nil, cancellation: cancellation) }
        #expect(throws: StoreError.cancelled) { try store.fetchIdentities(plan(), cancellation: cancellation) }
        #expect(throws: StoreError.cancelled) { try store.count(plan(), cancellation: cancellation) }
        #expect(try store.fetchIdentities(plan(), cancellation: ReadCancellation()).count == 20_000)
    }

    private final class Counter {
        var count = 0
    }
}
