import StrataModel

/// Makes the struct and the accessor of a composite attribute.
struct CompositeGenerator {
    let attribute: AttributeDescription
    let elements: [CompositeElement]
    let access: ModelFile.Access

    private var typeName: String { GeneratedNames.composite(attribute.name) }

    private func type(of element: CompositeElement) -> String {
        element.swiftType + (element.isOptional ? "?" : "")
    }

    func structure() -> SwiftDeclaration {
        var members = elements.map { element in
            SwiftDeclaration(
                documentation: "The element `\(element.name)`: \(element.type.name).", modifiers: access.modifiers,
                keyword: "var",
                name: GeneratedNames.escaped(element.name), suffix: ": \(type(of: element))")
        }
        members.append(
            SwiftDeclaration(
                documentation: "Gathers the elements.", modifiers: access.modifiers, keyword: "init",
                parameters: elements.map { element in
                    "\(GeneratedNames.escaped(element.name)): \(type(of: element))\(element.isOptional ? " = nil" : "")"
                },
                body: .statements(
                    elements.map { "self.\(GeneratedNames.escaped($0.name)) = \(GeneratedNames.escaped($0.name))" })))
        // Whether the type of a transformable is Sendable is not known here.
        let conformances = elements.contains { $0.type.isTransformable } ? "Hashable" : "Hashable, Sendable"
        return SwiftDeclaration(
            documentation: "The elements of the attribute `\(attribute.name)`.", modifiers: access.modifiers,
            keyword: "struct",
            name: typeName, suffix: ": \(conformances)", body: .members(members))
    }

    func accessor() -> SwiftDeclaration {
        let first = attribute.slots.lowerBound
        let arguments = elements.enumerated().map { index, element in
            let slotAccess = SlotAccess(type: element.type, isOptional: attribute.isOptional || element.isOptional)
            return (element: element, access: slotAccess, slot: first + index)
        }
        let get: [String]
        if attribute.isOptional {
            get =
                arguments.enumerated().map { index, argument in
                    let type = argument.element.swiftType
                    return "let value\(index): \(type)? = \(argument.access.read(argument.slot))"
                } + ["if \(elements.indices.map { "value\($0) == nil" }.joined(separator: ", ")) { return nil }"]
                + SwiftRenderer.list(
                    "return \(typeName)(",
                    elements.enumerated().map { index, element in
                        let zero = " ?? \(element.swiftType).zeroValue"
                        return "\(GeneratedNames.label(element.name)): value\(index)\(element.isOptional ? "" : zero)"
                    }, ")", indent: 3)
        } else {
            let reads = arguments.map {
                "\(GeneratedNames.label($0.element.name)): \($0.access.read($0.slot))"
            }
            get = SwiftRenderer.list("\(typeName)(", reads, ")", indent: 3)
        }
        let set = arguments.map { argument in
            argument.access.write(
                "newValue\(attribute.isOptional ? "?" : "").\(GeneratedNames.escaped(argument.element.name))",
                argument.slot)
        }
        return SwiftDeclaration(
            documentation: attribute.declaration.documentation ?? "The attribute `\(attribute.name)`: composite.",
            modifiers: access.modifiers + ["final"], keyword: "var", name: GeneratedNames.escaped(attribute.name),
            suffix: ": \(typeName)\(attribute.isOptional ? "?" : "")", body: .accessors(get: get, set: set))
    }
}
