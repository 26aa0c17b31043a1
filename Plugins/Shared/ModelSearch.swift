import Foundation

/// Finds the model files of a target, and the names of what is generated from them.
///
/// Both plug-ins use this file through links in their folders: a plug-in cannot import a library.
struct ModelSearch {
    /// The ending of the names of model files.
    static let ending = ".strata.yaml"
    /// A file in a target that names models of the package's folder `Models`, one per line; `#` begins a comment.
    static let listName = "strata.models"
    /// How many files are generated of a model: `CodeGenerator.fileCount`, which cannot be imported here.
    static let fileCount = 4

    /// A model file.
    struct Model {
        var path: URL
        /// The file next to it with the versions that were recorded; empty if there is none.
        var lock: [URL] {
            let name = path.lastPathComponent.dropLast(ModelSearch.ending.count) + ".strata.lock.yaml"
            let url = path.deletingLastPathComponent().appendingPathComponent(String(name))
            return FileManager.default.fileExists(atPath: url.path) ? [url] : []
        }
        /// The names of all files that the generator will write. They depend on the name of the model file and nothing
        /// else, because SwiftPM asks a plug-in again when files come and go, but not when a file changes.
        var outputs: [String]
    }

    /// What a search found.
    struct Result {
        var models: [Model] = []
        /// Files next to the models that decide what is generated.
        var inputs: [URL] = []
        var problems: [String] = []
    }

    var targetName: String
    var targetFiles: [URL]
    var packageFolder: URL

    /// Looks in the target first, then for what the target names in `Models`, then for `Models/<target>.strata.yaml`.
    func search() -> Result {
        var result = Result()
        var paths = targetFiles.filter { $0.lastPathComponent.lowercased().hasSuffix(Self.ending) }
        let folder = packageFolder.appendingPathComponent("Models", isDirectory: true)
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
        func find(_ name: String) -> URL? {
            let wanted = name.lowercased().hasSuffix(Self.ending) ? name.lowercased() : name.lowercased() + Self.ending
            return names.first { $0.lowercased() == wanted }.map { folder.appendingPathComponent($0) }
        }
        for list in targetFiles where list.lastPathComponent == Self.listName {
            result.inputs.append(list)
            let text = (try? String(contentsOf: list, encoding: .utf8)) ?? ""
            for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                let name = line.prefix { $0 != "#" }.trimmingCharacters(in: .whitespaces)
                if name.isEmpty { continue }
                if let path = find(name) {
                    paths.append(path)
                } else {
                    result.problems.append(
                        "\(list.path):\(index + 1):1: error: there is no model '\(name)' in \(folder.path)")
                }
            }
        }
        if paths.isEmpty, result.inputs.isEmpty, let path = find(targetName) { paths = [path] }
        result.models = paths.sorted { $0.path < $1.path }.map(Self.model)
        var owners: [String: URL] = [:]
        for model in result.models {
            for name in model.outputs {
                if let other = owners[name.lowercased()] {
                    result.problems.append(
                        "\(model.path.path):1:1: error: \(name) is also generated from \(other.path); rename one of the model files"
                    )
                }
                owners[name.lowercased()] = model.path
            }
        }
        return result
    }

    private static func model(at path: URL) -> Model {
        let stem = path.lastPathComponent.prefix { $0 != "." }
        let words = stem.split { !$0.isLetter && !$0.isNumber }.map { $0.prefix(1).uppercased() + $0.dropFirst() }
        var name = words.joined()
        if name.first?.isLetter != true { name = "Model" + name }
        if !name.hasSuffix("Model") { name += "Model" }
        return Model(
            path: path, outputs: (1...fileCount).map { name + ($0 == 1 ? "" : "\($0)") + ".strata.swift" })
    }
}
