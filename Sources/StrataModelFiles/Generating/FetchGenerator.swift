import StrataModel

/// Makes the functions of a class that give the named fetch requests of its entity.
struct FetchGenerator {
    let templates: [FetchTemplate]
    let entity: EntityDescription
    let access: ModelFile.Access

    /// An extension with one function for each template; none without templates.
    func declarations() -> [SwiftDeclaration] {
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
        var arguments = [template.predicate.map(SwiftLiteral.string) ?? "nil"]
        arguments.append(values.isEmpty ? "[:]" : "[\(values.joined(separator: ", "))]")
        if !template.sorts.isEmpty {
            arguments.append("sortedBy: \(SwiftLiteral.string(template.sorts.joined(separator: " ")))")
        }
        if let limit = template.limit { arguments.append("limit: \(limit)") }
        return SwiftDeclaration(
            documentation: template.documentation ?? "The fetch request `\(template.name)` of the model.",
            modifiers: access.modifiers + ["static"], keyword: "func",
            name: "fetch" + GeneratedNames.capitalized(template.name),
            parameters: variables.map { "\(GeneratedNames.escaped($0)): (any PredicateArgument)?" },
            suffix: " -> FetchRequest<\(name)>",
            body: .statements(["FetchRequest(_template: \(arguments.joined(separator: ", ")))"]))
    }
}
