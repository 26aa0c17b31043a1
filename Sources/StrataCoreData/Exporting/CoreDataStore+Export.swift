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
    /// All of it is read at one moment, even while an app writes to the file. Objects keep their keys and
    /// versions, and relationships their order. SQLite copies the rows itself, so that the memory that is needed does not depend
    /// on the number of objects. The new store appears when it is complete; if the export fails, nothing is left of it.
    /// - Parameters:
    ///   - path: The file of the Core Data store. It is only read.
    ///   - destination: The file of the new store, which must not exist.
    ///   - model: Where the model comes from.
    ///   - strataModel: The model of the new store; nil for the one that the Core Data model becomes.
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
        var options = options
        options.store.isReadOnly = true
        let file = try CoreDataFile(path: path, model: model, options: options.store)
        let model = if let strataModel { strataModel } else { try file.convertedModel() }
        var storeOptions = SQLiteStore.Options()
        storeOptions.externalStorageThreshold = options.externalStorageThreshold
        let target = try NewStoreFile(path: destination, model: model, options: storeOptions)
        var report: CoreDataExportReport
        do throws(StoreError) {
            var exporter = try Exporter(file: file, model: model, target: target.store, options: options)
            report = try exporter.run()
            try target.finish()
        } catch {
            target.discard()
            throw error
        }
        report.seconds = (ContinuousClock.now - start).inSeconds
        return report
    }
}
