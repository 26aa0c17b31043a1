import ArgumentParser

/// The command-line tool: looks at models and stores.
@main
struct StrataCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "strata",
        abstract: "Looks at Strata models, stores and predicates, and migrates stores.",
        version: "0.1.0",
        subcommands: [
            ModelCommand.self, StoreCommand.self, MigrateCommand.self, PredicateCommand.self, ExplainCommand.self,
            CoreDataCommand.self, DoctorCommand.self,
        ])
}
