#if Server && Postgres
    import Foundation
    import Strata
    import StrataPostgres
    import StrataStore

    /// A schema of a PostgreSQL database, which several servers share.
    final class PostgresStorage: DatabaseStorage {
        private let address: String
        private let options: PostgresStore.Options
        private let coordinator: PostgresCoordinator

        init(address: String, schema: String) throws {
            self.address = address
            var options = PostgresStore.Options()
            options.schema = schema
            // Nothing listens: each request asks the database.
            options.announcesCommits = false
            self.options = options
            coordinator = try PostgresCoordinator(address, options: options)
        }

        var isShared: Bool { true }
        var memory: (any SharedMemory)? { PostgresMemory(coordinator: coordinator) }

        func exclusively(_ body: () -> Void) throws(ServerError) {
            do throws(StoreError) { try coordinator.exclusively(body) } catch { throw ServerError(.store(error)) }
        }

        func stored() throws -> StoredCatalogue? {
            let notes = try PostgresStore.notes(at: address, options: options)
            return try StoredCatalogue { notes[$0] }
        }

        func grow(to model: ManagedObjectModel, _ stored: StoredCatalogue) throws -> PersistentContainer {
            try PostgresStore.grow(to: model, at: address, notes: try stored.notes, options: options)
            try coordinator.prepareTexts()
            return try PersistentContainer(model: model, at: .postgres(address), options: options)
        }

        func open(_ model: ManagedObjectModel) throws -> PersistentContainer? {
            var options = options
            options.createIfMissing = false
            options.migration.policy = .never
            do {
                return try PersistentContainer(model: model, at: .postgres(address), options: options)
            } catch PersistenceError.store(.incompatibleModel) {
                return nil
            }
        }

        func lineage() throws -> String? { try coordinator.lineage() }

        func close() { coordinator.close() }
    }

    /// Texts in a table of PostgreSQL.
    private struct PostgresMemory: SharedMemory {
        let coordinator: PostgresCoordinator

        func keep(_ text: String, named name: String, until: Int64, now: Int64) throws(ServerError) -> Bool {
            do throws(StoreError) {
                return try coordinator.keep(text, named: name, until: until, now: now)
            } catch {
                throw ServerError(503, "The database does not answer.", retryAfter: 1)
            }
        }

        func replace(_ text: String, named name: String, until: Int64, now: Int64) throws(ServerError) {
            do throws(StoreError) {
                _ = try coordinator.keep(text, named: name, until: until, now: now, replaces: true)
            } catch {
                throw ServerError(503, "The database does not answer.", retryAfter: 1)
            }
        }

        func text(named name: String, now: Int64) throws(ServerError) -> String? {
            do throws(StoreError) {
                return try coordinator.text(named: name, now: now)
            } catch {
                throw ServerError(503, "The database does not answer.", retryAfter: 1)
            }
        }
    }
#endif
