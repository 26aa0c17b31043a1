import Foundation
import SeededRandom
import Strata
import Testing

/// Random edits of a graph by a context, by its child, and by strangers, under each merge policy that resolves conflicts.
///
/// `STRATA_STALE_EDITS=10000` makes so many; `STRATA_SEED` takes another seed.
@Suite struct StaleChildGraphTests {
    @Test(
        "Whatever a child saves over the changes of others, parent, child and store agree, and so do both ends of relationships",
        arguments: [MergePolicy.storeWinsByProperty, .objectWinsByProperty, .overwrite, .rollback])
    func random(policy: MergePolicy) throws {
        let seed = RunSeed.value()
        let edits = ProcessInfo.processInfo.environment["STRATA_STALE_EDITS"].flatMap(Int.init) ?? 400
        print("stale graphs: STRATA_SEED=\(seed), \(edits) edits, \(policy)")
        for start in stride(from: 0, to: edits, by: 400) {
            let world = try StaleWorld(seed: seed &+ UInt64(start / 400), policy)
            for edit in 0..<min(400, edits - start) {
                try world.step("edit \(edit), STRATA_SEED=\(seed &+ UInt64(start / 400)), \(policy)")
            }
            #expect(world.savedCount > 20, "too few saves")
        }
    }
}

private final class StaleWorld {
    private let file: LibraryFile
    private let strangers: PersistentContainer
    private let root: ManagedObjectContext
    private let child: ManagedObjectContext
    private let theirs: ManagedObjectContext
    private var random: SplitMix64
    private var log: [String] = []
    private(set) var savedCount = 0

    init(seed: UInt64, _ policy: MergePolicy) throws {
        random = SplitMix64(seed: seed)
        file = try LibraryFile()
        strangers = try file.stranger()
        let setup = file.container.newContext()
        for label in ["a", "b", "c"] { _ = Tag(setup, label: label) }
        for index in 0..<5 {
            let author = Author(setup, name: "n\(index)")
            for number in 0..<3 { _ = Book(setup, title: "t\(number)", author: author) }
        }
        try setup.save()
        root = file.container.newContext()
        theirs = strangers.newContext()
        root.mergePolicy = policy
        theirs.mergePolicy = .objectWinsByProperty
        child = root.makeChild()
    }

    func step(_ label: String) throws {
        let kind = random.below(12)
        log.append("\(kind)")
        var place: String { "\(label); steps: \(log.suffix(12).joined(separator: ", "))" }
        switch kind {
        case 0...2: change(child)
        case 3, 4: change(root)
        case 5, 6:
            try theirs.refreshAllObjects()
            LibraryEdits.edit(theirs, &random)
        case 7...9:
            _ = saves(child)
        case 10:
            if !root.hasChanges { try root.refreshAllObjects() }
        default:
            child.rollback()
            guard saves(root) else { break }
            try root.refreshAllObjects()
            try child.refreshAllObjects()
            try compare(root, file.container.newContext(), "the context and the store, \(place)")
            try checkEnds(of: root, place)
            try compare(child, root, "the child and its saved parent, \(place)")
        }
    }

    /// Edits at random; an edit that breaks a rule is given up.
    private func change(_ context: ManagedObjectContext) {
        do {
            try LibraryEdits.change(context, &random)
        } catch {
            context.rollback()
        }
    }

    /// Saves; a save that fails is given up.
    private func saves(_ context: ManagedObjectContext) -> Bool {
        do {
            try context.save()
            savedCount += 1
            return true
        } catch {
            log.append("\(error)")
            child.rollback()
            context.rollback()
            return false
        }
    }

    private func compare(_ context: ManagedObjectContext, _ other: ManagedObjectContext, _ place: String) throws {
        let lines = try LibraryEdits.lines(context)
        let others = try LibraryEdits.lines(other)
        try #require(lines == others, "\(LibraryEdits.difference(lines, others)): \(place)")
    }

    private func checkEnds(of context: ManagedObjectContext, _ place: String) throws {
        for book in try context.fetch(FetchRequest<Book>()) {
            try #require(book.author?.books.contains(book) != false, "\(book.objectID) and its author: \(place)")
            try #require(book.fan?.favourites.contains(book) != false, "\(book.objectID) and its fan: \(place)")
            try #require(book.tags.allSatisfy { $0.books.contains(book) }, "\(book.objectID) and its tags: \(place)")
        }
    }
}
