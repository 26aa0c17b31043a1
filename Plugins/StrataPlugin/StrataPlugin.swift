import Foundation
import PackagePlugin

/// Generates Swift classes of a target's model files at each build. The generated files stay in the build folder.
@main
struct StrataPlugin {
    private func commands(_ search: ModelSearch, tool: URL, folder: URL) throws -> [Command] {
        let result = search.search()
        for problem in result.problems { Diagnostics.error(problem) }
        if result.models.isEmpty, result.problems.isEmpty {
            let advice =
                search.searchCoreDataModels().models.isEmpty
                ? "put a file with the ending \(ModelSearch.ending) into the target, or one named after it into the folder "
                    + "Models of the package"
                : "use StrataCoreDataPlugin, which takes its Core Data models"
            Diagnostics.warning("StrataPlugin found no model for the target \(search.targetName): \(advice)")
        }
        return result.models.map { $0.command(tool: tool, folder: folder, inputs: result.inputs) }
    }
}

extension StrataPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let search = ModelSearch(target, in: context.package) else { return [] }
        return try commands(
            search, tool: context.tool(named: "strata-generate").url, folder: context.pluginWorkDirectoryURL)
    }
}

#if canImport(XcodeProjectPlugin)
    import XcodeProjectPlugin

    extension StrataPlugin: XcodeBuildToolPlugin {
        func createBuildCommands(context: XcodePluginContext, target: XcodeTarget) throws -> [Command] {
            try commands(
                ModelSearch(target, in: context.xcodeProject), tool: context.tool(named: "strata-generate").url,
                folder: context.pluginWorkDirectoryURL)
        }
    }
#endif
