#if Postgres
    import Foundation
    import StrataStore

    /// What a store says about itself, in `_metadata`.
    struct PostgresMetadata {
        /// The format that this version of Strata writes.
        static let currentFormat = 1

        var identifier: UUID
        var format: Int
        var versionHash: String
        /// The model of the store.
        var record: ModelRecord
        /// The indexes and constraints, by name.
        var objects: [PostgresSchema.Object]
        /// The version of the functions that conditions call.
        var functionsVersion: Int
        /// How much history is kept, as text, and a fingerprint of its triggers; nil if none is recorded.
        var history: String?
        var historyTriggers: String?

        init(model: ManagedObjectModel, objects: [PostgresSchema.Object]) {
            identifier = UUID()
            format = Self.currentFormat
            versionHash = model.versionHash
            record = ModelRecord(model)
            self.objects = objects
            functionsVersion = 0
        }

        /// Reads what a database says; nil if there is no store in it.
        static func read(on connection: PostgresConnection, path: String) throws -> PostgresMetadata? {
            let known = try connection.execute("SELECT to_regclass('\"_metadata\"') IS NOT NULL")
            guard known.bytes(0, 0).first == 1 else { return nil }
            let result: PostgresResult
            do throws(PostgresError) {
                result = try connection.execute("SELECT key, value FROM \"_metadata\"")
            } catch {
                guard error.sqlState.hasPrefix("42") else { throw error }
                throw StoreError.notAStore(path: path, reason: "it has another table _metadata: \(error)")
            }
            var entries: [String: String] = [:]
            for row in 0..<result.rowCount { entries[result.text(row, 0)] = result.text(row, 1) }
            guard let identifier = entries["store_uuid"].flatMap(UUID.init(uuidString:)),
                let format = entries["format_version"].flatMap({ Int($0) }), let hash = entries["version_hash"],
                let record = entries["declarations"].flatMap(ModelRecord.init(text:)),
                let objects = try? JSONDecoder().decode(
                    [PostgresSchema.Object].self, from: Data((entries["objects"] ?? "").utf8))
            else {
                throw StoreError.corrupt(
                    path: path, reason: "_metadata lacks an entry or holds one that cannot be read")
            }
            guard format <= Self.currentFormat else {
                throw StoreError.unsupported(
                    store: "PostgreSQL",
                    feature:
                        "format version \(format), only up to \(Self.currentFormat); it was written by a newer version "
                        + "of Strata, so update this one")
            }
            var metadata = PostgresMetadata(
                identifier: identifier, format: format, versionHash: hash, record: record, objects: objects,
                functionsVersion: entries["functions"].flatMap { Int($0) } ?? 0)
            metadata.history = entries[HistoryTables.metadataKey]
            metadata.historyTriggers = entries[HistoryTables.triggersKey]
            return metadata
        }

        private init(
            identifier: UUID, format: Int, versionHash: String, record: ModelRecord,
            objects: [PostgresSchema.Object], functionsVersion: Int
        ) {
            self.functionsVersion = functionsVersion
            self.identifier = identifier
            self.format = format
            self.versionHash = versionHash
            self.record = record
            self.objects = objects
        }

        /// Writes all entries.
        func write(_ model: ManagedObjectModel, on connection: PostgresConnection) throws(PostgresError) {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let objects = (try? encoder.encode(objects)).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
            let record = ModelRecord(model)
            var entries = [
                ("store_uuid", identifier.uuidString.lowercased()), ("format_version", String(format)),
                ("model_name", model.name), ("version_hash", model.versionHash), ("declarations", record.text),
                ("fingerprint", record.fingerprint), ("objects", objects),
                ("functions", String(functionsVersion)),
            ]
            if let history { entries.append((HistoryTables.metadataKey, history)) }
            if let historyTriggers { entries.append((HistoryTables.triggersKey, historyTriggers)) }
            var parameters = StatementParameters()
            parameters.add(entries.map(\.0))
            parameters.add(entries.map(\.1))
            try connection.execute(
                """
                INSERT INTO "_metadata"(key, value) SELECT * FROM unnest($1::text[], $2::text[]) \
                ON CONFLICT (key) DO UPDATE SET value = excluded.value
                """, parameters)
        }
    }
#endif
