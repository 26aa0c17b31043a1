import Foundation
import Strata
import StrataStore
import StrataTesting
import Testing

/// Changes that are dropped while an asynchronous save waits for its store.
@Suite struct DroppingMeanwhileTests {
    /// A store whose commits wait until they are let through.
    private final class HeldStore: Sendable {
        let store: FaultInjectingStore
        private let isHeld = Guarded(false)
        private let isWaiting = Guarded(false)

        init() throws {
            store = FaultInjectingStore(try SQLiteStore.open(model: Shelves.model, location: .memory(name: nil)))
            let (isHeld, isWaiting) = (isHeld, isWaiting)
            store.fail { operation in
                guard operation == .commit else { return nil }
                while isHeld.withLock({ $0 }) {
                    isWaiting.withLock { $0 = true }
                    usleep(200)
                }
                isWaiting.withLock { $0 = false }
                return nil
            }
        }

        func hold() { isHeld.withLock { $0 = true } }
        func letThrough() { isHeld.withLock { $0 = false } }
        var hasSave: Bool { isWaiting.withLock { $0 } }
    }

    /// The form that blocks, wherever it is called.
    private func saveNow(_ context: ManagedObjectContext) throws { try context.save() }

    private func stored(_ container: PersistentContainer) throws -> Shelf {
        try #require(try container.newContext().fetch(FetchRequest<Shelf>()).first)
    }

    @Test("They are saved by that save; what is changed afterwards is saved by the next one", arguments: [false, true])
    @MainActor func dropping(byRefresh: Bool) async throws {
        let held = try HeldStore()
        let container = try PersistentContainer(store: held.store, classes: Shelves.classes)
        let context = container.newContext()
        let shelf = Shelf(inserting: context)
        shelf.name = "first"
        try await context.save()
        var count: Int64 = 0
        for round in 0..<8 {
            shelf.name = "saved \(round)"
            try shelf.increment(\.count, by: 5)
            try shelf.add(["a"], to: \.tags)
            held.hold()
            let save = Task { @MainActor in try await context.save() }
            while !held.hasSave { await Task.yield() }
            let busy = #expect(throws: PersistenceError.self) { try saveNow(context) }
            if case .saveInProgress = busy {} else { Issue.record("the save is over: \(busy as Any)") }
            if byRefresh {
                try context.refresh(shelf, mergingChanges: false)
            } else {
                context.rollback()
            }
            // Half of the time, the object is read and changed before the save ends.
            if round % 2 == 0 {
                try shelf.increment(\.count, by: 10)
                if round % 4 == 0 { shelf.small = Int16(round) }
            }
            held.letThrough()
            try await save.value
            count += 5
            #expect(shelf.name == "saved \(round)")
            #expect(try stored(container).count == count)
            if round % 2 == 0 { count += 10 }
            #expect(shelf.count == count)
            #expect(shelf.hasChanges == (round % 2 == 0))
            try await context.save()
            let kept = try stored(container)
            #expect((kept.name, kept.count, kept.tags.count) == ("saved \(round)", count, round + 1))
        }
    }
}
