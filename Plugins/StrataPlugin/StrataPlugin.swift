import Foundation
import PackagePlugin

/// Generates Swift classes of a target's model files at each build. The generated files stay in the build folder.
@main
struct StrataPlugin {
    private func commands(_ search: ModelSearch, tool: URL, folder: URL) throws -> [Command] {
        let result = search.search()
        for problem in result.problems { Diagnostics.error(problem) }
        if result.models.isEmpty, result.problems.isEmpty {
            Diagnostics.warning(
                "StrataPlugin found no model for the target \(search.targetName): put a file with the ending \(ModelSearch.ending) into the target, "
                    + "or one named after it into the folder Models of the package")
        }
        return result.models.map { model in
            .buildCommand(
                displayName: "Generating classes of \(model.path.lastPathComponent)",
                executable: tool,
                arguments: ["--model", model.path.path, "--output", folder.path],
                inputFiles: [model.path] + model.lock + result.inputs,
                outputFiles: model.outputs.map { folder.appendingPathComponent($0) })
        }
    }
}

extension StrataPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        let search = ModelSearch(
            targetName: target.name, targetFiles: target.sourceFiles.map(\.url),
            packageFolder: context.package.directoryURL)
        return try commands(
            search, tool: context.tool(named: "strata-generate").url, folder: context.pluginWorkDirectoryURL)
    }
}

#if canImport(XcodeProjectPlugin)
    import XcodeProjectPlugin

    extension StrataPlugin: XcodeBuildToolPlugin {
        func createBuildCommands(context: XcodePluginContext, target: XcodeTarget) throws -> [Command] {
            let search = ModelSearch(
                targetName: target.displayName, targetFiles: target.inputFiles.map(\.url),
                packageFolder: context.xcodeProject.directoryURL)
            return try commands(
                search, tool: context.tool(named: "strata-generate").url, folder: context.pluginWorkDirectoryURL)
        }
    }
#endif
