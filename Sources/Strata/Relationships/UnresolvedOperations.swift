/// Changes of relationships that need rows which could not be read: the store was busy, or the network away. They are made
/// in their order as soon as the rows can be read, and before a save at the latest. A save that cannot make them fails.
final class UnresolvedOperations: ContextPart {
    /// One change. It either takes effect or throws and has changed nothing.
    typealias Change = (ContextCore) throws(PersistenceError) -> Void

    private struct Operation {
        let object: ManagedObject
        let change: Change
    }

    private var operations: [Operation] = []
    private var isResolving = false

    /// Makes a change now, or keeps it if the store fails. The error is reported for the object.
    func perform(on object: ManagedObject, _ change: @escaping Change) {
        do throws(PersistenceError) {
            // A change must not overtake those before it.
            if !isResolving { try resolve() }
            try change(core)
        } catch {
            core.report(error, object)
            add(object, change)
        }
    }

    /// Keeps a change for later.
    func add(_ object: ManagedObject, _ change: @escaping Change) {
        operations.append(Operation(object: object, change: change))
        core.tracker.countChange()
    }

    /// Makes the changes that were kept.
    /// - Throws: The store's error; what has not been made is kept.
    func resolve() throws(PersistenceError) {
        guard !operations.isEmpty else { return }
        isResolving = true
        defer { isResolving = false }
        let waiting = operations
        operations = []
        for (index, operation) in waiting.enumerated() {
            do throws(PersistenceError) {
                try operation.change(core)
            } catch {
                operations += waiting[index...]
                throw error
            }
        }
    }

    /// Forgets the changes of an object, or all.
    func removeAll(of object: ManagedObject? = nil) {
        if let object { operations.removeAll { $0.object === object } } else { operations = [] }
    }

    var isEmpty: Bool { operations.isEmpty }
}
