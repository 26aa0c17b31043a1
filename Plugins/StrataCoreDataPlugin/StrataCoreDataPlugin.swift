import Foundation
import PackagePlugin

/// Generates Swift classes of a target's Core Data models at each build. The generated files stay in the build folder.
///
/// A plug-in of its own, because its tool also reads XML and keyed archives: apps without Core Data models do not compile that.
@main
struct StrataCoreDataPlugin {
    private func commands(_ search: ModelSearch, tool: URL, folder: URL) throws -> [Command] {
        let result = search.searchCoreDataModels()
        for warning in result.warnings { Diagnostics.warning(warning) }
        for problem in result.problems { Diagnostics.error(problem) }
        if result.models.isEmpty, result.warnings.isEmpty {
            Diagnostics.warning(
                "StrataCoreDataPlugin found no model for the target \(search.targetName): put a Core Data model "
                    + "(\(ModelSearch.coreDataEndings.joined(separator: ", "))) into the target; for files with the ending "
                    + "\(ModelSearch.ending), use StrataPlugin")
        }
        return result.models.map { $0.command(tool: tool, folder: folder, inputs: result.inputs) }
    }
}

extension StrataCoreDataPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let search = ModelSearch(target, in: context.package) else { return [] }
        return try commands(
            search, tool: context.tool(named: "strata-generate-coredata").url, folder: context.pluginWorkDirectoryURL)
    }
}

#if canImport(XcodeProjectPlugin)
    import XcodeProjectPlugin

    extension StrataCoreDataPlugin: XcodeBuildToolPlugin {
        func createBuildCommands(context: XcodePluginContext, target: XcodeTarget) throws -> [Command] {
            try commands(
                ModelSearch(target, in: context.xcodeProject),
                tool: context.tool(named: "strata-generate-coredata").url,
                folder: context.pluginWorkDirectoryURL)
        }
    }
#endif
