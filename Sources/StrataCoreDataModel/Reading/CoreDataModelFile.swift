public import Foundation

/// A Core Data model with what is odd about its file.
public struct CoreDataModelFile: Sendable, Hashable {
    /// The model.
    public var model: CoreDataModel
    /// What is odd, with lines.
    public var warnings: [CoreDataModelWarning]
    /// The file with the model's content.
    public var path: String

    /// Reads a compiled model: the content of a `.mom` file, or the inflated model cache of a store.
    ///
    ///     let file = try CoreDataModelFile(compiled: Data(contentsOf: url), name: "Notes")
    ///
    /// - Parameters:
    ///   - data: A keyed archive of `NSManagedObjectModel`.
    ///   - name: The name that the model gets.
    ///   - file: The file for messages.
    /// - Throws: ``CoreDataModelError`` if the data is something else or is damaged.
    public init(compiled data: Data, name: String, file: String = "model") throws(CoreDataModelError) {
        let archive: KeyedArchive
        do throws(PropertyListError) {
            archive = try KeyedArchive(data: data)
        } catch {
            throw CoreDataModelError(file: file, message: error.description)
        }
        var reader = CompiledModelReader(archive: archive, file: file)
        model = try reader.read(name: name)
        warnings = reader.warnings
        path = file
    }

    /// A model that comes from no file of its own.
    public init(model: CoreDataModel, warnings: [CoreDataModelWarning] = [], path: String) {
        self.model = model
        self.warnings = warnings
        self.path = path
    }
}
