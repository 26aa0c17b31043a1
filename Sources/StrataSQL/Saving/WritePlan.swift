import StrataStore

/// How the rows of an entity are written.
package struct WritePlan: Sendable {
    /// What binding the value of a slot has to know: plain bytes, since it is asked for at every value.
    package struct Binding: Sendable {
        package let slot: Int
        package let storage: SlotStorage
        package let allowsExternal: Bool
    }

    /// A stored slot.
    package struct Field: Sendable {
        package let binding: Binding
        package let column: String
        /// The column with the place in an ordered relationship, which a move to another owner makes meaningless.
        package let orderColumn: String?
        package var slot: Int { binding.slot }
    }

    /// A unique constraint: its slots, and the search for a row that it conflicts with.
    package struct Unique: Sendable {
        package let slots: [Int]
        package let fields: [Field]
        package let search: String
    }

    /// The statements that find rows by key.
    package struct ByKey: Sendable {
        /// Deletes a row that has the version read.
        package let delete: String
        package let deleteAny: String
        package let deleteMany: String
        package let version: String
        package let versions: String

        package init(table: String, dialect: any SQLDialect) {
            let key = dialect.writeParameter(1, .key)
            let isListed = Self.isListed(dialect)
            delete =
                "DELETE FROM \(table) WHERE _id = \(key) AND _version = \(dialect.writeParameter(2, .integer))"
            deleteAny = "DELETE FROM \(table) WHERE _id = \(key)"
            deleteMany = "DELETE FROM \(table) WHERE \(isListed)"
            version = "SELECT _version FROM \(table) WHERE _id = \(key)"
            versions = "SELECT _id, _version FROM \(table) WHERE \(isListed)"
        }

        /// Whether the key is one of a list, which is the only parameter.
        static func isListed(_ dialect: any SQLDialect) -> String {
            dialect.membership("_id", dialect.parameter(1, .object, isList: true), isSearched: false)
        }
    }

    /// The statements that write new rows. A reference, so that a copy of a plan costs little.
    private final class InsertText: Sendable {
        private let head: String
        /// The values of a row: storages of parameters, or literals.
        private let values: [(literal: String?, storage: SlotStorage)]
        let dialect: any SQLDialect
        /// What has been made, by the number of rows: there are few.
        private let texts = Guarded<[Int: String]>([:])

        init(head: String, values: [(literal: String?, storage: SlotStorage)], dialect: any SQLDialect) {
            self.head = head
            self.values = values
            self.dialect = dialect
        }

        func text(_ rows: Int) -> String {
            texts.withLock { texts in
                if let known = texts[rows] { return known }
                let text = head + StatementRows.text(rows, row)
                texts[rows] = text
                return text
            }
        }

        private func row(_ index: Int) -> String {
            var number = index * values.count { $0.literal == nil }
            let list = values.map { value in
                if let literal = value.literal { return literal }
                number += 1
                return dialect.writeParameter(number, value.storage)
            }
            return "(\(list.joined(separator: ", ")))"
        }
    }

    package let entityIndex: Int
    package let table: String
    package let entityName: String
    package let fields: [Field]
    /// Those of ``fields``.
    package let bindings: [Binding]
    private let insert: InsertText
    private var dialect: any SQLDialect { insert.dialect }
    package let byKey: ByKey
    /// Reads the names of the files that rows refer to; nil if the entity has no such columns.
    package let externalSQL: String?
    package let uniques: [Unique]
    /// How many parameters of a new row come before the fields.
    @inlinable package static var leadingParameters: Int32 { 2 }

    package init(schema: Schema, entity: EntityDescription) {
        let layout = schema.layout
        let table = layout.table(entity.index)
        let orders = layout.orderColumns(of: entity)
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
        insert = InsertText(
            head: "\(layout.dialect.insertHead) \(table.quoted)(\(names.joined(separator: ", "))) VALUES",
            values: [(nil, .key), (nil, .integer)] + own.map { ($0.1, .text) }
                + fields.map { (nil, $0.binding.storage) }, dialect: layout.dialect)
        byKey = ByKey(table: table.quoted, dialect: layout.dialect)
        let external = fields.filter(\.binding.allowsExternal).map { layout.dialect.fileName($0.column) }
        self.externalSQL =
            external.isEmpty
            ? nil
            : "SELECT \(external.joined(separator: ", ")) FROM \(table.quoted) WHERE \(ByKey.isListed(layout.dialect))"
        self.uniques = schema.isMirror ? [] : Self.uniques(entity, layout: layout, table: table.quoted, fields: fields)
    }

    /// The statement that writes new rows.
    package func insertSQL(rows: Int = 1) -> String {
        insert.text(rows)
    }

    /// The statement that writes some slots: first their values, then version, key and the version read.
    package func updateSQL(_ fields: [Field]) -> String {
        let count = fields.count
        let assignments = assignments(fields) { position in
            dialect.writeParameter(position + 1, position < count ? fields[position].binding.storage : .integer)
        }
        let key = dialect.writeParameter(count + 2, .key)
        return "\(dialect.updateHead) \(table) SET \(assignments) WHERE _id = \(key) AND _version = "
            + dialect.writeParameter(count + 3, .integer)
    }

    /// The statement that writes some slots of several rows: of each what ``updateSQL(_:)`` has. It answers with the keys of
    /// those that had the version read.
    package func updateSQL(_ fields: [Field], rows: Int) -> String {
        let count = fields.count
        let storages = fields.map(\.binding.storage) + [.integer, .key, .integer]
        let values = StatementRows.text(rows) { row in
            let values = storages.enumerated().map { dialect.writeParameter(row * (count + 3) + $0 + 1, $1) }
            return "(\(values.joined(separator: ", ")))"
        }
        return """
            UPDATE \(table) SET \(assignments(fields) { "_v.column\($0 + 1)" }) \
            FROM (VALUES \(values)) AS _v \
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
            let dialect = layout.dialect
            var conditions = parts.enumerated().map { place, field in
                dialect.uniqueSearch(
                    field.column, field.binding.storage, dialect.writeParameter(place + 1, field.binding.storage))
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
                    search: "SELECT _id FROM \(table) WHERE \(conditions.joined(separator: " AND ")) AND _id <> "
                        + "\(dialect.writeParameter(parts.count + 1, .key)) LIMIT 1"))
        }
        return result
    }
}
