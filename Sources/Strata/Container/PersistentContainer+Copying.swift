extension PersistentContainer {
    /// Copies all objects to the empty store of another container, for instance from a SQLite file to PostgreSQL, and compares
    /// the copy with the original before it becomes permanent.
    ///
    ///     import StrataPostgres
    ///
    ///     let file = try PersistentContainer(GazetteerModel.self, at: .file(path: "gazetteer.sqlite"))
    ///     let database = try PersistentContainer(GazetteerModel.self, at: .postgres("postgres://app@db/gazetteer"))
    ///     let report = try await file.copy(to: database)
    ///
    /// The work is done on another thread; see `PersistentStore.copy(to:options:)`. Unsaved changes are not in the copy. Live
    /// results and listeners of the other container are notified.
    /// - Parameter target: A container whose store is empty, with the same model.
    /// - Returns: Counts and checksums.
    /// - Throws: ``PersistenceError/store(_:)`` with the reason; the target is empty then.
    @discardableResult
    public func copy(
        to target: PersistentContainer, options: StoreCopyOptions = StoreCopyOptions()
    ) async throws(PersistenceError) -> StoreCopyReport {
        let source = store
        let report = try await workers.run { () throws(PersistenceError) in
            do throws(StoreError) {
                return try source.copy(to: target.store, options: options)
            } catch {
                throw .store(error)
            }
        }
        target.coordinator.announceEverything(isFromElsewhere: false)
        return report
    }
}
