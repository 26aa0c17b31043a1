extension PersistentContainer {
    /// Forgets the rows that contexts of this container share, so that what is read next is as the store has it now.
    ///
    /// Call it before a read that must show what another process has written; a container whose contexts merge changes does so
    /// by itself, a moment later.
    package func forgetSharedRows() { coordinator.rowCache.forgetAll() }
}
