import Foundation
import Strata
import Testing

#if Postgres
    import PostgresFixture

    @testable import StrataPostgres

    /// A library with history in a database of its own: what the tests of history that all stores share work with.
    final class HistoryFile: Sendable {
        let url: String
        let container: PersistentContainer

        /// - Parameter recording: What the first container asks for.
        init(_ recording: HistoryRecording = .on(keeping: .days(7))) throws {
            url = try PostgresServer.shared.newDatabase()
            container = try Self.open(url, Library.model, Library.classes, recording)
        }

        deinit { container.close() }

        /// A further container on the database, as another process would have it.
        func open(_ recording: HistoryRecording = .asInFile) throws -> PersistentContainer {
            try Self.open(url, Library.model, Library.classes, recording)
        }

        private static func open(
            _ url: String, _ model: ManagedObjectModel, _ classes: [ManagedObject.Type], _ recording: HistoryRecording
        ) throws -> PersistentContainer {
            var options = PostgresStore.Options()
            options.history = recording
            return try PersistentContainer(model: model, classes: classes, at: .postgres(url), options: options)
        }

        /// A container of a new store, which records.
        static func container(
            _ model: ManagedObjectModel, _ classes: [ManagedObject.Type] = []
        ) throws -> PersistentContainer {
            try open(try PostgresServer.shared.newDatabase(), model, classes, .on(keeping: .days(1)))
        }

        static func container<M: GeneratedModel>(_ model: M.Type) throws -> PersistentContainer {
            try container(model.model, model.classes)
        }
    }

    extension Trait where Self == ConditionTrait {
        /// For tests of history, which run on each kind of store that records it.
        static var recordsHistory: Self { .needsPostgres }
    }
#else
    /// Without the trait, the tests that use it are disabled.
    struct HistoryFile {
        struct Missing: Error {}

        let container: PersistentContainer

        init(_ recording: HistoryRecording = .asInFile) throws { throw Missing() }

        func open(_ recording: HistoryRecording = .asInFile) throws -> PersistentContainer { throw Missing() }

        static func container(_ model: ManagedObjectModel) throws -> PersistentContainer { throw Missing() }

        static func container<M: GeneratedModel>(_ model: M.Type) throws -> PersistentContainer { throw Missing() }
    }

    extension Trait where Self == ConditionTrait {
        static var recordsHistory: Self { .disabled("PostgreSQL stores are not part of this build") }
    }
#endif
