import StrataModel
import StrataModelExport
import StrataModelFiles

/// The example of the landing page of StrataModelExport.
enum CatalogGuide {
    static func export(_ model: ManagedObjectModel) -> String {
        let yaml = ModelFile(model: model).yaml()
        return yaml
    }
}
