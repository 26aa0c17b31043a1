import Foundation
public import StrataSQLite

extension CoreDataStore {
    /// How a Core Data store is exported.
    public struct ExportOptions: Sendable {
        /// How the Core Data store is opened.
        public var store = CoreDataStore.Options()
        /// How many objects are copied between two reports of progress; at least 1.
        public var batchSize = 10_000
        /// The maximum number of problems that the report names; it counts all.
        public var maximumProblems = 1000
        /// Binary values of attributes that allow it are kept in files of their own above this size in bytes.
        public var externalStorageThreshold = SQLiteStore.Options().externalStorageThreshold
        /// Called on the thread of the export with what is done so far.
        public var onProgress: (@Sendable (MigrationProgress) -> Void)?
        /// What stops the export from elsewhere; nothing is left of it then.
        public var cancellation: ReadCancellation?

        /// The defaults.
        public init() {}
    }

    /// Copies a Core Data store into a new SQLite store of Strata.
    ///
    ///     let report = try CoreDataStore.export(path: "Notes.sqlite", to: "notes.strata.sqlite")
    ///     for problem in report.problems { print(problem) }
    ///
    /// All of it is read at one moment, also while an application of Apple's writes to the file. Objects keep their keys and
    /// versions, and relationships their order. SQLite copies the rows itself, so that the memory that is needed does not depend
    /// on the number of objects. The new store appears when it is complete; if the export fails, nothing is left of it.
    /// - Parameters:
    ///   - path: The file of the Core Data store. It is only read.
    ///   - destination: The file of the new store, which must not exist.
    ///   - model: Where the model comes from.
    ///   - strataModel: The model that the new store shall have; nil for the one that the Core Data model becomes.
    /// - Returns: Counts, and what could not be taken over.
    /// - Throws: ``StoreError`` as ``open(path:model:as:options:)``; ``StoreError/cannotOpen(path:reason:)`` if the destination
    ///   exists; ``StoreError/cancelled``; ``StoreError/diskFull(path:)``.
    @discardableResult
    public static func export(
        path: String, to destination: String, model: CoreDataModelSource = .automatic,
        as strataModel: ManagedObjectModel? = nil, options: ExportOptions = ExportOptions()
    ) throws(StoreError) -> CoreDataExportReport {
        let start = ContinuousClock.now
        guard options.batchSize >= 1 else {
            throw .invalidOption(name: "batchSize", value: "\(options.batchSize)", reason: "it must be 1 or more")
        }
        let file = try CoreDataFile(path: path, model: model, options: options.store)
        let model = if let strataModel { strataModel } else { try file.convertedModel() }
        let target = try ExportTarget(path: destination, model: model, options: options)
        var report: CoreDataExportReport
        do throws(StoreError) {
            var exporter = try Exporter(file: file, model: model, target: target.store, options: options)
            report = try exporter.run()
            try target.finish()
        } catch {
            target.discard()
            throw error
        }
        let time = (ContinuousClock.now - start).components
        report.seconds = Double(time.seconds) + Double(time.attoseconds) * 1e-18
        return report
    }
}

/// The new store while it is made: under another name, so that an incomplete one is never taken for a store.
private struct ExportTarget {
    let store: SQLiteStore
    private let path: String
    private var temporary: String { path + ".exporting" }

    init(path: String, model: ManagedObjectModel, options: CoreDataStore.ExportOptions) throws(StoreError) {
        self.path = path
        for existing in [path, path + "-wal", path + "-blobs"] where FileManager.default.fileExists(atPath: existing) {
            throw .cannotOpen(path: existing, reason: "it exists already, and an export replaces nothing")
        }
        Self.remove(path + ".exporting")
        var store = SQLiteStore.Options()
        store.externalStorageThreshold = options.externalStorageThreshold
        self.store = try SQLiteStore.open(model: model, location: .file(path: path + ".exporting"), options: store)
    }

    private static func remove(_ path: String) {
        for ending in ["", "-wal", "-shm", "-journal", "-blobs"] {
            try? FileManager.default.removeItem(atPath: path + ending)
        }
    }

    func discard() {
        store.close()
        Self.remove(temporary)
    }

    /// Gives the new store its name.
    func finish() throws(StoreError) {
        store.synchronizeExternalFiles()
        store.close()
        // The last connection to close empties the log. If it could not, the file alone is not the store.
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
