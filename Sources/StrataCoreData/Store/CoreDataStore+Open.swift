public import Foundation
public import StrataSQLite
import StrataStore

extension CoreDataStore {
    /// How a Core Data store is opened.
    public struct Options: Sendable {
        /// Whether the store is only read.
        ///
        /// Without it, saves write to the file, as Core Data would. A store is refused for writing that records persistent
        /// history, mirrors CloudKit, or has something whose purpose is not known. Whether Core Data accepts what was written
        /// has not been tested; ``CoreDataStore/check(at:model:)`` compares the file with the rules of the format.
        public var isReadOnly = true
        /// How long to wait for another process that holds the store, in seconds: 0 or more.
        public var busyTimeout: Double = 5
        /// The maximum number of connections that read at the same time, 1 to 1,000.
        public var readerCount = 4
        /// What reads transformable values that are not keyed archives of Foundation's classes: by the name of the value
        /// transformer in the model, a closure that makes a value from the bytes in the store.
        ///
        ///     options.transformers["ColorTransformer"] = { data in .string(String(decoding: data, as: UTF8.self)) }
        ///
        /// The value becomes JSON, so that it consists of text, numbers, truth values, lists and composites. Closures may be
        /// called from any thread. What they throw is reported for that value only.
        public var transformers: [String: @Sendable (Data) throws -> Value] = [:]
        /// Called with each statement after it has run.
        public var trace: (@Sendable (StatementTrace) -> Void)?

        /// The defaults.
        public init() {}

        var sqlite: SQLiteStore.Options {
            var options = SQLiteStore.Options()
            options.isReadOnly = isReadOnly
            // A file that is not in WAL mode can be damaged by a power failure otherwise.
            if !isReadOnly { options.synchronous = .full }
            options.busyTimeout = busyTimeout
            options.readerCount = readerCount
            options.trace = trace
            return options
        }
    }

    /// Opens a store, for reading unless ``Options/isReadOnly`` says otherwise.
    ///
    ///     let store = try CoreDataStore.open(path: "Notes.sqlite", model: .file(path: "Notes.xcdatamodeld"))
    ///
    /// - Parameters:
    ///   - path: The file of the store.
    ///   - model: Where the model comes from.
    ///   - strataModel: The model of the objects, for example that of your generated classes; nil for the one that the
    ///     Core Data model becomes. It must have the entities, properties and types of the store; see
    ///     ``CoreDataModelFile/converted(naming:transformables:)``.
    ///   - options: How the store is opened.
    /// - Throws: ``StoreError``; among others ``StoreError/notFound(path:)``, ``StoreError/notAStore(path:reason:)`` for a file
    ///   that Core Data did not write, ``StoreError/corrupt(path:reason:)``, and
    ///   ``StoreError/incompatibleModel(path:differences:)`` if the model is not that of the store.
    ///   ``StoreError/unsupported(store:feature:)`` if the store is to be written, and that would do harm.
    public static func open(
        path: String, model: CoreDataModelSource = .automatic, as strataModel: ManagedObjectModel? = nil,
        options: Options = Options()
    ) throws(StoreError) -> CoreDataStore {
        let file = try CoreDataFile(path: path, model: model, options: options)
        let model = if let strataModel { strataModel } else { try file.convertedModel() }
        let layout = try ViewLayout(model: model, store: "Core Data")
        let views = try file.views(for: model, layout: layout, mode: .reading)
        var plan: WritingPlan?
        if !options.isReadOnly {
            let found = WritingPlan(file: file, model: model, layout: layout)
            guard found.refusals.isEmpty else {
                throw .unsupported(
                    store: "Core Data",
                    feature: "writing to \(file.path): " + found.refusals.joined(separator: "; ")
                        + ". Open it read-only")
            }
            plan = found
        }
        let functions = ValueFunctions(folder: file.folder, transformers: options.transformers)
        let isChecked = Guarded(false)
        let store = try file.database.store(identifier: file.metadata.identifier, layout: layout) {
            (connection) throws(StoreError) in
            functions.register(on: connection)
            TriggerFunctions.register(on: connection)
            for view in views.all { try connection.execute(view.statement(named: "temp.\(view.table)")) }
            let isFirst = isChecked.withLock { isChecked in
                defer { isChecked = true }
                return !isChecked
            }
            // SQLite looks at the columns of a view when it is first used.
            guard isFirst else { return }
            for view in views.all { _ = try connection.prepare("SELECT * FROM temp.\(view.table)", persistent: false) }
        }
        return CoreDataStore(file: file, model: model, views: views, store: store, plan: plan)
    }
}
