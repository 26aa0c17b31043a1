import ArgumentParser
import StrataModel
import StrataModelFiles

/// `strata model check`: all faults of model files, as compilers print theirs.
struct ModelCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks model files and prints all faults with file, line and column.",
        discussion: "The exit code is 0 if there is no fault, else 1.")

    @Argument(help: "Model files (.strata.yaml), or Core Data models.", completion: .file(extensions: ["yaml"]))
    var files: [String]

    @Option(help: ArgumentHelp("The version of a Core Data model; the current one by default.", valueName: "name"))
    var version: String?

    func run() throws {
        var isFaulty = false
        for file in files {
            do throws(ModelError) {
                let model = try Output.checkedModel(file, version: version)
                let count = model.entities.count
                print(
                    "\(file): \(model.name), \(count) \(count == 1 ? "entity" : "entities"), version hash \(model.versionHash)"
                )
            } catch {
                isFaulty = true
                Output.fail(error.description)
            }
        }
        if isFaulty { throw ExitCode.failure }
    }
}
