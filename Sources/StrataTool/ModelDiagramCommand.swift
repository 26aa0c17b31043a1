import ArgumentParser
import Foundation
import StrataModelExport
import StrataModelFiles

/// `strata model diagram`: the entities and relationships of a model as a picture.
struct ModelDiagramCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diagram", abstract: "Draws the entities of a model and their relationships.")

    /// The forms that a diagram can have.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case svg, mermaid, dot
    }

    @Argument(help: "A model file (.strata.yaml), or a Core Data model.", completion: .file(extensions: ["yaml"]))
    var file: String

    @Option(help: ArgumentHelp("The version of a Core Data model; the current one by default.", valueName: "name"))
    var version: String?

    @Option(help: "svg: a picture; mermaid: text for Markdown; dot: text for Graphviz.")
    var format = Format.svg

    @Option(name: .shortAndLong, help: "The file to write; standard output if there is none.", completion: .file())
    var output: String?

    func run() throws {
        let diagram = EntityDiagram(model: try Output.model(file, version: version))
        let text =
            switch format {
            case .svg: diagram.svg()
            case .mermaid: diagram.mermaid()
            case .dot: diagram.dot()
            }
        guard let output else { return print(text) }
        do {
            try text.write(toFile: output, atomically: true, encoding: .utf8)
        } catch {
            Output.fail("cannot write \(output); check that the folder exists and may be written")
            throw ExitCode.failure
        }
    }
}
