import ArgumentParser
import Foundation
import StrataModel
import StrataSQLite

/// The answers to the steps of a migration that are not safe.
struct MigrationAnswerOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A step that may lose data.", valueName: "step"))
    var accept: [String] = []

    @Option(help: ArgumentHelp("A value for objects without one, as City.population=0.", valueName: "step=value"))
    var fill: [String] = []

    @Option(help: ArgumentHelp("A step whose values that do not fit become nil.", valueName: "step"))
    var clear: [String] = []

    @Option(
        help: ArgumentHelp(
            "A constraint; of duplicates the first one stays, and what led to others leads to it.", valueName: "step"))
    var keepFirst: [String] = []

    @Option(help: ArgumentHelp("As --keep-first, with the last one.", valueName: "step"))
    var keepLast: [String] = []

    /// The answers to steps of a migration to a model.
    func all(for model: ManagedObjectModel) throws -> [String: MigrationAnswer] {
        var result: [String: MigrationAnswer] = [:]
        for step in accept { result[step] = .accept }
        for step in clear { result[step] = .clear }
        for step in keepFirst { result[step] = .keepFirst }
        for step in keepLast { result[step] = .keepLast }
        for text in fill {
            guard let equals = text.firstIndex(of: "=") else {
                throw ValidationError("--fill \(text) is not of the form City.population=0")
            }
            let step = String(text[..<equals])
            let parts = step.split(separator: ".").map(String.init)
            guard parts.count >= 2, let entity = model.entity(named: parts[0]),
                let type = entity.slot(named: parts.dropFirst().joined(separator: "."))?.type
            else {
                let known = model.entities.flatMap { entity in entity.slots.map { "\(entity.name).\($0.name)" } }
                throw ValidationError(
                    "--fill \(text): the model has no attribute \(step)" + Spelling.suggestion(for: step, in: known))
            }
            let value = String(text[text.index(after: equals)...])
            guard let converted = ValueConversion(from: .string, to: type).convert(.string(value)) else {
                throw ValidationError("--fill \(text): '\(value)' is not a \(type.name)")
            }
            result[step] = .fill(converted)
        }
        return result
    }
}
