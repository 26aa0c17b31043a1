import Foundation
import Strata
import Testing

/// A library with history in a file of its own, removed with this object.
final class HistoryFile: Sendable {
    let path: String
    let container: PersistentContainer
    private let folder: URL

    /// - Parameter recording: What the first container asks for.
    init(_ recording: HistoryRecording = .on(keeping: .days(7))) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "strata-history-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appending(path: "library.sqlite").path
        container = try Self.open(path, recording)
    }

    deinit {
        container.close()
        // The folder is in the system's temporary folder; a failure leaves litter there, no wrong result.
        try? FileManager.default.removeItem(at: folder)
    }

    /// A further container on the file, as another process would have it.
    func open(_ recording: HistoryRecording = .asInFile) throws -> PersistentContainer {
        try Self.open(path, recording)
    }

    private static func open(_ path: String, _ recording: HistoryRecording) throws -> PersistentContainer {
        var options = SQLiteStore.Options()
        options.history = recording
        return try PersistentContainer(Library.self, at: .file(path: path), options: options)
    }

    /// A container of a new store in memory, which records.
    static func container(
        _ model: ManagedObjectModel, _ classes: [ManagedObject.Type] = []
    ) throws -> PersistentContainer {
        var options = SQLiteStore.Options()
        options.history = .on(keeping: .days(1))
        return try PersistentContainer(model: model, classes: classes, at: .memory(name: nil), options: options)
    }

    static func container<M: GeneratedModel>(_ model: M.Type) throws -> PersistentContainer {
        try container(model.model, model.classes)
    }
}

extension Trait where Self == ConditionTrait {
    /// For tests of history, which run on each kind of store that records it.
    static var recordsHistory: Self { .enabled(if: true) }
}
