#if Postgres
    import StrataSQL
    import StrataStore

    /// The SQL that makes the tables of a layout, with their indexes and constraints.
    struct PostgresSchema: Sendable {
        /// An index or a constraint.
        struct Object: Sendable, Hashable, Codable {
            let name: String
            let create: String
            let drop: String
        }

        /// The version of ``PostgresDialect/functions``. They are created again when a store with another version is opened.
        static let functionsVersion = 1

        let layout: StoreLayout
        private(set) var objects: [Object] = []
        private var names = NamePool(limit: SQLText.nameLimit)

        init(layout: StoreLayout) {
            self.layout = layout
            for table in layout.tables { _ = names.take(table.name) }
            for pairs in layout.pairTables { _ = names.take(pairs.name) }
            // The names that PostgreSQL gives to primary keys.
            for table in layout.tables { _ = names.take(table.name + "_pkey") }
            for pairs in layout.pairTables { _ = names.take(pairs.name + "_pkey") }
            makeIndexes()
            makeKeyIndexes()
        }

        /// The column with the name of a value that is kept apart from its row.
        static func externalColumn(of column: ColumnLayout) -> String {
            SQLText.quote(NamePool.shortened("_external_" + column.name, to: SQLText.nameLimit))
        }

        // MARK: Tables

        /// The tables that each store has besides those of its model.
        static let ownTables = [
            "CREATE TABLE \"_metadata\" (key text PRIMARY KEY, value text NOT NULL)",
            "CREATE TABLE \"_keys\" (entity text PRIMARY KEY, next bigint NOT NULL)",
            """
            CREATE TABLE "_commits" (id uuid PRIMARY KEY, committed_at timestamptz NOT NULL DEFAULT now(), \
            is_aborted boolean NOT NULL DEFAULT false)
            """,
            "CREATE TABLE \"_blobs\" (name text PRIMARY KEY, data bytea NOT NULL, dropped_at timestamptz)",
        ]

        /// The statements that make all tables, with references between them last.
        var tableStatements: [String] { Self.ownTables + modelStatements }

        /// The statements that make the tables of the model.
        var modelStatements: [String] {
            layout.tables.map { statement(of: $0) } + layout.pairTables.map { statement(of: $0) } + references
        }

        /// - Parameter name: The name to make the table under, as it appears in SQL; nil for its own.
        func statement(of table: TableLayout, named name: String? = nil) -> String {
            var lines = ["\"_id\" bigint PRIMARY KEY"]
            if table.hasEntityColumn { lines.append("\"_entity\" text COLLATE \"C\" NOT NULL") }
            lines.append("\"_version\" bigint NOT NULL")
            for (index, column) in table.columns.enumerated() {
                lines += definitions(of: column, at: index, in: table)
            }
            lines += table.orderColumns.map { "\(SQLText.quote($0)) bigint" }
            return "CREATE TABLE \(name ?? table.quoted) (\n    \(lines.joined(separator: ",\n    "))\n)"
        }

        /// A column with its type, and the column with the name of its external value.
        func definitions(of column: ColumnLayout, at index: Int, in table: TableLayout) -> [String] {
            ["\(column.quoted) \(type(of: column, at: index, in: table))"]
                + (column.allowsExternal ? ["\(Self.externalColumn(of: column)) text"] : [])
        }

        /// Text is compared by its bytes, so that it has the same order everywhere.
        func type(of column: ColumnLayout, at index: Int, in table: TableLayout) -> String {
            let type = column.storage.postgresType(isJSON: isJSON(at: index, in: table))
            return type == .text ? "text COLLATE \"C\"" : type.name
        }

        private func isJSON(at index: Int, in table: TableLayout) -> Bool {
            slots(at: index, in: table).contains { $0.type?.isJSON == true }
        }

        private func slots(at index: Int, in table: TableLayout) -> [SlotDescription] {
            let model = layout.model
            return model.entities[table.rootIndex].descendantIndexes.flatMap { entity in
                model.entities[entity].slots.filter { layout.columnOfSlot[entity][$0.index] == index }
            }
        }

        /// - Parameter name: The name to make the table under, as it appears in SQL; nil for its own.
        func statement(of pairs: PairTable, named name: String? = nil) -> String {
            var lines = ["\(pairs.ownerColumn) bigint NOT NULL", "\(pairs.memberColumn) bigint NOT NULL"]
            lines += [pairs.ownerOrder, pairs.memberOrder].compactMap { $0.map { $0 + " bigint" } }
            lines.append("PRIMARY KEY (\(pairs.ownerColumn), \(pairs.memberColumn))")
            return "CREATE TABLE \(name ?? pairs.quoted) (\n    \(lines.joined(separator: ",\n    "))\n)"
        }

        /// A foreign key.
        struct KeyReference {
            /// As they appear in SQL.
            let table: String
            let column: String
            let target: Int
            let rule: String
        }

        /// The foreign keys of all tables.
        var keyReferences: [KeyReference] {
            var result: [KeyReference] = []
            for table in layout.tables {
                for column in table.columns {
                    guard let root = column.destinationRoot else { continue }
                    result.append(
                        KeyReference(
                            table: table.quoted, column: column.quoted, target: layout.tableOfEntity[root],
                            rule: "SET NULL"))
                }
            }
            for pairs in layout.pairTables {
                for (column, target) in [
                    (pairs.ownerColumn, pairs.ownerTable), (pairs.memberColumn, pairs.memberTable),
                ] {
                    result.append(
                        KeyReference(table: pairs.quoted, column: column, target: target, rule: "CASCADE"))
                }
            }
            return result
        }

        /// Checked when a transaction commits, so that its rows may come in any order.
        func statement(of reference: KeyReference) -> String {
            "ALTER TABLE \(reference.table) ADD FOREIGN KEY (\(reference.column)) REFERENCES "
                + "\(layout.tables[reference.target].quoted)(\"_id\") ON DELETE \(reference.rule) DEFERRABLE INITIALLY DEFERRED"
        }

        /// The statements that make the foreign keys.
        var references: [String] { keyReferences.map { statement(of: $0) } }

        // MARK: Indexes

        private mutating func makeIndexes() {
            // By name, so that no name depends on the order of the declarations.
            for entity in layout.model.entities.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
                let inherited = entity.parentIndex.map { layout.model.entities[$0].indexes.count } ?? 0
                for index in entity.indexes.dropFirst(inherited) {
                    switch index.kind {
                    case .ordered, .unique: makeIndex(index, of: entity)
                    case .spatial: makeSpatialIndex(index, of: entity)
                    // Words are looked for in the rows themselves.
                    case .fullText: break
                    }
                }
            }
        }

        private mutating func makeIndex(_ index: Index, of entity: EntityDescription) {
            let table = layout.table(entity.index)
            let isUnique = index.kind == .unique
            var columns: [(column: ColumnLayout, isDescending: Bool)] = []
            for property in index.properties {
                let isDescending = property.hasPrefix("-")
                let name = isDescending ? String(property.dropFirst()) : property
                guard let slot = entity.slot(named: name), let column = layout.column(entity.index, slot.index) else {
                    continue
                }
                // Values of these types have no order, and those that may be kept apart are not in the index.
                if slot.storage == .geoPoint || slot.type?.isJSON == true || column.allowsExternal { continue }
                columns.append((column, isDescending))
            }
            if columns.isEmpty { return }
            let words = columns.map { $0.column.name + ($0.isDescending ? "_desc" : "") }.joined(separator: "_")
            let name = names.take("\(table.name)_by_\(words)\(isUnique ? "_unique" : "")")
            let quoted = SQLText.quote(name)
            guard isUnique else {
                // Nil comes first in ascending order, as in every store.
                let terms = columns.map {
                    "\($0.column.quoted) \($0.isDescending ? "DESC NULLS LAST" : "ASC NULLS FIRST")"
                }
                objects.append(
                    Object(
                        name: name,
                        create: "CREATE INDEX \(quoted) ON \(table.quoted) (\(terms.joined(separator: ", ")))",
                        drop: "DROP INDEX IF EXISTS \(quoted)"))
                return
            }
            // Checked at the end of a transaction, so that objects may exchange values.
            let condition =
                entity.parentIndex == nil ? nil : layout.entityCondition(entity.index, subentities: true, alias: nil)
            let rule =
                condition.map { condition in
                    let terms = columns.map { "\($0.column.quoted) WITH =" }.joined(separator: ", ")
                    return "EXCLUDE USING btree (\(terms)) WHERE (\(condition))"
                } ?? "UNIQUE (\(columns.map(\.column.quoted).joined(separator: ", ")))"
            objects.append(
                Object(
                    name: name,
                    create:
                        "ALTER TABLE \(table.quoted) ADD CONSTRAINT \(quoted) \(rule) DEFERRABLE INITIALLY DEFERRED",
                    drop: "ALTER TABLE \(table.quoted) DROP CONSTRAINT IF EXISTS \(quoted)"))
        }

        private mutating func makeSpatialIndex(_ index: Index, of entity: EntityDescription) {
            let table = layout.table(entity.index)
            for property in index.properties {
                guard let slot = entity.slot(named: property), slot.storage == .geoPoint,
                    let column = layout.column(entity.index, slot.index)
                else { continue }
                addIndex("\(table.name)_\(column.name)_area", on: table.quoted, "USING gist (\(column.quoted))")
            }
        }

        /// Every reference has an index: to-many relationships are read by it, and a delete looks for references.
        private mutating func makeKeyIndexes() {
            for table in layout.tables {
                for column in table.columns where column.storage == .key {
                    addIndex("\(table.name)_by_\(column.name)_key", on: table.quoted, "(\(column.quoted))")
                }
            }
            for pairs in layout.pairTables {
                let column = pairs.memberColumn.filter { $0 != "\"" }
                addIndex(
                    "\(pairs.name)_by_\(column)", on: pairs.quoted, "(\(pairs.memberColumn), \(pairs.ownerColumn))")
            }
        }

        private mutating func addIndex(_ wanted: String, on table: String, _ terms: String) {
            let name = names.take(wanted)
            objects.append(
                Object(
                    name: name, create: "CREATE INDEX \(SQLText.quote(name)) ON \(table) \(terms)",
                    drop: "DROP INDEX IF EXISTS \(SQLText.quote(name))"))
        }
    }
#endif
