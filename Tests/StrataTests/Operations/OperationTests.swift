import Foundation
import SeededRandom
import Strata
import StrataStore
import Testing

@Suite struct OperationTests {
    let file: ShelfFile

    init() throws { file = try ShelfFile() }

    @Test(
        "Two contexts and two containers that count the same thing lose nothing, under any policy",
        arguments: MergePolicy.allCases)
    func counting(policy: MergePolicy) throws {
        let contexts = [file.context(policy: policy), file.context(policy: policy), file.context(1, policy: policy)]
        let shelves = try contexts.map { try $0.shelf() }
        for (number, shelf) in shelves.enumerated() {
            try shelf.increment(\.count, by: Int64(number + 1))
            try shelf.increment(\.small)
            try shelf.add(["\(number)"], to: \.tags)
        }
        for context in contexts { try context.save() }
        #expect(shelves[2].count == 6)
        #expect(shelves[2].small == 3)
        #expect(shelves[2].tags == ["0", "1", "2"])
        #expect(!contexts[2].hasChanges)
        let stored = try file.stored()
        #expect(stored.count == 6)
        #expect(stored.small == 3)
        #expect(stored.tags == ["0", "1", "2"])
        #expect(stored.version == 4)
        try shelves[0].increment("count", by: 10)
        try contexts[0].save()
        #expect(try file.stored().count == 16)
    }

    @Test("Every kind of number and array is changed, and reads as changed immediately")
    func kinds() throws {
        let context = file.context()
        let shelf = try context.shelf()
        try shelf.increment(\.amount, by: Decimal(string: "0.1") ?? 0)
        try shelf.increment(\.amount, by: Decimal(string: "0.2") ?? 0)
        #expect(shelf.amount == Decimal(string: "0.3"))
        try shelf.increment(\.ratio, by: 0.5)
        try shelf.increment("ratio", by: -2)
        #expect(shelf.ratio == -1.5)
        try shelf.add([1, 2], to: \.sizes)
        try shelf.addUnique([2, 3, 3], to: \.sizes)
        #expect(shelf.sizes == [1, 2, 3])
        try shelf.remove([2], from: \.sizes)
        try shelf.addUnique(["b", "a", "b"], to: "tags")
        try shelf.add(["a"], to: "tags")
        try shelf.remove(["b"], from: "tags")
        #expect(shelf.tags == ["a", "a"])
        #expect(shelf.isUpdated)
        #expect(shelf.changedValues()["tags"] == ["a", "a"])
        try context.save()
        let stored = try file.stored()
        #expect(stored.amount == Decimal(string: "0.3"))
        #expect(stored.ratio == -1.5)
        #expect(stored.sizes == [1, 3])
        #expect(stored.tags == ["a", "a"])
    }

    @Test(
        "An element that is there already is added once others have removed it, and one that is not there is removed once they have added it"
    )
    func intentionsWithoutEffect() throws {
        let one = file.context()
        try one.shelf().tags = ["x"]
        try one.save()
        let two = file.context(1)
        let mine = try one.shelf()
        let theirs = try two.shelf()
        try theirs.remove(["x"], from: \.tags)
        try theirs.add(["y"], to: \.tags)
        try two.save()
        try mine.addUnique(["x"], to: \.tags)
        try mine.remove(["y"], from: \.tags)
        #expect(mine.tags == ["x"])
        try one.save()
        #expect(mine.tags == ["x"])
        #expect(try file.stored().tags == ["x"])
    }

    @Test("What cannot be done is refused, and changes nothing")
    func refusals() throws {
        let context = file.context()
        let shelf = try context.shelf()
        func refused(_ property: String, _ body: () throws -> Void) {
            #expect(throws: PersistenceError.self) { try body() }
            do {
                try body()
            } catch {
                guard case .invalidOperation(_, property, let reason)? = error as? PersistenceError, !reason.isEmpty
                else {
                    Issue.record("\(error)")
                    return
                }
            }
        }
        refused("name") { try shelf.increment("name") }
        refused("count") { try shelf.add(["a"], to: "count") }
        refused("count") { try shelf.increment("count", by: 0.5) }
        refused("count") { try shelf.increment("count", by: Decimal(1)) }
        refused("ratio") { try shelf.increment(\.ratio, by: .nan) }
        refused("ratio") { try shelf.increment(\.ratio, by: .infinity) }
        refused("amount") { try shelf.increment(\.amount, by: .nan) }
        refused("small") { try shelf.increment("small", by: 40_000) }
        refused("passing") { try shelf.increment("passing") }
        refused("upper") { try shelf.add(["a"], to: "upper") }
        refused("tags") { try shelf.increment("tags") }
        refused("tags") { try shelf.add([1], to: "tags") }
        refused("sizes") { try shelf.add([Double.infinity], to: \.sizes) }
        #expect(!context.hasChanges)
        // What takes itself back, or adds nothing, leaves nil.
        try shelf.increment(\.small)
        try shelf.increment("small", by: -1)
        try shelf.add([], to: \.sizes)
        #expect(shelf.small == nil)
        #expect(shelf.sizes == nil)
        #expect(!shelf.hasPersistentChangedValues)
        shelf.count = .max
        refused("count") { try shelf.increment(\.count) }
        #expect(shelf.count == .max)
        #expect(throws: PersistenceError.self) { try shelf.increment("nothing") }
        context.rollback()
        try shelf.increment(\.count, by: 0)
        try shelf.add([String](), to: \.tags)
        #expect(shelf.changedValues().isEmpty)
        #expect(!shelf.hasPersistentChangedValues)
    }

    @Test("A value that is assigned replaces what was done, and what is done to it is part of it")
    func assigning() throws {
        let one = file.context(policy: .objectWinsByProperty)
        let two = file.context(1)
        let mine = try one.shelf()
        let theirs = try two.shelf()
        try theirs.increment(\.count, by: 100)
        try two.save()
        try mine.increment(\.count)
        mine.count = 5
        try mine.increment(\.count)
        try one.save()
        #expect(try file.stored().count == 6)
        // An assigned value is in conflict as ever.
        let other = file.context(1)
        try other.shelf().count = 7
        try mine.increment(\.count)
        mine.count = 9
        try other.save()
        one.mergePolicy = .error
        #expect(throws: PersistenceError.self) { try one.save() }
        one.rollback()
        // An operation next to an assigned value is done, whatever becomes of the value.
        one.mergePolicy = .storeWinsByProperty
        try other.shelf().name = "theirs"
        try other.shelf().increment(\.count)
        try other.save()
        mine.name = "mine"
        try mine.increment(\.count)
        try one.save()
        #expect(mine.name == "theirs")
        #expect(try file.stored().count == 9)
    }

    @Test("A rollback, a refresh without merging and a reset forget operations; a refresh with merging keeps them")
    func forgetting() throws {
        let context = file.context()
        let shelf = try context.shelf()
        let other = file.context(1)
        try other.shelf().increment(\.count, by: 10)
        try other.save()
        try shelf.increment(\.count)
        #expect(shelf.count == 1)
        try context.refresh(shelf)
        #expect(shelf.count == 11)
        context.rollback()
        #expect(shelf.count == 10)
        try shelf.increment(\.count)
        try context.refresh(shelf, mergingChanges: false)
        #expect(shelf.count == 10)
        try shelf.increment(\.count)
        context.reset()
        let again = try context.shelf()
        #expect(again.count == 10)
        again.count = 3
        try context.save()
        #expect(try file.stored().count == 3)
    }

    @Test("Commits of other contexts go below operations when they are taken in")
    func merging() throws {
        let context = file.containers[0].newContext(automaticallyMergesChanges: true)
        let shelf = try context.shelf()
        try shelf.increment(\.count)
        try shelf.addUnique(["a"], to: \.tags)
        let other = file.context()
        try other.shelf().increment(\.count, by: 10)
        try other.shelf().add(["b", "a"], to: \.tags)
        try other.save()
        context.processPendingChanges()
        #expect(shelf.count == 11)
        #expect(shelf.tags == ["b", "a"])
        try context.save()
        #expect(try file.stored().count == 11)
        #expect(try file.stored().tags == ["b", "a"])
    }

    @Test("A sum that the attribute cannot hold, or that a rule forbids, fails the save and loses nothing")
    func tooMuch() throws {
        let context = file.context()
        let shelf = try context.shelf()
        let other = file.context(1)
        try other.shelf().small = 32_000
        try other.save()
        try shelf.increment(\.small, by: 1000)
        for _ in 0..<2 {
            #expect(throws: PersistenceError.self) { try context.save() }
            #expect(shelf.small == 1000)
        }
        try context.refresh(shelf)
        #expect(throws: PersistenceError.self) { try context.save() }
        context.rollback()
        #expect(shelf.small == 32_000)
        // Ten are in stock: each side takes six.
        try shelf.increment(\.stock, by: -6)
        try other.shelf().increment(\.stock, by: -6)
        try other.save()
        do throws(PersistenceError) {
            try context.save()
            Issue.record("-2 were accepted")
        } catch {
            guard case .validation(let error) = error else { throw error }
            #expect(error.failures.map(\.property) == ["stock"])
            #expect(error.failures.map(\.value) == [.integer(-2)])
        }
        #expect(shelf.stock == 4)
        try shelf.increment(\.stock, by: 3)
        try context.save()
        #expect(try file.stored().stock == 1)
    }

    @Test("What a child did is added to what its parent did, and the child shows the sum")
    func children() throws {
        let context = file.context()
        let shelf = try context.shelf()
        let child = context.makeChild()
        let inner = try child.shelf()
        try inner.increment(\.count)
        try inner.add(["inner"], to: \.tags)
        try shelf.increment(\.count, by: 10)
        try shelf.add(["outer"], to: \.tags)
        try child.save()
        #expect(shelf.count == 11)
        #expect(inner.count == 11)
        #expect(inner.tags == ["outer", "inner"])
        #expect(!child.hasChanges)
        let other = file.context(1)
        try other.shelf().increment(\.count, by: 100)
        try other.save()
        try context.save()
        #expect(try file.stored().count == 111)
        #expect(try file.stored().tags == ["outer", "inner"])
        // Of an assigned value it becomes a part.
        shelf.count = 5
        try inner.increment(\.count)
        try child.save()
        #expect(shelf.count == 6)
        #expect(inner.count == 6)
        // A sum that the parent cannot hold is refused before anything has changed.
        shelf.small = 32_767
        try inner.increment(\.small)
        inner.name = "changed"
        #expect(throws: PersistenceError.self) { try child.save() }
        #expect(shelf.name == "first")
        #expect(inner.small == 1)
    }

    @Test("Undo takes an operation back, and redo does it again as an operation")
    func undoing() throws {
        let context = file.context()
        let history = UndoHistory()
        context.undoManager = history
        let shelf = try context.shelf()
        try shelf.increment(\.count)
        context.processPendingChanges()
        try shelf.increment(\.count, by: 4)
        try history.undo()
        #expect(shelf.count == 1)
        try history.undo()
        #expect(shelf.count == 0)
        #expect(!shelf.hasPersistentChangedValues)
        try history.redo()
        try history.redo()
        #expect(shelf.count == 5)
        let other = file.context(1)
        try other.shelf().increment(\.count, by: 100)
        try other.save()
        try context.save()
        #expect(shelf.count == 105)
        // An assignment that is undone leaves the operation that was there before it.
        try shelf.increment(\.count)
        context.processPendingChanges()
        shelf.count = 7
        try history.undo()
        #expect(shelf.count == 106)
        try other.shelf().increment(\.count, by: 100)
        try other.save()
        try context.save()
        #expect(try file.stored().count == 206)
    }

    @Test("Others may delete the object: it comes back with its value under the policies that keep memory")
    func deleted() throws {
        for policy in MergePolicy.allCases {
            let file = try ShelfFile()
            let context = file.context(policy: policy)
            let shelf = try context.shelf()
            let other = file.context(1)
            other.delete(try other.shelf())
            try other.save()
            try shelf.increment(\.count)
            switch policy {
            case .error: #expect(throws: PersistenceError.self) { try context.save() }
            case .objectWinsByProperty, .overwrite:
                try context.save()
                #expect(try file.stored().count == 1)
            case .storeWinsByProperty, .rollback:
                try context.save()
                #expect(shelf.isMissing)
            }
        }
    }

    /// What another process does.
    private func countElsewhere() throws {
        let other = file.context(1)
        try other.shelf().increment(\.count, by: 100)
        try other.save()
    }

    private func allStored() throws -> [Shelf] {
        try file.context(1).fetch(FetchRequest<Shelf>(sortedBy: [FetchSort("name")]))
    }

    @Test("An operation joins with what a closure decides about other properties, and is not asked about")
    func rules() throws {
        let mine = file.context()
        let theirs = file.context(1)
        let shelf = try mine.shelf()
        let other = try theirs.shelf()
        other.name = "theirs"
        try other.increment(\.count, by: 5)
        try theirs.save()
        var asked: [String] = []
        mine.onPropertyConflict = { conflict in
            asked.append(conflict.propertyName)
            return .value("both")
        }
        shelf.name = "mine"
        try shelf.increment(\.count)
        try mine.save()
        #expect(asked == ["name"])
        #expect(shelf.count == 6)
        #expect(try file.stored().name == "both")
        #expect(try file.stored().count == 6)
        // Without an answer, the assigned property ends the save, and the operation waits.
        mine.onPropertyConflict = { _ in .policy }
        try other.context?.refreshAllObjects()
        other.name = "theirs again"
        try theirs.save()
        shelf.name = "mine again"
        try shelf.increment(\.count)
        #expect(throws: PersistenceError.self) { try mine.save() }
        #expect(shelf.name == "mine again")
        #expect(shelf.count == 7)
        try mine.setMergePolicy(.objectWinsByProperty, for: Shelf.self)
        try mine.save()
        #expect(try file.stored().name == "mine again")
        #expect(try file.stored().count == 7)
    }

    @Test(
        "An object that is checked for changes by others is in conflict, whatever was done to it",
        arguments: [false, true])
    func checking(inChild: Bool) throws {
        let parent = file.context()
        let context = inChild ? parent.makeChild() : parent
        let shelf = try context.shelf()
        try context.detectConflicts(for: shelf)
        try shelf.increment(\.count)
        if inChild { try context.save() }
        try countElsewhere()
        #expect(throws: PersistenceError.self) { try parent.save() }
        #expect(try file.stored().count == 100)
        parent.mergePolicy = .objectWinsByProperty
        try parent.save()
        #expect(try file.stored().count == 101)
    }

    @Test("What is done while an asynchronous save goes on is saved by the next one, and once")
    @MainActor func savingMeanwhile() async throws {
        let context = file.context()
        let shelf = try context.shelf()
        let fresh = Shelf(inserting: context)
        fresh.name = "second"
        for round in 0..<20 {
            try shelf.increment(\.count)
            try shelf.add(["a\(round)"], to: \.tags)
            try countElsewhere()
            let save = Task { @MainActor in try await context.save() }
            for _ in 0..<3 {
                await Task.yield()
                try shelf.increment(\.count, by: 10)
                try shelf.add(["b"], to: \.tags)
                try shelf.remove(["a\(round)"], from: \.tags)
                try fresh.increment(\.count)
            }
            try await save.value
        }
        try await context.save()
        #expect(shelf.count == 20 * 131)
        #expect(!context.hasChanges)
        let stored = try allStored()
        #expect(stored.map(\.count) == [20 * 131, 60])
        #expect(stored[0].tags == Array(repeating: "b", count: 60))
    }

    @Test("Merged operations do the same as one after the other, sealed or not")
    func merged() {
        var random = SplitMix64(seed: 7)
        for _ in 0..<3000 {
            var value = Value.list((0..<random.below(5)).map { _ in .integer(Int64(random.below(5))) })
            var steps = FieldOperations()
            let first = value
            var done: [FieldOperation] = []
            for _ in 0...random.below(8) {
                let elements = (0..<random.below(4)).map { _ in Value.integer(Int64(random.below(5))) }
                let step: FieldOperation =
                    switch random.below(3) {
                    case 0: .append(elements)
                    case 1: .appendUnique(elements)
                    default: .remove(elements)
                    }
                done.append(step)
                value = step.applied(to: value, of: .array(.integer)) ?? .null
                steps.append(step)
                if random.oneIn(4) { steps = steps.sealed }
            }
            #expect(steps.applied(to: first, of: .array(.integer)) == value, "\(first) \(done)")
            #expect(steps.opened.applied(to: first, of: .array(.integer)) == value, "\(first) \(done)")
        }
        var toggled = FieldOperations()
        for _ in 0..<1000 {
            toggled.append(.appendUnique(["a"]))
            toggled.append(.remove(["a"]))
        }
        #expect(toggled.steps == [.remove(["a"])])
        var counted = FieldOperations()
        for _ in 0..<1000 { counted.append(.increment(2)) }
        #expect(counted.steps == [.increment(2000)])
        counted.append(.increment(-2000))
        #expect(counted.isEmpty)
    }
}
