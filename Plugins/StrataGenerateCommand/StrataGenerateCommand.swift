import Foundation
import PackagePlugin

/// Writes the classes of model files into the targets' folders, for those who want them in version control:
///
///     swift package --allow-writing-to-package-directory strata-generate --target MyTarget
///
/// A target does this or uses the build plug-in, not both: each class would exist twice.
@main
struct StrataGenerateCommand: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        var extractor = ArgumentExtractor(arguments)
        let names = extractor.extractOption(named: "target")
        let access = extractor.extractOption(named: "access").last
        guard extractor.remainingArguments.isEmpty else {
            Diagnostics.error(
                "unknown argument \(extractor.remainingArguments[0]); usage: strata-generate [--target NAME]… [--access internal|public]"
            )
            return
        }
        let targets = try names.isEmpty ? context.package.targets : context.package.targets(named: names)
        let tool = try context.tool(named: "strata-generate").url
        var count = 0
        for case let target as any SourceModuleTarget in targets {
            let result = ModelSearch(
                targetName: target.name, targetFiles: target.sourceFiles.map(\.url),
                packageFolder: context.package.directoryURL
            ).search()
            for problem in result.problems { Diagnostics.error(problem) }
            // One run prunes what another model of the same target wrote, so pruning is for targets with one model.
            for model in result.models {
                count += 1
                try generate(
                    model, into: target.directoryURL.appendingPathComponent("Generated", isDirectory: true), tool: tool,
                    access: access,
                    prune: result.models.count == 1)
            }
        }
        if count == 0 {
            Diagnostics.error("no target has a model file (\(ModelSearch.ending)) of its own or in the folder Models")
        }
    }

    private func generate(_ model: ModelSearch.Model, into folder: URL, tool: URL, access: String?, prune: Bool) throws
    {
        let process = Process()
        process.executableURL = tool
        process.arguments = ["--model", model.path.path, "--output", folder.path, "--verbose"]
        if let access { process.arguments? += ["--access", access] }
        if prune { process.arguments? += ["--prune"] }
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus != 0 {
            Diagnostics.error("\(model.path.lastPathComponent): nothing was generated because of the faults above")
        } else {
            print("\(model.path.lastPathComponent): \(model.outputs.count) files in \(folder.path)")
        }
    }
}
