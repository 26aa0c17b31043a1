#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    /// How a migration works on PostgreSQL, in the open transaction of a connection.
    ///
    /// The server does not know Strata's conversions. Values that change are read, converted here, and put into temporary
    /// tables, from which the statements of the migration look them up: so they are the same as in every other store.
    final class PostgresMigrationEngine: MigrationEngine {
        let connection: PostgresConnection
        let path: String
        private let cancellation: ReadCancellation?
        /// The indexes and constraints that the store has, by name.
        private var objects: [PostgresSchema.Object] = []
        private var tableCount = 0
        /// The temporary tables with values, by what is in them.
        private var known: [String: String] = [:]

        init(
            _ connection: PostgresConnection, path: String, cancellation: ReadCancellation?
        ) throws(StoreError) {
            self.connection = connection
            self.path = path
            self.cancellation = cancellation
            // Values are known by their text, which must be exact.
            try execute("SET LOCAL extra_float_digits TO 1")
        }

        /// Begins with another version: the values of the one before are no longer valid.
        func begin(_ objects: [PostgresSchema.Object]) {
            self.objects = objects
            known = [:]
        }

        func query(
            _ sql: String, _ parameters: StatementParameters = StatementParameters()
        ) throws(StoreError) -> PostgresResult {
            do throws(PostgresError) {
                return try connection.execute(sql, parameters, isKept: false, cancellation: cancellation)
            } catch {
                // Tables that are not as the store says.
                if ["42P01", "42703"].contains(error.sqlState) {
                    throw .corrupt(
                        path: path, reason: "\(error), so that the data cannot be migrated; nothing was changed")
                }
                throw PostgresStore.storeError(error, path: path, model: nil)
            }
        }

        func execute(_ sql: String) throws(StoreError) { _ = try query(sql) }

        func integer(_ sql: String) throws(StoreError) -> Int64? {
            let result = try query(sql)
            return result.rowCount > 0 ? result.integer(0, 0) : nil
        }

        func texts(_ sql: String) throws(StoreError) -> [String] {
            let result = try query(sql)
            return (0..<result.rowCount).map { result.text($0, 0) }
        }

        // MARK: Values

        private func type(of slot: SlotDescription) -> PostgresType {
            slot.storage.postgresType(isJSON: slot.type?.isJSON == true)
        }

        func constant(
            _ value: Value, for slot: SlotDescription, of entity: EntityDescription
        ) throws(StoreError) -> String {
            if value.isNull { return null(for: slot) }
            let key = "\(type(of: slot).name) \(ValueRecord.text(of: value))"
            if let table = known[key] { return "(SELECT v FROM \(table))" }
            let table = try newTable("v \(type(of: slot).name)")
            try insert([value], for: slot, of: entity) { "INSERT INTO \(table) SELECT unnest($1::\($0)[])" }
            known[key] = table
            return "(SELECT v FROM \(table))"
        }

        /// What follows fills new columns, which costs as much as a default that is dropped again.
        func defaultLiteral(_ value: Value) -> String? { nil }

        func null(for slot: SlotDescription) -> String { "NULL::\(type(of: slot).name)" }

        func converted(_ sql: String, _ conversion: MigrationConversion, rows: String) throws(StoreError) -> String {
            let before = conversion.before
            let after = conversion.slot
            return try lookedUp(sql, for: after, of: conversion.entity, rows) { result in
                var builder = RowBatchBuilder(expectedRows: result.rowCount)
                for row in 0..<result.rowCount {
                    builder.beginRow(entity: conversion.pastEntity, key: 1, version: 1)
                    _ = SlotCoding.read(result.bytes(row, 1), before.index, before.storage, into: &builder)
                    builder.endRow()
                }
                let batch = builder.finish()
                return (0..<result.rowCount).map { row in
                    // JSON is text that is kept as it is.
                    let value =
                        before.type?.isJSON == true
                        ? Value.string(result.text(row, 1)) : batch[row].value(before)
                    return conversion.conversion.convert(value) ?? .null
                }
            }
        }

        func derived(
            _ derivation: Derivation, _ sql: String, for slot: SlotDescription, of entity: EntityDescription,
            rows: String
        ) throws(StoreError) -> String {
            try lookedUp(sql, for: slot, of: entity, rows) { result in
                (0..<result.rowCount).map { row in
                    let text = result.text(row, 1)
                    switch derivation {
                    case .lowercase: return .string(text.lowercased())
                    case .uppercase: return .string(text.uppercased())
                    default: return .string(TextComparison.fold(text, [.caseInsensitive, .diacriticInsensitive]))
                    }
                }
            }
        }

        /// How many values are read at once.
        private static let batchSize = 10_000

        /// An expression that looks up what becomes of each value. The values are known by their text.
        /// - Parameter convert: What becomes of the values in the second column of an answer.
        private func lookedUp(
            _ sql: String, for slot: SlotDescription, of entity: EntityDescription, _ rows: String,
            _ convert: (PostgresResult) -> [Value]
        ) throws(StoreError) -> String {
            // The same rows may have been converted already, for a count of those that do not fit.
            let key = "\(entity.name).\(slot.name) \(sql) \(rows)"
            if let table = known[key] { return lookup(sql, in: table) }
            let table = try newTable("i text COLLATE \"C\" NOT NULL, o \(type(of: slot).name)")
            let cursor = "strata_migration_\(tableCount)"
            try execute(
                "DECLARE \(cursor) NO SCROLL CURSOR FOR SELECT DISTINCT ON (i) i, v FROM (SELECT (\(sql))::text COLLATE \"C\" "
                    + "AS i, \(sql) AS v FROM \(rows)) AS all_values WHERE i IS NOT NULL")
            while true {
                let result = try query("FETCH \(Self.batchSize) FROM \(cursor)")
                if result.rowCount == 0 { break }
                let inputs = (0..<result.rowCount).map { result.text($0, 0) }
                try insert(convert(result), for: slot, of: entity, inputs: inputs) {
                    "INSERT INTO \(table)(o, i) SELECT * FROM unnest($1::\($0)[], $2::text[])"
                }
            }
            try execute("CLOSE \(cursor)")
            // An index by hash takes texts of any length.
            try execute("CREATE INDEX ON \(table) USING hash (i)")
            try execute("ANALYZE \(table)")
            known[key] = table
            return lookup(sql, in: table)
        }

        private func lookup(_ sql: String, in table: String) -> String {
            "(SELECT c.o FROM \(table) AS c WHERE c.i = (\(sql))::text COLLATE \"C\")"
        }

        private func newTable(_ columns: String) throws(StoreError) -> String {
            tableCount += 1
            let name = temporary("_strata_values_\(tableCount)")
            try execute("CREATE TABLE \(name) (\(columns)) ON COMMIT DROP")
            return name
        }

        private func insert(
            _ values: [Value], for slot: SlotDescription, of entity: EntityDescription, inputs: [String]? = nil,
            _ sql: (String) -> String
        ) throws(StoreError) {
            func fault(_ value: Value, _ reason: String) -> StoreError {
                .migrationFailed(
                    path: path, step: "write \(entity.name).\(slot.name)",
                    reason: "\(value) cannot be kept: \(reason); nothing was changed")
            }
            var builder = RowBatchBuilder(expectedRows: values.count)
            for value in values {
                builder.beginRow(entity: entity, key: 1, version: 1)
                let fits = builder.setValue(value, slot: slot)
                builder.endRow()
                guard fits else { throw fault(value, "it is not of the type of the attribute") }
            }
            let batch = builder.finish()
            let type = type(of: slot)
            var parameters = StatementParameters()
            try parameters.addArray(of: type, count: values.count) { (writer) throws(StoreError) in
                for (index, value) in values.enumerated() {
                    let row = batch[index]
                    do throws(SlotFault) {
                        try withExtendedLifetime(batch) { () throws(SlotFault) in
                            try SlotCoding.write(row.row, slot.index, slot.storage, to: &writer)
                        }
                    } catch {
                        throw fault(value, error.reason)
                    }
                }
            }
            if let inputs { parameters.add(inputs) }
            _ = try query(sql(type.name), parameters)
        }

        func newUUID(for slot: SlotDescription) -> String {
            slot.storage == .uuid ? "gen_random_uuid()" : "upper(gen_random_uuid()::text)"
        }

        func inlined(_ column: ColumnLayout, of table: String) -> String {
            "coalesce(\(table).\(column.quoted), (SELECT b.data FROM \"_blobs\" AS b WHERE b.name = "
                + "\(table).\(PostgresSchema.externalColumn(of: column))))"
        }

        func companions(of column: ColumnLayout) -> [String] {
            column.allowsExternal ? [PostgresSchema.externalColumn(of: column)] : []
        }

        // MARK: Tables

        func temporary(_ name: String) -> String { "pg_temp.\"\(name)\"" }

        func createTable(_ table: Int, of layout: StoreLayout, named name: String) throws(StoreError) {
            try execute(PostgresSchema(layout: layout).statement(of: layout.tables[table], named: name))
        }

        func createPairs(_ pairs: PairTable, of layout: StoreLayout, named name: String) throws(StoreError) {
            try execute(PostgresSchema(layout: layout).statement(of: pairs, named: name))
        }

        func definitions(of column: Int, in table: Int, of layout: StoreLayout) -> [String] {
            PostgresSchema(layout: layout)
                .definitions(of: layout.tables[table].columns[column], at: column, in: layout.tables[table])
        }

        func type(of column: Int, in table: Int, of layout: StoreLayout) -> String {
            PostgresSchema(layout: layout)
                .type(of: layout.tables[table].columns[column], at: column, in: layout.tables[table])
        }

        var dropsKeyColumns: Bool { true }

        var insertOfNewRows: (head: String, end: String) { ("INSERT", " ON CONFLICT DO NOTHING") }

        func dropIndexes(of tables: [String], keeping untouched: [String]) throws(StoreError) {
            var parameters = StatementParameters()
            parameters.add(objects.map(\.name))
            parameters.add(untouched)
            parameters.add(tables)
            // References, too: with them, no table could be dropped before those that lead to it.
            let result = try query(
                """
                SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) FROM pg_constraint \
                WHERE contype = 'f' AND conrelid IN (SELECT t.oid FROM pg_class AS t \
                WHERE t.relnamespace = \(Self.namespace) AND '"' || replace(t.relname::text, '"', '""') || '"' = ANY($3)) \
                AND (SELECT count(*) FROM pg_class AS t WHERE t.oid IN (conrelid, confrelid) \
                AND '"' || replace(t.relname::text, '"', '""') || '"' <> ALL($2)) > 0 \
                UNION ALL SELECT CASE WHEN k.conname IS NULL THEN format('DROP INDEX %s', i.indexrelid::regclass) \
                ELSE format('ALTER TABLE %s DROP CONSTRAINT %I', i.indrelid::regclass, k.conname) END FROM pg_index AS i \
                JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_class AS t ON t.oid = i.indrelid \
                LEFT JOIN pg_constraint AS k ON k.conindid = i.indexrelid AND k.contype <> 'f' \
                WHERE c.relnamespace = \(Self.namespace) AND c.relname::text = ANY($1) \
                AND '"' || replace(t.relname::text, '"', '""') || '"' <> ALL($2)
                """, parameters)
            for row in 0..<result.rowCount { try execute(result.text(row, 0)) }
        }

        /// The schema of the store, in a catalog.
        static let namespace = "(SELECT oid FROM pg_namespace WHERE nspname = current_schema())"

        func withoutReferences(_ body: () throws(StoreError) -> Void) throws(StoreError) { try body() }

        // MARK: Keys

        func nextKeys() throws(StoreError) -> [String: Int64] {
            let result = try query("SELECT entity, next FROM \"_keys\"")
            return Dictionary(
                (0..<result.rowCount).map { (result.text($0, 0), result.integer($0, 1)) }, uniquingKeysWith: max)
        }

        func setNextKeys(_ keys: [String: Int64]) throws(StoreError) {
            try execute("DELETE FROM \"_keys\"")
            let sorted = keys.sorted { $0.key < $1.key }
            var parameters = StatementParameters()
            parameters.add(sorted.map(\.key))
            parameters.add(sorted.map(\.value))
            _ = try query(
                "INSERT INTO \"_keys\"(entity, next) SELECT * FROM unnest($1::text[], $2::bigint[])", parameters)
        }
    }
#endif
