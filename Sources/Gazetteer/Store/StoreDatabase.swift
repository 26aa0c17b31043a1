#if Postgres
    import Foundation
    import Strata
    import StrataPostgres

    /// A store in a PostgreSQL database, in a schema of its own, whose objects each run makes again.
    struct StoreDatabase: TourStore {
        /// The URL.
        let address: String

        private var options: PostgresStore.Options {
            var options = PostgresStore.Options()
            options.schema = "gazetteer"
            return options
        }

        /// Deletes the objects of an earlier run. The tables stay.
        /// - Parameter force: It makes no difference: a database is never replaced.
        /// - Throws: ``GazetteerError/foreignDatabase(name:model:)`` if the schema has a store of another model.
        func removeOld(force: Bool) throws {
            guard let found = try PostgresStore.storedModel(at: address, options: options) else { return }
            guard found.name == GazetteerModel.model.name else {
                throw GazetteerError.foreignDatabase(name: name, model: found.name)
            }
            let container = try open { _ in }
            defer { container.close() }
            let context = container.newContext()
            // A country cannot be deleted while it has cities.
            try context.deleteAll(FetchRequest<City>())
            try context.deleteAll(FetchRequest<Country>())
            try context.deleteAll(FetchRequest<Continent>())
        }

        /// Opens the store, and makes the tables if there are none.
        func open(trace: @escaping @Sendable (StatementTrace) -> Void) throws(PersistenceError) -> PersistentContainer {
            var options = options
            options.trace = trace
            return try PersistentContainer(GazetteerModel.self, at: .postgres(address), options: options)
        }

        func copy(_ container: PersistentContainer, to path: String) async throws {
            let copy = try PersistentContainer(GazetteerModel.self, at: .file(path: path))
            defer { copy.close() }
            try await container.copy(to: copy)
        }

        var copyPath: String {
            FileManager.default.temporaryDirectory.appendingPathComponent("gazetteer-\(UUID().uuidString).sqlite").path
        }

        /// The size of the tables with their indexes in bytes.
        var size: Int { (try? PostgresStore.storeInfo(at: address, options: options).size) ?? 0 }

        /// The address without user and password.
        var name: String {
            guard var parts = URLComponents(string: address) else { return "PostgreSQL" }
            parts.user = nil
            parts.password = nil
            return parts.string ?? "PostgreSQL"
        }
    }
#endif
