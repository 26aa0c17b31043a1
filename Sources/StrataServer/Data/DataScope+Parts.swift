#if Server
    import Strata

    /// A write that waits for its turn in a transaction.
    typealias ObjectWrite = @Sendable (DataScope) throws(ServerError) -> ServerResponse

    extension DataScope {
        /// Runs a part of a write in a context of its own, so that it leaves nothing behind when it fails.
        func attempt<T>(_ body: (DataScope) throws(ServerError) -> T) throws(ServerError) -> T {
            let inner = nested()
            defer { takeOver(inner) }
            let value = try body(inner)
            do throws(PersistenceError) { try inner.context.save() } catch { throw ServerError(error) }
            inner.pending?.settle()
            keep(inner)
            return value
        }
    }
#endif
