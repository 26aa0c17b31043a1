import StrataModel

/// Makes the functions of a class that give the named fetch requests of its entity.
struct FetchGenerator {
    let model: ManagedObjectModel
    let entity: EntityDescription
    let access: ModelFile.Access

    /// An extension with one function for each template; none without templates.
    func declarations() -> [SwiftDeclaration] {
        let templates = model.fetchTemplates.filter { $0.entity == entity.name }
        guard !templates.isEmpty else { return [] }
        return [
            SwiftDeclaration(
                keyword: "extension", name: GeneratedNames.userClass(entity.declaration),
                body: .members(templates.map(function)))
        ]
    }

    private func function(_ template: FetchTemplate) -> SwiftDeclaration {
        let name = GeneratedNames.userClass(entity.declaration)
        let variables = template.variables
        let values = variables.map { "\(SwiftLiteral.string($0)): \(GeneratedNames.escaped($0))" }
        let dictionary = values.isEmpty ? "[:]" : "[\(values.joined(separator: ", "))]"
        return SwiftDeclaration(
            documentation: template.documentation ?? "The fetch request `\(template.name)` of the model.",
            modifiers: access.modifiers + ["static"], keyword: "func",
            name: "fetch" + GeneratedNames.capitalized(template.name),
            parameters: variables.map { "\(GeneratedNames.escaped($0)): (any PredicateArgument)?" },
            suffix: " -> FetchRequest<\(name)>",
            body: .statements([
                "\(GeneratedNames.model(model.name)).model._fetchRequest(\(SwiftLiteral.string(template.name)), \(dictionary))"
            ]))
    }
}
