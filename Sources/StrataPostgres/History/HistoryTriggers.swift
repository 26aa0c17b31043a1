#if Postgres
    import StrataSQL
    import StrataStore

    /// The triggers that record changes: for each table one function, which each statement that changes rows calls once, with
    /// all the rows that it has changed.
    struct HistoryTriggers {
        let layout: StoreLayout
        let history: HistoryLayout
        /// By position of the entity in the model its row in `_history_entities`.
        let ids: [Int64]
        let schema: String

        private static let prefix = "_history_"
        private static let functionPrefix = "strata_history_"

        private func own(_ name: String) -> String { "\(SQLText.quote(schema)).\(SQLText.quote(name))" }

        /// A setting of the transaction with the number of its row, which a rollback to a savepoint takes back as well.
        private var setting: String { "strata.history_\(StableHash.text(of: schema))" }

        /// The functions and triggers, in the order in which they are made.
        var statements: [String] {
            [numberFunction, endFunction]
                + [
                    """
                    CREATE CONSTRAINT TRIGGER "_history_begin" AFTER INSERT ON \(own("_history")) DEFERRABLE \
                    INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.stage = 0) EXECUTE FUNCTION \(own("strata_history_end"))()
                    """,
                    """
                    CREATE CONSTRAINT TRIGGER "_history_end" AFTER UPDATE ON \(own("_history")) DEFERRABLE \
                    INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.stage = 1) EXECUTE FUNCTION \(own("strata_history_end"))()
                    """,
                ] + layout.tables.indices.flatMap(tableStatements) + pairs.flatMap { pairStatements($0.key, $0.side) }
        }

        /// Gives the number of the transaction, which gets a row with its first change.
        private var numberFunction: String {
            """
            CREATE OR REPLACE FUNCTION \(own("strata_history_number"))() RETURNS bigint LANGUAGE plpgsql AS $strata$
            DECLARE
                known bigint := nullif(current_setting('\(setting)', true), '')::bigint;
            BEGIN
                IF known IS NULL THEN
                    INSERT INTO \(own("_history")) DEFAULT VALUES RETURNING number INTO known;
                    PERFORM set_config('\(setting)', known::text, true);
                END IF;
                RETURN known;
            END
            $strata$
            """
        }

        /// Ends a transaction; see ``HistoryTables``.
        private var endFunction: String {
            """
            CREATE OR REPLACE FUNCTION \(own("strata_history_end"))() RETURNS trigger LANGUAGE plpgsql AS $strata$
            DECLARE
                who jsonb;
            BEGIN
                IF NEW.stage = 0 THEN
                    UPDATE \(own("_history")) SET stage = 1 WHERE number = NEW.number;
                    RETURN NULL;
                END IF;
                who := nullif(current_setting('\(Self.originSetting)', true), '')::jsonb;
                PERFORM pg_advisory_xact_lock(hashtextextended('strata history ' || \(Identifiers.literal(schema)), 0));
                UPDATE \(own("_history")) SET stage = 2,
                    position = nextval(\(Identifiers.literal(own(HistoryTables.positions)))),
                    tag = \(HistoryTables.newTag), date = clock_timestamp(),
                    author = who->>'author', context = who->>'context',
                    process = coalesce(who->>'process', current_setting('application_name')),
                    process_id = coalesce((who->>'processID')::bigint, 0),
                    origin = coalesce((who->>'origin')::bigint, 0)
                    WHERE number = NEW.number;
                RETURN NULL;
            END
            $strata$
            """
        }

        /// A setting of the transaction that says who makes the changes.
        static let originSetting = "strata.origin"

        // MARK: Objects

        private var head: String { "INSERT INTO \(own("_history_changes"))(transaction, kind, entity, key, changed)" }

        /// The statements that make the function and the triggers of a table.
        private func made(_ table: String, insert: [String], update: [String], delete: [String]) -> [String] {
            let name = NamePool.shortened(Self.functionPrefix + table, to: SQLText.nameLimit)
            let target = own(table)
            // Two conditions, because PostgreSQL plans each as a whole, and only one of the tables is there.
            func part(_ test: String, _ rows: String, _ body: [String]) -> String {
                """
                    IF TG_OP = '\(test)' THEN
                        IF EXISTS (SELECT 1 FROM \(rows)) THEN
                            _number := \(own("strata_history_number"))();
                \(body.map { "            \($0);\n" }.joined())        END IF;
                    END IF;
                """
            }
            let parts = [("INSERT", "n", insert), ("UPDATE", "n", update), ("DELETE", "o", delete)].filter {
                !$0.2.isEmpty
            }
            if parts.isEmpty { return [] }
            let function = """
                CREATE OR REPLACE FUNCTION \(own(name))() RETURNS trigger LANGUAGE plpgsql AS $strata$
                DECLARE
                    _number bigint;
                BEGIN
                \(parts.map { part($0.0, $0.1, $0.2) }.joined(separator: "\n"))
                    RETURN NULL;
                END
                $strata$
                """
            let tables = [
                "INSERT": "NEW TABLE AS n", "UPDATE": "OLD TABLE AS o NEW TABLE AS n", "DELETE": "OLD TABLE AS o",
            ]
            return [function]
                + parts.map { event, _, _ in
                    """
                    CREATE TRIGGER \(SQLText.quote(Self.prefix + event.lowercased())) AFTER \(event) ON \(target) \
                    REFERENCING \(tables[event] ?? "") FOR EACH STATEMENT EXECUTE FUNCTION \(own(name))()
                    """
                }
        }

        private func tableStatements(_ index: Int) -> [String] {
            let table = layout.tables[index]
            let kept = history.kept(index)
            var update: [String] = []
            for (word, bits) in HistoryKind.words(table.columns.indices).enumerated() {
                let mask = bits.map { bit in
                    "(CASE WHEN \(difference(table.columns[bit], bit, index)) THEN \(1 << (bit - bits.lowerBound))::bigint ELSE 0 END)"
                }.joined(separator: " | ")
                let insert =
                    "\(head) SELECT _number, \(HistoryKind.update + Int64(word)), \(entity("n.\"_entity\"", index)), n.\"_id\", "
                    + "m.mask FROM n JOIN o ON o.\"_id\" = n.\"_id\" CROSS JOIN LATERAL (SELECT \(mask) AS mask) AS m "
                    + "WHERE m.mask <> 0"
                let own = kept.filter { bits.contains($0) }
                update.append(
                    own.isEmpty
                        ? insert
                        : values(of: own, table, after: insert) {
                            "(c.changed >> (v.property - \(bits.lowerBound))::int) & 1 = 1"
                        })
            }
            var delete = [
                "\(head) SELECT _number, \(HistoryKind.delete), \(entity("o.\"_entity\"", index)), o.\"_id\", NULL FROM o"
            ]
            if !kept.isEmpty { delete[0] = values(of: kept, table, after: delete[0]) { nil } }
            for order in history.orders(index) {
                let moved =
                    "(o.\(order.column) IS DISTINCT FROM n.\(order.column) OR o.\(order.owner) IS DISTINCT FROM n.\(order.owner))"
                let both = "n JOIN o ON o.\"_id\" = n.\"_id\""
                update += [
                    relation(
                        order.key, "n.\(order.owner)", from: both, where: "n.\(order.owner) IS NOT NULL AND \(moved)"),
                    relation(
                        order.key, "o.\(order.owner)", from: both,
                        where: "o.\(order.owner) IS NOT NULL AND o.\(order.owner) IS DISTINCT FROM n.\(order.owner)"),
                ].compactMap(\.self)
                delete += [
                    relation(order.key, "o.\(order.owner)", from: "o", where: "o.\(order.owner) IS NOT NULL")
                ].compactMap(\.self)
            }
            return made(
                table.name,
                insert: [
                    "\(head) SELECT _number, \(HistoryKind.insert), \(entity("n.\"_entity\"", index)), n.\"_id\", NULL FROM n"
                ], update: update, delete: delete)
        }

        private func isJSON(_ bit: Int, _ table: Int) -> Bool {
            let model = layout.model
            return model.entities[layout.tables[table].rootIndex].descendantIndexes.contains { entity in
                model.entities[entity].slots.contains {
                    layout.columnOfSlot[entity][$0.index] == bit && $0.type?.isJSON == true
                }
            }
        }

        /// Whether a row has another value in a column than before.
        private func difference(_ column: ColumnLayout, _ bit: Int, _ table: Int) -> String {
            // These types have no operator for equality.
            let cast = column.storage == .geoPoint || isJSON(bit, table) ? "::text" : ""
            let names = [column.quoted] + (column.allowsExternal ? [PostgresSchema.externalColumn(of: column)] : [])
            return "(" + names.map { "n.\($0)\(cast) IS DISTINCT FROM o.\($0)\(cast)" }.joined(separator: " OR ") + ")"
        }

        /// A statement that writes changes, and the old values of some columns for each of them.
        /// - Parameter condition: Which of the columns are written, if not all.
        private func values(
            of bits: [Int], _ table: TableLayout, after insert: String, where condition: () -> String?
        ) -> String {
            let list = bits.map { bit in
                let column = table.columns[bit]
                return "(\(bit)::bigint, '\(column.storage)', \(Self.bytes("o.\(column.quoted)", column.storage)))"
            }
            return "WITH c AS (\(insert) RETURNING id, key, changed) INSERT INTO "
                + "\(own("_history_values"))(change, property, type, value) SELECT c.id, v.property, v.type, v.value "
                + "FROM c JOIN o ON o.\"_id\" = c.key CROSS JOIN LATERAL (VALUES \(list.joined(separator: ", "))) "
                + "AS v(property, type, value)" + (condition().map { " WHERE \($0)" } ?? "")
        }

        /// A value in PostgreSQL's binary format, as ``SlotCoding`` reads it.
        private static func bytes(_ column: String, _ storage: SlotStorage) -> String {
            switch storage {
            case .integer, .key: "int8send(\(column))"
            case .boolean: "boolsend(\(column))"
            case .double: "float8send(\(column))"
            case .date: "timestamptz_send(\(column))"
            case .text: "textsend(\(column)::text)"
            case .decimal: "numeric_send(\(column))"
            case .bytes: column
            case .uuid: "uuid_send(\(column))"
            case .geoPoint: "point_send(\(column))"
            }
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
            return "coalesce((SELECT \(entity("x.\"_entity\"", table)) FROM \(own(layout.name)) AS x "
                + "WHERE x.\"_id\" = \(key)), \(ids[layout.rootIndex]))"
        }

        // MARK: Relationships

        /// Records that a relationship of some objects changed.
        private func relation(
            _ key: RelationshipKey, _ owner: String, from rows: String, where condition: String? = nil
        ) -> String? {
            guard let bit = history.bit(key.entityIndex, key.relationshipIndex) else { return nil }
            let table = layout.tableOfEntity[key.entityIndex]
            return
                "\(head) SELECT _number, \(HistoryKind.update + Int64(bit / HistoryKind.word)), \(entity(ofKey: "k.key", table)), "
                + "k.key, \(Int64(1) << Int64(bit % HistoryKind.word)) FROM (SELECT DISTINCT \(owner) AS key FROM \(rows)"
                + (condition.map { " WHERE \($0)" } ?? "") + ") AS k"
        }

        /// The relationships that are kept as pairs, by their primary side.
        private var pairs: [(key: RelationshipKey, side: PairSide)] { history.pairs }

        private func pairStatements(_ key: RelationshipKey, _ side: PairSide) -> [String] {
            let table = side.table
            let inverse = history.inverse(of: key, side)
            func both(_ rows: String) -> [String] {
                [
                    relation(key, "\(rows).\(table.ownerColumn)", from: rows),
                    inverse.flatMap { relation($0, "\(rows).\(table.memberColumn)", from: rows) },
                ].compactMap(\.self)
            }
            let joined =
                "n JOIN o ON o.\(table.ownerColumn) = n.\(table.ownerColumn) AND o.\(table.memberColumn) = n.\(table.memberColumn)"
            func isMoved(_ order: String) -> String { "o.\(order) IS DISTINCT FROM n.\(order)" }
            let update = [
                table.ownerOrder.flatMap {
                    relation(key, "n.\(table.ownerColumn)", from: joined, where: isMoved($0))
                },
                table.memberOrder.flatMap { order in
                    inverse.flatMap { relation($0, "n.\(table.memberColumn)", from: joined, where: isMoved(order)) }
                },
            ].compactMap(\.self)
            return made(table.name, insert: both("n"), update: update, delete: both("o"))
        }

        // MARK: In a database

        /// Drops all triggers and their functions.
        static func drop(on connection: PostgresConnection) throws(PostgresError) {
            let found = try connection.execute(
                """
                SELECT format('DROP TRIGGER %I ON %s', g.tgname, g.tgrelid::regclass) FROM pg_trigger AS g \
                JOIN pg_class AS c ON c.oid = g.tgrelid WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) \
                AND NOT g.tgisinternal AND starts_with(g.tgname::text, '\(prefix)')
                """, isKept: false)
            for row in 0..<found.rowCount { try connection.run(found.text(row, 0)) }
            let functions = try connection.execute(
                """
                SELECT format('DROP FUNCTION %s', oid::regprocedure) FROM pg_proc \
                WHERE pronamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) AND starts_with(proname::text, '\(functionPrefix)')
                """, isKept: false)
            for row in 0..<functions.rowCount { try connection.run(functions.text(row, 0)) }
        }
    }
#endif
