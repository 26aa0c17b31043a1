import Foundation
import StrataCoreDataModel
import StrataModel

/// The models that are next to the tests, and the shared collection where it exists.
enum Samples {
    static func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    static func data(_ name: String) throws -> Data { try Data(contentsOf: folder.appendingPathComponent(name)) }

    static var folder: URL { Bundle.module.resourceURL!.appendingPathComponent("Samples") }

    /// All model folders of the shared collection that have a `contents` file; none where it does not exist.
    static var shared: [String] {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let root = package.deletingLastPathComponent().appendingPathComponent("shared/samples/models")
        guard let names = FileManager.default.enumerator(atPath: root.path) else { return [] }
        return names.compactMap { $0 as? String }.filter { $0.hasSuffix(".xcdatamodel/contents") }
            .map { root.appendingPathComponent($0).deletingLastPathComponent().path }.sorted()
    }

    /// The sample models with their versions, and the shared ones.
    static var models: [String] {
        let own = ["SampleModel", "SampleModel3", "Sample", "Groot"].flatMap { name in
            (try? CoreDataModelBundle(path: path("\(name).xcdatamodeld")))?.versions.map(\.path) ?? []
        }
        return own + shared
    }

    static func temporary(_ ending: String) -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + ending).path
    }
}

extension AttributeType {
    /// The names of a composite's elements; nil for every other type.
    var elementNames: [String]? {
        if case .composite(let elements) = self { elements.map(\.name) } else { nil }
    }
}
