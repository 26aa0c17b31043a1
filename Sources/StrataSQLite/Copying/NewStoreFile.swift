import Foundation
import StrataStore

/// A new store while others fill it: under another name, so that an incomplete one is never taken for a store.
package struct NewStoreFile {
    /// The store, to be filled.
    package let store: SQLiteStore
    private let path: String
    private var temporary: String { path + Self.ending }

    private static let ending = ".incomplete"

    /// Makes a store.
    /// - Throws: ``StoreError/cannotOpen(path:reason:)`` if there is a file of the name already.
    package init(
        path: String, model: ManagedObjectModel, options: SQLiteStore.Options = SQLiteStore.Options()
    ) throws(StoreError) {
        self.path = path
        for existing in [path, path + "-wal", path + "-blobs"] where FileManager.default.fileExists(atPath: existing) {
            throw .cannotOpen(path: existing, reason: "it exists already, and nothing is replaced")
        }
        Self.remove(path + Self.ending)
        store = try SQLiteStore.open(model: model, location: .file(path: path + Self.ending), options: options)
    }

    private static func remove(_ path: String) {
        for ending in ["", "-wal", "-shm", "-journal", "-blobs"] {
            try? FileManager.default.removeItem(atPath: path + ending)
        }
    }

    /// Closes the store and removes it.
    package func discard() {
        store.close()
        Self.remove(temporary)
    }

    /// Closes the store and gives it its name.
    package func finish() throws(StoreError) {
        store.synchronizeExternalFiles()
        store.close()
        // The last connection to close empties the log. If it could not, the file without its log is not the store.
        if let size = try? FileManager.default.attributesOfItem(atPath: temporary + "-wal")[.size] as? NSNumber,
            size.intValue > 0
        {
            throw .io(path: temporary, code: 0, reason: "the write-ahead log could not be moved into the file")
        }
        let hasFiles = FileManager.default.fileExists(atPath: temporary + "-blobs")
        if hasFiles { try rename(temporary + "-blobs", path + "-blobs") }
        do throws(StoreError) {
            try rename(temporary, path)
        } catch {
            if hasFiles { try? FileManager.default.removeItem(atPath: path + "-blobs") }
            throw error
        }
    }

    private func rename(_ old: String, _ new: String) throws(StoreError) {
        guard Foundation.rename(old, new) == 0 else {
            throw .io(path: new, code: Int(errno), reason: String(cString: strerror(errno)))
        }
    }
}
