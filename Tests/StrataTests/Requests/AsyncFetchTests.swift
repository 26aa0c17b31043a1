import Foundation
import Strata
import StrataStore
import Testing

/// Fetches that do not block, and can be cancelled.
@Suite struct AsyncFetchTests {
    let file: ZooFile

    init() throws {
        file = try ZooFile()
        let context = file.container.newContext()
        for index in 0..<300 { _ = Cat(context, name: "cat \(1000 + index)") }
        try context.save()
    }

    private var byName: FetchRequest<Animal> { FetchRequest<Animal>(sortedBy: [FetchSort("name")], limit: 5) }

    @Test("The same answers as the methods that wait, with unsaved changes and in child contexts")
    func answers() async throws {
        let parent = file.container.newContext()
        _ = Cat(parent, name: "aaa")
        let child = parent.makeChild()
        let dog = Dog(child, name: "aab")
        for context in [parent, child] {
            let names = try await context.fetch(byName).map(\.name)
            #expect(names == wait { try context.fetch(byName).map(\.name) })
            #expect(names[0] == "aaa" && (names[1] == "aab") == (context === child))
            #expect(try await context.count(FetchRequest<Animal>()) == (context === child ? 302 : 301))
            #expect(try await context.fetchIDs(byName) == wait { try context.fetchIDs(byName) })
            #expect(try await context.fetchFirst(byName)?.name == "aaa")
            var faults = byName
            faults.returnsObjectsAsFaults = true
            #expect(try await context.fetch(faults).map(\.name) == names)
        }
        #expect(try await child.fetch(byName)[1] === dog)
        let fresh = file.container.newContext()
        #expect(try await fresh.count(FetchRequest<Animal>()) == 300)
        #expect(try await fresh.fetchIDs(byName).count == 5)
    }

    /// Calls what waits from an asynchronous function.
    private func wait<R>(_ body: () throws -> R) -> R? { try? body() }

    @Test("The main actor goes on while its context fetches; saves that come between are not undone")
    @MainActor func reentrancy() async throws {
        let store = SlowStore(file.container.store)
        let container = try PersistentContainer(store: store, classes: Zoo.classes)
        let context = container.viewContext
        let first = try #require(wait { try context.fetchFirst(byName) } ?? nil)
        let gate = store.holdNext()
        let later = Task { @MainActor in
            let animals = try await container.viewContext.fetch(FetchRequest<Animal>())
            #expect(animals.allSatisfy { !$0.isDeleted } && animals.filter { $0.name.hasPrefix("between") }.count == 2)
            return animals.count
        }
        while !gate.hasBegun { await Task.yield() }
        context.delete(first)
        _ = Cat(context, name: "between")
        _ = Cat(context, name: "between, too")
        try await context.save()
        gate.open()
        #expect(try await later.value == 301)
    }

    @Test("Cancelling the task cancels the statement")
    @MainActor func cancelling() async throws {
        let store = SlowStore(file.container.store)
        let container = try PersistentContainer(store: store, classes: Zoo.classes)
        let gate = store.holdNext()
        let task = Task { @MainActor in try await container.viewContext.fetch(FetchRequest<Animal>()).count }
        while !gate.hasBegun { await Task.yield() }
        task.cancel()
        // The gate opens as soon as the store knows.
        await #expect {
            try await task.value
        } throws: {
            guard case PersistenceError.cancelled = $0 else { return false }
            return true
        }
        #expect(try await container.viewContext.fetch(FetchRequest<Animal>()).count == 300)
    }
}

/// A store that waits before it reads, where a test asks for it.
final class SlowStore: PersistentStore {
    /// Where a read waits: until it is cancelled, or the test goes on.
    final class Gate: Sendable {
        private let state = NSLock()
        // Guarded by `state`.
        private nonisolated(unsafe) var begun = false
        private nonisolated(unsafe) var isOpen = false

        var hasBegun: Bool { state.withLock { begun } }
        func open() { state.withLock { isOpen = true } }

        fileprivate func wait(_ cancellation: ReadCancellation?) {
            state.withLock { begun = true }
            while cancellation?.isCancelled != true, !state.withLock({ isOpen }) { usleep(200) }
        }
    }

    private let store: any PersistentStore
    private let lock = NSLock()
    // Guarded by `lock`.
    private nonisolated(unsafe) var gate: Gate?

    init(_ store: any PersistentStore) { self.store = store }

    func holdNext() -> Gate {
        let made = Gate()
        lock.withLock { gate = made }
        return made
    }

    private func hold(_ cancellation: ReadCancellation?) {
        let next = lock.withLock {
            defer { gate = nil }
            return gate
        }
        next?.wait(cancellation)
    }

    func fetch(_ plan: FetchPlan, known: KnownRows?, cancellation: ReadCancellation?) throws(StoreError) -> RowBatch {
        hold(cancellation)
        return try store.fetch(plan, known: known, cancellation: cancellation)
    }

    var identifier: UUID { store.identifier }
    var name: String { store.name }
    var model: ManagedObjectModel { store.model }
    var capabilities: StoreCapabilities { store.capabilities }
    func allocateKeys(_ count: Int, rootIndex: Int) throws(StoreError) -> Range<Int64> {
        try store.allocateKeys(count, rootIndex: rootIndex)
    }
    func fetchIdentities(_ plan: FetchPlan, cancellation: ReadCancellation?) throws(StoreError) -> [RowIdentity] {
        try store.fetchIdentities(plan, cancellation: cancellation)
    }
    func count(_ plan: FetchPlan, cancellation: ReadCancellation?) throws(StoreError) -> Int {
        try store.count(plan, cancellation: cancellation)
    }
    func values(_ plan: ValuePlan, cancellation: ReadCancellation?) throws(StoreError) -> [[Value]] {
        try store.values(plan, cancellation: cancellation)
    }
    func rows(entityIndex: Int, keys: [Int64]) throws(StoreError) -> RowBatch {
        try store.rows(entityIndex: entityIndex, keys: keys)
    }
    func memberRows(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64], areAll: Bool
    ) throws(StoreError) -> RowBatch {
        try store.memberRows(
            entityIndex: entityIndex, relationshipIndex: relationshipIndex, owners: owners, areAll: areAll)
    }
    func memberKeys(entityIndex: Int, relationshipIndex: Int, owners: [Int64]) throws(StoreError) -> [(
        owner: Int64, member: Int64
    )] {
        try store.memberKeys(entityIndex: entityIndex, relationshipIndex: relationshipIndex, owners: owners)
    }
    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult { try store.commit(changes) }
    func externalData(named name: String) throws(StoreError) -> Data { try store.externalData(named: name) }
    func close() { store.close() }
}
