import StrataSQLite

/// The tables that a mirror has besides those of its objects, and the numbers by which they name entities: positions in
/// the model change with it, and names in each row would cost too much.
struct MirrorEntities: Sendable {
    /// By position of the entity in the model.
    let numbers: [Int64]
    /// The position in the model by number.
    let indexes: [Int64: Int]

    private static let tables = [
        """
        CREATE TABLE IF NOT EXISTS _remote_entities (
            number INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            layout TEXT
        )
        """,
        // `key` is NULL while an object that was deleted here is not deleted at the server.
        """
        CREATE TABLE IF NOT EXISTS _remote (
            root INTEGER NOT NULL,
            id TEXT NOT NULL,
            key INTEGER,
            version TEXT,
            modified REAL,
            PRIMARY KEY (root, id)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE IF NOT EXISTS _outbox (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            root INTEGER NOT NULL,
            key INTEGER NOT NULL,
            entity INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            state INTEGER NOT NULL DEFAULT 0,
            id TEXT,
            slots BLOB,
            members BLOB,
            base BLOB,
            token BLOB,
            changed REAL NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0,
            error BLOB,
            secrets BLOB,
            sent BLOB,
            operations BLOB
        )
        """,
        "CREATE INDEX IF NOT EXISTS _outbox_by_object ON _outbox (root, key)",
        // Deletions by primary key: the rows of their objects are gone.
        "CREATE INDEX IF NOT EXISTS _outbox_deletions ON _outbox (root, id) WHERE kind = 2",
        // Few, and mostly none: see OutboxEntry.State.failed.
        "CREATE INDEX IF NOT EXISTS _outbox_refused_deletions ON _outbox (root, id) WHERE kind = 2 AND state = 2",
        // Who refers to an object that was deleted: if it comes back, they are read again.
        """
        CREATE TABLE IF NOT EXISTS _remote_links (
            root INTEGER NOT NULL,
            id TEXT NOT NULL,
            owner INTEGER NOT NULL,
            owner_id TEXT NOT NULL,
            PRIMARY KEY (root, id, owner, owner_id)
        ) WITHOUT ROWID
        """,
        "CREATE INDEX IF NOT EXISTS _remote_links_by_owner ON _remote_links (owner, owner_id)",
        // Objects of which the server is to be asked again.
        """
        CREATE TABLE IF NOT EXISTS _remote_stale (
            entity INTEGER NOT NULL,
            id TEXT NOT NULL,
            PRIMARY KEY (entity, id)
        ) WITHOUT ROWID
        """,
        // Objects that are here because contexts need them, and no part of the mirror: the next process forgets them.
        """
        CREATE TABLE IF NOT EXISTS _remote_passing (
            root INTEGER NOT NULL,
            key INTEGER NOT NULL,
            PRIMARY KEY (root, key)
        ) WITHOUT ROWID
        """,
        // Rows that gave way to others when a server renamed an object: references from elsewhere may still have their keys.
        """
        CREATE TABLE IF NOT EXISTS _remote_successors (
            root INTEGER NOT NULL,
            key INTEGER NOT NULL,
            successor INTEGER NOT NULL,
            PRIMARY KEY (root, key)
        ) WITHOUT ROWID
        """,
        // Files that are to be uploaded, and what the server called those that were.
        """
        CREATE TABLE IF NOT EXISTS _remote_files (
            id TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            type TEXT NOT NULL,
            data BLOB,
            reference TEXT
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE IF NOT EXISTS _sync_state (
            name TEXT PRIMARY KEY,
            value TEXT NOT NULL
        ) WITHOUT ROWID
        """,
    ]

    /// Makes the tables where they are missing, and numbers the entities.
    init(model: ManagedObjectModel, on connection: Connection) throws(StoreError) {
        for sql in Self.tables { try connection.execute(sql) }
        for (table, column) in [
            ("_remote_entities", "layout TEXT"), ("_outbox", "sent BLOB"), ("_outbox", "operations BLOB"),
        ] {
            var names: [String] = []
            let list = try connection.prepare("SELECT name FROM pragma_table_info('\(table)')", persistent: false)
            while try list.step() { names.append(list.text(0)) }
            if !names.contains(String(column.prefix { $0 != " " })) {
                try connection.execute("ALTER TABLE \(table) ADD COLUMN \(column)")
            }
        }
        let past = try MirrorPast(model: model, on: connection)
        try past.renameEntities(on: connection)
        var known: [String: Int64] = [:]
        let list = try connection.prepare("SELECT name, number FROM _remote_entities", persistent: false)
        while try list.step() { known[list.text(0)] = list.integer(1) }
        var numbers: [Int64] = []
        for entity in model.entities {
            let number = known[entity.name] ?? (known.values.max() ?? 0) + 1
            if known[entity.name] == nil {
                let insert = try connection.prepare(
                    "INSERT INTO _remote_entities(name, number) VALUES(?, ?)", persistent: false)
                insert.bind(entity.name, at: 1)
                insert.bind(number, at: 2)
                try insert.run()
                known[entity.name] = number
            }
            numbers.append(number)
        }
        self.numbers = numbers
        indexes = Dictionary(uniqueKeysWithValues: numbers.enumerated().map { ($1, $0) })
        try adoptOutbox(model, past, on: connection)
        try past.remember(model, on: connection)
    }
}
