import StrataSQL
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
        if connection.nesting.usesSavepoints { return }
        do throws(StoreError) {
            let number = try connection.schemaNumber()
            if number == connection.version.schema { return }
            // Different indexes, defaults and rules do not matter: the stored data is the same.
            let entries = try StoreMetadata.entries(["version_hash", HistoryTables.metadataKey], on: connection)
            guard entries["version_hash"] == model.versionHash else { throw .migratedElsewhere(path: path) }
            // Somebody else may have switched it on or off.
            connection.version.recordsHistory = entries[HistoryTables.metadataKey] != nil
            connection.version.schema = number
        } catch {
            connection.rollback()
            throw error
        }
    }
}
