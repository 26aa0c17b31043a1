import StrataStore

extension SQLiteStore {
    /// Begins a transaction that writes, unless somebody else has migrated the file since it was opened: the statements of
    /// this store may still be valid then, and leave out values that objects of the new version must have.
    ///
    /// SQLite counts all changes of tables and indexes in a number that costs next to nothing to read.
    /// - Throws: ``StoreError/migratedElsewhere(path:)``, and all that a write throws.
    func begin(on connection: Connection) throws(StoreError) {
        try connection.begin()
        // A stage of a migration writes before the new version is noted.
        if connection.endsInSavepoints { return }
        do throws(StoreError) {
            let statement = try connection.statement("PRAGMA schema_version")
            let number = try statement.step() ? statement.integer(0) : 0
            statement.reset()
            if number == connection.knownSchema { return }
            guard try StoredModel.fingerprint(on: connection) == fingerprint else {
                throw .migratedElsewhere(path: path)
            }
            connection.knownSchema = number
        } catch {
            connection.rollback()
            throw error
        }
    }
}
