import Foundation
import StrataSQL
import StrataStore

/// Creates the indexes of a store and keeps them as the model has them: indexes are not part of the version hash, so a
/// store may be opened by a model with others.
enum IndexReconciler {
    private static let metadataKey = "indexes"

    /// Creates all indexes of a new store.
    static func make(_ schema: Schema, on connection: Connection) throws(StoreError) {
        for object in schema.objects { try connection.execute(object.sql) }
        try remember(schema, on: connection)
    }

    /// Creates the indexes that the model has and the store lacks, and drops those that the model no longer has. An index
    /// of which a part is missing is created again, because rows may be missing from it.
    static func update(_ schema: Schema, on connection: Connection) throws(StoreError) {
        let recorded = try recorded(on: connection)
        if try outdated(schema, recorded, among: names(on: connection)).isEmpty,
            Set(recorded.keys).isSubset(of: Set(schema.objects.map(\.name)))
        {
            return
        }
        try connection.begin()
        defer { connection.rollback() }
        try updateInTransaction(schema, on: connection)
        try connection.commit()
    }

    /// As ``update(_:on:)``, as a part of the open transaction.
    static func updateInTransaction(_ schema: Schema, on connection: Connection) throws(StoreError) {
        let recorded = try recorded(on: connection)
        let present = try present(on: connection)
        let outdated = outdated(schema, recorded, among: Set(present.values.flatMap(\.self)))
        let wanted = Set(schema.objects.map(\.name))
        for (kind, names) in present.sorted(by: { Self.dropOrder($0.key) < Self.dropOrder($1.key) }) {
            for name in names where (recorded[name] != nil && !wanted.contains(name)) || outdated.contains(name) {
                try connection.execute("DROP \(kind.uppercased()) \(Identifiers.quote(name))")
            }
        }
        for object in schema.objects where outdated.contains(object.name) {
            try connection.execute(object.sql)
            if let fill = object.fill { try connection.execute(fill) }
        }
        if recorded != texts(of: schema) { try remember(schema, on: connection) }
    }

    /// The names of the indexes that the file should have.
    static func recordedNames(on connection: Connection) throws(StoreError) -> Set<String> {
        Set(try recorded(on: connection).keys)
    }

    /// The names of all indexes, tables and triggers of a file.
    static func names(on connection: Connection) throws(StoreError) -> Set<String> {
        Set(try present(on: connection).values.flatMap(\.self))
    }

    /// The names of the objects to be created.
    private static func outdated(
        _ schema: Schema, _ known: [String: String], among present: Set<String>
    ) -> Set<String> {
        let outdated = schema.objects.filter { known[$0.name] != $0.sql || !present.contains($0.name) }
        let groups = Set(outdated.compactMap(\.group))
        return Set(outdated.map(\.name)).union(
            schema.objects.filter { $0.group.map(groups.contains) == true }.map(\.name))
    }

    private static func present(on connection: Connection) throws(StoreError) -> [String: [String]] {
        let statement = try connection.prepare(
            "SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'index', 'table')", persistent: false)
        var result: [String: [String]] = [:]
        while try statement.step() { result[statement.text(0), default: []].append(statement.text(1)) }
        return result
    }

    /// Triggers before the tables that they belong to.
    private static func dropOrder(_ kind: String) -> Int { ["trigger", "index", "table"].firstIndex(of: kind) ?? 3 }

    private static func recorded(on connection: Connection) throws(StoreError) -> [String: String] {
        let text = try StoreMetadata.get(metadataKey, on: connection) ?? "{}"
        guard let objects = try? JSONDecoder().decode([String: String].self, from: Data(text.utf8)) else {
            throw .corrupt(path: connection.path, reason: "the entry indexes of _metadata cannot be read")
        }
        return objects
    }

    private static func texts(of schema: Schema) -> [String: String] {
        Dictionary(uniqueKeysWithValues: schema.objects.map { ($0.name, $0.sql) })
    }

    private static func remember(_ schema: Schema, on connection: Connection) throws(StoreError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let text = (try? encoder.encode(texts(of: schema))).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        try StoreMetadata.set(metadataKey, text, on: connection)
    }
}
