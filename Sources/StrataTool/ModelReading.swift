import StrataModel
import StrataModelFiles

/// Reads and checks a model file.
enum ModelReading {
    /// - Throws: All faults at once.
    static func read(_ path: String) throws(ModelError) -> ManagedObjectModel {
        try ModelFile.read(path: path).model()
    }
}
