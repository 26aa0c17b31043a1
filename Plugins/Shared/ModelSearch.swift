import Foundation

/// Finds the models of a target, and the names of what is generated from them.
///
/// The plug-ins use this file through links in their folders: a plug-in cannot import a library.
struct ModelSearch {
    /// The ending of the names of model files.
    static let ending = ".strata.yaml"
    /// The endings of the names of Core Data models: `CoreDataModelBundle.pathExtensions`, which cannot be imported here.
    static let coreDataEndings = [".xcdatamodeld", ".xcdatamodel", ".momd", ".mom"]
    /// A file in a target that names models of the package's folder `Models`, one per line; `#` begins a comment.
    static let listName = "strata.models"
    /// How many files are generated of a model: `CodeGenerator.fileCount`, which cannot be imported here.
    static let fileCount = 4

    /// A model file, or a Core Data model, which is a folder or a compiled file.
    struct Model {
        var path: URL
        /// The names of all files that the generator will write. They depend on the name of the model and nothing
        /// else, because SwiftPM asks a plug-in again when files come and go, but not when a file changes.
        var outputs: [String]

        /// The files that decide what is generated: the model, the files in its folder, and the lock file next to it.
        var inputs: [URL] {
            let stem = ([ModelSearch.ending] + ModelSearch.coreDataEndings)
                .first { path.lastPathComponent.lowercased().hasSuffix($0) }
                .map { path.lastPathComponent.dropLast($0.count) }
            let lock = path.deletingLastPathComponent()
                .appendingPathComponent((stem ?? path.lastPathComponent[...]) + ".strata.lock.yaml")
            let names = ((try? FileManager.default.subpathsOfDirectory(atPath: path.path)) ?? []).sorted()
            let contents = names.filter { name in
                let last = name.split(separator: "/").last ?? ""
                return last == ".xccurrentversion" || !last.hasPrefix(".")
            }
            return [path] + contents.map { path.appendingPathComponent($0) }
                + (FileManager.default.fileExists(atPath: lock.path) ? [lock] : [])
        }
    }

    /// What a search found.
    struct Result {
        var models: [Model] = []
        /// Files next to the models that decide what is generated.
        var inputs: [URL] = []
        /// What was left out.
        var warnings: [String] = []
        var problems: [String] = []
    }

    var targetName: String
    var targetFiles: [URL]
    var packageFolder: URL

    /// Looks in the target first, then for what the target names in `Models`, then for `Models/<target>.strata.yaml`.
    func search() -> Result {
        var result = Result()
        var paths = modelFiles
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
        result.add(paths)
        return result
    }

    /// Looks for Core Data models in the target. One next to a model file of the same name is left out: the model file was
    /// converted from it.
    func searchCoreDataModels() -> Result {
        var result = Result()
        let converted = Dictionary(modelFiles.map { (Self.outputs(of: $0), $0) }) { first, _ in first }
        var paths: [URL] = []
        for path in Set(targetFiles.compactMap(coreDataModel)) {
            if let file = converted[Self.outputs(of: path)] {
                result.warnings.append(
                    "\(path.path):1:1: warning: the model is left out, because there is \(file.lastPathComponent); remove one of them, or rename it"
                )
            } else {
                paths.append(path)
            }
        }
        result.add(paths)
        return result
    }

    private var modelFiles: [URL] { targetFiles.filter { $0.lastPathComponent.lowercased().hasSuffix(Self.ending) } }

    /// The Core Data model that a file is in, or that it is: the outermost path in the package with such a name. SwiftPM lists
    /// what is in the folder of a model, Xcode the folder.
    private func coreDataModel(around file: URL) -> URL? {
        let parts = file.pathComponents
        let package = packageFolder.pathComponents
        let start = parts.starts(with: package) ? package.count : 0
        let index = parts[start...].firstIndex { part in
            Self.coreDataEndings.contains { part.lowercased().hasSuffix($0) }
        }
        return index.map { URL(fileURLWithPath: NSString.path(withComponents: Array(parts[...$0]))) }
    }

    /// The names of the files that the generator writes for a model.
    fileprivate static func outputs(of model: URL) -> [String] {
        let stem = model.lastPathComponent.prefix { $0 != "." }
        let words = stem.split { !$0.isLetter && !$0.isNumber }.map { $0.prefix(1).uppercased() + $0.dropFirst() }
        var name = words.joined()
        if name.first?.isLetter != true { name = "Model" + name }
        if !name.hasSuffix("Model") { name += "Model" }
        return (1...fileCount).map { name + ($0 == 1 ? "" : "\($0)") + ".strata.swift" }
    }
}

extension ModelSearch.Result {
    /// Adds models by path, and reports those that would write the same files.
    fileprivate mutating func add(_ paths: [URL]) {
        models = paths.sorted { $0.path < $1.path }
            .map { ModelSearch.Model(path: $0, outputs: ModelSearch.outputs(of: $0)) }
        var owners: [String: URL] = [:]
        for model in models {
            for name in model.outputs {
                if let other = owners[name.lowercased()] {
                    problems.append(
                        "\(model.path.path):1:1: error: \(name) is also generated from \(other.path); rename one of the models"
                    )
                }
                owners[name.lowercased()] = model.path
            }
        }
    }
}
