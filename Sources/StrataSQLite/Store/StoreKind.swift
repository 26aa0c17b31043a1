import StrataStore

/// Whether a file is a store of its own, or the mirror of a back end, which has tables for what is to be sent.
enum StoreKind {
    /// The table that only mirrors have.
    private static let mirrorTable = "_remote"

    /// Refuses to change a mirror without noting what is to be sent, and to take a store of its own for a mirror: the back end would
    /// never learn of the changes, or of the objects. What is empty or only read may be either.
    static func check(
        _ connection: Connection, path: String, options: SQLiteStore.Options
    ) throws(StoreError) {
        let isMirror =
            try connection.integer("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '\(mirrorTable)'")
            != nil
        guard isMirror != options.isMirror, !options.isReadOnly else { return }
        if isMirror {
            throw .unsupported(
                store: "SQLite",
                feature:
                    "changes of \(path), which is the mirror of a remote store: they would never be sent; open it as "
                    + "that remote store, or read-only")
        }
        guard try hasObjects(connection) else { return }
        throw .unsupported(
            store: "remote",
            feature:
                "\(path) as its mirror: the file is a store of its own, with objects that the back end does not know; "
                + "use another file, and insert the objects into it")
    }

    /// Whether a table of objects has rows. Those of indexes have no column for the version.
    private static func hasObjects(_ connection: Connection) throws(StoreError) -> Bool {
        let tables = try connection.texts(
            """
            SELECT m.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c \
            WHERE m.type = 'table' AND c.name = '_version'
            """)
        for table in tables {
            let name = table.replacing("\"", with: "\"\"")
            if try connection.integer("SELECT 1 FROM \"\(name)\" LIMIT 1") != nil { return true }
        }
        return false
    }
}
