import StrataStore

/// An index, or a table or trigger that is part of one: its name, the statement that creates it, and the one that fills it
/// from existing rows.
struct SchemaObject: Sendable {
    let name: String
    /// `index`, `table` or `trigger`, as `DROP` names it.
    let kind: String
    let sql: String
    var fill: String?
    /// The table into which many rows can be put faster without the index, to create it afterwards; nil if it must stay.
    var spareTable: Int?
    /// The name of the virtual table that it keeps in step with its rows, or is itself. Where one object of such a group is
    /// missing, the index may lack rows.
    var group: String?
}

/// A geo point that an R*Tree finds by area. Triggers keep the tree, so that it has the rows of every writer.
struct SpatialIndex: Sendable {
    let table: Int
    let column: Int
    /// The name of the tree as it appears in SQL.
    let name: String
}

/// The SQL that makes the tables of a layout.
struct Schema: Sendable {
    let layout: StoreLayout
    private(set) var objects: [SchemaObject] = []
    private(set) var spatialIndexes: [SpatialIndex] = []
    private(set) var fullTextIndexes: [FullTextIndex] = []
    private var names = NamePool()
    private var model: ManagedObjectModel { layout.model }

    /// Whether rows may agree in values that the model declares unique; see ``SQLiteStore/Options/isMirror``.
    let isMirror: Bool

    init(layout: StoreLayout, isMirror: Bool = false) {
        self.layout = layout
        self.isMirror = isMirror
        for table in layout.tables { _ = names.take(table.name) }
        for pairs in layout.pairTables { _ = names.take(pairs.name) }
        makeIndexes()
    }

    /// The statements that make all tables. Each reads well in the `sqlite3` shell.
    var tableStatements: [String] {
        layout.tables.map { statement(of: $0) } + layout.pairTables.map { statement(of: $0) }
    }

    /// - Parameter name: The name to create the table under, as it appears in SQL; nil for its own.
    func statement(of table: TableLayout, named name: String? = nil) -> String {
        var lines = ["_id INTEGER PRIMARY KEY"]
        if table.hasEntityColumn { lines.append("_entity TEXT NOT NULL") }
        lines.append("_version INTEGER NOT NULL")
        // Numbers first: to find a column, SQLite walks over all that come before it.
        lines += table.columns.filter(\.storage.isInline).map(definition(of:))
        lines += table.columns.filter { !$0.storage.isInline }.map(definition(of:))
        lines += table.orderColumns.map { Identifiers.quote($0) + " INTEGER" }
        return "CREATE TABLE \(name ?? table.quoted) (\n    \(lines.joined(separator: ",\n    "))\n)"
    }

    func definition(of column: ColumnLayout) -> String {
        var line = "\(column.quoted) \(column.storage.columnType)"
        if let root = column.destinationRoot {
            line += " REFERENCES \(layout.table(root).quoted)(_id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED"
        }
        return line
    }

    /// - Parameter name: The name to create the table under, as it appears in SQL; nil for its own.
    func statement(of pairs: PairTable, named name: String? = nil) -> String {
        func key(_ column: String, _ table: Int) -> String {
            "\(column) INTEGER NOT NULL REFERENCES \(layout.tables[table].quoted)(_id)"
                + " ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"
        }
        var lines = [key(pairs.ownerColumn, pairs.ownerTable), key(pairs.memberColumn, pairs.memberTable)]
        lines += [pairs.ownerOrder, pairs.memberOrder].compactMap { $0.map { $0 + " INTEGER" } }
        lines.append("PRIMARY KEY (\(pairs.ownerColumn), \(pairs.memberColumn))")
        return "CREATE TABLE \(name ?? pairs.quoted) (\n    \(lines.joined(separator: ",\n    "))\n) WITHOUT ROWID"
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
                        "CREATE INDEX \(Identifiers.quote(name)) ON \(pairs.quoted)"
                        + " (\(pairs.memberColumn), \(pairs.ownerColumn))"
                ))
        }
    }

    private mutating func makeIndex(_ index: Index, of entity: EntityDescription, covered: inout [Set<String>]) {
        let tableIndex = layout.tableOfEntity[entity.index]
        let table = layout.tables[tableIndex]
        var terms: [String] = []
        var words: [String] = []
        for property in index.properties {
            let isDescending = property.hasPrefix("-")
            let name = isDescending ? String(property.dropFirst()) : property
            guard let slot = entity.slot(named: name), let column = layout.column(entity.index, slot.index) else {
                continue
            }
            var term = column.quoted
            if slot.storage == .decimal { term += " COLLATE \(SQLFunctions.decimalCollation)" }
            terms.append(isDescending ? term + " DESC" : term)
            words.append(column.name + (isDescending ? "_desc" : ""))
        }
        guard let first = terms.first else { return }
        let isUnique = index.kind == .unique && !isMirror
        let isPartial = isUnique && entity.parentIndex != nil
        let name = names.take(
            "\(table.name)_by_\(words.joined(separator: "_"))\(isUnique ? "_unique" : "")")
        var sql =
            "CREATE \(isUnique ? "UNIQUE INDEX" : "INDEX") \(Identifiers.quote(name)) ON \(table.quoted)"
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
                let terms = [column.quoted, order].compactMap(\.self).joined(separator: ", ")
                objects.append(
                    SchemaObject(
                        name: name, kind: "index",
                        sql: "CREATE INDEX \(Identifiers.quote(name)) ON \(table.quoted) (\(terms))",
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
            let quoted = Identifiers.quote(name)
            spatialIndexes.append(SpatialIndex(table: tableIndex, column: column, name: quoted))
            addTree(quoted, name, column: table.columns[column].quoted, of: table)
        }
    }

    /// An R*Tree and the triggers that keep it.
    ///
    /// A writer that has none of Strata's functions, a shell for instance, may delete rows; to insert one, or to change a
    /// point, is an error for it. So the tree never lacks a row without anybody noticing.
    private mutating func addTree(_ tree: String, _ name: String, column: String, of table: TableLayout) {
        func entry(_ row: String, from: String = "") -> String {
            let latitude = "\(SQLFunctions.latitude)(\(row)\(column))"
            let longitude = "\(SQLFunctions.longitude)(\(row)\(column))"
            return
                "INSERT OR REPLACE INTO \(tree) SELECT \(row)_id, \(latitude), \(latitude), \(longitude), \(longitude)"
                + "\(from) WHERE \(latitude) IS NOT NULL"
        }
        objects.append(
            SchemaObject(
                name: name, kind: "table",
                sql: "CREATE VIRTUAL TABLE \(tree)"
                    + " USING rtree(id, min_latitude, max_latitude, min_longitude, max_longitude)",
                fill: entry("", from: " FROM \(table.quoted)"), group: name))
        let remove = "DELETE FROM \(tree) WHERE id = old._id;"
        let add = entry("new.") + ";"
        for (event, when, body) in [
            ("insert", "INSERT", add), ("delete", "DELETE", remove),
            ("update", "UPDATE OF _id, \(column)", remove + "\n    " + add),
        ] {
            addTrigger(name, event, "AFTER \(when) ON \(table.quoted)", body)
        }
    }

    private mutating func addTrigger(_ index: String, _ event: String, _ when: String, _ body: String) {
        let name = names.take("\(index)_\(event)")
        objects.append(
            SchemaObject(
                name: name, kind: "trigger",
                sql: "CREATE TRIGGER \(Identifiers.quote(name)) \(when) BEGIN\n    \(body)\nEND", group: index))
    }

    private mutating func makeFullTextIndex(_ index: Index, of entity: EntityDescription) {
        let table = layout.table(entity.index)
        let positions = index.properties.compactMap { property in
            entity.slot(named: property).flatMap { layout.columnOfSlot[entity.index][$0.index] }
        }.filter { table.columns[$0].storage == .text }
        let columns = positions.map { table.columns[$0] }
        guard !columns.isEmpty else { return }
        let name = names.take("\(table.name)_\(columns.map(\.name).joined(separator: "_"))_words")
        let quoted = Identifiers.quote(name)
        let list = columns.map(\.quoted).joined(separator: ", ")
        fullTextIndexes.append(
            FullTextIndex(
                table: layout.tableOfEntity[entity.index], columns: positions, columnNames: columns.map(\.quoted),
                name: quoted))
        func values(_ row: String) -> String { columns.map { "\(row).\($0.quoted)" }.joined(separator: ", ") }
        objects.append(
            SchemaObject(
                name: name, kind: "table",
                sql:
                    "CREATE VIRTUAL TABLE \(quoted)"
                    + " USING fts5(\(list), content=\(Identifiers.literal(table.name)), content_rowid='_id',"
                    + " tokenize='\(WordTokenizer.name)')",
                fill: "INSERT INTO \(quoted)(\(quoted)) VALUES('rebuild')", group: name))
        let remove =
            "INSERT INTO \(quoted)(\(quoted), rowid, \(list)) VALUES('delete', old._id, \(values("old")));"
        let add =
            "INSERT INTO \(quoted)(rowid, \(list)) VALUES(new._id, \(values("new")));"
        for (event, body) in [
            ("insert", add), ("delete", remove), ("update", remove + "\n    " + add),
        ] {
            addTrigger(
                name, event,
                "AFTER \(event == "update" ? "UPDATE OF _id, \(list)" : event.uppercased()) ON \(table.quoted)", body)
        }
    }

    // MARK: Indexes of a file

    /// Leaves out the indexes that a file lacks, or of which it lacks a trigger, so that no fetch asks them.
    mutating func keepIndexes(among present: Set<String>) {
        let incomplete = Set(objects.filter { !present.contains($0.name) }.compactMap(\.group).map(Identifiers.quote))
        spatialIndexes.removeAll { incomplete.contains($0.name) }
        fullTextIndexes.removeAll { incomplete.contains($0.name) }
    }
}

extension SlotStorage {
    /// The declared type of a column.
    var columnType: String {
        switch self {
        case .integer, .boolean, .key: "INTEGER"
        case .double, .date: "REAL"
        case .text, .decimal: "TEXT"
        case .bytes, .uuid, .geoPoint: "BLOB"
        }
    }
}
