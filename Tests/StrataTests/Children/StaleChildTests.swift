import Foundation
import Strata
import StrataStore
import Testing

/// Children that have read objects which others have changed since.
@Suite struct StaleChildTests {
    let file: ShelfFile
    let parent: ManagedObjectContext
    let child: ManagedObjectContext
    /// As another process would have it.
    let theirs: ManagedObjectContext

    init() throws {
        file = try ShelfFile()
        parent = file.context()
        child = parent.makeChild()
        theirs = file.context(1)
    }

    private func reason(_ body: () throws -> Void) -> MergeConflict.Reason? {
        guard case .conflicts(let conflicts)? = persistenceError(body), conflicts.count == 1 else { return nil }
        return conflicts[0].reason
    }

    /// Changes the shelf as another process would do it.
    private func change(_ body: (Shelf) -> Void) throws {
        try theirs.refreshAllObjects()
        body(try theirs.shelf())
        try theirs.save()
    }

    @Test("A child's change of an object that others have changed since the child read it is a conflict")
    func conflict() throws {
        let shelf = try child.shelf()
        try change { $0.count += 10 }
        shelf.count += 1
        #expect(reason { try child.save() } == .changedInStore)
        #expect(shelf.count == 1)
        #expect(child.hasChanges)
        #expect(!parent.hasChanges)
        child.rollback()
        try child.refreshAllObjects()
        shelf.count += 1
        try child.save()
        try parent.save()
        #expect(try file.stored().count == 11)
    }

    @Test("The conflict is found, too, if the parent has the newer row, and if a child of the child has the older one")
    func levels() throws {
        let shelf = try child.shelf()
        let inner = child.makeChild()
        let innermost = try inner.shelf()
        try change { $0.count += 10 }
        let held = try parent.shelf()
        try parent.refreshAllObjects()
        #expect(held.count == 10)
        shelf.count += 1
        #expect(reason { try child.save() } == .changedInStore)
        child.rollback()
        try child.refreshAllObjects()
        #expect(shelf.count == 10)
        innermost.count += 1
        #expect(reason { try inner.save() } == .changedInStore)
        #expect(!child.hasChanges)
    }

    @Test(
        "The merge policy of the child decides, property by property",
        arguments: [(MergePolicy.storeWinsByProperty, Int64(11)), (.objectWinsByProperty, 5)])
    func policies(policy: MergePolicy, expected: Int64) throws {
        let shelf = try child.shelf()
        child.mergePolicy = policy
        try change { $0.count = 11 }
        shelf.count = 5
        shelf.small = 1
        try child.save()
        #expect(shelf.count == expected)
        try parent.save()
        #expect(try file.stored().count == expected)
        #expect(try file.stored().small == 1)
    }

    @Test("What a child adds to a number is added to the number that others have saved")
    func operations() throws {
        let shelf = try child.shelf()
        try change { $0.count += 10 }
        try shelf.increment(\.count)
        try child.save()
        #expect(shelf.count == 11)
        try parent.save()
        #expect(try file.stored().count == 11)
    }

    @Test("A child's delete of an object that others have changed since the child read it is a conflict")
    func deletes() throws {
        let shelf = try child.shelf()
        try change { $0.count += 10 }
        child.delete(shelf)
        #expect(reason { try child.save() } == .changedInStore)
        #expect(!parent.hasChanges)
        child.mergePolicy = .objectWinsByProperty
        try child.save()
        try parent.save()
        #expect(try theirs.count(FetchRequest<Shelf>()) == 0)
    }

    @Test("A child's change of an object that others have deleted is a conflict; the merge policy may make it again")
    func deletedElsewhere() throws {
        let shelf = try child.shelf()
        let held = try parent.shelf()
        try change { theirs.delete($0) }
        shelf.count = 5
        try parent.refresh(held)
        #expect(held.isMissing)
        #expect(reason { try child.save() } == .deletedInStore)
        #expect(shelf.count == 5)
        child.mergePolicy = .objectWinsByProperty
        try child.save()
        try parent.save()
        #expect(try file.stored().count == 5)
        #expect(try file.stored().name == "first")
        #expect(try file.stored().version > 1)
        shelf.count = 6
        try child.save()
        try parent.save()
        #expect(try file.stored().count == 6)
    }

    @Test("Others that saved the same values, and the parent's save of what the child gave it, are no conflict")
    func sameValues() throws {
        let shelf = try child.shelf()
        for count in [Int64(11), 12] {
            shelf.count = count
            try child.save()
            try parent.save()
        }
        try change { $0.count = 13 }
        try change { $0.count = 12 }
        shelf.count = 14
        try child.save()
        try parent.save()
        #expect(try file.stored().count == 14)
    }

    @Test("Under a parent that merges changes, the child's save wins for the properties that it changes")
    func mergingParent() throws {
        let merging = file.containers[0].newContext(automaticallyMergesChanges: true)
        let child = merging.makeChild()
        let shelf = try child.shelf()
        try change {
            $0.count = 11
            $0.small = 1
        }
        shelf.count = 5
        try child.save()
        try merging.save()
        #expect(try file.stored().count == 5)
        #expect(try file.stored().small == 1)
    }

    // MARK: The write lane

    @Test("A write whose objects others change meanwhile runs again with what they have made of them")
    func writes() async throws {
        let theirs = file.containers[1]
        let runs = Guarded(0)
        let count = try await file.containers[0].write { context in
            let shelf = try context.shelf()
            let run = runs.withLock {
                $0 += 1
                return $0
            }
            if run < 3 {
                let other = theirs.newContext()
                try other.shelf().count += 10
                try other.save()
            }
            shelf.count += 1
            return shelf.count
        }
        #expect(count == 21)
        #expect(runs.withLock(\.self) == 3)
        #expect(try file.stored().count == 21)
    }

    @Test("A write that meets a conflict each time it runs throws it in the end")
    func endlessConflict() async throws {
        let theirs = file.containers[1]
        let runs = Guarded(0)
        await #expect {
            try await file.containers[0].write { context in
                let shelf = try context.shelf()
                let other = theirs.newContext()
                try other.shelf().count += 10
                try other.save()
                runs.withLock { $0 += 1 }
                shelf.count += 1
            }
        } throws: {
            guard case .conflicts? = $0 as? PersistenceError else { return false }
            return true
        }
        #expect(try file.stored().count == Int64(10 * runs.withLock(\.self)))
    }

    @Test("A write whose object others delete meanwhile runs again, and finds it no more")
    func deletedMeanwhile() async throws {
        let theirs = file.containers[1]
        let found = try await file.containers[0].write { context in
            guard let shelf = try context.fetchFirst(FetchRequest<Shelf>()) else { return false }
            let other = theirs.newContext()
            other.delete(try other.shelf())
            try other.save()
            shelf.count += 1
            return true
        }
        #expect(!found)
    }

    @Test("A unique key that is taken ends a write after one run")
    func uniqueKey() async throws {
        let zoo = try ZooFile()
        try await zoo.container.write { Keeper($0, name: "Ann")["keeperId"] = "1" }
        let runs = Guarded(0)
        await #expect(throws: PersistenceError.self) {
            try await zoo.container.write { context in
                runs.withLock { $0 += 1 }
                Keeper(context, name: "Bob")["keeperId"] = "1"
            }
        }
        #expect(runs.withLock(\.self) == 1)
    }
}
