import Foundation
import StrataCSQLite
import StrataSQL
import StrataSQLite
import StrataStore

/// Writes one change set to a Core Data store, in one transaction. All conflicts are collected before it is rolled back.
final class CoreDataWriter {
    let plan: WritingPlan
    let connection: Connection
    let changes: ChangeSet
    private let store: SQLiteStore
    private var conflicts: [FoundConflict] = []
    private var effects = CommitEffects()
    /// The references that were written, which have to lead to objects.
    private var references: [Written] = []
    /// Files that this change set has written, and files whose values it has replaced.
    var writtenFiles: [String] = []
    var formerFiles: [String] = []

    private struct FoundConflict {
        let reason: StoreConflict.Reason
        let entityIndex: Int
        let key: Int64
        let otherKey: Int64?
        let storeKey: Int64?
    }

    private struct Written {
        let entity: WritingPlan.Entity
        let key: Int64
        let field: WritingPlan.Field
        let target: Int64
    }

    init(plan: WritingPlan, connection: Connection, changes: ChangeSet, store: SQLiteStore) {
        self.plan = plan
        self.connection = connection
        self.changes = changes
        self.store = store
    }

    /// Writes everything, or nothing.
    func run() throws(StoreError) -> CommitResult {
        try Self.begin(connection, plan)
        do throws(StoreError) {
            try write()
            if conflicts.isEmpty { try connection.commit() }
        } catch {
            takeBack()
            throw error
        }
        guard conflicts.isEmpty else {
            takeBack()
            return .conflicts(try conflictsWithRows())
        }
        plan.folder.remove(formerFiles)
        return .committed(effects)
    }

    /// Opens the transaction, and checks that the tables are still those of the plan.
    static func begin(_ connection: Connection, _ plan: WritingPlan) throws(StoreError) {
        try connection.begin()
        guard try connection.integer("PRAGMA main.schema_version") == plan.schemaNumber else {
            connection.rollback()
            throw .migratedElsewhere(path: plan.path)
        }
    }

    private func takeBack() {
        connection.rollback()
        plan.folder.remove(writtenFiles)
    }

    private func write() throws(StoreError) {
        try writeChecks()
        try writeClearings()
        try writeDeletes()
        try writeUpdates()
        try clearReferencesToDeleted()
        try writeInserts()
        guard conflicts.isEmpty else { return }
        try writePairs()
        try settleReferences()
        try writeOrders()
        try placeUnordered()
        try raiseMaximums()
    }

    // MARK: Conflicts

    private func addVersionConflict(_ entityIndex: Int, _ key: Int64) {
        conflicts.append(
            FoundConflict(reason: .version, entityIndex: entityIndex, key: key, otherKey: nil, storeKey: key))
    }

    private func conflictsWithRows() throws(StoreError) -> [StoreConflict] {
        var result: [StoreConflict] = []
        for conflict in conflicts {
            let root = plan.model.entities[conflict.entityIndex].rootIndex
            let row: RowReference? =
                if let key = conflict.storeKey { try store.rows(entityIndex: root, keys: [key]).rows.first } else {
                    nil
                }
            result.append(
                StoreConflict(
                    reason: conflict.reason, entityIndex: conflict.entityIndex, key: conflict.key, storeRow: row,
                    otherKey: conflict.otherKey))
        }
        return result
    }

    /// Notes the unique constraint that a row breaks.
    /// - Returns: false if no constraint of the model is broken.
    private func addUniqueConflict(_ entity: WritingPlan.Entity, _ row: RowPointer) throws(StoreError) -> Bool {
        for slots in entity.uniques where slots.allSatisfy({ row.isPresent($0) }) {
            let fields = slots.compactMap(entity.field)
            guard fields.count == slots.count else { continue }
            let condition = fields.map { "\($0.column) = ?" }.joined(separator: " AND ")
            let statement = try connection.statement(
                "SELECT Z_PK FROM \(entity.table) WHERE \(condition) AND Z_PK <> ? LIMIT 1")
            var parameter: Int32 = 0
            for field in fields {
                parameter += 1
                try bind(row, field, entity, statement, parameter)
            }
            statement.bind(row.key, at: parameter + 1)
            guard try statement.step() else { continue }
            let key = statement.integer(0)
            statement.reset()
            let root = plan.model.entities[row.entityIndex].rootIndex
            let isOurs = (changes.inserts.map(\.row) + changes.updates.map(\.row)).contains {
                $0.key == key && plan.model.entities[$0.entityIndex].rootIndex == root
            }
            conflicts.append(
                FoundConflict(
                    reason: .unique(slots: slots), entityIndex: row.entityIndex, key: row.key, otherKey: key,
                    storeKey: isOurs ? nil : key))
            return true
        }
        return false
    }

    // MARK: Rows

    func entity(_ index: Int) throws(StoreError) -> WritingPlan.Entity {
        guard let entity = plan.entities[index] else {
            throw .unsupported(
                store: "Core Data",
                feature: "objects of \(plan.model.entities[index].name), which the file has no table for")
        }
        return entity
    }

    private func writeChecks() throws(StoreError) {
        for check in changes.checks
        where try version(of: entity(check.entityIndex), check.key) != check.version {
            addVersionConflict(check.entityIndex, check.key)
        }
    }

    private func version(of entity: WritingPlan.Entity, _ key: Int64) throws(StoreError) -> Int64? {
        let statement = try connection.statement("SELECT coalesce(Z_OPT, 1) FROM \(entity.table) WHERE Z_PK = ?")
        statement.bind(key, at: 1)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return statement.integer(0)
    }

    private func writeClearings() throws(StoreError) {
        for clearing in changes.clearings where !clearing.keys.isEmpty {
            let entity = try entity(clearing.entityIndex)
            guard let field = entity.field(clearing.slot) else { continue }
            let statement = try connection.statement(
                """
                UPDATE \(entity.table) SET \(Self.cleared(field)), Z_OPT = coalesce(Z_OPT, 1) + 1 \
                WHERE Z_PK IN (SELECT value FROM strata_list(?1)) AND +\(field.column) IN (SELECT value FROM strata_list(?2))
                """)
            statement.bind(ValueList(keys: clearing.keys), at: 1)
            statement.bind(ValueList(keys: clearing.targets), at: 2)
            try statement.run()
        }
    }

    private static func cleared(_ field: WritingPlan.Field) -> String {
        [field.column, field.reference?.entityColumn, field.reference?.orderColumn].compactMap(\.self)
            .map { "\($0) = NULL" }.joined(separator: ", ")
    }

    private func writeDeletes() throws(StoreError) {
        for delete in changes.deletes {
            let entity = try entity(delete.entityIndex)
            try noteFiles(of: entity, delete.key, entity.fields)
            if let expected = delete.baseVersion, let found = try version(of: entity, delete.key), found != expected {
                addVersionConflict(delete.entityIndex, delete.key)
                continue
            }
            let statement = try connection.statement("DELETE FROM \(entity.table) WHERE Z_PK = ?")
            statement.bind(delete.key, at: 1)
            try statement.run()
            if connection.changes == 0 {
                effects.alreadyDeleted[plan.model.entities[delete.entityIndex].rootIndex, default: []].append(
                    delete.key)
            }
        }
        for (root, keys) in deletedKeys() {
            for pairs in plan.pairs.values {
                if pairs.ownerRoot == root { try remove(keys, pairs.owner, pairs.table) }
                if pairs.memberRoot == root { try remove(keys, pairs.member, pairs.table) }
            }
        }
    }

    private func deletedKeys() -> [Int: [Int64]] {
        Dictionary(grouping: changes.deletes) { plan.model.entities[$0.entityIndex].rootIndex }.mapValues {
            $0.map(\.key)
        }
    }

    private func remove(_ keys: [Int64], _ column: String, _ table: String) throws(StoreError) {
        let statement = try connection.statement(
            "DELETE FROM \(table) WHERE \(column) IN (SELECT value FROM strata_list(?))")
        statement.bind(ValueList(keys: keys), at: 1)
        try statement.run()
    }

    /// Sets references to nil that the context did not know. It hears which rows had them.
    private func clearReferencesToDeleted() throws(StoreError) {
        for (root, keys) in deletedKeys() {
            for (table, owner, field) in plan.references(to: root) {
                let statement = try connection.statement(
                    """
                    UPDATE \(table) SET \(Self.cleared(field)), \
                    Z_OPT = coalesce(Z_OPT, 1) + (Z_PK NOT IN (SELECT value FROM strata_list(?2))) \
                    WHERE \(field.column) IN (SELECT value FROM strata_list(?1)) RETURNING Z_PK, Z_OPT
                    """)
                statement.bind(ValueList(keys: keys), at: 1)
                // A row that referred to several of them gets one new version.
                statement.bind(ValueList(keys: Array((effects.referrerVersions[owner] ?? [:]).keys)), at: 2)
                while try statement.step() {
                    effects.referrers[owner, default: []].append(statement.integer(0))
                    effects.referrerVersions[owner, default: [:]][statement.integer(0)] = statement.integer(1)
                }
            }
        }
    }

    private func writeUpdates() throws(StoreError) {
        for update in changes.updates { try freeUniqueValues(of: update) }
        for update in changes.updates {
            let row = update.row.row
            let entity = try entity(row.entityIndex)
            let fields = entity.fields.filter { update.slots.contains($0.slot.index) }
            try noteFiles(of: entity, row.key, fields)
            let cleared = fields.flatMap { [$0.reference?.entityColumn, $0.reference?.orderColumn].compactMap(\.self) }
            let assignments =
                fields.map { "\($0.column) = ?" } + cleared.map { "\($0) = NULL" } + ["Z_OPT = ?"]
            let statement = try connection.statement(
                """
                UPDATE \(entity.table) SET \(assignments.joined(separator: ", ")) \
                WHERE Z_PK = ? AND coalesce(Z_OPT, 1) = ?
                """)
            var parameter: Int32 = 0
            for field in fields {
                parameter += 1
                try bind(row, field, entity, statement, parameter)
            }
            statement.bind(update.baseVersion + 1, at: parameter + 1)
            statement.bind(row.key, at: parameter + 2)
            statement.bind(update.baseVersion, at: parameter + 3)
            guard try run(statement, entity, row) else { continue }
            if connection.changes == 0 { addVersionConflict(row.entityIndex, row.key) }
            note(fields, of: entity, row)
        }
    }

    /// Takes the unique values from a row that is going to get others, so that rows can exchange them.
    private func freeUniqueValues(of update: ChangeSet.Update) throws(StoreError) {
        let entity = try entity(update.row.entityIndex)
        let slots = Set(entity.uniques.joined()).filter { update.slots.contains($0) }
        let columns = slots.sorted().compactMap { entity.field($0)?.column }
        guard !columns.isEmpty else { return }
        let statement = try connection.statement(
            """
            UPDATE \(entity.table) SET \(columns.map { "\($0) = NULL" }.joined(separator: ", ")) \
            WHERE Z_PK = ? AND coalesce(Z_OPT, 1) = ?
            """)
        statement.bind(update.row.key, at: 1)
        statement.bind(update.baseVersion, at: 2)
        try statement.run()
    }

    private func writeInserts() throws(StoreError) {
        for insert in changes.inserts {
            let row = insert.row.row
            let entity = try entity(row.entityIndex)
            guard row.key < StoreKeys.firstUnreserved else {
                throw .constraint(
                    entity: entity.name,
                    reason: "object \(row.key) has no reserved key, because the store was busy when it was made; "
                        + "make it again")
            }
            let names = ["Z_PK", "Z_ENT", "Z_OPT"] + entity.fields.map(\.column)
            let marks = repeatElement("?", count: names.count).joined(separator: ", ")
            let statement = try connection.statement(
                "INSERT INTO \(entity.table)(\(names.joined(separator: ", "))) VALUES(\(marks))")
            statement.bind(row.key, at: 1)
            statement.bind(entity.number, at: 2)
            statement.bind(max(1, row.version), at: 3)
            var parameter: Int32 = 3
            for field in entity.fields {
                parameter += 1
                try bind(row, field, entity, statement, parameter)
            }
            if try run(statement, entity, row) { note(entity.fields, of: entity, row) }
        }
    }

    /// Runs a statement that writes a row.
    /// - Returns: false if the row breaks a unique constraint, which is then among the conflicts.
    private func run(
        _ statement: Statement, _ entity: WritingPlan.Entity, _ row: RowPointer
    ) throws(StoreError) -> Bool {
        do throws(StoreError) {
            try statement.run()
            return true
        } catch {
            guard case .constraint(_, let reason) = error else { throw error }
            if try addUniqueConflict(entity, row) { return false }
            throw .constraint(entity: entity.name, reason: "object \(row.key): \(reason)")
        }
    }

    private func note(_ fields: [WritingPlan.Field], of entity: WritingPlan.Entity, _ row: RowPointer) {
        for field in fields where field.reference != nil && row.isPresent(field.slot.index) {
            references.append(
                Written(
                    entity: entity, key: row.key, field: field, target: Int64(bitPattern: row.word(field.slot.index))))
        }
    }

    // MARK: References

    /// Checks that the references lead to objects, and writes of which entity these are.
    private func settleReferences() throws(StoreError) {
        for written in references {
            guard let reference = written.field.reference else { continue }
            let find = try connection.statement("SELECT Z_ENT FROM \(reference.table) WHERE Z_PK = ?")
            find.bind(written.target, at: 1)
            guard try find.step() else {
                throw .constraint(
                    entity: written.entity.name,
                    reason: "object \(written.key) refers through \(written.field.slot.name) to an object "
                        + "\(written.target) that is not in the store")
            }
            let number = find.integer(0)
            find.reset()
            guard let column = reference.entityColumn else { continue }
            let statement = try connection.statement("UPDATE \(written.entity.table) SET \(column) = ? WHERE Z_PK = ?")
            statement.bind(number, at: 1)
            statement.bind(written.key, at: 2)
            try statement.run()
        }
    }

    /// Gives a place to rows that came to an owner without one: the last.
    private func placeUnordered() throws(StoreError) {
        for written in references {
            guard let order = written.field.reference?.orderColumn else { continue }
            let column = written.field.column
            let statement = try connection.statement(
                """
                UPDATE \(written.entity.table) SET \(order) = (SELECT coalesce(max(o.\(order)), 1024) + 1024 \
                FROM \(written.entity.table) AS o WHERE o.\(column) = ?1) WHERE Z_PK = ?2 AND \(order) IS NULL
                """)
            statement.bind(written.target, at: 1)
            statement.bind(written.key, at: 2)
            try statement.run()
        }
    }

    // MARK: Keys

    private func raiseMaximums() throws(StoreError) {
        var highest: [Int64: Int64] = [:]
        for insert in changes.inserts {
            let number = try entity(insert.row.entityIndex).rootNumber
            highest[number] = max(highest[number] ?? 0, insert.row.key)
        }
        for (number, key) in highest {
            let statement = try connection.statement(
                "UPDATE Z_PRIMARYKEY SET Z_MAX = max(coalesce(Z_MAX, 0), ?) WHERE Z_ENT = ?")
            statement.bind(key, at: 1)
            statement.bind(number, at: 2)
            try statement.run()
        }
    }

    /// Reserves keys of a hierarchy by raising the highest key that was given out.
    static func allocate(
        _ count: Int, _ entity: WritingPlan.Entity, _ plan: WritingPlan, on connection: Connection
    ) throws(StoreError) -> Range<Int64> {
        guard count > 0 else { return 1..<1 }
        try begin(connection, plan)
        defer { connection.rollback() }
        // The row may have a lower number than there are keys: migrations by old versions of Core Data left such.
        let last =
            try connection.integer(
                """
                SELECT max(0, coalesce((SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(entity.rootNumber)), 0), \
                coalesce((SELECT max(Z_PK) FROM \(entity.table)), 0))
                """) ?? 0
        guard last < StoreKeys.firstUnreserved - Int64(count) else {
            throw .constraint(
                entity: entity.name, reason: "there are no keys left, because a row has one close to the maximum")
        }
        let statement = try connection.statement("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?")
        statement.bind(last + Int64(count), at: 1)
        statement.bind(entity.rootNumber, at: 2)
        try statement.run()
        try connection.commit()
        return last + 1..<last + Int64(count) + 1
    }
}
