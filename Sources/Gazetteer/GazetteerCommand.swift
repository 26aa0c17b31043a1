import ArgumentParser

/// The command line of the example.
@main
struct GazetteerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Gazetteer",
        abstract: "Puts the world's countries and cities into managed objects, and shows what they can do."
    )

    @Option(
        name: .long, help: ArgumentHelp("The folder with the GeoNames files.", valueName: "folder"),
        completion: .directory)
    var data: String?

    func run() async throws {
        let terminal = Terminal.standard()
        do {
            let data = try GeoNamesData(folder: DataFolder.find(asked: data))
            terminal.line("\(data.source): \(Figures.counted(data.objectCount, "record"))")
        } catch {
            terminal.writeError("Gazetteer: \(error)\n")
            throw ExitCode.failure
        }
    }
}
