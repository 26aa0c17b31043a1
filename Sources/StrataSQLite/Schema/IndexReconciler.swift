import Foundation
import StrataStore

/// Makes the indexes of a store and keeps them as the model has them: indexes are not part of the version hash, so a
/// store may be opened by a model with others.
enum IndexReconciler {
    private static let metadataKey = "indexes"

    /// Makes all indexes of a new store.
    static func make(_ schema: Schema, on connection: Connection) throws(StoreError) {
        for object in schema.objects { try connection.execute(object.sql) }
        try remember(schema, on: connection)
    }

    /// Makes what the model has and the store lacks, and drops what the model no longer has.
    static func update(_ schema: Schema, on connection: Connection) throws(StoreError) {
        let wanted = Dictionary(uniqueKeysWithValues: schema.objects.map { ($0.name, $0.sql) })
        guard try recorded(on: connection) != wanted else { return }
        try connection.begin()
        defer { connection.rollback() }
        let present = try recorded(on: connection)
        for kind in ["trigger", "index", "table"] {
            let statement = try connection.prepare("SELECT name FROM sqlite_master WHERE type = ?", persistent: false)
            statement.bind(kind, at: 1)
            var names: [String] = []
            while try statement.step() { names.append(statement.text(0)) }
            for name in names where present[name] != nil && present[name] != wanted[name] {
                try connection.execute("DROP \(kind.uppercased()) \(Identifiers.quote(name))")
            }
        }
        for object in schema.objects where present[object.name] != object.sql {
            try connection.execute(object.sql)
            if let fill = object.fill { try connection.execute(fill) }
            for spatial in schema.spatialIndexes where spatial.name == Identifiers.quote(object.name) {
                try fillTree(spatial, schema, on: connection)
            }
        }
        try remember(schema, on: connection)
        try connection.commit()
    }

    private static func recorded(on connection: Connection) throws(StoreError) -> [String: String] {
        let text = try StoreMetadata.get(metadataKey, on: connection) ?? "{}"
        guard let objects = try? JSONDecoder().decode([String: String].self, from: Data(text.utf8)) else {
            throw .corrupt(path: connection.path, reason: "the entry indexes of _metadata cannot be read")
        }
        return objects
    }

    private static func remember(_ schema: Schema, on connection: Connection) throws(StoreError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let objects = Dictionary(uniqueKeysWithValues: schema.objects.map { ($0.name, $0.sql) })
        let text = (try? encoder.encode(objects)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        try StoreMetadata.set(metadataKey, text, on: connection)
    }

    private static func fillTree(_ index: SpatialIndex, _ schema: Schema, on connection: Connection) throws(StoreError)
    {
        let table = schema.layout.tables[index.table]
        let column = table.columns[index.column].quoted
        let rows = try connection.prepare(
            "SELECT _id, \(column) FROM \(table.quoted) WHERE \(column) IS NOT NULL", persistent: false)
        let writer = try SpatialWriter(index, on: connection)
        while try rows.step() { try writer.put(rows.integer(0), rows.blobBytes(1)) }
    }
}

/// Keeps the R*Tree of a spatial index.
struct SpatialWriter {
    private let insert: Statement
    private let delete: Statement

    init(_ index: SpatialIndex, on connection: Connection) throws(StoreError) {
        insert = try connection.statement("INSERT OR REPLACE INTO \(index.name) VALUES(?1, ?2, ?2, ?3, ?3)")
        delete = try connection.statement("DELETE FROM \(index.name) WHERE id = ?")
    }

    /// Puts the point of a row into the tree. Points that are no finite numbers are not found by area, so they are left
    /// out.
    func put(_ key: Int64, _ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        guard bytes.count == 16 else { return try remove(key) }
        let latitude = Double(bitPattern: UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)))
        let longitude = Double(
            bitPattern: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        guard latitude.isFinite, longitude.isFinite else { return try remove(key) }
        insert.bind(key, at: 1)
        insert.bind(latitude, at: 2)
        insert.bind(longitude, at: 3)
        try insert.run()
    }

    func remove(_ key: Int64) throws(StoreError) {
        delete.bind(key, at: 1)
        try delete.run()
    }
}
