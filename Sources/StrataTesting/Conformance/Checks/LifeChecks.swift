import Foundation
import Strata
import StrataStore

extension ConformanceCheck {
    static let life: [ConformanceCheck] = [
        ConformanceCheck(.life, "saved objects exist again", needs: [.persistence]) { trial in
            let ann = try trial.insert("Person", ["name": "Ann"])
            let item = try trial.insert("Item", ["name": "x", "owner": ann, "large": Int64(7)])
            let id = item.objectID
            try trial.context.save()
            try trial.reopen()
            let found = try trial.context.existingObject(with: id)
            try trial.expectEqual(found["large"] as? Int64, 7, "large after reopening")
            try trial.expectEqual(
                (found["owner"] as? ManagedObject)?["name"] as? String, "Ann", "the owner after reopening")
        },
        ConformanceCheck(.life, "unsaved objects do not exist", needs: [.persistence]) { trial in
            try trial.items(["a"])
            try trial.insert("Item", ["name": "never saved"])
            try trial.reopen()
            try trial.expectEqual(try trial.names("Item"), ["a"], "the items after reopening")
        },
        ConformanceCheck(.life, "a store keeps its identity", needs: [.persistence]) { trial in
            let before = trial.store.identifier
            try trial.reopen()
            try trial.expectEqual(
                trial.store.identifier, before, "the identifier after reopening: IDs of objects hold it")
        },
        ConformanceCheck(.life, "a closed store says so") { trial in
            try trial.items(["a"])
            trial.close()
            do {
                _ = try trial.keep(trial.container.newContext()).fetch(try trial.request("Item"))
            } catch PersistenceError.store(.closed) {
                return
            } catch {
                throw ConformanceFailure(message: "a fetch after close() threw \(error), not StoreError.closed")
            }
            throw ConformanceFailure(message: "a fetch after close() was answered: throw StoreError.closed")
        },
        ConformanceCheck(.life, "the model is the one it was opened with") { trial in
            try trial.expect(
                trial.store.model === trial.model,
                "store.model is another model than the one that the store was opened with")
        },
    ]

    static let threads: [ConformanceCheck] = [
        ConformanceCheck(.threads, "keys reserved at once are all different", needs: [.threads]) { trial in
            guard let root = trial.model.entity(named: "Item")?.rootIndex else { return }
            let store = trial.store
            let found = Collected<Int64>()
            DispatchQueue.concurrentPerform(iterations: 16) { _ in
                for _ in 0..<20 {
                    if let range = try? store.allocateKeys(5, rootIndex: root) { found.add(Array(range)) }
                }
            }
            let keys = found.all
            try trial.expectEqual(keys.count, 16 * 20 * 5, "how many keys 16 threads were given")
            try trial.expectEqual(Set(keys).count, keys.count, "how many of them are different")
        },
        ConformanceCheck(.threads, "reading and writing at once", needs: [.threads]) { trial in
            let container = trial.container
            let problems = Collected<String>()
            DispatchQueue.concurrentPerform(iterations: 8) { worker in
                let context = container.newContext()
                do {
                    for number in 0..<10 {
                        let item = try context.insert(entityNamed: "Item")
                        try item.setValue("w\(worker).\(number)", forKey: "name")
                        _ = try item.assignObjectID()
                        try context.save()
                        let mine = try context.fetch(
                            FetchRequest<ManagedObject>(
                                entity: "Item", where: try FetchPredicate(format: "name BEGINSWITH %@", "w\(worker).")))
                        if mine.count != number + 1 {
                            problems.add(["worker \(worker) saved \(number + 1) items and finds \(mine.count)"])
                        }
                    }
                } catch {
                    problems.add(["worker \(worker): \(error)"])
                }
            }
            try trial.expectEqual(problems.all, [], "what eight threads met that read and wrote at once")
            try trial.expectEqual(
                try container.newContext().count(try trial.request("Item")), 80, "the items of eight threads")
        },
    ]
}

/// Elements that several threads add.
private final class Collected<Element: Sendable>: Sendable {
    private let elements = Guarded<[Element]>([])

    func add(_ more: [Element]) { elements.withLock { $0 += more } }
    var all: [Element] { elements.withLock(\.self) }
}
