import StrataSQLite
import StrataStore

/// What the acknowledgment of a change has made of rows here: the server fills values in. A context that saved the change
/// and has not heard about the answer is not in conflict with it when it saves the object again: nobody is in conflict
/// with himself. Kept in memory, as contexts are.
final class OwnEchoes: Sendable {
    /// The way of a row from the version that was saved to the one that acknowledgments have made of it.
    struct Echo {
        let from: Int64
        var to: Int64
        /// What the server has filled in.
        var slots: SlotSet
        /// Whether all of that is known to be the server's doing. The answer to a repetition also tells what others have changed
        /// since the first attempt: a deletion is in conflict with that.
        var isOwn: Bool
    }

    /// By topmost entity and key.
    private let echoes = Guarded<[RowIdentity: Echo]>([:])
    /// Contexts that are further behind meet a conflict.
    private static let limit = 100_000

    func add(_ identity: RowIdentity, _ new: Echo) {
        echoes.withLock { echoes in
            if var echo = echoes[identity], echo.to == new.from {
                echo.to = new.to
                echo.slots.formUnion(new.slots)
                echo.isOwn = echo.isOwn && new.isOwn
                echoes[identity] = echo
            } else {
                if echoes.count >= Self.limit { echoes = [:] }
                echoes[identity] = new
            }
        }
    }

    /// What became of a version that a context has; nil if others have written the row since, or nobody.
    func echo(of identity: RowIdentity, from version: Int64) -> Echo? {
        echoes.withLock { $0[identity].flatMap { $0.from <= version && version < $0.to ? $0 : nil } }
    }

    func forget(_ identity: RowIdentity) { echoes.withLock { $0[identity] = nil } }

    func forgetAll() { echoes.withLock { $0 = [:] } }
}

extension Mirror {
    /// Runs a transaction that applies acknowledgments.
    func echoing<T>(_ body: (StoreTransaction) throws(StoreError) -> T) throws(StoreError) -> T {
        do throws(StoreError) {
            return try store.transaction(body)
        } catch {
            // The rows have not become what was noted; others may get the same versions.
            echoes.forgetAll()
            online.unknown.forgetSteps()
            throw error
        }
    }

    /// The changes of a context on top of what acknowledgments of its own have made of the rows, and of what its saves without an
    /// answer have.
    /// - Returns: The changes, and the objects whose rows are others than the context has.
    func behindEchoes(_ changes: ChangeSet) throws(StoreError) -> (changes: ChangeSet, objects: Set<RowIdentity>) {
        // The versions that they have made.
        var targets: [RowIdentity: Int64] = [:]
        for update in changes.updates {
            let identity = RowIdentity(entityIndex: root(update.row.row.entityIndex), key: update.row.row.key)
            let operations = changes.operations(of: update)
            if let echo = echoes.echo(of: identity, from: update.baseVersion),
                !update.slots.contains(where: { echo.slots.contains($0) && operations[$0] == nil })
            {
                targets[identity] = echo.to
            } else {
                targets[identity] = unansweredStep(of: identity, from: update.baseVersion, changes.source)?.to
            }
        }
        for delete in changes.deletes {
            let identity = RowIdentity(entityIndex: root(delete.entityIndex), key: delete.key)
            guard let version = delete.baseVersion else { continue }
            if let echo = echoes.echo(of: identity, from: version), echo.isOwn {
                targets[identity] = echo.to
            } else {
                targets[identity] = unansweredStep(of: identity, from: version, changes.source)?.to
            }
        }
        if targets.isEmpty { return (changes, []) }
        var rows: [RowIdentity: RowReference?] = [:]
        for (root, list) in Dictionary(grouping: targets.keys, by: \.entityIndex) {
            for row in try store.rows(entityIndex: root, keys: list.map(\.key).sorted()).rows {
                let identity = RowIdentity(entityIndex: root, key: row.row.key)
                if targets[identity] == row.row.version { rows[identity] = .some(row) }
            }
        }
        return (changes.rebased(on: rows, model), Set(rows.keys))
    }

    /// What a save of a context without an answer has made of the row that the context has.
    private func unansweredStep(of identity: RowIdentity, from version: Int64, _ source: ChangeSource?) -> RowStep? {
        guard let step = online.unknown.step(of: identity, of: source) else { return nil }
        return step.from <= version && version < step.to ? step : nil
    }
}
