import StrataStore

/// An index, or a table or trigger that is part of one: its name, the statement that creates it, and the one that fills it
/// from existing rows.
package struct SchemaObject: Sendable {
    package let name: String
    /// `index`, `table` or `trigger`, as `DROP` names it.
    package let kind: String
    package let sql: String
    package var fill: String?
    /// The table into which many rows can be put faster without the index, to create it afterwards; nil if it must stay.
    package var spareTable: Int?
    /// The name of the virtual table that it keeps in step with its rows, or is itself. Where one object of such a group is
    /// missing, the index may lack rows.
    package var group: String?

    package init(
        name: String, kind: String, sql: String, fill: String? = nil, spareTable: Int? = nil, group: String? = nil
    ) {
        self.name = name
        self.kind = kind
        self.sql = sql
        self.fill = fill
        self.spareTable = spareTable
        self.group = group
    }
}

/// A geo point that an index finds by area.
package struct SpatialIndex: Sendable {
    package let table: Int
    package let column: Int
    /// The name of the index as it appears in SQL.
    package let name: String
}

/// The SQL that makes the tables of a layout.
package struct Schema: Sendable {
    package let layout: StoreLayout
    package private(set) var objects: [SchemaObject] = []
    package private(set) var spatialIndexes: [SpatialIndex] = []
    package private(set) var fullTextIndexes: [FullTextIndex] = []
    private var names: NamePool
    private var model: ManagedObjectModel { layout.model }

    /// Whether rows may agree in values that the model declares unique; as in a mirror of a server.
    package let isMirror: Bool

    package init(layout: StoreLayout, isMirror: Bool = false) {
        self.layout = layout
        self.isMirror = isMirror
        names = NamePool(limit: layout.dialect.nameLimit)
        for table in layout.tables { _ = names.take(table.name) }
        for pairs in layout.pairTables { _ = names.take(pairs.name) }
        makeIndexes()
    }

    /// The statements that make all tables. Each reads well in a shell.
    package var tableStatements: [String] {
        layout.tables.map { statement(of: $0) } + layout.pairTables.map { statement(of: $0) }
    }

    /// - Parameter name: The name to create the table under, as it appears in SQL; nil for its own.
    package func statement(of table: TableLayout, named name: String? = nil) -> String {
        let dialect = layout.dialect
        let integer = dialect.columnType(.integer)
        var lines = ["_id \(integer) PRIMARY KEY"]
        if table.hasEntityColumn { lines.append("_entity \(dialect.columnType(.text)) NOT NULL") }
        lines.append("_version \(integer) NOT NULL")
        // Numbers first: to find a column, SQLite walks over all that come before it.
        lines += table.columns.filter(\.storage.isInline).map(definition(of:))
        lines += table.columns.filter { !$0.storage.isInline }.map(definition(of:))
        lines += table.orderColumns.map { "\(dialect.quote($0)) \(integer)" }
        return "CREATE TABLE \(name ?? table.quoted) (\n    \(lines.joined(separator: ",\n    "))\n)"
    }

    package func definition(of column: ColumnLayout) -> String {
        var line = "\(column.quoted) \(layout.dialect.columnType(column.storage))"
        if let root = column.destinationRoot {
            line += " REFERENCES \(layout.table(root).quoted)(_id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED"
        }
        return line
    }

    /// - Parameter name: The name to create the table under, as it appears in SQL; nil for its own.
    package func statement(of pairs: PairTable, named name: String? = nil) -> String {
        let integer = layout.dialect.columnType(.integer)
        func key(_ column: String, _ table: Int) -> String {
            "\(column) \(integer) NOT NULL REFERENCES \(layout.tables[table].quoted)(_id)"
                + " ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"
        }
        var lines = [key(pairs.ownerColumn, pairs.ownerTable), key(pairs.memberColumn, pairs.memberTable)]
        lines += [pairs.ownerOrder, pairs.memberOrder].compactMap { $0.map { "\($0) \(integer)" } }
        lines.append("PRIMARY KEY (\(pairs.ownerColumn), \(pairs.memberColumn))")
        return
            "CREATE TABLE \(name ?? pairs.quoted) (\n    \(lines.joined(separator: ",\n    "))\n)\(layout.dialect.pairTableEnd)"
    }

    // MARK: Indexes

    private mutating func makeIndexes() {
        var covered: [Set<String>] = layout.tables.map { _ in [] }
        // By name, so that no name depends on the order of the declarations.
        for entity in model.entities.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            let inherited = entity.parentIndex.map { model.entities[$0].indexes.count } ?? 0
            for index in entity.indexes.dropFirst(inherited) {
                switch index.kind {
                case .ordered, .unique: makeIndex(index, of: entity, covered: &covered)
                case .spatial: makeSpatialIndex(index, of: entity)
                case .fullText: makeFullTextIndex(index, of: entity)
                }
            }
        }
        makeKeyIndexes(covered: covered)
        for pairs in layout.pairTables {
            let name = names.take("\(pairs.name)_by_\(pairs.memberColumn.filter { $0 != "\"" })")
            objects.append(
                SchemaObject(
                    name: name, kind: "index",
                    sql:
                        "CREATE INDEX \(layout.dialect.quote(name)) ON \(pairs.quoted)"
                        + " (\(pairs.memberColumn), \(pairs.ownerColumn))"
                ))
        }
    }

    private mutating func makeIndex(_ index: Index, of entity: EntityDescription, covered: inout [Set<String>]) {
        let tableIndex = layout.tableOfEntity[entity.index]
        let table = layout.tables[tableIndex]
        var terms: [String] = []
        var first: String?
        var words: [String] = []
        for property in index.properties {
            let isDescending = property.hasPrefix("-")
            let name = isDescending ? String(property.dropFirst()) : property
            guard let slot = entity.slot(named: name), let column = layout.column(entity.index, slot.index) else {
                continue
            }
            terms.append(layout.dialect.indexTerm(column.quoted, slot.storage, descending: isDescending))
            if first == nil { first = column.quoted + (isDescending ? " DESC" : "") }
            words.append(column.name + (isDescending ? "_desc" : ""))
        }
        guard let first else { return }
        let isUnique = index.kind == .unique && !isMirror
        let isPartial = isUnique && entity.parentIndex != nil
        let name = names.take(
            "\(table.name)_by_\(words.joined(separator: "_"))\(isUnique ? "_unique" : "")")
        var sql =
            "CREATE \(isUnique ? "UNIQUE INDEX" : "INDEX") \(layout.dialect.quote(name)) ON \(table.quoted)"
            + " (\(terms.joined(separator: ", ")))"
        if isPartial, let condition = layout.entityCondition(entity.index, subentities: true, alias: nil) {
            sql += " WHERE \(condition)"
        }
        if !isPartial { covered[tableIndex].insert(first) }
        let isNeeded = table.columns.contains { $0.quoted == first && Self.isNeededByInserts($0, of: table) }
        objects.append(
            SchemaObject(name: name, kind: "index", sql: sql, spareTable: isNeeded ? nil : tableIndex))
    }

    /// Every foreign key has an index: to-many relationships are read by it, and a delete looks for references.
    private mutating func makeKeyIndexes(covered: [Set<String>]) {
        var orders: [Int: [String: String]] = [:]
        for entity in model.entities {
            for relationship in entity.relationships {
                guard case .inverseSlot(let slot) = relationship.storage,
                    let order = layout.orderColumn(entity.index, relationship.index),
                    let column = layout.column(relationship.destinationIndex, slot)
                else { continue }
                orders[layout.tableOfEntity[relationship.destinationIndex], default: [:]][column.quoted] = order
            }
        }
        for (index, table) in layout.tables.enumerated() {
            for column in table.columns where column.storage == .key {
                let order = orders[index]?[column.quoted]
                guard order != nil || !covered[index].contains(column.quoted) else { continue }
                let name = names.take("\(table.name)_by_\(column.name)")
                let dialect = layout.dialect
                let terms = [column.quoted, order].compactMap(\.self).map {
                    dialect.indexTerm($0, .key, descending: false)
                }.joined(separator: ", ")
                objects.append(
                    SchemaObject(
                        name: name, kind: "index",
                        sql: "CREATE INDEX \(layout.dialect.quote(name)) ON \(table.quoted) (\(terms))",
                        spareTable: Self.isNeededByInserts(column, of: table) ? nil : index))
            }
        }
    }

    /// While rows refer to rows of the same table that are not written yet, SQLite looks through the references at each
    /// insert, and without their index through the whole table.
    private static func isNeededByInserts(_ column: ColumnLayout, of table: TableLayout) -> Bool {
        column.destinationRoot == table.rootIndex
    }

    private mutating func makeSpatialIndex(_ index: Index, of entity: EntityDescription) {
        let tableIndex = layout.tableOfEntity[entity.index]
        let table = layout.tables[tableIndex]
        for property in index.properties {
            guard let slot = entity.slot(named: property), slot.storage == .geoPoint,
                let column = layout.columnOfSlot[entity.index][slot.index]
            else { continue }
            if spatialIndexes.contains(where: { $0.table == tableIndex && $0.column == column }) { continue }
            let name = names.take("\(table.name)_\(table.columns[column].name)_area")
            let made = layout.dialect.spatialObjects(name, table.columns[column], of: table, &names)
            guard !made.isEmpty else { continue }
            spatialIndexes.append(SpatialIndex(table: tableIndex, column: column, name: layout.dialect.quote(name)))
            objects += made
        }
    }

    private mutating func makeFullTextIndex(_ index: Index, of entity: EntityDescription) {
        let table = layout.table(entity.index)
        let positions = index.properties.compactMap { property in
            entity.slot(named: property).flatMap { layout.columnOfSlot[entity.index][$0.index] }
        }.filter { table.columns[$0].storage == .text }
        let columns = positions.map { table.columns[$0] }
        guard !columns.isEmpty else { return }
        let name = names.take("\(table.name)_\(columns.map(\.name).joined(separator: "_"))_words")
        let made = layout.dialect.fullTextObjects(name, columns, of: table, &names)
        guard !made.isEmpty else { return }
        fullTextIndexes.append(
            FullTextIndex(
                table: layout.tableOfEntity[entity.index], columns: positions, columnNames: columns.map(\.quoted),
                name: layout.dialect.quote(name)))
        objects += made
    }

    // MARK: Indexes of a file

    /// Leaves out the indexes that a file lacks, or of which it lacks a trigger, so that no fetch asks them.
    package mutating func keepIndexes(among present: Set<String>) {
        let incomplete = Set(
            objects.filter { !present.contains($0.name) }.compactMap(\.group).map(layout.dialect.quote))
        spatialIndexes.removeAll { incomplete.contains($0.name) }
        fullTextIndexes.removeAll { incomplete.contains($0.name) }
    }
}
