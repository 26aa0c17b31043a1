import Foundation
import PackagePlugin

/// Writes the classes of model files and Core Data models into the targets' folders, for those who want them in version
/// control:
///
///     swift package --allow-writing-to-package-directory strata-generate --target MyTarget
///
/// A target does this or uses the build plug-ins, not both: each class would exist twice.
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
        let tool = try context.tool(named: "strata-generate-coredata").url
        var count = 0
        for case let target as any SourceModuleTarget in targets {
            guard let search = ModelSearch(target, in: context.package) else { continue }
            var result = search.search()
            // Other targets may have models for Apple's framework.
            if target.recursiveTargetDependencies.contains(where: { $0.name == "Strata" }) {
                let coreData = search.searchCoreDataModels()
                result.models += coreData.models
                result.warnings += coreData.warnings
                result.problems += coreData.problems
            }
            for warning in result.warnings { Diagnostics.warning(warning) }
            for problem in result.problems { Diagnostics.error(problem) }
            let folder = target.directoryURL.appendingPathComponent("Generated", isDirectory: true)
            var isComplete = result.problems.isEmpty && !result.models.isEmpty
            for model in result.models {
                count += 1
                if try !generate(model, into: folder, tool: tool, access: access) { isComplete = false }
            }
            // Classes of a model that was renamed or taken away would exist twice, or lack their model.
            if isComplete { try removeGeneratedFiles(in: folder, except: result.models.flatMap(\.outputs)) }
        }
        if count == 0 {
            Diagnostics.error(
                "no target has a model file (\(ModelSearch.ending)) of its own or in the folder Models, or a Core Data model"
            )
        }
    }

    /// Runs the generator; false when the model has faults, which it prints itself.
    private func generate(_ model: ModelSearch.Model, into folder: URL, tool: URL, access: String?) throws -> Bool {
        let process = Process()
        process.executableURL = tool
        process.arguments = ["--model", model.path.path, "--output", folder.path, "--verbose"]
        if let access { process.arguments? += ["--access", access] }
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            Diagnostics.error("\(model.path.lastPathComponent): nothing was generated because of the faults above")
            return false
        }
        print("\(model.path.lastPathComponent): \(model.outputs.count) files in \(folder.path)")
        return true
    }

    private func removeGeneratedFiles(in folder: URL, except names: [String]) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where name.hasSuffix(".strata.swift") && !names.contains(name) {
            try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
            print("removed \(name)")
        }
    }
}
