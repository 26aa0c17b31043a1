import StrataSQLite

/// Removes the references of an exported store that lead to objects that are not there, and reports each.
struct ReferenceRepair {
    let model: ManagedObjectModel
    let layout: ViewLayout
    /// The maximum number of problems that a report names.
    let limit: Int

    func run(on connection: Connection, _ report: inout CoreDataExportReport) throws(StoreError) {
        for table in layout.tables {
            for column in table.columns {
                guard let root = column.destinationRoot, let target = layout.tables.first(where: { $0.root == root })
                else { continue }
                try repair(column, of: table, target: target, on: connection, &report)
            }
        }
    }

    private func repair(
        _ column: ViewLayout.Column, of table: ViewLayout.Table, target: ViewLayout.Table, on connection: Connection,
        _ report: inout CoreDataExportReport
    ) throws(StoreError) {
        let dangling = """
            FROM main.\(table.quoted) AS t WHERE t.\(column.quoted) IS NOT NULL AND NOT EXISTS \
            (SELECT 1 FROM main.\(target.quoted) AS r WHERE r._id = t.\(column.quoted))
            """
        let count = Int(try connection.integer("SELECT count(*) \(dangling)") ?? 0)
        guard count > 0 else { return }
        let room = max(0, limit - report.problems.count)
        let statement = try connection.prepare(
            """
            SELECT t._id, t.\(column.quoted), \(table.hasEntityColumn ? "t._entity" : "NULL") \(dangling) \
            ORDER BY t._id LIMIT \(room)
            """, persistent: false)
        var named = 0
        while try statement.step() {
            let name = statement.isNull(2) ? model.entities[table.root].name : statement.text(2)
            let entity = model.entity(named: name)
            let slot = column.slots.first { $0.entity == entity?.index } ?? column.slots.first
            report.note(
                .init(
                    kind: .reference, entity: name,
                    property: slot.map { model.entities[$0.entity].slots[$0.slot].name } ?? column.quoted,
                    key: statement.integer(0),
                    reason: "it leads to the object \(statement.integer(1)), which is not there; it is nil now"),
                count: 1, limit: limit)
            named += 1
        }
        report.problemCounts[.reference, default: 0] += count - named
        try connection.execute(
            "UPDATE main.\(table.quoted) SET \(column.quoted) = NULL WHERE _id IN (SELECT t._id \(dangling))")
    }
}
