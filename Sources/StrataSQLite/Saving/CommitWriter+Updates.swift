import StrataCSQLite
import StrataSQL
import StrataStore

/// How far a commit is with its updates.
struct UpdateProgress {
    /// Updates of the same slots of an entity, in the order of their keys: one statement serves them all.
    struct Group {
        let entityIndex: Int
        let slots: SlotSet
        var updates: [ChangeSet.Update]
    }

    var groups: [Group] = []
    /// The group that is being written, and how many of its updates have been.
    var current = 0
    var made = 0
    /// The updates that are still to be made; listed when a unique constraint first stands in the way.
    var waiting: [CommitWriter.RowID: ChangeSet.Update]?

    init() {}

    init(_ updates: [ChangeSet.Update]) {
        var positions: [Int: [SlotSet: Int]] = [:]
        for update in updates {
            let entityIndex = update.row.row.entityIndex
            if let position = positions[entityIndex]?[update.slots] {
                groups[position].updates.append(update)
            } else {
                positions[entityIndex, default: [:]][update.slots] = groups.count
                groups.append(Group(entityIndex: entityIndex, slots: update.slots, updates: [update]))
            }
        }
    }
}

extension CommitWriter {
    /// How the updates of a group are written.
    private struct Target {
        let plan: WritePlan
        let fields: [WritePlan.Field]
        /// Whether the statements are kept for later commits.
        let isKept: Bool
    }

    /// Bounds the statements that are kept for later commits: a commit may have a set of slots of its own for each update.
    private static let keptGroups = 32

    /// Writes the changed slots of all updates.
    func writeUpdates() throws(StoreError) {
        guard !changes.updates.isEmpty else { return }
        updates = UpdateProgress(ascending(changes.updates) { $0.row.row })
        for index in updates.groups.indices {
            updates.current = index
            updates.made = 0
            try write(updates.groups[index], isKept: index < Self.keptGroups)
        }
    }

    private func write(_ group: UpdateProgress.Group, isKept: Bool) throws(StoreError) {
        let plan = store.writePlans[group.entityIndex]
        let target = Target(plan: plan, fields: plan.fields.filter { group.slots.contains($0.slot) }, isKept: isKept)
        try noteFiles(of: plan, keys: group.updates.map(\.row.row.key), slots: group.slots)
        let list = group.updates[...]
        // A second update of a row is made to what the first one left.
        let hasDoubles = zip(list, list.dropFirst()).contains { $0.row.row.key == $1.row.row.key }
        var single: Statement?
        let isSingle = hasDoubles || !changesTogether
        for part in isSingle ? [list] : StatementRows.parts(list, columns: target.fields.count + 3) {
            if part.count > 1, !isSingle, try writeTogether(part, target) { continue }
            for update in part {
                if single == nil { single = try statement(plan.updateSQL(target.fields), target) }
                if let single { try write(update, target, single) }
            }
        }
    }

    private func statement(_ sql: String, _ target: Target) throws(StoreError) -> Statement {
        target.isKept ? try connection.statement(sql) : try connection.prepare(sql, persistent: false)
    }

    /// Writes several updates by one statement.
    /// - Returns: false if a row violates a constraint, so that nothing is written.
    private func writeTogether(_ list: ArraySlice<ChangeSet.Update>, _ target: Target) throws(StoreError) -> Bool {
        let statement = try statement(target.plan.updateSQL(target.fields, rows: list.count), target)
        let files = writtenFiles.count
        var parameter: Int32 = 0
        for update in list { parameter = try bind(update, target, statement, parameter) }
        var found: [Int64] = []
        found.reserveCapacity(list.count)
        guard try runTogether(statement, onRow: { found.append($0.integer(0)) }) else {
            // They are written again with the single rows.
            store.files?.remove(writtenFiles[files...])
            writtenFiles.removeSubrange(files...)
            return false
        }
        if found.count < list.count {
            let written = Set(found)
            for update in list where !written.contains(update.row.row.key) {
                addVersionConflict(update.row.row.entityIndex, update.row.row.key)
            }
        }
        for update in list { noteMade(update) }
        return true
    }

    private func noteMade(_ update: ChangeSet.Update) {
        updates.made += 1
        if updates.waiting != nil { updates.waiting?[rowID(update.row.row)] = nil }
    }

    private func write(
        _ update: ChangeSet.Update, _ target: Target, _ statement: Statement
    ) throws(StoreError) {
        let row = update.row.row
        _ = try bind(update, target, statement, 0)
        // Each failure parks one row that stands in the way, so there are fewer tries than updates.
        for _ in 0...changes.updates.count {
            let code = statement.stepCode()
            let error = code == SQLITE_DONE ? nil : connection.failure(code)
            let changed = code == SQLITE_DONE ? connection.changes : 0
            statement.reset()
            guard let error else {
                if changed == 0 { addVersionConflict(row.entityIndex, row.key) }
                break
            }
            guard code == uniqueConstraintCode else { throw rejected(error, target.plan, row.key) }
            if try park(target.plan, row) { continue }
            guard try addUniqueConflict(target.plan, row) else { throw rejected(error, target.plan, row.key) }
            break
        }
        noteMade(update)
    }

    /// Binds an update after a parameter.
    /// - Returns: The last parameter of the update.
    private func bind(
        _ update: ChangeSet.Update, _ target: Target, _ statement: Statement, _ last: Int32
    ) throws(StoreError) -> Int32 {
        let row = update.row.row
        var parameter = last
        for field in target.fields {
            parameter += 1
            try bind(row, field.binding, target.plan, statement, parameter)
        }
        statement.bind(row.version, at: parameter + 1)
        statement.bind(row.key, at: parameter + 2)
        statement.bind(update.baseVersion, at: parameter + 3)
        return parameter + 3
    }

    // MARK: Unique constraints

    /// The row that has the same unique values as another one, and the constraint.
    private func opponent(_ plan: WritePlan, _ row: RowPointer) throws(StoreError) -> (
        unique: WritePlan.Unique, key: Int64
    )? {
        for unique in plan.uniques where unique.slots.allSatisfy({ row.isPresent($0) }) {
            let statement = try connection.statement(unique.search)
            var parameter: Int32 = 0
            for field in unique.fields {
                parameter += 1
                try bind(row, field.binding, plan, statement, parameter)
            }
            statement.bind(row.key, at: parameter + 1)
            if try statement.step() {
                let key = statement.integer(0)
                statement.reset()
                return (unique, key)
            }
        }
        return nil
    }

    /// Takes the unique values from the row that stands in the way, if this change set is going to give it others.
    /// - Returns: false if it is not.
    private func park(_ plan: WritePlan, _ row: RowPointer) throws(StoreError) -> Bool {
        guard let (unique, key) = try opponent(plan, row) else { return false }
        let other = RowID(table: store.layout.tableOfEntity[row.entityIndex], key: key)
        guard let update = waitingUpdates()[other],
            let field = unique.fields.first(where: { update.slots.contains($0.slot) })
        else { return false }
        let statement = try connection.statement("UPDATE \(plan.table) SET \(field.column) = NULL WHERE _id = ?")
        statement.bind(key, at: 1)
        try statement.run()
        return true
    }

    /// Lists the updates that are still to be made by row. Most change sets never need it.
    private func waitingUpdates() -> [RowID: ChangeSet.Update] {
        if let known = updates.waiting { return known }
        var waiting: [RowID: ChangeSet.Update] = [:]
        for (index, group) in updates.groups.enumerated().dropFirst(updates.current) {
            for update in group.updates.dropFirst(index == updates.current ? updates.made : 0) {
                waiting[rowID(update.row.row)] = update
            }
        }
        updates.waiting = waiting
        return waiting
    }

    /// Notes the constraint that a row breaks.
    /// - Returns: false if no constraint of the model is broken.
    func addUniqueConflict(_ plan: WritePlan, _ row: RowPointer) throws(StoreError) -> Bool {
        guard let (unique, key) = try opponent(plan, row) else { return false }
        let isOurs = ownRows.contains(RowID(table: store.layout.tableOfEntity[row.entityIndex], key: key))
        conflicts.append(
            FoundConflict(
                reason: .unique(slots: unique.slots), entityIndex: row.entityIndex, key: row.key, otherKey: key,
                storeKey: isOurs ? nil : key))
        return true
    }
}
