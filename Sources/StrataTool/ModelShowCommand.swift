import ArgumentParser
import StrataModel

/// `strata model show`: entities and properties as the checked model knows them.
struct ModelShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Prints the entities of a model with their properties.")

    @Argument(help: "A model file (.strata.yaml), or a Core Data model.", completion: .file(extensions: ["yaml"]))
    var file: String

    @Option(help: ArgumentHelp("The version of a Core Data model; the current one by default.", valueName: "name"))
    var version: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let model = try Output.model(file, version: version)
        if json { return try Output.json(ModelReport(model)) }
        print("\(model.name)  version hash \(model.versionHash)")
        for entity in ModelReport(model).entities {
            let traits = [
                entity.inherits.map { "inherits \($0)" }, entity.isAbstract ? "abstract" : nil,
                "table \(entity.table)", entity.primaryKey.map { "key \($0)" },
            ]
            print("\n\(entity.name)  (\(traits.compactMap(\.self).joined(separator: ", ")))")
            Output.columns(
                entity.attributes.map {
                    [$0.name, $0.type + ($0.isOptional ? "?" : ""), $0.traits.joined(separator: ", ")]
                }
                    + entity.relationships.map {
                        [
                            $0.name, "→ " + $0.destination + ($0.isToMany ? " *" : $0.isOptional ? "?" : ""),
                            $0.traits.joined(separator: ", "),
                        ]
                    } + entity.fetched.map { [$0.name, "fetch \($0.entity)", $0.summary] })
            for index in entity.indexes { print("  index \(index)") }
        }
        let fetches = ModelReport(model).fetches
        if !fetches.isEmpty {
            print("\nFetches")
            Output.columns(fetches.map { [$0.name, $0.entity, $0.summary] })
        }
    }
}
