import StrataCoreDataModel
import StrataModel
import StrataModelFiles

/// Which models this tool reads: Core Data models as well as model files.
enum ModelSource {
    /// The name of the tool.
    static let tool = "strata-generate-coredata"
    /// What the argument `--model` may be.
    static let kinds = "A model file (.strata.yaml), or a Core Data model: .xcdatamodeld, .xcdatamodel, .momd or .mom."

    /// Reads a model.
    /// - Parameter report: Gets a line for each feature of a Core Data model that has no counterpart.
    /// - Throws: ``ModelError`` with all faults.
    static func read(path: String, report: (String) -> Void) throws(ModelError) -> ModelFile {
        guard CoreDataModelBundle.isModel(path: path) else { return try ModelFile.read(path: path) }
        return try ModelFile.readCoreDataModel(path: path) { report($0.description) }
    }
}
