import Foundation
import StrataSQLite
import StrataStore

/// What of a back end is here: its objects in a SQLite store, what they are called there, and the changes that it has
/// not heard about yet, all in one file and written by the same transactions.
///
/// An object of which only the primary key is known, because another one refers to it, is a *placeholder*: a row of
/// version 0 that fetches do not see.
package final class Mirror: Sendable {
    /// The objects.
    package let store: SQLiteStore
    /// Tells contexts of what the server changed.
    package let changes = StoreChangeFeed()
    /// The numbers by which the tables of the mirror name entities.
    let entities: MirrorEntities
    /// For each entity the slot of the primary key.
    let primaryKeys: [SlotDescription]
    /// The time, as near to the server's as is known.
    let now: @Sendable () -> Date
    /// The order of answers; see ``ReadTicket``.
    let order = AnswerOrder()
    /// Records that could not be applied.
    let unreadable = UnreadableRecords()
    /// What goes along with the next write of an object and is not kept.
    let secrets = Secrets()
    /// What is here but no part of the mirror.
    let passing = PassingKeys()
    /// Saves that go to the server immediately.
    let online = OnlineSaves()
    /// What acknowledgments have made of rows.
    let echoes = OwnEchoes()
    /// What the server sees to.
    let server: ServerHabits

    /// The model.
    package var model: ManagedObjectModel { store.model }

    /// Opens a mirror, or makes it where there is none.
    /// - Parameters:
    ///   - location: The file, or memory.
    ///   - server: What the server sees to.
    ///   - now: The time, as near to the server's as is known.
    /// - Throws: ``StoreError``; ``StoreError/unsupported(store:feature:)`` for an entity without a primary key.
    package static func open(
        model: ManagedObjectModel, location: SQLiteStore.Location, options: SQLiteStore.Options = .init(),
        server: ServerHabits = ServerHabits(), now: @escaping @Sendable () -> Date = { Date() }
    ) throws(StoreError) -> Mirror {
        var primaryKeys: [SlotDescription] = []
        for entity in model.entities {
            guard let slot = entity.primaryKeyField.flatMap(entity.slot(named:)), slot.isStored,
                PrimaryKey.allows(slot)
            else {
                throw .unsupported(
                    store: "remote",
                    feature:
                        "\(entity.name), which has no primary key of type string, integer or UUID; declare a string "
                        + "\(entity.name.lowercased())Id, or name the attribute with primaryKey"
                )
            }
            primaryKeys.append(slot)
        }
        var options = options
        options.isMirror = true
        options.cacheSize = options.cacheSize ?? Self.cacheSize
        let store = try SQLiteStore.open(model: model, location: location, options: options)
        let entities = try store.transaction { (transaction) throws(StoreError) in
            let entities = try MirrorEntities(model: model, on: transaction.connection)
            for root in model.entities where root.rootIndex == root.index {
                guard let place = store.place(entityIndex: root.index, slot: primaryKeys[root.index].index) else {
                    continue
                }
                // There are few of them, and each pull looks for them.
                try transaction.connection.execute(
                    """
                    CREATE INDEX IF NOT EXISTS _placeholders_\(entities.numbers[root.index]) \
                    ON \(place.table) (_id) WHERE _version = 0
                    """)
            }
            return entities
        }
        return Mirror(
            store: store, entities: entities, primaryKeys: primaryKeys, server: server, now: now)
    }

    /// In KiB. Each object is written to three places, and primary keys that do not ascend touch pages all over their
    /// table: with SQLite's 2 MiB a save of 10,000 objects would write pages before it has done with them.
    private static let cacheSize = 8192

    private init(
        store: SQLiteStore, entities: MirrorEntities, primaryKeys: [SlotDescription], server: ServerHabits,
        now: @escaping @Sendable () -> Date
    ) {
        self.store = store
        self.entities = entities
        self.primaryKeys = primaryKeys
        self.server = server
        self.now = now
    }

    /// The topmost entity of the hierarchy that an entity belongs to.
    func root(_ entityIndex: Int) -> Int { model.entities[entityIndex].rootIndex }

    // MARK: State

    /// A value that was kept with ``setState(_:_:)``.
    package func state(_ name: String) throws(StoreError) -> String? {
        try store.reading { (connection) throws(StoreError) in try MirrorState.get(name, on: connection) }
    }

    /// Keeps a value by name, or forgets it.
    package func setState(_ name: String, _ value: String?) throws(StoreError) {
        try store.transaction { (transaction) throws(StoreError) in
            try MirrorState.set(name, value, on: transaction.connection)
        }
    }
}

/// Named values in the file of a mirror: how far pulls came, and the like.
enum MirrorState {
    static func get(_ name: String, on connection: Connection) throws(StoreError) -> String? {
        let statement = try connection.statement("SELECT value FROM _sync_state WHERE name = ?")
        statement.bind(name, at: 1)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return statement.text(0)
    }

    static func set(_ name: String, _ value: String?, on connection: Connection) throws(StoreError) {
        guard let value else {
            let statement = try connection.statement("DELETE FROM _sync_state WHERE name = ?")
            statement.bind(name, at: 1)
            return try statement.run()
        }
        let statement = try connection.statement("INSERT OR REPLACE INTO _sync_state(name, value) VALUES(?, ?)")
        statement.bind(name, at: 1)
        statement.bind(value, at: 2)
        try statement.run()
    }
}

/// What a server sees to by itself.
package struct ServerHabits: Sendable {
    /// The positions of the entities whose new objects get their primary keys from the server.
    package var assigning: Set<Int>

    /// Whether a write that is sent again is answered as it was before, and not carried out again.
    package var remembersWrites: Bool

    package init(assigning: Set<Int> = [], remembersWrites: Bool = false) {
        self.assigning = assigning
        self.remembersWrites = remembersWrites
    }
}
