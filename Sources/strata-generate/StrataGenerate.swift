import ArgumentParser
import Foundation
import StrataModel
import StrataModelFiles

/// Turns a model file into Swift classes. Small, because every package with the build plug-in compiles it.
@main
struct StrataGenerate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "strata-generate",
        abstract: "Turns a model file into Swift classes.",
        discussion: """
            Writes the model and its classes into a few files, always as many. Mistakes in the model file are printed as \
            FILE:LINE:COLUMN: error: MESSAGE, all at once; nothing is written then, and the exit code is 1.
            """)

    @Option(help: ArgumentHelp("The model file.", valueName: "file"), completion: .file(extensions: ["yaml"]))
    var model: String

    @Option(
        help: ArgumentHelp("The folder to write to; it is made if it does not exist.", valueName: "folder"),
        completion: .directory)
    var output: String

    @Option(help: "Who may use the classes: internal or public. Default: what the model file says, else internal.")
    var access: ModelFile.Access?

    @Flag(help: "Print the names of the files that changed.")
    var verbose = false

    func run() throws {
        let files: [GeneratedFile]
        do throws(ModelError) {
            files = try CodeGenerator(file: ModelFile.read(path: model), access: access).files()
        } catch {
            for fault in error.faults { report(fault) }
            throw ExitCode(1)
        }
        do {
            try write(files)
        } catch {
            report("\(output): error: \(error.localizedDescription)")
            throw ExitCode(1)
        }
    }

    private func write(_ files: [GeneratedFile]) throws {
        let folder = URL(fileURLWithPath: output, isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for file in files {
            let url = folder.appendingPathComponent(file.name)
            let data = Data(file.text.utf8)
            // A file that would not change keeps its date, so that nothing is compiled anew.
            if (try? Data(contentsOf: url)) == data { continue }
            try data.write(to: url, options: .atomic)
            if verbose { print(file.name) }
        }
    }
}

extension ModelFile.Access: ExpressibleByArgument {}

/// Prints a line to the standard error output, where build systems look for faults.
private func report(_ line: some CustomStringConvertible) {
    FileHandle.standardError.write(Data("\(line)\n".utf8))
}
