import ArgumentParser
import Foundation
import StrataCoreDataModel
import StrataModel
import StrataModelExport
import StrataModelFiles

/// `strata model convert`: a model in another format.
struct ModelConvertCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Converts a model between Strata's and Core Data's formats.",
        discussion: """
            The ending of the output decides its format: .strata.yaml or .xcdatamodeld. What a format has no counterpart for \
            is a warning on standard error. The output must not exist yet.
            """)

    @Argument(help: "A model: .strata.yaml, .xcdatamodeld, .xcdatamodel, .momd or .mom.")
    var file: String

    @Option(help: ArgumentHelp("The version of a Core Data model; the current one by default.", valueName: "name"))
    var version: String?

    @Option(name: .shortAndLong, help: "The file or folder to write; YAML on standard output if there is none.")
    var output: String?

    func run() throws {
        guard let output, output.hasSuffix(".xcdatamodeld") else { return try writeYAML() }
        do throws(CoreDataModelError) {
            let source: CoreDataModelFile
            if CoreDataModelBundle.isModel(path: file) {
                source = try CoreDataModelFile.read(path: file, version: version)
            } else {
                source = CoreDataModelFile(describing: try readModel())
            }
            for warning in source.warnings { Output.fail(warning.description) }
            try source.model.write(toBundle: output)
        } catch {
            Output.fail(error.description)
            throw ExitCode.failure
        }
    }

    /// A model file of Strata; its faults as one error.
    private func readModel() throws(CoreDataModelError) -> ManagedObjectModel {
        do throws(ModelError) {
            return try ModelFile.read(path: file).model()
        } catch {
            throw CoreDataModelError(file: file, message: error.description)
        }
    }

    private func writeYAML() throws {
        let yaml = ModelFile(model: try Output.model(file, version: version)).yaml()
        guard let output else { return print(yaml, terminator: "") }
        guard output.hasSuffix(ModelFile.fileEnding) else {
            Output.fail("\(output): the name must end in \(ModelFile.fileEnding) or .xcdatamodeld")
            throw ExitCode.failure
        }
        guard !FileManager.default.fileExists(atPath: output) else {
            Output.fail("\(output): there is something already; remove it, or choose another name")
            throw ExitCode.failure
        }
        do {
            try Data(yaml.utf8).write(to: URL(fileURLWithPath: output), options: .atomic)
        } catch {
            Output.fail("cannot write \(output); check that the folder exists and may be written")
            throw ExitCode.failure
        }
    }
}

/// `strata model hashes`: the version hashes by which Core Data recognizes a model.
struct ModelHashesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hashes",
        abstract: "Prints the version hashes of a Core Data model's entities.",
        discussion: """
            The recipe of the hashes is not known for a few features; their entities are named on standard error, \
            and the exit code is 1.
            """)

    @Argument(help: "A Core Data model: .xcdatamodeld, .xcdatamodel, .momd or .mom.")
    var file: String

    @Option(help: ArgumentHelp("The version of the model; the current one by default.", valueName: "name"))
    var version: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let read: CoreDataModelFile
        do throws(CoreDataModelError) {
            read = try CoreDataModelFile.read(path: file, version: version)
        } catch {
            Output.fail(error.description)
            throw ExitCode.failure
        }
        let hashes = CoreDataVersionHashes(read.model)
        var digits: [String: String] = [:]
        for name in hashes.hashes.keys { digits[name] = hashes.hexadecimal(name) }
        if json {
            try Output.json(digits)
        } else {
            Output.columns(digits.sorted { $0.key < $1.key }.map { [$0.key, $0.value] }, indent: "")
        }
        for (name, reason) in hashes.unknown.sorted(by: { $0.key < $1.key }) {
            Output.fail("\(read.path): warning: \(name) has no hash here: \(reason)")
        }
        if !hashes.unknown.isEmpty { throw ExitCode.failure }
    }
}
