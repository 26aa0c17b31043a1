import StrataModel

/// Makes the typed keys of an entity, for predicates and sorting.
struct KeysGenerator {
    let model: ManagedObjectModel
    let entity: EntityDescription
    let access: ModelFile.Access

    /// A name for the keys, and what this entity adds to the keys of its ancestors. The struct itself is the core's,
    /// generic over the class: a struct for each entity would be compiled for each entity.
    func declarations() -> [SwiftDeclaration] {
        let className = GeneratedNames.userClass(entity.declaration)
        let own = entity.attributes.filter { $0.declaringEntity == entity.name }
        var members = own.map(key)
        members += entity.relationships.filter { $0.declaringEntity == entity.name }.map(key)
        var result = own.compactMap(elementKeys)
        result.append(
            SwiftDeclaration(
                documentation: "Keys of \(entity.name) for predicates and sorting.", modifiers: access.modifiers,
                keyword: "typealias", name: GeneratedNames.keys(entity.declaration),
                suffix: " = ObjectKeys<\(className)>"))
        if !members.isEmpty {
            result.append(
                SwiftDeclaration(
                    keyword: "extension", name: "ObjectKeys", suffix: " where Object: \(className)",
                    body: .members(members)))
        }
        // Here and not in the core, because the compiler explains a mistake in the closure only where it knows the class.
        let request = SwiftDeclaration(
            documentation: "Asks for the objects that meet a condition.", modifiers: access.modifiers + ["static"],
            keyword: "func", name: "`where`<C: PredicateConvertible>",
            parameters: ["_ condition: (\(GeneratedNames.keys(entity.declaration))) -> C"],
            suffix: " -> FetchRequest<Self>",
            body: .statements(["FetchRequest(where: condition(\(GeneratedNames.keys(entity.declaration))()).predicate)"]
            ))
        result.append(
            SwiftDeclaration(
                keyword: "extension", name: "ManagedObjectProtocol", suffix: " where Self: \(className)",
                body: .members([request])))
        return result
    }

    private func variable(_ name: String, _ documentation: String, _ type: String, _ value: String) -> SwiftDeclaration
    {
        SwiftDeclaration(
            documentation: documentation, modifiers: access.modifiers, keyword: "var",
            name: GeneratedNames.escaped(name),
            suffix: ": \(type)", body: .statements([value]))
    }

    private func key(of attribute: AttributeDescription) -> SwiftDeclaration {
        let name = attribute.name
        let literal = SwiftLiteral.string(name)
        if attribute.type.elements != nil {
            let type = elementKeysName(attribute)
            return variable(
                name, "The keys of the elements of `\(name)`.", type, "\(type)(path: path.appending(\(literal)))")
        }
        if case .json(let json) = attribute.type {
            let type = json.members.isEmpty ? "JSONKey<\(json.name)>" : "\(json.name).Keys"
            return variable(
                name, "The key of `\(name)`, and of what is in it.", type,
                json.members.isEmpty ? "JSONKey(path, \(literal))" : "\(type)(path: path.appending(\(literal)))")
        }
        if let element = attribute.type.element {
            let type = "JSONListKey<\(element.swiftType(attribute: name))>"
            return variable(name, "The key of `\(name)`, and of its elements.", type, "JSONListKey(path, \(literal))")
        }
        let type = "AttributeKey<\(attribute.swiftType(in: model))\(attribute.isOptional ? "?" : "")>"
        return variable(name, "The key of `\(name)`.", type, "AttributeKey(path, \(literal))")
    }

    /// The composite's struct, which is in the generated class.
    private func compositeName(_ attribute: AttributeDescription) -> String {
        GeneratedNames.generatedClass(entity.declaration) + "." + GeneratedNames.composite(attribute.name)
    }

    private func elementKeysName(_ attribute: AttributeDescription) -> String { compositeName(attribute) + ".Keys" }

    private func elementKeys(of attribute: AttributeDescription) -> SwiftDeclaration? {
        guard let elements = attribute.type.elements else { return nil }
        let path = [
            SwiftDeclaration(
                documentation: "The way from the object of a fetch to the composite.", modifiers: access.modifiers,
                keyword: "let", name: "path", suffix: ": TypedPath"),
            SwiftDeclaration(
                documentation: "Keys at the end of a way.", modifiers: access.modifiers, keyword: "init",
                parameters: ["path: TypedPath"], body: .statements(["self.path = path"])),
        ]
        let members = elements.map { element in
            let isOptional = attribute.isOptional || element.isOptional
            let type = "AttributeKey<\(element.swiftType)\(isOptional ? "?" : "")>"
            return variable(
                element.name, "The key of `\(attribute.name).\(element.name)`.", type,
                "AttributeKey(path, \(SwiftLiteral.string(element.name)))")
        }
        let keys = SwiftDeclaration(
            documentation: "Keys of the elements of `\(attribute.name)`.", modifiers: access.modifiers,
            keyword: "struct", name: "Keys", suffix: ": Sendable", body: .members(path + members))
        return SwiftDeclaration(keyword: "extension", name: compositeName(attribute), body: .members([keys]))
    }

    private func key(of relationship: RelationshipDescription) -> SwiftDeclaration {
        let keys = GeneratedNames.keys(model.destination(of: relationship).declaration)
        let type = relationship.isToMany ? "ToManyKey" : "ToOneKey"
        return variable(
            relationship.name, "The key of `\(relationship.name)`.", "\(type)<\(keys)>",
            "\(type)(path, \(SwiftLiteral.string(relationship.name)))")
    }
}
