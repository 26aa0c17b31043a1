import Strata

/// Where the tour keeps its objects. Each run makes them again.
protocol TourStore: Sendable {
    /// The size in bytes.
    var size: Int { get }
    /// The place, without a password.
    var name: String { get }
    /// Where a copy can be made that is thrown away afterwards.
    var copyPath: String { get }

    /// Removes what an earlier run left. Nothing is removed that is not a store of the Gazetteer, unless that is asked for.
    /// - Parameter force: Whether a file is removed whatever it is.
    func removeOld(force: Bool) throws
    /// Opens the store.
    func open(trace: @escaping @Sendable (StatementTrace) -> Void) throws(PersistenceError) -> PersistentContainer
    /// Copies everything to a new SQLite file.
    /// - Parameter container: The open container of the store.
    func copy(_ container: PersistentContainer, to path: String) async throws
}

/// The store at the place that a user names: the path of a file, or the URL of a database.
/// - Throws: ``GazetteerError/noPostgres(address:)`` for a URL if the program is built without PostgreSQL.
func tourStore(at place: String) throws(GazetteerError) -> any TourStore {
    guard ["postgres://", "postgresql://"].contains(where: place.hasPrefix) else { return StoreFile(path: place) }
    #if Postgres
        return StoreDatabase(address: place)
    #else
        throw .noPostgres(address: place)
    #endif
}
