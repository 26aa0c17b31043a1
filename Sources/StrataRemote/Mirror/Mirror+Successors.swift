import StrataSQL
import StrataSQLite

/// References that a mirror does not know, such as those of objects in other stores, may have the key of a row that gave way
/// to another one.
extension Mirror {
    /// Notes that a row gave way to another one of its hierarchy.
    func noteSuccessor(of key: Int64, _ successor: Int64, root: Int, on connection: Connection) throws(StoreError) {
        for sql in [
            "UPDATE _remote_successors SET successor = ?3 WHERE root = ?1 AND successor = ?2",
            "INSERT OR REPLACE INTO _remote_successors(root, key, successor) VALUES(?1, ?2, ?3)",
        ] {
            let statement = try connection.statement(sql)
            statement.bind(entities.numbers[root], at: 1)
            statement.bind(key, at: 2)
            statement.bind(successor, at: 3)
            try statement.run()
        }
    }

    /// The keys of the rows that others gave way to.
    func successors(of keys: [Int64], root: Int) throws(StoreError) -> [Int64: Int64] {
        if keys.isEmpty { return [:] }
        return try store.reading { (connection) throws(StoreError) in
            let statement = try connection.statement(
                """
                SELECT s.key, s.successor FROM strata_list(?) AS l CROSS JOIN _remote_successors AS s \
                ON s.root = ? AND s.key = l.value
                """)
            statement.bind(ValueList(keys: keys), at: 1)
            statement.bind(entities.numbers[root], at: 2)
            var result: [Int64: Int64] = [:]
            while try statement.step() { result[statement.integer(0)] = statement.integer(1) }
            return result
        }
    }
}
