import Foundation
import SeededRandom
import Strata
import Testing

/// Random edits of a parent, of its children in other isolation domains and of another context. A child without changes shows what its
/// parent shows, and so does every child after its save.
///
/// `STRATA_CHILD_EDITS=10000` makes so many, with each of `STRATA_RUNS` seeds from `STRATA_SEED` on.
@Suite struct BackgroundChildRandomTests {
    private static let environment = ProcessInfo.processInfo.environment

    @Test(
        "After random edits and saves, children in other isolation domains show what their parent shows",
        arguments: RunSeed.seeds(3, from: 5_000))
    func random(seed: UInt64) async throws {
        let edits = Self.environment["STRATA_CHILD_EDITS"].flatMap(Int.init) ?? 400
        print("background children: STRATA_SEED=\(seed), \(edits) edits")
        let world = try await ChildWorld(seed: seed)
        for edit in 0..<edits { try await world.step("edit \(edit), STRATA_SEED=\(seed)") }
        #expect(world.savedCount > edits / 20, "too few saves of children")
    }
}

private final class ChildWorld {
    private let file: LibraryFile
    private let parent: BackgroundContext
    private let children: [BackgroundContext]
    private let other: BackgroundContext
    private var random: SplitMix64
    private(set) var savedCount = 0

    init(seed: UInt64) async throws {
        random = SplitMix64(seed: seed)
        file = try LibraryFile()
        parent = file.container.newBackgroundContext()
        other = file.container.newBackgroundContext()
        try await parent.perform { try LibraryEdits.fill($0) }
        children = [await parent.makeBackgroundChild(), await parent.makeBackgroundChild()]
        for context in children + [parent, other] {
            await context.perform { $0.mergePolicy = .objectWinsByProperty }
        }
    }

    /// Edits at random in a context; an edit that breaks a rule is given up.
    private func change(_ context: BackgroundContext) async {
        let start = random.next()
        await context.perform { context in
            var random = SplitMix64(seed: start)
            do { try LibraryEdits.change(context, &random) } catch { context.rollback() }
        }
    }

    private func lines(_ context: BackgroundContext) async throws -> [String] {
        try await context.perform { try LibraryEdits.lines($0) }
    }

    func step(_ place: String) async throws {
        switch random.below(10) {
        case 0, 1: await change(parent)
        case 2, 3, 4: await change(children[0])
        case 5: await change(children[1])
        case 6: try await save(children[random.below(2)], place)
        case 7: try await save(parent, place)
        case 8:
            await change(other)
            try await save(other, place)
        default: await (random.oneIn(2) ? parent : children[random.below(2)]).perform { $0.rollback() }
        }
        let shown = try await lines(parent)
        for (number, child) in children.enumerated() {
            if await child.perform({ $0.hasChanges }) { continue }
            let mine = try await lines(child)
            let difference = LibraryEdits.difference(mine, shown)
            try #require(difference.isEmpty, "child \(number): \(difference), \(place)")
        }
    }

    private func save(_ context: BackgroundContext, _ place: String) async throws {
        do {
            try await context.perform { try await $0.save() }
            if context === children[0] || context === children[1] { savedCount += 1 }
        } catch {
            // A rule of the model, or a conflict that no policy resolves: the changes are given up.
            await context.perform { $0.rollback() }
        }
    }
}
