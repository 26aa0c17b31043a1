#if Postgres
    import Strata

    extension PostgresStore {
        /// Where a store is.
        public struct Location: Sendable, Hashable {
            /// What ``PostgresStore/open(model:at:options:)`` takes.
            public let address: String

            /// A database by its URL, `postgres://user@host:port/database`, or by `key=value` pairs as libpq takes them.
            public static func postgres(_ address: String) -> Location { Location(address: address) }
        }
    }

    extension PersistentContainer {
        /// Opens a PostgreSQL store.
        ///
        ///     let container = try PersistentContainer(GazetteerModel.self, at: .postgres("postgres://app@db/gazetteer"))
        /// - Parameters:
        ///   - model: What generated code defines.
        ///   - location: The database.
        ///   - options: Timeouts, the number of connections and so on.
        /// - Throws: ``PersistenceError/store(_:)`` if the store cannot be opened; see
        ///   ``PostgresStore/open(model:at:options:)``. ``PersistenceError/classMismatch(entity:className:reason:)`` if
        ///   classes do not fit.
        public convenience init<M: GeneratedModel>(
            _ model: M.Type, at location: PostgresStore.Location, options: PostgresStore.Options = .init()
        ) throws(PersistenceError) {
            try self.init(model: model.model, classes: model.classes, at: location, options: options)
        }

        /// Opens a PostgreSQL store for a model that app code declares.
        /// - Parameter classes: Classes of entities, by their `entityName`. Entities without one have ``ManagedObject``
        ///   itself.
        /// - Throws: As the other initializer.
        public convenience init(
            model: ManagedObjectModel, classes: [ManagedObject.Type] = [], at location: PostgresStore.Location,
            options: PostgresStore.Options = .init()
        ) throws(PersistenceError) {
            let store: PostgresStore
            do throws(StoreError) {
                store = try PostgresStore.open(model: model, at: location.address, options: options)
            } catch {
                throw .store(error)
            }
            try self.init(store: store, classes: classes)
        }
    }
#endif
