import Foundation
import StrataModel
import StrataModelFiles

/// Turns a model file into Swift classes. Small, because every package with the build plug-in compiles it.
@main
enum StrataGenerate {
    static func main() {
        let arguments: Arguments
        do throws(Arguments.Problem) {
            arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
        } catch {
            report("strata-generate: error: \(error.message); --help shows all arguments")
            exit(64)
        }
        if arguments.asksForHelp {
            print(Arguments.help, terminator: "")
            return
        }
        let files: [GeneratedFile]
        do throws(ModelError) {
            files = try CodeGenerator(file: ModelFile.read(path: arguments.model), access: arguments.access).files()
        } catch {
            for fault in error.faults { report("\(fault)") }
            exit(1)
        }
        do {
            try write(files, arguments)
        } catch {
            report("\(arguments.output): error: \(error.localizedDescription)")
            exit(1)
        }
    }

    private static func write(_ files: [GeneratedFile], _ arguments: Arguments) throws {
        let folder = URL(fileURLWithPath: arguments.output, isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for file in files {
            let url = folder.appendingPathComponent(file.name)
            let data = Data(file.text.utf8)
            // A file that would not change keeps its date, so that nothing is compiled again.
            if (try? Data(contentsOf: url)) == data { continue }
            try data.write(to: url, options: .atomic)
            if arguments.isVerbose { print(file.name) }
        }
    }

    /// Prints a line to the standard error output, where build systems look for faults.
    private static func report(_ line: String) { FileHandle.standardError.write(Data("\(line)\n".utf8)) }
}
