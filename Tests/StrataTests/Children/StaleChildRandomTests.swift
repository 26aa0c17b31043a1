import Foundation
import SeededRandom
import Strata
import StrataStore
import Testing

/// Amounts that contexts, their children and writes move between shelves, each with what it has read at some time before.
///
/// `STRATA_STALE_STEPS=10000` runs so many; `STRATA_SEED` takes another seed.
@Suite struct StaleChildRandomTests {
    @Test("No change is lost, whoever changes and saves the same objects in whatever order")
    func random() async throws {
        let seed = RunSeed.value()
        let steps = ProcessInfo.processInfo.environment["STRATA_STALE_STEPS"].flatMap(Int.init) ?? 2_000
        print("stale children: STRATA_SEED=\(seed), \(steps) steps")
        let bank = try Bank(seed: seed)
        for step in 0..<steps { try await bank.step("step \(step), seed \(seed)") }
        #expect(bank.savedCount > steps / 50, "too few saves")
        #expect(bank.conflictCount > steps / 50, "too few conflicts")
    }
}

/// A context, and what it has not saved.
private final class Level {
    let context: ManagedObjectContext
    /// The sum that each shelf's count gets; nil for a shelf that is deleted.
    var pending: [String: Int64?] = [:]
    /// Objects that were read earlier.
    var held: [Shelf] = []

    init(_ context: ManagedObjectContext) { self.context = context }

    /// - Parameter change: What is added; nil if the shelf is deleted.
    func add(_ change: Int64?, to name: String) {
        let sum = (pending[name] ?? nil) ?? 0
        pending[name] = .some(change.map { sum + $0 })
    }
}

/// Chains of contexts on one file. Amounts are moved in the innermost context of each chain only, because a child's save wins over what
/// is pending in its parent.
private final class Bank {
    private let file: ShelfFile
    private var random: SplitMix64
    private var chains: [[Level]] = []
    /// The counts that the store should have.
    private var counts: [String: Int64] = ["first": 0]
    private var created = 0
    private(set) var savedCount = 0
    private(set) var conflictCount = 0

    init(seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        file = try ShelfFile()
        for (depth, container) in [(1, 0), (2, 0), (3, 0), (2, 1)] {
            var chain = [Level(file.context(container))]
            while chain.count < depth { chain.append(Level(chain[chain.count - 1].context.makeChild())) }
            chains.append(chain)
        }
    }

    func step(_ label: String) async throws {
        if random.oneIn(16) { try await write() } else { try change() }
        try check(label)
    }

    private func change() throws {
        let chain = chains[random.below(chains.count)]
        let level = chain[random.below(chain.count)]
        let innermost = chain[chain.count - 1]
        switch random.below(15) {
        case 0...5: try move(innermost)
        case 6...9: try save(chain, random.below(chain.count))
        // Changes that are kept on top of a newer row win by design.
        case 10 where level.pending.isEmpty: try level.context.refreshAllObjects()
        case 10: break
        case 11: level.held = []
        case 12: level.held = try level.context.fetch(FetchRequest<Shelf>())
        case 13: try create()
        default: try delete(innermost)
        }
    }

    /// The shelves that a context shows, in an order that depends on nothing but the seed.
    private static func shelves(_ context: ManagedObjectContext) throws -> [Shelf] {
        try context.fetch(FetchRequest<Shelf>(sortedBy: [FetchSort("name")])).filter { !$0.isDeleted && !$0.isMissing }
    }

    private func move(_ level: Level) throws {
        let shelves = try Self.shelves(level.context)
        guard let source = random.pick(shelves), let target = random.pick(shelves), source !== target else { return }
        let amount = Int64(1 + random.below(9))
        for (shelf, change) in [(source, -amount), (target, amount)] {
            shelf.count += change
            level.add(change, to: shelf.name)
        }
    }

    /// Deletes a shelf that is empty, as the context shows it.
    private func delete(_ level: Level) throws {
        let empty = try Self.shelves(level.context).filter { $0.count == 0 }
        guard let shelf = random.pick(empty), counts.count > 3 else { return }
        level.add(nil, to: shelf.name)
        level.context.delete(shelf)
    }

    private func create() throws {
        guard counts.count < 8 else { return }
        let context = file.context(random.below(2))
        created += 1
        let shelf = Shelf(inserting: context)
        shelf.name = "shelf \(created)"
        try context.save()
        counts[shelf.name] = 0
    }

    private func save(_ chain: [Level], _ index: Int) throws {
        let level = chain[index]
        do throws(PersistenceError) {
            try level.context.save()
        } catch {
            switch error {
            case .conflicts, .objectNotFound: break
            default: throw error
            }
            conflictCount += 1
            // The levels above it have changes that are based on these.
            for level in chain[index...].reversed() {
                level.context.rollback()
                level.pending = [:]
            }
            for level in chain[index...] { try level.context.refreshAllObjects() }
            return
        }
        guard !level.pending.isEmpty else { return }
        savedCount += 1
        if index > 0 {
            for (name, change) in level.pending { chain[index - 1].add(change, to: name) }
        } else {
            apply(level.pending)
        }
        level.pending = [:]
    }

    private func apply(_ pending: [String: Int64?]) {
        for (name, change) in pending {
            if let change { counts[name]? += change } else { counts[name] = nil }
        }
    }

    /// Moves an amount in the write lane, while another context does so, too.
    private func write() async throws {
        let strangers = file.containers[random.below(2)]
        let interferes = random.oneIn(2)
        let first = random.next()
        let second = random.next()
        let runs = Guarded(0)
        @Sendable func move(_ context: ManagedObjectContext, _ seed: UInt64) throws -> [String: Int64?] {
            var random = SplitMix64(seed: seed)
            let shelves = try Self.shelves(context)
            guard let source = random.pick(shelves), let target = random.pick(shelves), source !== target else {
                return [:]
            }
            source.count -= 1
            target.count += 1
            return [source.name: -1, target.name: 1]
        }
        let interfered = Guarded<[String: Int64?]>([:])
        let done = try await file.containers[0].write { context in
            // A fetch in the closure reads the rows of the objects that it changes before the others do.
            let shelves = try Self.shelves(context)
            defer { withExtendedLifetime(shelves) {} }
            let isFirst = runs.withLock {
                $0 += 1
                return $0 == 1
            }
            if interferes, isFirst {
                let other = strangers.newContext()
                let pending = try move(other, second)
                try other.save()
                interfered.withLock { $0 = pending }
            }
            return try move(context, first)
        }
        apply(interfered.withLock(\.self))
        apply(done)
    }

    private func check(_ label: String) throws {
        var stored: [String: Int64] = [:]
        for shelf in try file.context(1).fetch(FetchRequest<Shelf>()) { stored[shelf.name] = shelf.count }
        try #require(stored == counts, "\(label)")
    }
}
