import Foundation
import SeededRandom
import Strata
import StrataStore
import Testing

/// Contexts that are pinned at random moments, while others edit at random: each shows what a copy of the store shows that was
/// made when it was pinned.
///
/// `STRATA_PIN_ROUNDS=1000` runs so many; `STRATA_SEED` takes another seed.
@Suite struct PinnedRandomTests {
    private static let environment = ProcessInfo.processInfo.environment

    @Test("A pinned context equals a copy of the store that was made at the time of pinning")
    func random() async throws {
        let seed = RunSeed.value()
        let rounds = Self.environment["STRATA_PIN_ROUNDS"].flatMap(Int.init) ?? 12
        print("pinned contexts: STRATA_SEED=\(seed), \(rounds) rounds")
        let world = try PinnedWorld(seed: seed)
        for round in 0..<rounds { try await world.run("round \(round), seed \(seed)") }
        #expect(world.movedCount > 0, "no pinned context saved")
    }
}

private final class PinnedWorld {
    private struct Pinned {
        let context: ManagedObjectContext
        /// What a copy of the store showed.
        var lines: [String]
    }

    private let file: LibraryFile
    private let writers: [ManagedObjectContext]
    private let strangers: PersistentContainer
    private var pinned: [Pinned] = []
    private var random: SplitMix64
    private var copies = 0
    private(set) var movedCount = 0

    init(seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        file = try LibraryFile()
        strangers = try file.stranger()
        writers = [
            file.container.newContext(automaticallyMergesChanges: true), file.container.newContext(),
            strangers.newContext(automaticallyMergesChanges: true),
        ]
        for writer in writers { writer.mergePolicy = .objectWinsByProperty }
        try LibraryEdits.fill(writers[0])
    }

    func run(_ place: String) async throws {
        for _ in 0..<12 { LibraryEdits.edit(writers[random.below(writers.count)], &random) }
        if pinned.count < 5 {
            let context = file.container.newContext()
            context.mergePolicy = .objectWinsByProperty
            try context.pin(for: .seconds(600))
            pinned.append(Pinned(context: context, lines: try await copied()))
        }
        // Some go forward, by themselves or by a save.
        let index = random.below(pinned.count)
        switch random.below(4) {
        case 0:
            try pinned[index].context.pin(for: .seconds(600))
            pinned[index].lines = try await copied()
        case 1:
            LibraryEdits.edit(pinned[index].context, &random)
            if pinned[index].context.hasChanges { try await pinned[index].context.save() }
            try pinned[index].context.pin(for: .seconds(600))
            pinned[index].lines = try await copied()
            movedCount += 1
        case 2:
            pinned[index].context.unpin()
            let lines = try await copied()
            let shown = try LibraryEdits.lines(pinned[index].context)
            try #require(shown == lines, "unpinned: \(LibraryEdits.difference(shown, lines)), \(place)")
            pinned.remove(at: index)
        default: break
        }
        for item in pinned { try check(item, place) }
    }

    private func check(_ item: Pinned, _ place: String) throws {
        for object in item.context.registeredObjects where random.oneIn(3) {
            try item.context.refresh(object, mergingChanges: random.oneIn(2))
        }
        let shown = try LibraryEdits.lines(item.context)
        try #require(shown == item.lines, "\(LibraryEdits.difference(shown, item.lines)), \(place)")
    }

    /// What a copy of the store shows now.
    private func copied() async throws -> [String] {
        copies += 1
        let path = "\(file.path).copy\(copies)"
        try await file.container.backUp(to: path)
        let copy = try PersistentContainer(Library.self, at: .file(path: path))
        defer { copy.close() }
        return try LibraryEdits.lines(copy.newContext())
    }
}
