import Foundation
import StrataModel
import StrataModelFiles

/// Which models this tool reads: model files. `strata-generate-coredata` has a file of this name, too.
enum ModelSource {
    /// The name of the tool.
    static let tool = "strata-generate"
    /// What the argument `--model` may be.
    static let kinds = "A model file (.strata.yaml)."

    /// Reads a model file.
    /// - Throws: ``ModelError`` with all faults.
    static func read(path: String, report: (String) -> Void) throws(ModelError) -> ModelFile {
        guard !ModelFile.isCoreDataModel(path: path) else {
            let location = SourceLocation(file: path, line: 1, column: 1)
            let message = "this is a Core Data model; use the plug-in StrataCoreDataPlugin or strata-generate-coredata"
            throw ModelError(model: path, faults: [ModelFault(message: message, location: location)])
        }
        return try ModelFile.read(path: path)
    }
}
