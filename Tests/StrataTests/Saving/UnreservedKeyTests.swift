import Foundation
import Strata
import StrataStore
import Testing

/// Inserts while the store cannot reserve keys.
@Suite struct UnreservedKeyTests {
    let file: ZooFile
    let container: PersistentContainer
    /// What holds the write lock, as another process would.
    let other: SQLiteStore

    init() throws {
        file = try ZooFile()
        var options = SQLiteStore.Options()
        options.busyTimeout = 0
        container = try PersistentContainer(Zoo.self, at: .file(path: file.path), options: options)
        other = try SQLiteStore.open(model: Zoo.model, location: .file(path: file.path))
    }

    /// Inserts objects while the store is locked.
    private func insertWhileLocked(_ context: ManagedObjectContext, _ codes: Range<Int>) throws -> [Sample] {
        try other.transaction { (_) throws(StoreError) in codes.map { Sample(context, "L\($0)") } }
    }

    private func insert(_ context: ManagedObjectContext, _ codes: Range<Int>) -> [Sample] {
        codes.map { Sample(context, "F\($0)") }
    }

    @Test("Keys stay unique and become small again when the store was busy at the first insert")
    func busyStore() throws {
        let a = container.newContext()
        let b = container.newContext()
        let early = try insertWhileLocked(a, 0..<30)
        #expect(early.allSatisfy { $0.objectID.key >= StoreKeys.firstUnreserved })
        let refused = try other.transaction { (_) throws(StoreError) in persistenceError { try a.save() } }
        guard case .store(.locked) = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        // The first context saves a part of what it has keys for.
        try a.save()
        let others = insert(b, 0..<5000)
        #expect(others.allSatisfy { $0.objectID.key < 100_000 })
        try b.save()
        let late = insert(a, 5000..<10_000)
        try a.save()
        // A context that had no keys at all, and another container on the file.
        let second = try file.secondContainer().newContext()
        let last = insert(second, 10_000..<10_100)
        #expect(last.allSatisfy { $0.objectID.key < 100_000 })
        try second.save()
        let keys = (early + others + late + last).map(\.objectID.key)
        #expect(Set(keys).count == keys.count)
        let read = try container.newContext().fetch(FetchRequest<Sample>())
        #expect(Set(read.map(\.objectID.key)) == Set(keys) && read.count == keys.count)
        other.close()
    }

    @Test("Two contexts that both insert while the store is busy never get the same key")
    func twoContexts() throws {
        let a = container.newContext()
        let b = try file.secondContainer().newContext()
        let c = container.newContext()
        let both = try insertWhileLocked(a, 0..<100) + insertWhileLocked(c, 100..<200)
        #expect(Set(both.map(\.objectID.key)).count == 200)
        try a.save()
        try c.save()
        let more = insert(b, 0..<100)
        try b.save()
        #expect(try container.newContext().count(FetchRequest<Sample>()) == 300)
        #expect(more.allSatisfy { $0.objectID.key < 10_000 })
        other.close()
    }
}
