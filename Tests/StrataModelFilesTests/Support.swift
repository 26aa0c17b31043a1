import Foundation
import StrataModel
import StrataModelFiles
import Testing

/// The folder of the package.
let packageFolder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

/// The model of the consumer package: inheritance, composites, reserved words, all kinds of relationships.
func libraryFile() throws -> ModelFile {
    try ModelFile.read(
        path: packageFolder.appendingPathComponent("Tests/Consumer/Sources/Consumer/Library.strata.yaml").path)
}

/// The faults of a model file, each as `line:column: subject: message`.
func faults(in yaml: String) -> [String] {
    do throws(ModelError) {
        _ = try ModelFile.read(yaml: yaml, path: "m.strata.yaml")
        return []
    } catch {
        return error.faults.map { $0.description.replacing("m.strata.yaml:", with: "").replacing("error: ", with: "") }
    }
}

/// Compares faults one by one, so that a difference is easy to see.
func expect(_ found: [String], _ expected: [String], location: Testing.SourceLocation = #_sourceLocation) {
    for (index, fault) in found.enumerated() {
        #expect(fault == (index < expected.count ? expected[index] : "no fault"), sourceLocation: location)
    }
    for missing in expected.dropFirst(found.count) { #expect("no fault" == missing, sourceLocation: location) }
}
