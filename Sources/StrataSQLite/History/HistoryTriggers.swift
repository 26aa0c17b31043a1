import StrataSQL
import StrataStore

/// The triggers that record changes.
struct HistoryTriggers {
    private typealias Kind = HistoryKind

    let layout: StoreLayout
    let history: HistoryLayout
    /// By position of the entity in the model its row in `_history_entities`.
    let ids: [Int64]
    /// Whether rows of version 0 are only keys that others refer to: a row that is filled in is new then.
    let isMirror: Bool

    private static let prefix = "_history_"
    /// `OR FAIL`, because SQLite otherwise keeps a copy of each page that a statement touches, so that it can undo the statement
    /// if a `NOT NULL` of these tables is violated: most of the cost of a delete by key. None of the rows can violate one.
    private static let insertion = "INSERT OR FAIL INTO"
    private static let head = "\(insertion) \(HistoryTables.changes)(kind, entity, key, changed)"

    /// All triggers: name and statement.
    func statements() -> [(name: String, sql: String)] {
        var result: [(String, String)] = []
        for index in layout.tables.indices { add(tableTriggers(index), layout.tables[index].name, to: &result) }
        for (key, side) in history.pairs { add(pairTriggers(key, side), side.table.name, to: &result) }
        return result
    }

    /// What fires a trigger, and what it does.
    private typealias Trigger = (event: String, when: String, body: [String])

    private func add(_ triggers: [Trigger], _ table: String, to result: inout [(String, String)]) {
        for trigger in triggers where !trigger.body.isEmpty {
            let name = "\(Self.prefix)\(table)_\(trigger.event)"
            let body = trigger.body.map { "    \($0);\n" }.joined()
            result.append(
                (name, "CREATE TRIGGER \(Identifiers.quote(name)) AFTER \(trigger.when) BEGIN\n\(body)END"))
        }
    }

    // MARK: Objects

    private func tableTriggers(_ index: Int) -> [Trigger] {
        let table = layout.tables[index]
        let kept = history.kept(index)
        func values(_ bits: [Int], where condition: (Int) -> String?) -> [String] {
            bits.map { bit in
                "\(Self.insertion) \(HistoryTables.values)(change, property, value) SELECT last_insert_rowid(), \(bit), "
                    + "OLD.\(table.columns[bit].quoted)" + (condition(bit).map { " WHERE \($0)" } ?? "")
            }
        }
        func row(_ kind: Int64, _ row: String, _ changed: String = "NULL", where condition: String? = nil) -> String {
            record("\(kind), \(entity("\(row)._entity", index)), \(row)._id, \(changed)", where: condition)
        }
        let isOld = isMirror ? "OLD._version > 0" : nil
        let isNew = isMirror ? "NEW._version > 0" : nil
        var update: [String] = []
        let both = [isOld, isNew].compactMap(\.self).joined(separator: " AND ")
        for (word, bits) in Kind.words(table.columns.indices).enumerated() {
            // The first word is not checked for changes: that would compare everything twice, and almost always
            // something did change.
            let mask = mask(bits.map { difference(table.columns[$0]) })
            let condition = [both.isEmpty ? nil : both, word == 0 ? nil : "\(mask) <> 0"].compactMap(\.self)
            update.append(
                row(
                    Kind.update + Int64(word), "NEW", mask,
                    where: condition.isEmpty ? nil : condition.joined(separator: " AND ")))
            update += values(kept.filter { bits.contains($0) }) { bit in
                (both.isEmpty ? "" : both + " AND ") + difference(table.columns[bit])
            }
        }
        if isMirror {
            update.append(row(Kind.insert, "NEW", where: "OLD._version = 0 AND NEW._version > 0"))
            update.append(row(Kind.delete, "OLD", where: "OLD._version > 0 AND NEW._version = 0"))
        }
        let columns = (table.columns.map(\.quoted) + (isMirror ? ["_version"] : [])).joined(separator: ", ")
        var result: [Trigger] = [
            ("insert", "INSERT ON \(table.quoted)", [row(Kind.insert, "NEW", where: isNew)]),
            (
                "delete", "DELETE ON \(table.quoted)",
                [row(Kind.delete, "OLD", where: isOld)] + values(kept) { _ in isOld }
            ),
        ]
        if !columns.isEmpty { result.append(("update", "UPDATE OF \(columns) ON \(table.quoted)", update)) }
        for (number, order) in history.orders(index).enumerated() {
            let moved =
                "(OLD.\(order.column) IS NOT NEW.\(order.column) OR OLD.\(order.owner) IS NOT NEW.\(order.owner))"
            let left = "OLD.\(order.owner) IS NOT NULL"
            let body = [
                relation(order.key, "NEW.\(order.owner)", where: "NEW.\(order.owner) IS NOT NULL AND \(moved)"),
                relation(
                    order.key, "OLD.\(order.owner)", where: "\(left) AND OLD.\(order.owner) IS NOT NEW.\(order.owner)"),
            ]
            let event = "UPDATE OF \(order.owner), \(order.column)"
            result.append(("order_\(number)", "\(event) ON \(table.quoted)", body.compactMap(\.self)))
            let gone = relation(order.key, "OLD.\(order.owner)", where: left)
            result.append(("leave_\(number)", "DELETE ON \(table.quoted)", [gone].compactMap(\.self)))
        }
        return result
    }

    private func difference(_ column: ColumnLayout) -> String {
        // Text that is equal by the order of the column may be another text.
        let collation = column.storage == .text || column.storage == .decimal ? " COLLATE BINARY" : ""
        return "(OLD.\(column.quoted)\(collation) IS NOT NEW.\(column.quoted))"
    }

    /// The bits of some conditions.
    private func mask(_ conditions: [String]) -> String {
        conditions.enumerated().map { $0 == 0 ? $1 : "(\($1) << \($0))" }.joined(separator: " | ")
    }

    // MARK: Entities

    /// The row in `_history_entities` of the entity that a column names.
    private func entity(_ column: String, _ table: Int) -> String {
        history.entityTerm(column, inTable: table, ids: ids)
    }

    /// The same for an object of a table by its key. It may be gone already.
    private func entity(ofKey key: String, _ table: Int) -> String {
        let layout = layout.tables[table]
        guard layout.hasEntityColumn else { return "\(ids[layout.onlyEntityIndex])" }
        return
            "coalesce((SELECT \(entity("_entity", table)) FROM \(layout.quoted) WHERE _id = \(key)), \(ids[layout.rootIndex]))"
    }

    // MARK: Relationships

    /// Records that a relationship of an object changed.
    private func relation(_ key: RelationshipKey, _ owner: String, where condition: String? = nil) -> String? {
        guard let bit = history.bit(key.entityIndex, key.relationshipIndex) else { return nil }
        let table = layout.tableOfEntity[key.entityIndex]
        var conditions = condition.map { [$0] } ?? []
        // Objects of which a mirror knows only the key are nothing that changes.
        if isMirror {
            conditions.append("(SELECT _version FROM \(layout.tables[table].quoted) WHERE _id = \(owner)) > 0")
        }
        return record(
            "\(Kind.update + Int64(bit / Kind.word)), \(entity(ofKey: owner, table)), \(owner), "
                + "\(Int64(1) << Int64(bit % Kind.word))",
            where: conditions.isEmpty ? nil : conditions.joined(separator: " AND "))
    }

    /// A row of `_history`.
    private func record(_ values: String, where condition: String?) -> String {
        condition.map { "\(Self.head) SELECT \(values) WHERE \($0)" } ?? "\(Self.head) VALUES(\(values))"
    }

    private func pairTriggers(_ key: RelationshipKey, _ side: PairSide) -> [Trigger] {
        let table = side.table
        let inverse = history.inverse(of: key, side)
        func both(_ row: String) -> [String] {
            [
                relation(key, "\(row).\(table.ownerColumn)"),
                inverse.flatMap { relation($0, "\(row).\(table.memberColumn)") },
            ].compactMap(\.self)
        }
        var result: [Trigger] = [
            ("insert", "INSERT ON \(table.quoted)", both("NEW")), ("delete", "DELETE ON \(table.quoted)", both("OLD")),
        ]
        func isMoved(_ order: String) -> String { "OLD.\(order) IS NOT NEW.\(order)" }
        if let order = table.ownerOrder {
            let body = [relation(key, "NEW.\(table.ownerColumn)", where: isMoved(order))].compactMap(\.self)
            result.append(("order_0", "UPDATE OF \(order) ON \(table.quoted)", body))
        }
        if let order = table.memberOrder, let inverse {
            let body = [relation(inverse, "NEW.\(table.memberColumn)", where: isMoved(order))].compactMap(\.self)
            result.append(("order_1", "UPDATE OF \(order) ON \(table.quoted)", body))
        }
        return result
    }

    // MARK: In a file

    /// The triggers that a file has: name and statement.
    static func present(on connection: Connection) throws(StoreError) -> [String: String] {
        let statement = try connection.prepare(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name GLOB '\(prefix)*'", persistent: false)
        var result: [String: String] = [:]
        while try statement.step() { result[statement.text(0)] = statement.text(1) }
        return result
    }

    /// Drops them all.
    static func drop(on connection: Connection) throws(StoreError) {
        for name in try present(on: connection).keys.sorted() {
            try connection.execute("DROP TRIGGER \(Identifiers.quote(name))")
        }
    }
}
