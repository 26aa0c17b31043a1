import ArgumentParser

/// `strata model`: what model files say.
struct ModelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model",
        abstract: "Checks, shows, draws, converts, records and compares model files.",
        subcommands: [
            ModelCheckCommand.self, ModelShowCommand.self, ModelDiagramCommand.self, ModelCommitCommand.self,
            ModelDiffCommand.self, ModelConvertCommand.self, ModelHashesCommand.self,
        ])
}
