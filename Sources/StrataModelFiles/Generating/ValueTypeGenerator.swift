import StrataModel

/// Writes the enumerations and `Codable` structs whose cases and members a model file lists. They are next to the
/// classes, because entities share them.
struct ValueTypeGenerator {
    let model: ManagedObjectModel
    let access: ModelFile.Access

    func declarations() -> [SwiftDeclaration] {
        Self.enumerations(of: model.entities.map(\.declaration)).map { enumeration($0.type, $0.rawType) }
            + Self.jsonTypes(of: model.entities.map(\.declaration)).flatMap { [structure($0), keys($0)] }
    }

    // MARK: Which there are

    /// The enumerations with cases, each once, in the order in which the model names them.
    static func enumerations(of entities: [Entity]) -> [(type: EnumerationType, rawType: AttributeType)] {
        var found: [(type: EnumerationType, rawType: AttributeType)] = []
        for attribute in entities.flatMap(\.attributes) {
            var uses = [(attribute.enumeration, attribute.type)]
            if let elements = attribute.type.elements { uses = elements.map { ($0.enumeration, $0.type) } }
            for case (let type?, let rawType) in uses
            where !type.cases.isEmpty && !found.contains(where: { $0.type.name == type.name }) {
                found.append((type, rawType))
            }
        }
        return found
    }

    /// The types with members, each once, those that others contain after them.
    static func jsonTypes(of entities: [Entity]) -> [JSONType] {
        var found: [JSONType] = []
        func add(_ type: JSONType) {
            guard !type.members.isEmpty, !found.contains(where: { $0.name == type.name }) else { return }
            found.append(type)
            for member in type.members { if case .json(let inner) = member.type { add(inner) } }
        }
        for attribute in entities.flatMap(\.attributes) { if case .json(let type) = attribute.type { add(type) } }
        return found
    }

    // MARK: Enumerations

    private func enumeration(_ type: EnumerationType, _ rawType: AttributeType) -> SwiftDeclaration {
        let cases = type.cases.map { item in
            let isImplied = item.rawValue == .string(item.name)
            let literal = SwiftLiteral.native(item.rawValue, as: rawType) ?? ""
            return SwiftDeclaration(
                keyword: "case", name: GeneratedNames.escaped(item.name), suffix: isImplied ? "" : " = \(literal)")
        }
        return SwiftDeclaration(
            documentation: "The enumeration `\(type.name)`.", modifiers: access.modifiers, keyword: "enum",
            name: type.name, suffix: ": \(rawType.swiftType(attribute: "")), EnumValue", body: .members(cases))
    }

    // MARK: Structs

    private func type(of member: JSONMember) -> String {
        let type = member.type.swiftType(attribute: member.name)
        return member.isList ? "[\(type)]" : type + (member.isOptional ? "?" : "")
    }

    private func zero(of member: JSONMember) -> String {
        member.isList ? "[]" : member.isOptional ? "nil" : "\(member.type.swiftType(attribute: member.name)).zeroValue"
    }

    private func structure(_ type: JSONType) -> SwiftDeclaration {
        let names = type.members.map { GeneratedNames.escaped($0.name) }
        var members = type.members.map { member in
            SwiftDeclaration(
                documentation: "The member `\(member.name)`.", modifiers: access.modifiers, keyword: "var",
                name: GeneratedNames.escaped(member.name), suffix: ": \(self.type(of: member))")
        }
        members.append(
            SwiftDeclaration(
                documentation: "Gathers the members.", modifiers: access.modifiers, keyword: "init",
                parameters: zip(type.members, names).map { member, name in
                    let defaultArgument = member.isList ? " = []" : member.isOptional ? " = nil" : ""
                    return "\(name): \(self.type(of: member))\(defaultArgument)"
                },
                body: .statements(names.map { "self.\($0) = \($0)" })))
        let reads = zip(type.members, names).map { member, name in
            let valueType = member.isList ? self.type(of: member) : member.type.swiftType(attribute: member.name)
            let fallback = member.isOptional && !member.isList ? "" : " ?? \(zero(of: member))"
            return "\(name) = try values.decodeIfPresent(\(valueType).self, forKey: .\(name))\(fallback)"
        }
        members.append(
            SwiftDeclaration(
                documentation: "Decodes the members. One that an older version did not have is nil, empty or zero.",
                modifiers: access.modifiers, keyword: "init", parameters: ["from decoder: any Decoder"],
                suffix: " throws",
                body: .statements(["let values = try decoder.container(keyedBy: CodingKeys.self)"] + reads)))
        let zeros = type.members.map { "\(GeneratedNames.label($0.name)): \(zero(of: $0))" }
        members.append(
            SwiftDeclaration(
                documentation: "Nil, empty or zero in all members.", modifiers: access.modifiers + ["static"],
                keyword: "var", name: "zeroValue", suffix: ": \(type.name)",
                body: .statements(SwiftRenderer.list("\(type.name)(", zeros, ")", indent: 2))))
        let keyPaths = names.map { "\\\(type.name).\($0)" }
        members.append(
            SwiftDeclaration(
                documentation: "The members that predicates can look at.", modifiers: access.modifiers + ["static"],
                keyword: "var", name: "propertyKeyPaths", suffix: ": PropertyKeyPaths",
                body: .statements(ClassGenerator.keyPathTable(type.members.map(\.name), keyPaths))))
        return SwiftDeclaration(
            documentation: "The type `\(type.name)`, which is kept as JSON.", modifiers: access.modifiers,
            keyword: "struct", name: type.name, suffix: ": TransformableValue, PredicateMembers, Sendable",
            body: .members(members))
    }

    // MARK: Keys

    private func keys(_ type: JSONType) -> SwiftDeclaration {
        let path = [
            SwiftDeclaration(
                documentation: "What the keys lead to.", modifiers: access.modifiers, keyword: "typealias",
                name: "Operand", suffix: " = \(type.name)"),
            SwiftDeclaration(
                documentation: "The way from the object of a fetch to the value.", modifiers: access.modifiers,
                keyword: "let", name: "path", suffix: ": TypedPath"),
            SwiftDeclaration(
                documentation: "Keys at the end of a way.", modifiers: access.modifiers, keyword: "init",
                parameters: ["path: TypedPath"], body: .statements(["self.path = path"])),
        ]
        let keys = SwiftDeclaration(
            documentation: "Keys of the members of `\(type.name)`.", modifiers: access.modifiers, keyword: "struct",
            name: "Keys", suffix: ": JSONKeys", body: .members(path + type.members.map(key)))
        return SwiftDeclaration(keyword: "extension", name: type.name, body: .members([keys]))
    }

    private func key(of member: JSONMember) -> SwiftDeclaration {
        let valueType = member.type.swiftType(attribute: member.name)
        let literal = SwiftLiteral.string(member.name)
        let type: String
        var value: String
        if member.isList {
            type = "JSONListKey<\(valueType)>"
            value = "JSONListKey(path, \(literal))"
        } else if case .json = member.type {
            type = "\(valueType).Keys"
            value = "\(type)(path: path.appending(\(literal)))"
        } else {
            type = "AttributeKey<\(valueType)?>"
            value = "AttributeKey(path, \(literal))"
        }
        return SwiftDeclaration(
            documentation: "The key of `\(member.name)`.", modifiers: access.modifiers, keyword: "var",
            name: GeneratedNames.escaped(member.name), suffix: ": \(type)", body: .statements([value]))
    }
}
