import StrataCSQLite
import StrataStore

extension CommitWriter {
    /// A statement that writes certain slots of an entity.
    private struct Group {
        let plan: WritePlan
        let bindings: [WritePlan.Binding]
        let statement: Statement
    }

    /// Bounds the statements of one entity that are kept for later commits, and those that are kept at all: a commit may
    /// have a set of slots of its own for each update.
    private static let keptGroups = 32
    private static let groupLimit = 256

    /// Writes the changed slots of all updates in the order of their keys; one statement serves all updates of the same
    /// slots.
    func writeUpdates() throws(StoreError) {
        let updates = changes.updates
        guard !updates.isEmpty else { return }
        var groups: [[SlotSet: Group]] = Array(repeating: [:], count: store.model.entities.count)
        for update in ascending(updates, { $0.row.row }) {
            let entityIndex = update.row.row.entityIndex
            if let group = groups[entityIndex][update.slots] {
                try write(update, group)
            } else {
                let count = groups[entityIndex].count
                let group = try group(entityIndex, update.slots, isKept: count < Self.keptGroups)
                if count >= Self.groupLimit { groups[entityIndex].removeAll() }
                groups[entityIndex][update.slots] = group
                try write(update, group)
            }
        }
    }

    private func group(_ entityIndex: Int, _ slots: SlotSet, isKept: Bool) throws(StoreError) -> Group {
        let plan = store.writePlans[entityIndex]
        let fields = plan.fields.filter { slots.contains($0.slot) }
        let sql = plan.updateSQL(fields)
        return Group(
            plan: plan, bindings: fields.map(\.binding),
            statement: isKept ? try connection.statement(sql) : try connection.prepare(sql, persistent: false))
    }

    private func write(_ update: ChangeSet.Update, _ group: Group) throws(StoreError) {
        let row = update.row.row
        try noteFiles(of: group.plan, key: row.key, slots: update.slots)
        try bind(update, group)
        // Each failure parks one row that stands in the way, so there are fewer tries than updates.
        for _ in 0...changes.updates.count {
            let code = group.statement.stepCode()
            let error = code == SQLITE_DONE ? nil : connection.failure(code)
            let changed = code == SQLITE_DONE ? connection.changes : 0
            group.statement.reset()
            guard let error else {
                if changed == 0 {
                    conflicts.append(
                        FoundConflict(
                            reason: .version, entityIndex: row.entityIndex, key: row.key, otherKey: nil,
                            storeKey: row.key))
                }
                break
            }
            guard code == uniqueConstraintCode else { throw rejected(error, group.plan, row.key) }
            if try park(group.plan, row) { continue }
            guard try addUniqueConflict(group.plan, row) else { throw rejected(error, group.plan, row.key) }
            break
        }
        if updatePositions != nil { doneUpdates.insert(rowID(row)) }
    }

    private func bind(_ update: ChangeSet.Update, _ group: Group) throws(StoreError) {
        let row = update.row.row
        var parameter: Int32 = 0
        for binding in group.bindings {
            parameter += 1
            try bind(row, binding, group.plan, group.statement, parameter)
        }
        group.statement.bind(row.version, at: parameter + 1)
        group.statement.bind(row.key, at: parameter + 2)
        group.statement.bind(update.baseVersion, at: parameter + 3)
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
        if updatePositions == nil { indexUpdates(before: row) }
        let other = RowID(table: store.layout.tableOfEntity[row.entityIndex], key: key)
        guard let position = updatePositions?[other], !doneUpdates.contains(other) else { return false }
        let slots = changes.updates[position].slots
        guard let field = unique.fields.first(where: { slots.contains($0.slot) }) else { return false }
        let statement = try connection.statement("UPDATE \(plan.table) SET \(field.column) = NULL WHERE _id = ?")
        statement.bind(key, at: 1)
        try statement.run()
        return true
    }

    /// Lists the updates by row, and which of them have been made. Most change sets never need it.
    private func indexUpdates(before row: RowPointer) {
        var positions: [RowID: Int] = [:]
        for (position, update) in changes.updates.enumerated() {
            let other = update.row.row
            positions[rowID(other)] = position
            if precedes(other, row) { doneUpdates.insert(rowID(other)) }
        }
        updatePositions = positions
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
