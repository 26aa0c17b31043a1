import ChildProcesses
import Foundation
import Testing

/// The generator as the plug-ins run it: arguments in, files and exit code out.
@Suite struct StrataGenerateTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "strata-generate-\(UUID().uuidString)")
    private var model: URL { folder.appending(path: "notes.strata.yaml") }
    private var output: URL { folder.appending(path: "Generated/Notes") }

    private init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func generate(_ arguments: String...) throws -> (status: Int32, output: String, errors: String) {
        try generate(arguments)
    }

    private func generate(_ arguments: [String]) throws -> (status: Int32, output: String, errors: String) {
        let process = Process()
        let (out, errors) = (folder.appending(path: "out"), folder.appending(path: "errors"))
        for file in [out, errors] { try Data().write(to: file) }
        process.executableURL = try TestExecutable.named("strata-generate")
        process.arguments = arguments
        process.standardOutput = try FileHandle(forWritingTo: out)
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.start()
        process.waitUntilExit()
        return (
            process.terminationStatus, try String(contentsOf: out, encoding: .utf8),
            try String(contentsOf: errors, encoding: .utf8)
        )
    }

    @Test("A model becomes files in a folder that is created, and a second run leaves them as they are")
    func writesAndKeeps() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("entities: {Note: {attributes: {text: string}}}".utf8).write(to: model)
        let first = try generate(
            "--model", model.path, "--output", output.path, "--access", "public", "--verbose")
        #expect(first.status == 0 && first.errors.isEmpty, "\(first.errors)")
        let names = ["NotesModel.strata.swift"] + (2...4).map { "NotesModel\($0).strata.swift" }
        #expect(first.output == names.map { $0 + "\n" }.joined())
        #expect(try FileManager.default.contentsOfDirectory(atPath: output.path).sorted() == names)
        let classes = try names.map { try String(contentsOf: output.appending(path: $0), encoding: .utf8) }.joined()
        #expect(classes.contains("open class Note: ManagedObject"))

        let second = try generate("--access", "public", "--verbose", "--output", output.path, "--model", model.path)
        #expect(second.status == 0 && second.output.isEmpty && second.errors.isEmpty, "\(second)")
    }

    @Test("The faults of a model are printed with their places, and nothing is written")
    func printsFaults() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("entities:\n  Note:\n    attributes:\n      text: strng\n      size: integr64\n".utf8).write(to: model)
        let run = try generate("--model", model.path, "--output", output.path)
        #expect(run.status == 1 && run.output.isEmpty)
        let lines = run.errors.split(separator: "\n")
        #expect(lines.count == 2 && lines.allSatisfy { $0.contains(": error: Note.") }, "\(run.errors)")
        #expect(
            run.errors.contains("\(model.path):4:13: error: ") && run.errors.contains("\(model.path):5:13: error: "))
        #expect(!FileManager.default.fileExists(atPath: output.path))
    }

    @Test(
        "Arguments that cannot be carried out are named, and the exit code says that the usage was wrong",
        arguments: [
            ([], "--model <file> is missing"), (["--model", "x"], "--output <folder> is missing"),
            (["--model"], "--model has no value"), (["--model", "x", "--output", ""], "--output has no value"),
            (["--access", "open"], "--access is internal or public, not 'open'"),
            (["stray"], "unknown argument 'stray'"),
        ])
    func wrongArguments(_ arguments: [String], _ message: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let run = try generate(arguments)
        #expect(run.status == 64 && run.output.isEmpty)
        #expect(run.errors == "strata-generate: error: \(message); --help shows all arguments\n")
    }

    @Test("A folder that cannot be written is an error with its path")
    func unwritableFolder() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("entities: {Note: {attributes: {text: string}}}".utf8).write(to: model)
        let run = try generate("--model", model.path, "--output", "/proc/strata")
        #expect(run.status == 1 && run.errors.hasPrefix("/proc/strata: error: "), "\(run.errors)")
    }

    @Test("--help names every argument")
    func help() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let run = try generate("--help")
        #expect(run.status == 0 && run.errors.isEmpty)
        for option in ["--model", "--output", "--access", "--verbose", "--help"] {
            #expect(run.output.contains(option))
        }
    }
}
