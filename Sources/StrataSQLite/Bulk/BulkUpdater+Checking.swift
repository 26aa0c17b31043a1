import StrataSQL
import StrataStore

extension BulkUpdater {
    /// How many rows are read at once to check them.
    private static let checkedTogether = 1_000

    /// Checks what the update has made: the first three objects that are wrong are named, and nothing stays changed.
    func check(_ fields: [WritePlan.Field], _ keys: [Int64]) throws(StoreError) {
        guard !keys.isEmpty else { return }
        var found = BulkFaults(entity: entity)
        for field in fields {
            let slot = entity.slots[field.slot]
            for (fault, reason) in faults(field, slot) {
                let statement = try connection.prepare(
                    "SELECT _id FROM \(plan.table) WHERE _id IN (SELECT value FROM strata_list(?)) AND \(fault) LIMIT 3",
                    persistent: false)
                statement.bind(ValueList(keys: keys), at: 1)
                while try statement.step() { found.note(slot, fault, reason, statement.integer(0)) }
                try found.report()
            }
        }
        try checkRules(keys)
    }

    /// Asks the checks of the update about what its expressions gave.
    private func checkRules(_ keys: [Int64]) throws(StoreError) {
        guard !update.checks.isEmpty else { return }
        var faults = BulkFaults(entity: entity)
        let slots = update.checks.keys.sorted()
        for start in stride(from: 0, to: keys.count, by: Self.checkedTogether) {
            let part = Array(keys[start..<min(start + Self.checkedTogether, keys.count)])
            for reference in try transaction.rows(entityIndex: entity.index, keys: part).rows {
                let own = store.model.entities[reference.entityIndex]
                for slot in slots { faults.check(reference.row, own.slots[slot], update) }
            }
        }
        try faults.report()
    }

    /// Conditions on wrong values, each with what is wrong.
    func faults(_ field: WritePlan.Field, _ slot: SlotDescription) -> [(sql: String, reason: String)] {
        let column = field.column
        var result: [(String, String)] = []
        let isGiven =
            if case .expression? = update.assignments[field.slot] { false } else {
                update.constants.row.isPresent(field.slot)
            }
        if !slot.isOptional, slot.derivation == nil, !isGiven {
            result.append(("\(column) IS NULL", "without a value"))
        }
        if case .expression? = update.assignments[field.slot] {
            switch slot.type {
            case .integer16?: result.append(outside(column, Int64(Int16.min), Int64(Int16.max)))
            case .integer32?: result.append(outside(column, Int64(Int32.min), Int64(Int32.max)))
            case .integer64?, .integer?:
                result.append(
                    ("typeof(\(column)) NOT IN ('integer', 'null')", "with a value that is not a whole number"))
            default: break
            }
        }
        return result
    }

    private func outside(_ column: String, _ least: Int64, _ most: Int64) -> (String, String) {
        (
            "(typeof(\(column)) NOT IN ('integer', 'null') OR \(column) NOT BETWEEN \(least) AND \(most))",
            "with a value that is not a whole number from \(least) to \(most)"
        )
    }
}
