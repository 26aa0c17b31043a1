import Foundation

/// The stores next to the tests, and the shared collection where it exists.
enum Samples {
    /// Copies a store with its log into a folder of its own, because to open a store with a log makes a file next to it.
    static func copy(_ name: String) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let target = folder.appendingPathComponent(URL(fileURLWithPath: name).lastPathComponent)
        for ending in ["", "-wal"] {
            let source = path(name) + ending
            guard FileManager.default.fileExists(atPath: source) else { continue }
            try FileManager.default.copyItem(atPath: source, toPath: target.path + ending)
        }
        return target.path
    }

    static func path(_ name: String) -> String {
        name.hasPrefix("/") ? name : folder.appendingPathComponent(name).path
    }

    static var folder: URL { Bundle.module.resourceURL!.appendingPathComponent("Samples") }

    static var model: String { path("SampleModel.xcdatamodeld") }

    /// The stores next to the tests.
    static let own = [
        "BigNerdRanch-TestModel.sqlite", "CoreDataPlus-SampleModel3_V1.sqlite",
        "CoreDataPlus-SampleModel_V1.sqlite",
        "CoreDataPlus-SampleModel_V2.sqlite", "DDG-Bookmarks_V1.sqlite", "MagicalRecord-Recipes.sqlite",
    ]

    /// The stores of the shared collection; none where it does not exist.
    static var shared: [String] {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent()
        let root = package.deletingLastPathComponent().appendingPathComponent("shared/samples/stores")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
        return names.filter { $0.hasSuffix(".sqlite") }.sorted().map {
            root.appendingPathComponent($0).path
        }
    }

    static func temporary(_ ending: String = "") -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + ending).path
    }
}
