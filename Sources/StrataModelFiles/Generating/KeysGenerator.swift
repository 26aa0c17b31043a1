import StrataModel

/// Makes the typed keys of an entity, for predicates and sorting.
struct KeysGenerator {
    let model: ManagedObjectModel
    let entity: EntityDescription
    let access: ModelFile.Access

    func declarations() -> [SwiftDeclaration] {
        let className = GeneratedNames.userClass(entity.declaration)
        let keys = GeneratedNames.keys(entity.declaration)
        var members = [
            SwiftDeclaration(
                documentation: "The class of the objects.", modifiers: access.modifiers, keyword: "typealias",
                name: "Object",
                suffix: " = \(className)")
        ]
        members += pathMembers()
        for attribute in entity.attributes { members += key(of: attribute) }
        for relationship in entity.relationships { members.append(key(of: relationship)) }
        let accessor = SwiftDeclaration(
            documentation: "Typed keys for predicates and sorting.", modifiers: access.modifiers + ["static"],
            keyword: "var",
            name: "keys", suffix: ": \(keys)", body: .statements(["\(keys)()"]))
        let request = SwiftDeclaration(
            documentation: "Asks for the objects that meet a condition.", modifiers: access.modifiers + ["static"],
            keyword: "func", name: "`where`<C: PredicateConvertible>",
            parameters: ["_ condition: (\(keys)) -> C"], suffix: " -> FetchRequest<Self>",
            body: .statements(["FetchRequest(where: condition(keys).predicate)"]))
        return [
            SwiftDeclaration(
                documentation: "Keys of \(entity.name) for predicates and sorting.", modifiers: access.modifiers,
                keyword: "struct",
                name: keys, suffix: ": EntityKeys", body: .members(members)),
            SwiftDeclaration(
                keyword: "extension", name: "ManagedObjectProtocol", suffix: " where Self: \(className)",
                body: .members([accessor, request])),
        ]
    }

    private func pathMembers() -> [SwiftDeclaration] {
        [
            SwiftDeclaration(
                documentation: "The way from the object of a fetch to the one whose keys these are.",
                modifiers: access.modifiers,
                keyword: "let", name: "path", suffix: ": TypedPath"),
            SwiftDeclaration(
                documentation: "Keys at the end of a way.", modifiers: access.modifiers, keyword: "init",
                parameters: ["path: TypedPath = []"], body: .statements(["self.path = path"])),
        ]
    }

    private func variable(_ name: String, _ documentation: String, _ type: String, _ value: String) -> SwiftDeclaration
    {
        SwiftDeclaration(
            documentation: documentation, modifiers: access.modifiers, keyword: "var",
            name: GeneratedNames.escaped(name),
            suffix: ": \(type)", body: .statements([value]))
    }

    private func key(of attribute: AttributeDescription) -> [SwiftDeclaration] {
        let name = attribute.name
        guard let elements = attribute.type.elements else {
            let type = "AttributeKey<\(attribute.type.swiftType(attribute: name))\(attribute.isOptional ? "?" : "")>"
            return [
                variable(name, "The key of `\(name)`.", type, "AttributeKey(path, \(SwiftLiteral.string(name)))")
            ]
        }
        let structName = GeneratedNames.composite(name) + "Keys"
        let members = elements.map { element in
            let isOptional = attribute.isOptional || element.isOptional
            let type = "AttributeKey<\(element.type.swiftType(attribute: element.name))\(isOptional ? "?" : "")>"
            return variable(
                element.name, "The key of `\(name).\(element.name)`.", type,
                "AttributeKey(path, \(SwiftLiteral.string(element.name)))")
        }
        return [
            SwiftDeclaration(
                documentation: "Keys of the elements of `\(name)`.", modifiers: access.modifiers, keyword: "struct",
                name: structName,
                suffix: ": Sendable", body: .members(pathMembers() + members)),
            variable(
                name, "The keys of the elements of `\(name)`.", structName,
                "\(structName)(path: path.appending(\(SwiftLiteral.string(name))))"),
        ]
    }

    private func key(of relationship: RelationshipDescription) -> SwiftDeclaration {
        let keys = GeneratedNames.keys(model.destination(of: relationship).declaration)
        let type = relationship.isToMany ? "ToManyKey" : "ToOneKey"
        return variable(
            relationship.name, "The key of `\(relationship.name)`.", "\(type)<\(keys)>",
            "\(type)(path, \(SwiftLiteral.string(relationship.name)))")
    }
}
