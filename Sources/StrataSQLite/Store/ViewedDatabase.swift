import Foundation
import StrataSQL
import StrataStore

/// A database of another format. It is read through temporary views in place of the tables of a store, so that fetches,
/// conditions and explanations work on it as they do on a store. The store writes nothing to the file; others of the package may,
/// with the connection that ``SQLiteStore/maintaining(_:)`` gives them.
package struct ViewedDatabase: Sendable {
    /// The path for messages.
    package let path: String
    /// What SQLite opens.
    private let filename: String
    private let options: SQLiteStore.Options

    /// Finds a file. Whether it may be written is one of the options.
    /// - Throws: ``StoreError/notFound(path:)`` and ``StoreError/cannotOpen(path:reason:)``.
    package init(path: String, options: SQLiteStore.Options) throws(StoreError) {
        try SQLiteVersion.check()
        var options = options
        options.createIfMissing = false
        options.history = .asInFile
        try options.check()
        let place = try ResolvedLocation(.file(path: path), options: options)
        self.path = place.path
        self.options = options
        filename = options.isReadOnly ? Self.filename(place.path) : place.path
    }

    /// A file in WAL mode needs two more files next to it, which cannot be made in a folder that may not be written. Without
    /// a log to read, SQLite can do without them.
    private static func filename(_ path: String) -> String {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard access(folder, W_OK) != 0, StoreInfo.size(of: path + "-wal") == 0 else { return path }
        var allowed = CharacterSet.urlPathAllowed
        allowed.remove(charactersIn: "?#;")
        return "file:\(path.addingPercentEncoding(withAllowedCharacters: allowed) ?? path)?mode=ro&immutable=1"
    }

    /// The location as a statement `ATTACH` takes it: SQLite opens it for reading only.
    package var attachable: String {
        guard filename == path else { return filename }
        var allowed = CharacterSet.urlPathAllowed
        allowed.remove(charactersIn: "?#;")
        return "file:\(path.addingPercentEncoding(withAllowedCharacters: allowed) ?? path)?mode=ro"
    }

    /// Runs a closure with a connection of its own that has no views.
    package func inspect<T>(_ body: (Connection) throws(StoreError) -> T) throws(StoreError) -> T {
        let connection = try open(readOnly: true)
        defer { connection.close() }
        return try body(connection)
    }

    private func open(readOnly: Bool) throws(StoreError) -> Connection {
        try Connection(filename: filename, path: path, readOnly: readOnly, create: false, options: options)
    }

    /// Opens the database as a store.
    /// - Parameters:
    ///   - identifier: The identity of the store.
    ///   - layout: The tables that the views stand for.
    ///   - prepare: Makes the views, and what they need, on a new connection.
    package func store(
        identifier: UUID, layout: ViewLayout, prepare: @escaping @Sendable (Connection) throws(StoreError) -> Void
    ) throws(StoreError) -> SQLiteStore {
        let database = self
        let open: @Sendable (Bool) throws(StoreError) -> Connection = { (readOnly) throws(StoreError) in
            let connection = try database.open(readOnly: readOnly)
            do throws(StoreError) {
                try connection.execute("PRAGMA temp_store = MEMORY")
                try prepare(connection)
            } catch {
                connection.close()
                throw error
            }
            return connection
        }
        var schema = Schema(layout: layout.layout)
        schema.keepIndexes(among: [])
        var rowPlans: [RowPlan] = []
        for entity in layout.layout.model.entities {
            rowPlans.append(try RowPlan(layout: layout.layout, entityIndex: entity.index))
        }
        let pool = ConnectionPool(
            path: path, writer: try open(options.isReadOnly), readerCount: options.readerCount, open: open)
        return SQLiteStore(
            identifier: identifier, location: .file(path: path), path: path, options: options, schema: schema,
            rowPlans: rowPlans, pool: pool, files: nil)
    }
}

/// The tables that a store keeps the objects of a model in, for those who put views in their place.
package struct ViewLayout: Sendable {
    /// A column, and the slots of entities that it keeps.
    package struct Column: Sendable {
        /// The name as written in SQL.
        package let quoted: String
        /// Whether the column may hold the name of a file, as text, instead of bytes.
        package let allowsExternal: Bool
        /// The topmost entity of the hierarchy that a key leads to.
        package let destinationRoot: Int?
        /// The positions of entities, and of the slot in each.
        package var slots: [(entity: Int, slot: Int)]
    }

    /// A column with the places of rows in an ordered relationship: the one that an entity at a position declares.
    package struct Order: Sendable {
        /// The name as written in SQL.
        package let quoted: String
        /// The position of the entity that declares the relationship.
        package let entity: Int
        /// The position of the relationship in that entity.
        package let relationship: Int
    }

    /// The table of a hierarchy of entities. It has the columns `_id` and `_version`.
    package struct Table: Sendable {
        /// The name as written in SQL.
        package let quoted: String
        /// The position of the topmost entity.
        package let root: Int
        /// Whether there is a column `_entity` with the names of entities.
        package let hasEntityColumn: Bool
        package var columns: [Column]
        package var orders: [Order]
    }

    /// The table of a relationship that is kept as pairs.
    package struct Pairs: Sendable {
        /// The name as written in SQL.
        package let quoted: String
        /// The position of the entity that declares the primary side.
        package let entity: Int
        /// The position of the relationship in that entity.
        package let relationship: Int
        /// The columns of the primary side and of the other, as written in SQL.
        package let ownerColumn: String
        package let memberColumn: String
        /// The columns with the order of the members of an owner, and of the owners of a member.
        package let ownerOrder: String?
        package let memberOrder: String?
        /// Whether the table has each pair both ways round.
        package let isSymmetric: Bool
        /// The topmost entities of the hierarchies of owners and members.
        package let ownerRoot: Int
        package let memberRoot: Int
    }

    package private(set) var tables: [Table] = []
    package private(set) var pairs: [Pairs] = []
    let layout: StoreLayout

    /// Finds the tables of a model.
    /// - Throws: ``StoreError/unsupported(store:feature:)`` if the names of two properties meet.
    package init(model: ManagedObjectModel, store: String) throws(StoreError) {
        let layout = try StoreLayout(model: model, dialect: SQLiteDialect(name: store))
        self.layout = layout
        for (number, table) in layout.tables.enumerated() {
            var columns = table.columns.map {
                Column(
                    quoted: $0.quoted, allowsExternal: $0.allowsExternal, destinationRoot: $0.destinationRoot, slots: []
                )
            }
            for entity in model.entities where layout.tableOfEntity[entity.index] == number {
                for slot in entity.slots {
                    guard let column = layout.columnOfSlot[entity.index][slot.index] else { continue }
                    columns[column].slots.append((entity.index, slot.index))
                }
            }
            tables.append(
                Table(
                    quoted: table.quoted, root: table.rootIndex, hasEntityColumn: table.hasEntityColumn,
                    columns: columns, orders: []))
        }
        for entity in model.entities {
            for relationship in entity.relationships where relationship.declaringEntity == entity.name {
                if case .inverseSlot = relationship.storage,
                    let name = layout.orderColumn(entity.index, relationship.index)
                {
                    tables[layout.tableOfEntity[relationship.destinationIndex]].orders.append(
                        Order(quoted: name, entity: entity.index, relationship: relationship.index))
                }
                guard case .pairs(isPrimary: true) = relationship.storage,
                    let side = layout.pairs(entity.index, relationship.index)
                else { continue }
                pairs.append(
                    Pairs(
                        quoted: side.table.quoted, entity: entity.index, relationship: relationship.index,
                        ownerColumn: side.table.ownerColumn, memberColumn: side.table.memberColumn,
                        ownerOrder: side.table.ownerOrder, memberOrder: side.table.memberOrder,
                        isSymmetric: side.table.isSymmetric,
                        ownerRoot: layout.tables[side.table.ownerTable].rootIndex,
                        memberRoot: layout.tables[side.table.memberTable].rootIndex))
            }
        }
    }
}

extension SQLiteStore {
    /// Runs a closure with the connection that writes, outside of a transaction. The closure must leave the connection as it
    /// was, and must not ask the store for anything else.
    package func maintaining<T>(_ body: (Connection) throws(StoreError) -> T) throws(StoreError) -> T {
        guard !options.isReadOnly else { throw .readOnly(path: path) }
        return try pool.write(body)
    }

    /// Keeps bytes in a file of their own, as a commit does with values above the threshold.
    /// - Returns: The name of the file, which a column keeps as text; nil if the bytes belong into the column.
    package func keepExternally(_ bytes: UnsafeRawBufferPointer) throws(StoreError) -> String? {
        guard let files, bytes.count > options.externalStorageThreshold else { return nil }
        return try files.write(bytes)
    }

    /// Makes the names of files that ``keepExternally(_:)`` wrote permanent.
    package func synchronizeExternalFiles() { files?.synchronize() }
}
