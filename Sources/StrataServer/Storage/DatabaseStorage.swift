#if Server
    import Foundation
    import Strata
    import StrataStore

    /// Where a database of the server is kept.
    protocol DatabaseStorage: Sendable {
        /// Whether other processes may write to it at the same time.
        var isShared: Bool { get }
        /// Runs a closure while no other process does.
        /// - Throws: If it cannot begin; the closure has not run then.
        func exclusively(_ body: () -> Void) throws(ServerError)
        /// The catalogue with which the database was last grown; nil if there is no database yet.
        func stored() throws -> StoredCatalogue?
        /// Brings the database to a model, or makes it, and opens it. Only called in ``exclusively(_:)``.
        func grow(to model: ManagedObjectModel, _ stored: StoredCatalogue) throws -> PersistentContainer
        /// Opens the database as it is.
        /// - Returns: nil if it was grown to another model in the meantime.
        func open(_ model: ManagedObjectModel) throws -> PersistentContainer?
        /// A text that changes when the database is restored from a backup; nil if the start of a server says so.
        func lineage() throws -> String?
        /// What the servers of the database remember together; nil if there is only one of them.
        var memory: (any SharedMemory)? { get }
        func close()
    }

    extension DatabaseStorage {
        /// As ``exclusively(_:)``, for a closure that has a result.
        func alone<T>(_ body: () throws -> T) throws -> T {
            var result: Result<T, any Error>?
            try exclusively { result = Result { try body() } }
            guard let result else { throw ServerError(500, "The turn gave no answer.") }
            return try result.get()
        }
    }

    /// A catalogue as a database has it.
    struct StoredCatalogue: Sendable {
        var catalogue: SchemaCatalogue
        /// Grows with each change of the catalogue of a shared database; 0 in others.
        var version: Int64

        private static let catalogueNote = "server_catalogue"
        private static let versionNote = "server_version"

        init(_ catalogue: SchemaCatalogue, version: Int64 = 0) { (self.catalogue, self.version) = (catalogue, version) }

        /// Reads the texts that a database was grown with.
        init?(note: (String) throws -> String?) throws {
            guard let text = try note(Self.catalogueNote) else { return nil }
            catalogue = try JSONDecoder().decode(SchemaCatalogue.self, from: Data(text.utf8))
            version = try note(Self.versionNote).flatMap { Int64($0) } ?? 0
        }

        var notes: [String: String] {
            get throws {
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                var notes = [Self.catalogueNote: String(decoding: try encoder.encode(catalogue), as: UTF8.self)]
                if version > 0 { notes[Self.versionNote] = String(version) }
                return notes
            }
        }
    }

    /// A SQLite file, which only one server uses.
    struct FileStorage: DatabaseStorage {
        let path: String
        let options: SQLiteStore.Options

        var isShared: Bool { false }
        var memory: (any SharedMemory)? { nil }

        func exclusively(_ body: () -> Void) { body() }

        func stored() throws -> StoredCatalogue? {
            try StoredCatalogue { try SQLiteStore.note(named: $0, at: path) }
        }

        func grow(to model: ManagedObjectModel, _ stored: StoredCatalogue) throws -> PersistentContainer {
            try SQLiteStore.grow(to: model, at: path, notes: try stored.notes, options: options)
            return try PersistentContainer(model: model, at: .file(path: path), options: options)
        }

        func open(_ model: ManagedObjectModel) throws -> PersistentContainer? {
            try PersistentContainer(model: model, at: .file(path: path), options: options)
        }

        func lineage() -> String? { nil }

        func close() {}
    }
#endif
