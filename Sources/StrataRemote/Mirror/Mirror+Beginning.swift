import StrataSQL
import StrataSQLite

/// Pulls that begin with no cursor while objects are here: the first one, when some were sent before, and each one after a
/// cursor has expired. Objects that such a pull does not tell may be gone. They are noted as stale before it begins and until
/// it tells them, so that a pull that is cut off can go on later.
extension Mirror {
    /// The name under which the mirror keeps how many objects were here when a pull started over.
    static func beginningName(_ entity: EntityDescription) -> String { beginningPrefix + entity.name }

    private static let beginningPrefix = "anew/"

    /// Forgets how far pulls of an entity came, and notes the objects that the next one has to tell.
    func begin(_ entity: EntityDescription) throws(StoreError) {
        order.noteBegun(entity.name)
        let known = try settledIdentities(of: entity)
        try store.transaction { (transaction) throws(StoreError) in
            let connection = transaction.connection
            try MirrorState.set(Self.cursorName(entity), nil, on: connection)
            try MirrorState.set(
                Self.beginningName(entity), known.isEmpty ? nil : String(known.count), on: connection)
            if known.isEmpty { return }
            let statement = try connection.statement(
                "INSERT OR IGNORE INTO _remote_stale(entity, id) SELECT ?, value FROM strata_list(?)")
            statement.bind(entities.numbers[entity.index], at: 1)
            statement.bind(ValueList(texts: known.map(\.id)), at: 2)
            try statement.run()
        }
    }

    /// The names of the entities whose pulls started over and have not ended yet.
    func beginningEntities() throws(StoreError) -> Set<String> {
        let start = Self.beginningPrefix
        return try store.reading { (connection) throws(StoreError) in
            let statement = try connection.statement("SELECT name FROM _sync_state WHERE substr(name, 1, ?) = ?")
            statement.bind(Int64(start.utf8.count), at: 1)
            statement.bind(start, at: 2)
            var result: Set<String> = []
            while try statement.step() { result.insert(String(statement.text(0).dropFirst(start.count))) }
            return result
        }
    }

    /// How many objects were here when the pull of an entity started over that has not ended yet; nil if none has
    /// begun.
    func countBeforeBeginning(_ entity: EntityDescription) throws(StoreError) -> Int? {
        try state(Self.beginningName(entity)).flatMap { Int($0) }
    }
}
