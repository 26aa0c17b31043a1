import Foundation
import SeededRandom
import Strata
import Testing

/// Random edits of a context, of its children and a grandchild, and of another context. A child that follows its parent shows what the
/// parent shows as long as it has no changes of its own.
///
/// `STRATA_CHILD_EDITS=10000` makes so many, with each of `STRATA_RUNS` seeds from `STRATA_SEED` on.
@Suite struct FollowingChildRandomTests {
    @Test(
        "After random edits and saves, children that follow their parent show what it shows",
        arguments: RunSeed.seeds(3, from: 6_000))
    func random(seed: UInt64) throws {
        let edits = ProcessInfo.processInfo.environment["STRATA_CHILD_EDITS"].flatMap(Int.init) ?? 400
        print("following children: STRATA_SEED=\(seed), \(edits) edits")
        let world = try FollowingWorld(seed: seed)
        for edit in 0..<edits { try world.step("edit \(edit), STRATA_SEED=\(seed)") }
        #expect(world.savedCount > edits / 20, "too few saves of children")
    }
}

private final class FollowingWorld {
    private let file: LibraryFile
    private let root: ManagedObjectContext
    private let other: ManagedObjectContext
    /// Parents before their children.
    private let children: [ManagedObjectContext]
    private var random: SplitMix64
    private(set) var savedCount = 0

    init(seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        file = try LibraryFile()
        root = file.container.newContext(automaticallyMergesChanges: true)
        other = file.container.newContext(automaticallyMergesChanges: true)
        try LibraryEdits.fill(root)
        let first = root.makeChild()
        children = [first, root.makeChild(), first.makeChild()]
        for child in children { child.automaticallyMergesChanges = true }
        for context in children + [root, other] { context.mergePolicy = .objectWinsByProperty }
    }

    func step(_ place: String) throws {
        let action = random.below(10)
        let child = children[random.below(3)]
        switch action {
        case 0, 1: change(root)
        case 2, 3, 4: change(child)
        case 5, 6: save(child)
        case 7: save(root)
        case 8: LibraryEdits.edit(other, &random)
        default: (random.oneIn(2) ? root : child).rollback()
        }
        for context in [root] + children { context.processPendingChanges() }
        for (number, child) in children.enumerated() where !child.hasChanges {
            guard let parent = child.parent else { continue }
            let difference = try LibraryEdits.difference(LibraryEdits.lines(child), LibraryEdits.lines(parent))
            try #require(difference.isEmpty, "child \(number): \(difference), \(place)")
        }
    }

    /// An edit that breaks a rule is given up.
    private func change(_ context: ManagedObjectContext) {
        do { try LibraryEdits.change(context, &random) } catch { context.rollback() }
    }

    private func save(_ context: ManagedObjectContext) {
        do {
            try context.save()
            if context.parent != nil { savedCount += 1 }
        } catch {
            // A rule of the model, or a conflict that no policy resolves: the changes are given up.
            context.rollback()
        }
    }
}
