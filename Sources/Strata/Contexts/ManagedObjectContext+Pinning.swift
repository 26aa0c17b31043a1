import StrataStore

extension ManagedObjectContext {
    /// Pins the context to the present version of the store: fetches, faults and relationships show what the last commit left,
    /// together with the unsaved changes of this context, whatever others commit meanwhile.
    ///
    ///     try context.pin(for: .seconds(30))
    ///     defer { context.unpin() }
    ///     let countries = try context.fetch(FetchRequest<Country>())
    ///     let count = countries.reduce(0) { $0 + $1.cities.count }  // as if nobody wrote
    ///
    /// Objects that the context has already are refreshed: unchanged ones become faults, and changed ones keep their changes.
    /// Call it again to go forward to what is the last commit then, for the same or another duration. ``unpin()`` ends it. A
    /// save of the context, and a bulk operation, find conflicts with the last commit as usual, and then go forward to the
    /// version that they have made, which is held for the same duration again.
    ///
    /// A version takes a connection of its own, and the write-ahead log of the file grows by everything that is committed while
    /// it is held. So it is released after the duration, whether the context is used or not. Reads throw
    /// ``StoreError/versionReleased(path:seconds:)`` then, and faults report it to ``onFaultError``; objects that have been
    /// read keep their values. Pin the context again, or unpin it.
    ///
    /// While it is pinned, the context does not merge the commits of others, whatever ``automaticallyMergesChanges`` says; after
    /// ``unpin()``, it does again. Child contexts read what their parent reads.
    /// - Parameter duration: How long the version is held at most: more than 0, and up to an hour.
    /// - Throws: ``PersistenceError/store(_:)`` with ``StoreError/unsupported(store:feature:)`` for a store without
    ///   `StoreCapabilities.heldVersions` and for a child context, with ``StoreError/invalidOption(name:value:reason:)`` for
    ///   another duration, and with the reason if the store cannot be read. The context stays as it was then.
    public func pin(for duration: Duration = .seconds(60)) throws(PersistenceError) {
        let core = core
        let store = core.coordinator.store
        let version: any StoreReader
        do throws(StoreError) {
            guard core.parent == nil else {
                throw .unsupported(
                    store: store.name, feature: "versions of their own for child contexts; pin the outermost parent")
            }
            version = try store.holdVersion(for: duration)
        } catch {
            throw .store(error)
        }
        core.pin(to: version, for: duration)
        core.recorder?.close(.event)
    }

    /// Reads the last commit again, and merges the commits of others if ``automaticallyMergesChanges`` is set. Unchanged
    /// objects become faults, and changed ones keep their changes. Does nothing if the context is not pinned, or is a child.
    public func unpin() {
        core.unpin()
        core.recorder?.close(.event)
    }

    /// Whether the context, or the outermost parent, reads one version of the store; see ``pin(for:)``. Also true once that
    /// version has been released, and reads throw.
    public var isPinned: Bool { core.pin != nil }
}
