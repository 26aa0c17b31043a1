import ArgumentParser
import Foundation
import StrataModel
import StrataModelFiles

/// `strata model commit`: records the present version of a model in its lock file.
struct ModelCommitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "commit",
        abstract: "Records the version of a model that you are about to ship.",
        discussion: """
            Writes the version into the lock file next to the model, App.strata.lock.yaml, which belongs in version control. \
            The build plug-in compares the model with it. A change that loses data is recorded only with --accept for each \
            of its steps.
            """)

    @Argument(
        help: "A model file (.strata.yaml), or a Core Data model.", completion: .file(extensions: ["yaml"]))
    var file: String

    @Option(help: ArgumentHelp("A step that may lose data, such as City.nickname.", valueName: "step"))
    var accept: [String] = []

    func run() throws {
        let model = try Output.model(file)
        var lock: ModelLock
        let finding: ModelLock.Finding?
        do throws(ModelError) {
            lock = try ModelLock.read(forModel: file) ?? ModelLock(model: model.name)
            finding = try lock.versions.isEmpty ? nil : lock.compare(with: model)
        } catch {
            Output.fail(error.description)
            throw ExitCode.failure
        }
        switch finding {
        case .unchanged?:
            print("\(model.name) is version \(lock.versions.count) already")
            return
        case .changed(let plan, _)?: print(plan)
        case .hazardous(let plan, _)?:
            print(plan)
            let open = plan.hazards.filter { $0.risk == .lossy && !accept.contains($0.id) }
            guard open.isEmpty else {
                Output.fail(
                    "these steps lose data: \(open.map(\.id).joined(separator: ", ")); "
                        + "declare renamedFrom if something was renamed, or add \(open.map { "--accept \($0.id)" }.joined(separator: " "))"
                )
                throw ExitCode.failure
            }
        case nil: break
        }
        let record = ModelRecord(model)
        lock.model = model.name
        lock.versions.append(
            ModelLock.Version(
                number: lock.versions.count + 1, fingerprint: record.fingerprint, accepted: accept.sorted(),
                declarations: record.text))
        let path = ModelLock.path(forModel: file)
        try Data(lock.yaml.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
        print("\(model.name) is version \(lock.versions.count) now, in \(path)")
    }
}

/// `strata model diff`: what a migration between two models has to do.
struct ModelDiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Prints what changes between two models, and what that means for data.",
        discussion:
            "A model is a file, or FILE@N for version N of its lock file. The exit code is 1 if data would be lost.")

    @Argument(help: "The model before.")
    var old: String

    @Argument(help: "The model after.")
    var new: String

    func run() throws {
        let plan = MigrationPlan(from: try Output.version(old), to: try Output.version(new))
        print(plan)
        if !plan.hazards.isEmpty { throw ExitCode.failure }
    }
}

extension Output {
    /// Reads a model file, or with `@N` after it a version of its lock file.
    static func version(_ text: String) throws -> ManagedObjectModel {
        guard let at = text.lastIndex(of: "@"), let number = Int(text[text.index(after: at)...]) else {
            return try model(text)
        }
        return try version(number, of: String(text[..<at]))
    }

    /// Reads all versions from the lock file of a model file; none if there is no lock file.
    static func versions(of file: String) throws -> [ManagedObjectModel] {
        do throws(ModelError) {
            var models: [ManagedObjectModel] = []
            for version in try ModelLock.read(forModel: file)?.versions ?? [] { models.append(try version.model()) }
            return models
        } catch {
            fail(error.description)
            throw ExitCode.failure
        }
    }

    /// Reads a version from the lock file of a model file.
    static func version(_ number: Int, of file: String) throws -> ManagedObjectModel {
        do throws(ModelError) {
            let lock = try ModelLock.read(forModel: file)
            guard let version = lock?.versions.first(where: { $0.number == number }) else {
                throw ModelError(
                    model: file,
                    faults: [
                        ModelFault(
                            message:
                                "there is no version \(number) in \(ModelLock.path(forModel: file)); it has \(lock?.versions.count ?? 0)"
                        )
                    ])
            }
            return try version.model()
        } catch {
            fail(error.description)
            throw ExitCode.failure
        }
    }
}
