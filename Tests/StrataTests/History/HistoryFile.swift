import Foundation
import Strata

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
}

extension HistoryTransaction {
    /// The changes as text: `+Book/1`, `-Book/1`, `Book/1 title pages`.
    var lines: [String] {
        changes.map { change in
            let name = "\(change.entityName)/\(change.key)"
            return switch change.kind {
            case .inserted: "+\(name)"
            case .deleted: "-\(name)"
            case .updated: ([name] + change.properties).joined(separator: " ")
            }
        }.sorted()
    }
}

/// The error of history that a closure throws; nil if none.
func historyError<R>(_ body: () throws -> R) -> HistoryError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? HistoryError
    }
}
