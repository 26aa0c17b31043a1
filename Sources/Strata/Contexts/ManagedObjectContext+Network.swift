import Foundation

// Stores of which a part is elsewhere: what is needed is brought before it is read. All other stores are not asked.

extension ManagedObjectContext {
    /// Has the store bring what a plan asks for.
    /// - Returns: The plan that gives the result; nil if it is the plan itself.
    nonisolated(nonsending) func prepared(
        _ plan: FetchPlan, _ options: (any StoreRequestOptions)?
    ) async throws(PersistenceError) -> FetchPlan? {
        guard let network = coordinator.network else { return nil }
        let found: FetchPlan
        do throws(StoreError) {
            found = try await network.prepare(plan, options: options)
        } catch {
            throw PersistenceError(error)
        }
        processPendingChanges()
        return found == plan ? nil : found
    }

    /// As ``prepared(_:_:)``, for the synchronous forms.
    func preparedNow(
        _ plan: FetchPlan, _ options: (any StoreRequestOptions)?
    ) throws(PersistenceError) -> StoreAnswer? {
        guard let network = coordinator.network else { return nil }
        let found = try store { () throws(StoreError) in try network.prepareNow(plan, options: options) }
        processPendingChanges()
        return found == plan ? nil : StoreAnswer(plan: found, isResult: true)
    }

    /// The results of a fetch as they come: one, or several where the store is told to answer with what it has at once
    /// and with what others told later. A remote store does so under the policy `cacheThenNetwork`.
    ///
    ///     for try await cities in context.results(of: request) { show(cities) }
    ///
    /// Nothing is read before the first result is asked for. A result that fails ends the sequence.
    public func results<T>(of request: FetchRequest<T>) -> FetchResults<T> {
        let stages = coordinator.network?.stages(request.storeOptions) ?? [request.storeOptions]
        return FetchResults(context: self, request: request, stages: stages)
    }

    // MARK: Loading

    /// Reads the rows of all faults among some objects, and brings from elsewhere what the store has no more than the
    /// key of: in one request for each entity, or as few as the back end allows. Objects that are not there at all are
    /// ``ManagedObject/isMissing`` afterwards.
    ///
    /// Without the network, where the options or the store forbid it, such objects stay faults.
    /// - Parameter options: What is asked of the kind of store; nil as the store is told.
    /// - Throws: The store's error; ``PersistenceError/cancelled``.
    public nonisolated(nonsending) func load(
        _ objects: [ManagedObject], options: (any StoreRequestOptions)? = nil
    ) async throws(PersistenceError) {
        let byRoot = Dictionary(grouping: objects.filter(\.isFault)) { $0.binding.entity.rootIndex }
        for (root, faults) in byRoot.sorted(by: { $0.key < $1.key }) {
            if let network = coordinator.network {
                do throws(StoreError) {
                    try await network.prepareRows(
                        entityIndex: root, keys: faults.map(\.key).sorted(), options: options)
                } catch {
                    throw PersistenceError(error)
                }
            }
            try fill(faults)
        }
        if coordinator.network != nil { processPendingChanges() }
    }

    /// Reads what a path leads to for all of some objects at once, and brings from elsewhere what the store has no more
    /// than the key of; see ``load(_:options:)``. The objects themselves are loaded first.
    ///
    ///     try await context.load(Todo.keys.list, of: todos)
    ///     for todo in todos { print(todo.list?.name ?? "-") }
    /// - Parameters:
    ///   - path: A typed key, or names of relationships with dots between them.
    ///   - options: What is asked of the kind of store; nil as the store is told.
    /// - Throws: As ``load(_:options:)``; ``PersistenceError/invalidFetch(entity:reason:)`` where a name is no
    ///   relationship of the objects' entity.
    public nonisolated(nonsending) func load(
        _ path: any PrefetchPath, of objects: [ManagedObject], options: (any StoreRequestOptions)? = nil
    ) async throws(PersistenceError) {
        guard let first = objects.first else { return }
        try await load(try steps(of: path, from: first.binding.entity), of: objects, options)
    }

    nonisolated(nonsending) func load(
        _ steps: [RelationshipDescription], of objects: [ManagedObject], _ options: (any StoreRequestOptions)?
    ) async throws(PersistenceError) {
        var current = objects
        for step in steps {
            try await load(current, options: options)
            current = current.filter { !$0.isDeleted && !$0.isFault }
            guard !current.isEmpty else { return }
            if let parent, step.isToMany {
                // The members that a child has are those of its parent, with their rows.
                var owners: [ManagedObject] = []
                for object in current where !object.isInserted {
                    owners.append(try parent.object(with: object.objectID))
                }
                try await parent.load([step], of: owners, options)
            }
            current = try ends(of: step, current)
        }
        try await load(current, options: options)
    }
}

/// The results of a fetch as they come; see ``ManagedObjectContext/results(of:)``. It lives where its context lives.
public struct FetchResults<Object: ManagedObject>: AsyncSequence {
    /// Objects.
    public typealias Element = [Object]
    /// What a result may fail with.
    public typealias Failure = PersistenceError

    let context: ManagedObjectContext
    let request: FetchRequest<Object>
    let stages: [(any StoreRequestOptions)?]

    /// Gives the results one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let context: ManagedObjectContext
        var request: FetchRequest<Object>
        var stages: ArraySlice<(any StoreRequestOptions)?>

        /// The next result; nil after the last one.
        /// - Throws: As ``ManagedObjectContext/fetch(_:)``.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(PersistenceError) -> [Object]? {
            guard let stage = stages.popFirst() else { return nil }
            request.storeOptions = stage
            do throws(PersistenceError) {
                return try await context.fetch(request)
            } catch {
                stages = []
                throw error
            }
        }

        /// The next result; nil after the last one.
        /// - Throws: As ``ManagedObjectContext/fetch(_:)``.
        public mutating func next() async throws(PersistenceError) -> [Object]? { try await next(isolation: nil) }
    }

    /// Gives the results from the first one.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(context: context, request: request, stages: stages[...])
    }
}
