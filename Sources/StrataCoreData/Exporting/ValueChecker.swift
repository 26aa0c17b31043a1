import StrataSQLite

/// Finds the values of the source that an export cannot convert, and required ones that are missing: one pass over each
/// table counts them, and only where there are some, another one says which.
struct ValueChecker {
    let views: StoreViews
    /// The maximum number of problems that a report names.
    let limit: Int

    /// SQLite takes 2,000 columns in an answer.
    private static let columnLimit = 400

    func run(on connection: Connection, _ report: inout CoreDataExportReport) throws(StoreError) {
        var groups: [(from: String, checks: [StoreViews.Check])] = []
        for check in views.checks {
            if let last = groups.indices.last, groups[last].from == check.from,
                groups[last].checks.count < Self.columnLimit
            {
                groups[last].checks.append(check)
            } else if let known = groups.firstIndex(where: {
                $0.from == check.from && $0.checks.count < Self.columnLimit
            }) {
                groups[known].checks.append(check)
            } else {
                groups.append((check.from, [check]))
            }
        }
        for group in groups { try run(group.checks, from: group.from, on: connection, &report) }
    }

    private func run(
        _ checks: [StoreViews.Check], from: String, on connection: Connection, _ report: inout CoreDataExportReport
    ) throws(StoreError) {
        let counts = checks.map { check in
            "total(\(misfit(check))), \(check.isRequired ? "total(\(check.column) IS NULL)" : "0")"
        }
        let statement = try connection.prepare(
            "SELECT \(counts.joined(separator: ", ")) FROM \(from)", persistent: false)
        guard try statement.step() else { return }
        defer { statement.reset() }
        for (number, check) in checks.enumerated() {
            let misfits = Int(statement.integer(Int32(2 * number)))
            let missing = Int(statement.integer(Int32(2 * number + 1)))
            if misfits > 0 { try describe(check, count: misfits, from: from, on: connection, &report) }
            if missing > 0 {
                report.note(
                    .init(
                        kind: .missingValue, entity: check.entity, property: check.property, key: nil,
                        reason: "it is required, and \(missing) objects have no value"), count: missing, limit: limit)
            }
        }
    }

    private func misfit(_ check: StoreViews.Check) -> String {
        "(\(check.column) IS NOT NULL) AND (\(check.converted)) IS NULL"
    }

    private func describe(
        _ check: StoreViews.Check, count: Int, from: String, on connection: Connection,
        _ report: inout CoreDataExportReport
    ) throws(StoreError) {
        let room = max(0, limit - report.problems.count)
        let condition = from.contains(" WHERE ") ? " AND " : " WHERE "
        let found = "typeof(\(check.column)) || ' ' || substr(quote(\(check.column)), 1, 40)"
        let statement = try connection.prepare(
            """
            SELECT s.Z_PK, \(check.reason ?? "NULL"), \(found) FROM \(from)\(condition)\(misfit(check)) \
            ORDER BY s.Z_PK LIMIT \(room)
            """, persistent: false)
        var named = 0
        while try statement.step() {
            let reason =
                statement.isNull(1)
                ? "the column holds \(statement.text(2)), which is not a value of type \(check.typeName)"
                : statement.text(1)
            report.note(
                .init(
                    kind: .value, entity: check.entity, property: check.property, key: statement.integer(0),
                    reason: reason),
                count: 1, limit: limit)
            named += 1
        }
        report.problemCounts[.value, default: 0] += count - named
    }
}
