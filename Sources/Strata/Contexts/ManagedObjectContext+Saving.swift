extension ManagedObjectContext {
    /// Saves all changes: to the store in one transaction, or to the parent in memory.
    ///
    ///     do {
    ///         try context.save()
    ///     } catch {
    ///         guard case .validation(let error) = error else { throw error }
    ///         for failure in error.failures { print(failure) }  // nothing has been saved
    ///     }
    ///
    /// Hooks run first (`willSave`, until nothing changes any more), then validation of every changed object, then the
    /// write. A save that throws leaves objects and store as they were; what `willSave` changed stays changed. A save without
    /// changes writes nothing. Save once for each piece of work, because each save is a transaction.
    ///
    /// If others have changed the same rows since this context or child read them, ``mergePolicy`` decides. The save of a child
    /// context changes only its parent; save that, too.
    ///
    /// If the container has several stores, the save commits to one after the other, in the order in which they were
    /// described: one transaction each. If a later one fails, ``PersistenceError/partlySaved(committed:pending:reason:)`` says
    /// which are committed; the objects of the others keep their changes, and the next save writes them.
    ///
    /// This form blocks the calling thread until the store has finished. In asynchronous code, use `try await
    /// context.save()`.
    /// - Throws: ``PersistenceError/validation(_:)`` with all failures of all objects,
    ///   ``PersistenceError/conflicts(_:)`` under ``MergePolicy/error``, ``PersistenceError/store(_:)``, including for
    ///   a relationship or delete rule whose rows could not be read, ``PersistenceError/hooksNeverSettle(entities:)``,
    ///   ``PersistenceError/recursiveSave`` in `willSave` and validators, ``PersistenceError/saveInProgress`` during an
    ///   asynchronous save; for a child ``PersistenceError/objectNotFound(_:)`` if the parent's store has lost an
    ///   object that was changed here, and ``PersistenceError/needsAsynchronousSave`` if the parent is in another isolation
    ///   domain.
    public func save() throws(PersistenceError) { try core.saves.save() }

    /// Saves all changes without blocking the caller: the store writes on another thread.
    ///
    ///     try await context.save()
    ///
    /// You may change objects while the save goes on; such changes stay for the next one. If others have changed the same
    /// properties, the next save is in conflict with them. A second asynchronous save of the context waits for the first; a blocking
    /// save throws in the meantime.
    ///
    /// The save is not cancelled with its task: once it has begun, it runs to completion.
    /// - Throws: As the blocking form; ``PersistenceError/parentReleased`` if the parent is in another isolation domain, and gone.
    public nonisolated(nonsending) func save() async throws(PersistenceError) { try await save(options: nil) }

    /// Saves all changes like `save()`, with options for a kind of store: where a remote store writes first, for
    /// instance. Other stores ignore them.
    ///
    /// A back end may do some of the writes and refuse others. The error names each refused object. Those objects keep
    /// their changes; the others are saved.
    /// - Parameter options: Options for the kind of store, or nil to use the store's defaults. In a container with several
    ///   stores, each that takes them gets them; ``OptionsByConfiguration`` has options for single stores.
    /// - Throws: As `save()`; ``PersistenceError/store(_:)`` with ``StoreError/remote(_:)`` if a back end failed.
    public nonisolated(nonsending) func save(options: (any StoreRequestOptions)?) async throws(PersistenceError) {
        let core = core
        if let link = core.settings.parentLink { return try await core.saves.save(through: link) }
        guard parent == nil else { return try core.saves.save() }
        let coordinator = core.coordinator
        try await core.saves.save { (changes) async throws(StoreError) in
            try await coordinator.commitLater(changes, options)
        }
    }
}
