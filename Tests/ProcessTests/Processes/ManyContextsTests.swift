import CrashModels
import Foundation
import SeededRandom
import Strata
import Testing

/// Tasks and processes on one file at the same time: contexts of queues, actors and requests that save, undo and read, and live
/// results, change streams and a consumer of history that follow them.
///
/// All move amounts between accounts, so that the sum of all balances is 0 in every state that somebody may see, and the balance of
/// an account is the sum of its moves. `STRATA_STRESS_SECONDS` sets for how long they work, `STRATA_SEED` the seed.
@Suite(.serialized) struct ManyContextsTests {
    private static let seconds =
        ProcessInfo.processInfo.environment["STRATA_STRESS_SECONDS"].flatMap(Double.init) ?? 2

    @Test("What tasks and processes save, undo and follow at the same time agrees in the end")
    func manyContexts() async throws {
        let seed = RunSeed.value()
        print("many contexts: seed \(seed), \(Self.seconds) seconds")
        let folder = FileManager.default.temporaryDirectory.appending(path: "strata-stress-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "ledger.sqlite")
        var options = SQLiteStore.Options()
        options.history = .on(keeping: .days(1))
        options.busyTimeout = 60
        let store = try SQLiteStore.open(
            model: CrashModels.ledger(), location: .file(path: path.path), options: options)
        let container = try PersistentContainer(store: store, classes: [Move.self])
        defer { container.close() }
        try await container.write { context in
            for number in 0..<Ledger.accounts {
                try context.insert(entityNamed: "Account")["number"] = Int64(number)
            }
        }

        let list = try AccountList(container)
        let journal = Journal(container)
        let processes = try [
            Probe(store: path, count: 40, mode: "ledger"), Probe(store: path, count: 40, mode: "ledger"),
        ]
        let deadline = ContinuousClock.now + .seconds(Self.seconds)
        let workers: [Worker] = [
            .queue(container.newBackgroundContext()), .queue(container.newBackgroundContext()),
            .child(container.newBackgroundContext()), .draft(container), .request(container), .request(container),
            .undo(container.newBackgroundContext()), .bulk(container),
            .commits(container, container.newBackgroundContext()), .pinned(container), .list(list), .journal(journal),
        ]
        let saved = try await withThrowingTaskGroup(of: Int.self) { group in
            for (index, worker) in workers.enumerated() {
                group.addTask {
                    var random = SplitMix64(seed: seed &+ UInt64(index))
                    var saved = 0
                    repeat { saved += try await worker.work(&random) } while ContinuousClock.now < deadline
                    return saved
                }
            }
            return try await group.reduce(0, +)
        }
        for process in processes { #expect(process.end() == 0) }

        let context = container.newContext()
        let total = saved + 80
        #expect(try await context.count(FetchRequest<ManagedObject>(entity: "Move")) == 2 * total)
        #expect(saved > 0)
        #expect(try Ledger.sum(context) == 0)
        for account in try await context.fetch(FetchRequest<ManagedObject>(entity: "Account")) {
            let moves = try #require(account["moves"] as? Set<ManagedObject>)
            #expect(account["balance"] as? Int64 == moves.reduce(0) { $0 + ($1["amount"] as? Int64 ?? 0) })
        }
        try await list.check()
        try await journal.read()
        #expect(await journal.moves == 2 * total)
        #expect(try store.integrityReport().isSound)
    }
}

/// What one task does over and over. Contexts that save do not merge what others save: two changes of one balance are a conflict,
/// which begins again with the balance that the other one has left.
private enum Worker: Sendable {
    case queue(BackgroundContext)
    case child(BackgroundContext)
    /// A child in the same isolation domain.
    case draft(PersistentContainer)
    /// A write as a server does it for a request.
    case request(PersistentContainer)
    case undo(BackgroundContext)
    case bulk(PersistentContainer)
    case commits(PersistentContainer, BackgroundContext)
    case pinned(PersistentContainer)
    case list(AccountList)
    case journal(Journal)

    /// - Returns: How many transfers it has saved.
    func work(_ random: inout SplitMix64) async throws -> Int {
        let transfer = Transfer(&random)
        switch self {
        case .queue(let background):
            try await background.perform { context in
                context.automaticallyMergesChanges = false
                try transfer.save(context)
            }
            return 1
        case .child(let background):
            await background.perform { context in context.automaticallyMergesChanges = false }
            let child = await background.makeBackgroundChild()
            let isDone = try await child.perform { context in
                do throws(PersistenceError) {
                    try transfer.apply(context)
                    try await context.save()
                    return true
                } catch {
                    guard case .conflicts = error else { throw error }
                    return false
                }
            }
            return try await background.perform { context in try context.savesWithoutConflict() && isDone ? 1 : 0 }
        case .draft(let container):
            return try await container.performBackgroundTask { context in
                let child = context.makeChild()
                try transfer.apply(child)
                return try child.savesWithoutConflict() && context.savesWithoutConflict() ? 1 : 0
            }
        case .request(let container):
            do {
                try await container.write { context in try transfer.apply(context) }
                return 1
            } catch PersistenceError.conflicts {
                return 0
            }
        case .undo(let background):
            return try await background.perform { context in
                context.automaticallyMergesChanges = false
                let history = context.undoManager ?? UndoHistory()
                context.undoManager = history
                try transfer.save(context)
                try history.undo()
                // Others may have changed the accounts since, and then the step stays as it was saved.
                let isUndone = try context.savesWithoutConflict()
                history.removeAllActions()
                return isUndone ? 0 : 1
            }
        case .bulk(let container):
            // Moves are nobody else's to change, so no save meets a conflict there.
            try await container.performBackgroundTask { context in
                let request = FetchRequest<Move>(where: try FetchPredicate(format: "amount > 50"))
                try context.update(request) { $0.number += 1 }
            }
            return 0
        case .commits(let container, let background):
            var commits = container.changes.makeAsyncIterator()
            let saved = try await Worker.queue(background).work(&random)
            #expect(await commits.next() != nil)
            return saved
        case .pinned(let container):
            try await container.read { context in
                try context.pin(for: .seconds(30))
                defer { context.unpin() }
                for _ in 0..<3 { #expect(try Ledger.sum(context) == 0) }
            }
            return 0
        case .list(let list):
            try await list.check()
            return 0
        case .journal(let journal):
            try await journal.read()
            return 0
        }
    }
}

/// A list of accounts by balance that follows what others save.
private actor AccountList {
    private let context: ManagedObjectContext
    private let results: FetchedResults<ManagedObject>
    private let positive: FetchedResults<ManagedObject>

    init(_ container: PersistentContainer) throws {
        context = container.newContext(automaticallyMergesChanges: true)
        let sorts = [FetchSort("balance", ascending: false), FetchSort("number")]
        results = try context.live(FetchRequest<ManagedObject>(entity: "Account", sortedBy: sorts))
        positive = try context.live(
            FetchRequest<ManagedObject>(
                entity: "Account", where: try FetchPredicate(format: "ANY moves.amount > 90"), sortedBy: sorts))
    }

    /// Compares the lists with fetches in the same version of the store.
    func check() throws {
        context.processPendingChanges()
        for list in [results, positive] {
            let ids = list.snapshot.ids
            #expect(list.failure == nil)
            let sorted = list.map { ($0["balance"] as? Int64 ?? 0, $0["number"] as? Int64 ?? 0) }
            #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $0.0 > $1.0 || ($0.0 == $1.0 && $0.1 < $1.1) })
            #expect(Set(ids).count == ids.count)
        }
        #expect(results.count == Ledger.accounts)
        // The objects are of one version of the store, because the context merges whole commits.
        #expect(results.reduce(0) { $0 + ($1["balance"] as? Int64 ?? 0) } == 0)
    }
}

/// Counts moves by the history of the store.
private actor Journal {
    private let container: PersistentContainer
    private(set) var moves = 0

    init(_ container: PersistentContainer) { self.container = container }

    func read() throws {
        try container.consumeHistory(as: "journal") { transactions in
            for change in transactions.flatMap(\.changes) where change.entityName == "Move" {
                switch change.kind {
                case .inserted: moves += 1
                case .deleted: moves -= 1
                default: break
                }
            }
        }
    }
}

private final class Move: ManagedObject {
    override class var entityName: String { "Move" }
}

extension ObjectKeys where Object: Move {
    fileprivate var number: AttributeKey<Int64> { AttributeKey(path, "number") }
}
