import Foundation
import Strata
import StrataStore

/// A library in a file of its own, removed with this object. Counts the statements.
final class LibraryFile: Sendable {
    let path: String
    let container: PersistentContainer
    private let folder: URL
    private let list = Guarded<[String]>([])

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("strata-library-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appendingPathComponent("library.sqlite").path
        var options = SQLiteStore.Options()
        let list = list
        options.trace = { trace in
            if !trace.sql.hasPrefix("PRAGMA") { list.withLock { $0.append(trace.sql) } }
        }
        container = try PersistentContainer(Library.self, at: .file(path: path), options: options)
    }

    deinit {
        container.close()
        // In the system's temporary folder; a failure leaves litter there, no wrong result.
        try? FileManager.default.removeItem(at: folder)
    }

    /// Another container on the same file, which is a stranger to the first one, as another process is.
    func stranger() throws -> PersistentContainer { try PersistentContainer(Library.self, at: .file(path: path)) }

    /// The statements of a closure.
    func statements<R>(_ body: () throws -> R) rethrows -> [String] {
        list.withLock { $0 = [] }
        _ = try body()
        return list.withLock(\.self)
    }
}

/// Keeps what a live result told its delegate, and the list that its differences make.
final class Listener: FetchedResultsDelegate {
    private(set) var updates: [ResultsUpdate] = []
    private(set) var ids: [ObjectID]
    /// The list as it was at the last ``take()``.
    private(set) var idsAtLastTake: [ObjectID]

    init(_ ids: [ObjectID]) {
        self.ids = ids
        idsAtLastTake = ids
    }

    func results<Object: ManagedObject>(_ results: FetchedResults<Object>, didChange update: ResultsUpdate) {
        updates.append(update)
        ids = update.difference.apply(to: ids)
    }

    /// The updates since the last call.
    func take() -> [ResultsUpdate] {
        defer {
            updates = []
            idsAtLastTake = ids
        }
        return updates
    }
}
