import StrataStore

/// How the rows of an entity are written.
struct WritePlan: Sendable {
    /// What binding the value of a slot has to know: plain bytes, since it is asked for at every value.
    struct Binding: Sendable {
        let slot: Int
        let storage: SlotStorage
        let allowsExternal: Bool
    }

    /// A stored slot.
    struct Field: Sendable {
        let binding: Binding
        let column: String
        /// The column with the place in an ordered relationship, which a move to another owner makes meaningless.
        let orderColumn: String?
        var slot: Int { binding.slot }
    }

    /// A unique constraint: its slots, and the search for a row that it conflicts with.
    struct Unique: Sendable {
        let slots: [Int]
        let fields: [Field]
        let search: String
    }

    /// The statements that find rows by key.
    struct ByKey: Sendable {
        static let isListed = "_id IN (SELECT value FROM strata_list(?))"
        /// Deletes a row that has the version read.
        let delete: String
        let deleteAny: String
        let deleteMany: String
        let version: String
        let versions: String

        init(table: String) {
            delete = "DELETE FROM \(table) WHERE _id = ? AND _version = ?"
            deleteAny = "DELETE FROM \(table) WHERE _id = ?"
            deleteMany = "DELETE FROM \(table) WHERE \(Self.isListed)"
            version = "SELECT _version FROM \(table) WHERE _id = ?"
            versions = "SELECT _id, _version FROM \(table) WHERE \(Self.isListed)"
        }
    }

    let entityIndex: Int
    let table: String
    let entityName: String
    let fields: [Field]
    /// Those of ``fields``.
    let bindings: [Binding]
    private let insertHead: String
    private let insertRow: String
    /// What ``insertSQL(rows:)`` has made, by the number of rows: there are few.
    private let insertTexts = Guarded<[Int: String]>([:])
    let byKey: ByKey
    /// Reads the names of the files that rows refer to; nil if the entity has no such columns.
    let externalSQL: String?
    let uniques: [Unique]
    /// How many parameters of a new row come before the fields.
    static let leadingParameters: Int32 = 2

    init(schema: Schema, entity: EntityDescription) {
        let layout = schema.layout
        let table = layout.table(entity.index)
        var orders: [Int: String] = [:]
        for other in layout.model.entities {
            for relationship in other.relationships {
                guard case .inverseSlot(let slot) = relationship.storage,
                    let order = layout.orderColumn(other.index, relationship.index),
                    entity.isKind(of: layout.model.entities[relationship.destinationIndex])
                else { continue }
                orders[slot] = order
            }
        }
        var fields: [Field] = []
        for slot in entity.slots {
            guard let column = layout.column(entity.index, slot.index) else { continue }
            fields.append(
                Field(
                    binding: Binding(
                        slot: slot.index, storage: slot.storage, allowsExternal: column.allowsExternal),
                    column: column.quoted,
                    orderColumn: orders[slot.index]))
        }
        self.entityIndex = entity.index
        self.table = table.quoted
        self.entityName = entity.name
        self.fields = fields
        self.bindings = fields.map(\.binding)
        let own = table.hasEntityColumn ? [("_entity", Identifiers.literal(entity.name))] : []
        let names = ["_id", "_version"] + own.map(\.0) + fields.map(\.column)
        let values = ["?", "?"] + own.map(\.1) + fields.map { _ in "?" }
        self.insertHead = "\(StatementRows.insert) \(table.quoted)(\(names.joined(separator: ", "))) VALUES"
        self.insertRow = "(\(values.joined(separator: ", ")))"
        self.byKey = ByKey(table: table.quoted)
        let external = fields.filter(\.binding.allowsExternal).map {
            "CASE WHEN typeof(\($0.column)) = 'text' THEN \($0.column) END"
        }
        self.externalSQL =
            external.isEmpty ? nil : "SELECT \(external.joined(separator: ", ")) FROM \(table.quoted) WHERE \(ByKey.isListed)"
        self.uniques = schema.isMirror ? [] : Self.uniques(entity, layout: layout, table: table.quoted, fields: fields)
    }

    /// The statement that writes new rows.
    func insertSQL(rows: Int = 1) -> String {
        insertTexts.withLock { texts in
            if let known = texts[rows] { return known }
            let text = insertHead + StatementRows.text(insertRow, rows)
            texts[rows] = text
            return text
        }
    }

    /// The statement that writes some slots: first their values, then version, key and the version read.
    func updateSQL(_ fields: [Field]) -> String {
        let assignments = assignments(fields) { _ in "?" }
        return "UPDATE \(table) SET \(assignments) WHERE _id = ? AND _version = ?"
    }

    /// The statement that writes some slots of several rows: of each what ``updateSQL(_:)`` has. It answers with the keys of
    /// those that had the version read.
    func updateSQL(_ fields: [Field], rows: Int) -> String {
        let count = fields.count
        let row = "(\(repeatElement("?", count: count + 3).joined(separator: ", ")))"
        return """
            UPDATE \(table) SET \(assignments(fields) { "_v.column\($0 + 1)" }) \
            FROM (VALUES \(StatementRows.text(row, rows))) AS _v \
            WHERE _id = _v.column\(count + 2) AND _version = _v.column\(count + 3) RETURNING _id
            """
    }

    /// - Parameter value: The value of the field at a position; that of the version comes after them.
    private func assignments(_ fields: [Field], _ value: (Int) -> String) -> String {
        var list = fields.enumerated().map { "\($1.column) = \(value($0))" }
        list += fields.compactMap { field in field.orderColumn.map { "\($0) = NULL" } }
        list.append("_version = \(value(fields.count))")
        return list.joined(separator: ", ")
    }

    /// The search for a unique constraint of the entity, and of those that it inherits. A constraint of an ancestor
    /// concerns all rows of the ancestor; the search looks at the table as the index of that ancestor does.
    private static func uniques(
        _ entity: EntityDescription, layout: StoreLayout, table: String, fields: [Field]
    ) -> [Unique] {
        var result: [Unique] = []
        for slots in entity.uniqueConstraints where !slots.isEmpty {
            let parts = slots.compactMap { slot in fields.first { $0.slot == slot } }
            guard parts.count == slots.count else { continue }
            var conditions = parts.map { field in
                field.binding.storage == .decimal
                    ? "\(field.column) = ? COLLATE \(SQLFunctions.decimalCollation)" : "\(field.column) = ?"
            }
            let declaring = layout.model.entity(declaringUnique: slots, of: entity)
            if declaring.parentIndex != nil,
                let condition = layout.entityCondition(declaring.index, subentities: true, alias: nil)
            {
                conditions.append(condition)
            }
            result.append(
                Unique(
                    slots: slots, fields: parts,
                    search:
                        "SELECT _id FROM \(table) WHERE \(conditions.joined(separator: " AND ")) AND _id <> ? LIMIT 1"))
        }
        return result
    }
}
