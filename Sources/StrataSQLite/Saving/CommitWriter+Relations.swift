import StrataCSQLite
import StrataSQL
import StrataStore

extension CommitWriter {
    /// Adds and removes pairs. Adding a pair that exists, or removing one that does not, is not an error.
    func writePairs() throws(StoreError) {
        // Those that are added to the same table one after the other, with no removal between them.
        var added: [(owner: Int64, member: Int64)] = []
        var insert = ""
        for change in changes.pairs {
            guard let side = store.layout.pairs(change.entityIndex, change.relationshipIndex) else { continue }
            let table = side.table
            let sql = "INSERT INTO \(table.quoted)(\(side.near), \(side.far)) VALUES "
            if sql != insert || !change.removed.isEmpty {
                try add(added, insert)
                added = []
                insert = sql
            }
            if !change.removed.isEmpty {
                let statement = try connection.statement(
                    "DELETE FROM \(table.quoted) WHERE \(side.near) = ? AND \(side.far) = ?")
                try write(change.removed, owner: change.owner, isSymmetric: table.isSymmetric, statement)
            }
            for member in change.added {
                added.append((change.owner, member))
                if table.isSymmetric, member != change.owner { added.append((member, change.owner)) }
            }
        }
        try add(added, insert)
    }

    private func add(_ pairs: [(owner: Int64, member: Int64)], _ insert: String) throws(StoreError) {
        for part in StatementRows.parts(pairs[...], columns: 2) {
            let statement = try connection.statement(
                insert + StatementRows.text("(?, ?)", part.count) + " ON CONFLICT DO NOTHING")
            var parameter: Int32 = 0
            for (owner, member) in part {
                statement.bind(owner, at: parameter + 1)
                statement.bind(member, at: parameter + 2)
                parameter += 2
            }
            try statement.run()
        }
    }

    private func write(_ members: [Int64], owner: Int64, isSymmetric: Bool, _ statement: Statement) throws(StoreError) {
        for member in members {
            statement.bind(owner, at: 1)
            statement.bind(member, at: 2)
            try statement.run()
            if isSymmetric, member != owner {
                statement.bind(member, at: 1)
                statement.bind(owner, at: 2)
                try statement.run()
            }
        }
    }

    // MARK: References to deleted objects

    /// Sets references to nil, for each relationship by one statement that goes through the table in its order.
    func writeClearings() throws(StoreError) {
        for clearing in changes.clearings where !clearing.keys.isEmpty {
            guard
                let field = store.writePlans[clearing.entityIndex].fields.first(where: { $0.slot == clearing.slot })
            else { continue }
            let order = field.orderColumn.map { ", \($0) = NULL" } ?? ""
            // The plus keeps SQLite from going by the index on the column, which this statement changes.
            let statement = try connection.statement(
                """
                UPDATE \(store.writePlans[clearing.entityIndex].table) \
                SET \(field.column) = NULL\(order), _version = _version + 1 \
                WHERE _id IN (SELECT value FROM strata_list(?1)) AND +\(field.column) IN \
                (SELECT value FROM strata_list(?2))
                """)
            statement.bind(ValueList(keys: clearing.keys), at: 1)
            statement.bind(ValueList(keys: clearing.targets), at: 2)
            try statement.run()
        }
    }

    /// Notes which rows refer to those that are about to go, by the indexes that all references have, and gives them another
    /// version: foreign keys will change them. The other rows of the change set get theirs when they are written.
    func findReferrers() throws(StoreError) {
        guard !changes.deletes.isEmpty else { return }
        let gone = changes.deletedKeys(in: store.model)
        for table in store.layout.tables {
            for column in table.columns {
                guard let root = column.destinationRoot, let keys = gone[root] else { continue }
                let statement = try connection.statement(
                    """
                    SELECT _id FROM \(table.quoted) WHERE \(column.quoted) IN (SELECT value FROM strata_list(?))
                    """)
                statement.bind(ValueList(keys: keys), at: 1)
                while try statement.step() {
                    effects.referrers[table.rootIndex, default: []].append(statement.integer(0))
                }
            }
            guard let found = effects.referrers[table.rootIndex] else { continue }
            let others = changes.unwritten(
                found, root: table.rootIndex, deleted: gone[table.rootIndex], in: store.model)
            if !others.isEmpty { try setNextVersion(others, in: table) }
        }
    }

    private func setNextVersion(_ keys: [Int64], in table: TableLayout) throws(StoreError) {
        let statement = try connection.statement(
            """
            UPDATE \(table.quoted) SET _version = _version + 1 WHERE _id IN (SELECT value FROM strata_list(?)) \
            RETURNING _id, _version
            """)
        statement.bind(ValueList(keys: keys), at: 1)
        while try statement.step() {
            effects.referrerVersions[table.rootIndex, default: [:]][statement.integer(0)] = statement.integer(1)
        }
    }

    // MARK: Foreign keys

    /// Says which reference leads nowhere, after a commit has failed for it.
    func danglingReference() throws(StoreError) -> StoreError? {
        let statement = try connection.prepare("PRAGMA foreign_key_check", persistent: false)
        guard try statement.step() else { return nil }
        let table = statement.text(0)
        let parent = statement.text(2)
        let key = statement.integer(1)
        let hasKey = statement.type(1) != SQLITE_NULL
        let position = statement.integer(3)
        statement.reset()
        guard hasKey, let layout = store.layout.tables.first(where: { $0.name == table }) else {
            let target =
                store.layout.tables.first { $0.name == parent }.map { store.model.entities[$0.rootIndex].name }
                ?? parent
            return .constraint(
                entity: target,
                reason: "a pair of \(table) refers to an object of \(parent) that is not in the store; "
                    + "refresh the objects, then save again")
        }
        var column = ""
        let list = try connection.prepare("PRAGMA foreign_key_list(\(layout.quoted))", persistent: false)
        while try list.step() {
            if list.integer(0) == position { column = list.text(3) }
        }
        return .constraint(
            entity: store.model.entities[layout.rootIndex].name,
            reason: "object \(key) refers through \(column) to an object of \(parent) that is not in the store; "
                + "refresh the objects, then save again")
    }
}
