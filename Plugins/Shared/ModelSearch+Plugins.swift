import Foundation
import PackagePlugin

extension ModelSearch {
    /// A search in a target of a package; nil for a target without sources.
    init?(_ target: any Target, in package: Package) {
        guard let target = target as? any SourceModuleTarget else { return nil }
        self.init(
            targetName: target.name, targetFiles: target.sourceFiles.map(\.url), packageFolder: package.directoryURL)
    }
}

extension ModelSearch.Model {
    /// The build command that generates the classes.
    /// - Parameter inputs: Other files that decide what is generated.
    func command(tool: URL, folder: URL, inputs: [URL]) -> Command {
        .buildCommand(
            displayName: "Generating classes of \(path.lastPathComponent)",
            executable: tool,
            arguments: ["--model", path.path, "--output", folder.path],
            inputFiles: self.inputs + inputs,
            outputFiles: outputs.map { folder.appendingPathComponent($0) })
    }
}

#if canImport(XcodeProjectPlugin)
    import XcodeProjectPlugin

    extension ModelSearch {
        /// A search in a target of an Xcode project.
        init(_ target: XcodeTarget, in project: XcodeProject) {
            self.init(
                targetName: target.displayName, targetFiles: target.inputFiles.map(\.url),
                packageFolder: project.directoryURL)
        }
    }
#endif
