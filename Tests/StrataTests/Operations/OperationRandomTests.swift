import Foundation
import SeededRandom
import Strata
import StrataStore
import Testing

/// Several contexts, of two containers on a file and with all merge policies, do things to one object at random.
///
/// `STRATA_RUNS=1000` tries so many seeds, from `STRATA_SEED` on.
@Suite struct OperationRandomTests {
    @Test(
        "Random operations of several contexts come to what they come to one after the other",
        arguments: RunSeed.seeds(200, from: 31_000))
    func random(seed: UInt64) throws {
        let world = try OperationWorld(seed: seed)
        for _ in 0..<60 { try world.step() }
        try world.finish()
    }
}

private final class OperationWorld {
    private struct Pending {
        var steps: [(name: String, operation: FieldOperation)] = []
    }

    private let file: ShelfFile
    private let seed: UInt64
    private var random: SplitMix64
    private var contexts: [ManagedObjectContext] = []
    private var children: [ManagedObjectContext] = []
    private var pending: [Pending]
    private var ofChildren: [Pending]
    /// What the file has to have.
    private var truth: [String: Value] = ["count": 0, "amount": nil, "tags": [], "sizes": nil]
    private var log: [String] = []

    init(seed: UInt64) throws {
        self.seed = seed
        random = SplitMix64(seed: seed)
        file = try ShelfFile()
        for number in 0..<4 {
            let policy = MergePolicy.allCases[random.below(MergePolicy.allCases.count)]
            let context = file.containers[number % 2].newContext(automaticallyMergesChanges: random.oneIn(2))
            context.mergePolicy = policy
            log.append("context \(number): \(policy)")
            contexts.append(context)
            let child = context.makeChild()
            // It would give its parent the values that it has read, too.
            if policy == .overwrite { child.mergePolicy = .objectWinsByProperty }
            children.append(child)
        }
        pending = Array(repeating: Pending(), count: 4)
        ofChildren = pending
    }

    private static let types: [String: AttributeType] = [
        "count": .integer64, "amount": .decimal, "tags": .array(.string), "sizes": .array(.double),
    ]

    func step() throws {
        let number = random.below(4)
        let context = contexts[number]
        switch random.below(20) {
        case 0..<8:
            let (name, operation) = anyOperation()
            log.append("\(number): \(name) \(operation)")
            try perform(operation, name, context.shelf())
            pending[number].steps.append((name, operation))
        case 8..<11:
            let (name, operation) = anyOperation()
            log.append("\(number) child: \(name) \(operation)")
            try perform(operation, name, children[number].shelf())
            ofChildren[number].steps.append((name, operation))
        case 11..<13:
            log.append("\(number) child: save")
            // What others have saved comes before, and not between the two that are compared.
            context.processPendingChanges()
            let operates = try children[number].shelf().hasPersistentChangedValues
            try children[number].save()
            pending[number].steps += ofChildren[number].steps
            if operates {
                try #expect(values(children[number].shelf()) == values(context.shelf()), "\(text)")
            }
            ofChildren[number] = Pending()
        case 13..<17: try save(number)
        case 17:
            log.append("\(number): refresh")
            try context.refresh(context.shelf())
        case 18 where random.oneIn(3):
            log.append("\(number): rollback")
            context.rollback()
            pending[number] = Pending()
        case 18:
            log.append("\(number): name")
            try context.shelf().name = "name \(random.below(100))"
        default:
            log.append("\(number): process")
            context.processPendingChanges()
        }
    }

    private func save(_ number: Int) throws {
        let context = contexts[number]
        let operates = try context.shelf().hasPersistentChangedValues
        let overwritten = try overwritten(context)
        do throws(PersistenceError) {
            try context.save()
        } catch {
            guard case .conflicts = error else { throw error }
            // The name was changed on both sides.
            #expect(context.mergePolicy == .error, "\(text)")
            log.append("\(number): conflict")
            context.rollback()
            pending[number] = Pending()
            return try check()
        }
        log.append("\(number): saved")
        for (name, type) in Self.types {
            // Operations that take each other back change nothing, not even nil.
            let done = FieldOperations(pending[number].steps.filter { $0.name == name }.map(\.operation))
            if let value = overwritten?[name], done.isEmpty {
                truth[name] = value
            } else if let value = done.applied(to: truth[name] ?? nil, of: type) {
                truth[name] = value
            }
        }
        pending[number] = Pending()
        if operates { try #expect(values(context.shelf()) == truth, "\(text)") }
        try check()
    }

    /// What a save writes over the values of others to which nothing was done here: by its policy everything that it has.
    private func overwritten(_ context: ManagedObjectContext) throws -> [String: Value]? {
        guard context.mergePolicy == .overwrite else { return nil }
        context.processPendingChanges()
        let shelf = try context.shelf()
        guard shelf.hasPersistentChangedValues, try shelf.version != file.stored().version else { return nil }
        return values(shelf)
    }

    func finish() throws {
        for number in contexts.indices { try save(number) }
    }

    private func check() throws { try #expect(values(file.stored()) == truth, "\(text)") }

    private var text: String { "STRATA_SEED=\(seed)\n\(log.joined(separator: "\n"))" }

    private func values(_ shelf: Shelf) -> [String: Value] {
        [
            "count": .integer(shelf.count), "amount": shelf.amount.map(Value.decimal) ?? nil,
            "tags": .list(shelf.tags.map(Value.string)),
            "sizes": shelf.sizes.map { .list($0.map(Value.double)) } ?? nil,
        ]
    }

    private func anyOperation() -> (String, FieldOperation) {
        let name = ["count", "amount", "tags", "sizes"][random.below(4)]
        switch name {
        case "count": return (name, .increment(.integer(Int64(random.below(21)) - 10)))
        case "amount": return (name, .increment(.decimal(Decimal(random.below(21) - 10) / 100)))
        default:
            let elements = (0..<random.below(3)).map { _ in
                name == "tags" ? Value.string("\(random.below(5))") : .double(Double(random.below(5)) / 2)
            }
            switch random.below(3) {
            case 0: return (name, .append(elements))
            case 1: return (name, .appendUnique(elements))
            default: return (name, .remove(elements))
            }
        }
    }

    private func perform(_ operation: FieldOperation, _ name: String, _ shelf: Shelf) throws {
        switch operation {
        case .increment(.integer(let amount)): try shelf.increment(name, by: Int(amount))
        case .increment(.decimal(let amount)): try shelf.increment(name, by: amount)
        case .increment: Issue.record("no such amount")
        case .append(let elements): try shelf.add(elements.map(plain), to: name)
        case .appendUnique(let elements): try shelf.addUnique(elements.map(plain), to: name)
        case .remove(let elements): try shelf.remove(elements.map(plain), from: name)
        }
    }

    private func plain(_ value: Value) -> any AttributeValue {
        if case .double(let number) = value { number } else { String(value) ?? "" }
    }
}
