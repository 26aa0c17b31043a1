import StrataSQL
import StrataSQLite
import StrataStore

/// The rows that are here because a context needs them, and that are not part of the mirror otherwise: by topmost
/// entity. The file has them, too, so that the next process can forget the rows of one that was killed.
final class PassingKeys: Sendable {
    private let keys = Guarded<[Int: Set<Int64>]>([:])

    func add(_ new: some Sequence<Int64>, rootIndex: Int) {
        keys.withLock { $0[rootIndex, default: []].formUnion(new) }
    }

    func remove(_ kept: some Sequence<Int64>, rootIndex: Int) {
        keys.withLock { all in
            guard all[rootIndex] != nil else { return }
            all[rootIndex]?.subtract(kept)
        }
    }

    func of(_ rootIndex: Int) -> Set<Int64> { keys.withLock { $0[rootIndex] ?? [] } }

    var all: [Int: Set<Int64>] { keys.withLock { $0 } }
}

extension Mirror {
    /// Some rows are here only until contexts need them no more.
    func notePassing(_ keys: [Int64], rootIndex: Int) throws(StoreError) {
        if keys.isEmpty { return }
        try store.transaction { (transaction) throws(StoreError) in
            try notePassing(keys, rootIndex: rootIndex, on: transaction.connection)
        }
        passing.add(keys, rootIndex: rootIndex)
    }

    func notePassing(_ keys: [Int64], rootIndex: Int, on connection: Connection) throws(StoreError) {
        let statement = try connection.statement(
            "INSERT OR IGNORE INTO _remote_passing(root, key) SELECT ?, value FROM strata_list(?)")
        statement.bind(entities.numbers[rootIndex], at: 1)
        statement.bind(ValueList(keys: keys), at: 2)
        try statement.run()
    }

    /// Some rows are a part of the mirror from now on.
    func forgetPassing(_ keys: [Int64], rootIndex: Int) throws(StoreError) {
        let known = passing.of(rootIndex)
        let kept = keys.filter(known.contains)
        if kept.isEmpty { return }
        try store.transaction { (transaction) throws(StoreError) in
            let statement = try transaction.connection.statement(
                "DELETE FROM _remote_passing WHERE root = ? AND key IN (SELECT value FROM strata_list(?))")
            statement.bind(entities.numbers[rootIndex], at: 1)
            statement.bind(ValueList(keys: kept), at: 2)
            try statement.run()
        }
        passing.remove(kept, rootIndex: rootIndex)
    }

    /// Forgets the rows that are not part of the mirror, those of an earlier process included. Objects of which changes wait are
    /// a part of it from now on.
    func purgePassing() throws(StoreError) {
        var isEmpty = true
        let rows = try store.reading { (connection) throws(StoreError) in
            let statement = try connection.statement(
                """
                SELECT root, key, EXISTS (SELECT 1 FROM _outbox WHERE _outbox.root = p.root AND _outbox.key = p.key) \
                FROM _remote_passing AS p
                """)
            var rows: [Int: [Int64]] = [:]
            while try statement.step() {
                isEmpty = false
                guard statement.integer(2) == 0, let index = entities.indexes[statement.integer(0)] else { continue }
                rows[index, default: []].append(statement.integer(1))
            }
            return rows
        }
        if isEmpty { return }
        for (root, keys) in rows { try purge(Array(try ids(entityIndex: root, keys: keys.sorted()).values)) }
        try store.transaction { (transaction) throws(StoreError) in
            try transaction.connection.execute("DELETE FROM _remote_passing")
        }
        for (root, keys) in passing.all { passing.remove(keys, rootIndex: root) }
    }
}
