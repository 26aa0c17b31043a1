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
    private let filled = Guarded<Int64>(1)
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

    /// The version of an object whose placeholder gets its values: beyond all those that objects had before they became
    /// placeholders, so that contexts that still have one of those are in conflict.
    var filledVersion: Int64 { filled.withLock(\.self) }

    /// An object becomes a placeholder.
    /// - Parameter next: A version beyond all that it had.
    func empty(_ identity: RowIdentity, next: Int64) {
        forget(identity)
        filled.withLock { $0 = max($0, next) }
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
            targets[identity] = ownVersion(of: identity, behind: update.baseVersion, changes.source) { echo in
                let operations = changes.operations(of: update)
                return !update.slots.contains { echo.slots.contains($0) && operations[$0] == nil }
            }
        }
        for delete in changes.deletes {
            guard let version = delete.baseVersion else { continue }
            let identity = RowIdentity(entityIndex: root(delete.entityIndex), key: delete.key)
            targets[identity] = ownVersion(of: identity, behind: version, changes.source, where: \.isOwn)
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

    /// The version that acknowledgments, or a save of the context without an answer, have made of the one that the context has.
    /// - Parameter mayPass: Whether the change of the context is in no conflict with an acknowledgment.
    private func ownVersion(
        of identity: RowIdentity, behind version: Int64, _ source: ChangeSource?,
        where mayPass: (OwnEchoes.Echo) -> Bool
    ) -> Int64? {
        if let echo = echoes.echo(of: identity, from: version), mayPass(echo) { return echo.to }
        guard let step = online.unknown.step(of: identity, of: source) else { return nil }
        return step.from <= version && version < step.to ? step.to : nil
    }
}
