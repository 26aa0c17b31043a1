import Foundation
import StrataModel
import StrataModelFiles

/// Turns a model into Swift classes. Small, because every package with a build plug-in compiles it; two tools share it through
/// links, and ``ModelSource`` decides which models each of them reads.
@main
enum StrataGenerate {
    static func main() {
        let arguments: Arguments
        do throws(Arguments.Problem) {
            arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
        } catch {
            report("\(ModelSource.tool): error: \(error.message); --help shows all arguments")
            exit(64)
        }
        if arguments.asksForHelp {
            print(Arguments.help, terminator: "")
            return
        }
        let files: [GeneratedFile]
        do throws(ModelError) {
            let file = try ModelSource.read(path: arguments.model, report: report)
            try compareWithLock(file)
            files = try CodeGenerator(file: file, access: arguments.access).files()
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

    /// Warns if the model has changed since the version that was last recorded.
    /// - Throws: ``ModelError`` if the change would lose data that the user has not accepted.
    private static func compareWithLock(_ file: ModelFile) throws(ModelError) {
        guard let lock = try ModelLock.read(forModel: file.path) else { return }
        switch try lock.compare(with: file.model()) {
        case .unchanged: return
        case .changed(let plan, let version):
            let steps = plan.steps.map { "\($0.id) \($0.text)" }.joined(separator: "; ")
            report(
                "\(file.path):1:1: warning: the model has changed since version \(version) (\(steps)); "
                    + "run 'strata model commit \(file.path)' before you ship it")
        case .hazardous(let plan, let version):
            let renaming = ModelFile.isCoreDataModel(path: file.path) ? "the renaming ID" : "renamedFrom"
            throw ModelError(
                model: file.name,
                faults: plan.hazards.map { step in
                    let location = SourceLocation(file: file.path, line: 1, column: 1)
                    let advice =
                        step.risk == .lossy
                        ? "declare \(renaming) if it was renamed, or run 'strata model commit \(file.path) --accept \(step.id)'"
                        : "write a custom stage, then run 'strata model commit'"
                    return ModelFault(
                        message: "\(step.id): \(step.text), since version \(version); \(advice)", location: location)
                })
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
