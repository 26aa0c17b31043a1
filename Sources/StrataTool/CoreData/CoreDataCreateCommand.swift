import ArgumentParser
import StrataCoreData

/// `strata coredata create`: an empty store in Core Data's format.
struct CoreDataCreateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Creates an empty store in Core Data's format.",
        discussion: """
            Tables, indexes, version hashes and the copy of the model are those that Core Data makes for the same model. Whether \
            Core Data opens such a file has not been tried.
            """)

    @Argument(help: "The new store, which must not exist.", completion: .file())
    var path: String

    @Option(help: "The model: .xcdatamodeld, .xcdatamodel, .momd or .mom.", completion: .file())
    var model: String

    @Option(help: "The name of a version of the model; the current one if it is left out.")
    var version: String?

    func run() throws {
        let file: CoreDataModelFile
        do throws(CoreDataModelError) {
            file = try CoreDataModelFile.read(path: model, version: version)
        } catch {
            Output.fail(error.description)
            throw ExitCode.failure
        }
        for warning in file.warnings { Output.fail(warning.description) }
        do throws(StoreError) {
            let warnings = try CoreDataStore.create(path: path, model: file)
            for warning in warnings { Output.fail(warning.description) }
        } catch {
            Output.fail(error.description)
            throw ExitCode.failure
        }
    }
}
