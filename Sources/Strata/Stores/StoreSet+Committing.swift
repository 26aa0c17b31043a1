import StrataStore

extension StoreSet {
    /// What a save gives to one store: the first for which there are changes.
    struct Step {
        /// The position of the store.
        let position: Int
        /// The name of its configuration.
        let configuration: String
        /// What is committed: the changes of this store, and the checks of all stores that are not written.
        let changes: ChangeSet
        /// What is saved once it is committed. If other stores are still to be written, the checks of others stay.
        let done: ChangeSet
        /// The names of the configurations that are written afterwards.
        let rest: [String]
        /// Whether this is the last store of the save.
        var isLast: Bool { rest.isEmpty }
    }

    /// The next step of a save: the stores are written in the order in which they were described, each in one transaction.
    /// - Parameters:
    ///   - finished: The positions of the stores that are written already.
    ///   - isBlocking: Whether the save cannot suspend.
    /// - Returns: A last step without changes if nothing is left.
    /// - Throws: ``StoreError/readOnly(path:)`` if a store that must be written may not be;
    ///   ``StoreError/needsNetwork(store:what:)`` if one would have to wait for a network and the save cannot. Nothing of this
    ///   step has been written then.
    func next(in changes: ChangeSet, after finished: Set<Int>, isBlocking: Bool) throws(StoreError) -> Step {
        let divided = divide(changes)
        let written = divided.indices.filter { !divided[$0].isEmpty && !finished.contains($0) }
        guard let position = written.first else {
            return Step(position: 0, configuration: "", changes: ChangeSet(), done: ChangeSet(), rest: [])
        }
        for index in written where parts[index].store.isReadOnly { throw .readOnly(path: parts[index].name) }
        if isBlocking {
            for index in written { try (parts[index].store as? any NetworkStore)?.checkCommitNow() }
        }
        var sent = divided[position]
        for index in divided.indices where !written.contains(index) { sent.checks += divided[index].checks }
        return Step(
            position: position, configuration: parts[position].configuration, changes: sent,
            done: written.count == 1 ? sent : divided[position],
            rest: written.dropFirst().map { parts[$0].configuration })
    }

    /// Commits changes of one store. Checks may be of others: these compare versions before anything is written.
    /// - Throws: ``StoreError/unsupported(store:feature:)`` for changes of several stores.
    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
        guard let entityIndex = changes.someEntityIndex else { return .committed(CommitEffects()) }
        let (own, others) = try single(changes)
        let conflicts = try failures(of: others)
        guard conflicts.isEmpty else { return .conflicts(conflicts) }
        let part = part(of: entityIndex)
        return part.translation.outer(try part.store.commit(part.translation.inner(own)))
    }

    /// The changes of the one store that a change set is about, and the checks of others.
    /// - Throws: ``StoreError/unsupported(store:feature:)`` for changes of several stores.
    func single(_ changes: ChangeSet) throws(StoreError) -> (own: ChangeSet, others: [ChangeSet.Check]) {
        let divided = divide(changes)
        let written = divided.indices.filter { !divided[$0].isEmpty }
        guard written.count <= 1 else {
            throw .unsupported(
                store: name,
                feature: "one transaction over several stores; save a context, which commits to one after the other")
        }
        let position = written.first ?? 0
        return (divided[position], divided.indices.filter { $0 != position }.flatMap { divided[$0].checks })
    }

    /// The objects that others have changed since they were read.
    func failures(of checks: [ChangeSet.Check]) throws(StoreError) -> [StoreConflict] {
        var result: [StoreConflict] = []
        for (entityIndex, checks) in Dictionary(grouping: checks, by: \.entityIndex).sorted(by: { $0.key < $1.key }) {
            let rows = try rows(entityIndex: entityIndex, keys: checks.map(\.key)).rows
            let found = Dictionary(rows.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
            for check in checks where found[check.key]?.version != check.version {
                result.append(
                    StoreConflict(
                        reason: .version, entityIndex: entityIndex, key: check.key, storeRow: found[check.key]))
            }
        }
        return result
    }

    /// The changes of each store.
    private func divide(_ changes: ChangeSet) -> [ChangeSet] {
        var empty = ChangeSet()
        empty.author = changes.author
        empty.contextName = changes.contextName
        empty.source = changes.source
        var result = Array(repeating: empty, count: parts.count)
        for insert in changes.inserts { result[position(of: insert.row.entityIndex)].inserts.append(insert) }
        for update in changes.updates { result[position(of: update.row.entityIndex)].updates.append(update) }
        for delete in changes.deletes { result[position(of: delete.entityIndex)].deletes.append(delete) }
        for clearing in changes.clearings { result[position(of: clearing.entityIndex)].clearings.append(clearing) }
        for pair in changes.pairs { result[position(of: pair.entityIndex)].pairs.append(pair) }
        for order in changes.orders { result[position(of: order.entityIndex)].orders.append(order) }
        for check in changes.checks { result[position(of: check.entityIndex)].checks.append(check) }
        for (identity, operations) in changes.operations {
            result[position(of: identity.entityIndex)].operations[identity] = operations
        }
        return result
    }
}

extension ChangeSet {
    /// The position of an entity that is changed; nil if nothing is.
    var someEntityIndex: Int? {
        inserts.first?.row.row.entityIndex ?? updates.first?.row.row.entityIndex ?? deletes.first?.entityIndex
            ?? clearings.first?.entityIndex ?? pairs.first?.entityIndex ?? orders.first?.entityIndex
    }
}

/// How far a save over several stores has come. For a container with one store it does nothing.
struct SaveProgress {
    private let set: StoreSet?
    private var finished: Set<Int> = []
    /// The configurations whose changes are committed.
    private var committed: [String] = []
    /// Those whose changes are not, the next one first.
    private var rest: [String] = []

    init(_ set: StoreSet?) { self.set = set }

    /// The next step; nil for a container with one store.
    /// - Parameter isBlocking: Whether the save cannot suspend.
    /// - Throws: ``PersistenceError/store(_:)`` if a store cannot be written.
    mutating func next(
        _ changes: ChangeSet, isBlocking: Bool = false
    ) throws(PersistenceError) -> StoreSet.Step? {
        guard let set else { return nil }
        do throws(StoreError) {
            let step = try set.next(in: changes, after: finished, isBlocking: isBlocking)
            rest = [step.configuration] + step.rest
            return step
        } catch {
            throw .store(error)
        }
    }

    /// Whether a step is all of the save.
    func isAll(_ step: StoreSet.Step) -> Bool { step.isLast && finished.isEmpty }

    /// Notes that a step is committed.
    mutating func finish(_ step: StoreSet.Step) {
        finished.insert(step.position)
        committed.append(step.configuration)
        rest = step.rest
    }

    /// The error of a save: if stores are committed already, it names them.
    func error(_ reason: PersistenceError) -> PersistenceError {
        committed.isEmpty ? reason : .partlySaved(committed: committed, pending: rest, reason: reason)
    }
}
