import Foundation
import Strata
import StrataTesting

/// A store in a file of its own that fails when a test says so.
final class FaultyFile {
    static let busy = StoreError.locked(path: "test.sqlite")

    let store: FaultInjectingStore
    let container: PersistentContainer
    let path: String
    private let folder: URL

    init(_ model: any GeneratedModel.Type, _ change: (inout SQLiteStore.Options) -> Void = { _ in }) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "strata-faulty-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appending(path: "test.sqlite").path
        var options = SQLiteStore.Options()
        change(&options)
        store = FaultInjectingStore(
            try SQLiteStore.open(model: model.model, location: .file(path: path), options: options))
        container = try PersistentContainer(store: store, classes: model.classes)
    }

    deinit {
        container.close()
        // The folder is in the system's temporary folder; a failure leaves litter there, no wrong result.
        try? FileManager.default.removeItem(at: folder)
    }

    /// Runs a closure while calls fail.
    func failing<R>(
        _ operations: Set<FaultInjectingStore.Operation>, with error: StoreError = busy, _ body: () throws -> R
    ) rethrows -> R {
        store.fail(operations, with: error)
        defer { store.recover() }
        return try body()
    }
}
