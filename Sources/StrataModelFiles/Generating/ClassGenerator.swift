import StrataModel

/// Makes the class of an entity.
struct ClassGenerator {
    let model: ManagedObjectModel
    let entity: EntityDescription
    let access: ModelFile.Access

    private var className: String { GeneratedNames.generatedClass(entity.declaration) }

    func declarations() -> [SwiftDeclaration] {
        let parent = model.parent(of: entity).map { GeneratedNames.userClass($0.declaration) } ?? "ManagedObject"
        var members = [overriding("entityName", "String", SwiftLiteral.string(entity.name))]
        members.append(overriding("layoutHash", "UInt64", "0x" + hexadecimal(entity.layoutHash)))
        members.append(propertyKeyPaths())
        for attribute in entity.attributes where attribute.declaringEntity == entity.name {
            members += accessor(of: attribute)
        }
        for relationship in entity.relationships where relationship.declaringEntity == entity.name {
            members += accessors(of: relationship)
        }
        members += entity.declaration.fetchedProperties.map(accessor)
        members += InitializerGenerator(model: model, entity: entity, access: access).declarations()
        return [
            SwiftDeclaration(
                documentation: entity.declaration.documentation ?? "An object of the entity \(entity.name).",
                modifiers: access.classModifiers, keyword: "class", name: className, suffix: ": \(parent)",
                body: .members(members))
        ]
    }

    private func overriding(_ name: String, _ type: String, _ value: String) -> SwiftDeclaration {
        SwiftDeclaration(
            modifiers: access.classModifiers + ["override", "class"], keyword: "var", name: name, suffix: ": \(type)",
            body: .statements([value]))
    }

    /// The properties that a predicate can look at. A key path knows the class that it starts at, so that inherited
    /// properties are listed again.
    private func propertyKeyPaths() -> SwiftDeclaration {
        let name = GeneratedNames.userClass(entity.declaration)
        var properties: [(name: String, keyPath: String)] = []
        for attribute in entity.attributes where !attribute.type.isTransformable {
            properties.append((attribute.name, "\\\(name).\(GeneratedNames.escaped(attribute.name))"))
            for element in attribute.type.elements ?? [] where !element.type.isTransformable {
                let type = "\(name).\(GeneratedNames.composite(attribute.name))"
                properties.append(
                    ("\(attribute.name).\(element.name)", "\\\(type).\(GeneratedNames.escaped(element.name))"))
            }
        }
        for relationship in entity.relationships {
            properties.append((relationship.name, "\\\(name).\(GeneratedNames.escaped(relationship.name))"))
        }
        return SwiftDeclaration(
            modifiers: access.classModifiers + ["override", "class"], keyword: "var", name: "propertyKeyPaths",
            suffix: ": PropertyKeyPaths",
            body: .statements(Self.keyPathTable(properties.map(\.name), properties.map(\.keyPath))))
    }

    static func keyPathTable(_ names: [String], _ keyPaths: [String]) -> [String] {
        let short = "PropertyKeyPaths(\"\(names.joined(separator: " "))\", [\(keyPaths.joined(separator: ", "))])"
        if short.count + 8 <= SwiftRenderer.width { return [short] }
        var lines = [""]
        for name in names {
            if lines[lines.count - 1].count + name.count > 100 { lines.append("") }
            lines[lines.count - 1] += lines[lines.count - 1].isEmpty ? name : " " + name
        }
        let text = (["\"\"\""] + lines + ["\"\"\","]).map { "    " + $0 }
        return ["PropertyKeyPaths("] + text + ["    ["] + keyPaths.map { "        \($0)," } + ["    ])"]
    }

    private func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    // MARK: Attributes

    private func accessor(of attribute: AttributeDescription) -> [SwiftDeclaration] {
        if let elements = attribute.type.elements {
            let composite = CompositeGenerator(attribute: attribute, elements: elements, access: access)
            return [composite.structure(), composite.accessor()]
        }
        let slot = attribute.slots.lowerBound
        let slotAccess = SlotAccess(type: attribute.type, isOptional: attribute.isOptional)
        let read = [slotAccess.read(slot)]
        return [
            SwiftDeclaration(
                documentation: attribute.declaration.documentation ?? defaultDocumentation(of: attribute),
                modifiers: access.modifiers + ["final"], keyword: "var", name: GeneratedNames.escaped(attribute.name),
                suffix: ": \(attribute.swiftType(in: model))\(attribute.isOptional ? "?" : "")",
                body: attribute.derivation == nil
                    ? .accessors(get: read, set: [slotAccess.write("newValue", slot)]) : .statements(read))
        ]
    }

    private func defaultDocumentation(of attribute: AttributeDescription) -> String {
        var words = "The attribute `\(attribute.name)`: \(attribute.type.name)"
        if let derivation = attribute.derivation { words += ", derived as `\(DerivationSpelling.text(derivation))`" }
        if attribute.isTransient { words += ", kept only in memory" }
        return words + "."
    }

    // MARK: Relationships

    private func accessors(of relationship: RelationshipDescription) -> [SwiftDeclaration] {
        let name = GeneratedNames.escaped(relationship.name)
        let destination = GeneratedNames.userClass(model.destination(of: relationship).declaration)
        var result = SwiftDeclaration(
            documentation: relationship.declaration.documentation ?? defaultDocumentation(of: relationship),
            modifiers: access.modifiers + ["final"], keyword: "var", name: name)
        if let slot = relationship.slot {
            result.suffix = ": \(destination)\(relationship.isOptional ? "?" : "")"
            result.body = .accessors(
                get: ["\(relationship.isOptional ? "_optionalToOne" : "_toOne")(\(slot))"],
                set: ["_setToOne(newValue, \(slot))"])
            return [result]
        }
        let index = relationship.toManyIndex ?? 0
        if relationship.isOrdered {
            result.suffix = ": [\(destination)]"
            result.body = .accessors(
                get: ["_orderedToMany(\(index))"], set: ["_setOrderedToMany(newValue, \(index))"])
        } else {
            result.suffix = ": Set<\(destination)>"
            result.body = .accessors(get: ["_toMany(\(index))"], set: ["_setToMany(newValue, \(index))"])
        }
        return [result] + mutators(of: relationship, destination: destination, index: index)
    }

    private func accessor(of property: FetchedProperty) -> SwiftDeclaration {
        let destination =
            model.entity(named: property.destination).map { GeneratedNames.userClass($0.declaration) }
            ?? property.destination
        let documentation =
            "The fetched property `\(property.name)`: objects of \(property.destination), kept until a refresh."
        return SwiftDeclaration(
            documentation: property.request.documentation ?? documentation, modifiers: access.modifiers + ["final"],
            keyword: "var", name: GeneratedNames.escaped(property.name), suffix: ": [\(destination)]",
            body: .statements(["_fetched(\(SwiftLiteral.string(property.name)))"]))
    }

    private func defaultDocumentation(of relationship: RelationshipDescription) -> String {
        let inverse = relationship.inverse.map { "; the inverse is `\(relationship.destination).\($0)`" } ?? ""
        let many = relationship.isToMany ? "objects of" : "an object of"
        return "The relationship `\(relationship.name)` to \(many) \(relationship.destination)\(inverse)."
    }

    private func mutators(of relationship: RelationshipDescription, destination: String, index: Int)
        -> [SwiftDeclaration]
    {
        let suffix = GeneratedNames.capitalized(relationship.name)
        let name = relationship.name
        func method(_ documentation: String, _ verb: String, _ parameters: [String], _ statement: String)
            -> SwiftDeclaration
        {
            SwiftDeclaration(
                documentation: documentation, modifiers: access.modifiers + ["final"], keyword: "func",
                name: verb + suffix,
                parameters: parameters, body: .statements([statement]))
        }
        var result = [
            method(
                "Adds an object to `\(name)`.", "addTo", ["_ object: \(destination)"],
                "_add(object, \(index))"),
            method(
                "Adds objects to `\(name)`.", "addTo", ["_ objects: some Sequence<\(destination)>"],
                "_add(objects, \(index))"),
            method(
                "Removes an object from `\(name)`.", "removeFrom", ["_ object: \(destination)"],
                "_remove(object, \(index))"),
            method(
                "Removes objects from `\(name)`.", "removeFrom", ["_ objects: some Sequence<\(destination)>"],
                "_remove(objects, \(index))"),
        ]
        if relationship.isOrdered {
            result += [
                method(
                    "Inserts an object into `\(name)` at a position.", "insertInto",
                    ["_ object: \(destination)", "at position: Int"],
                    "_insert(object, at: position, \(index))"),
                method(
                    "Moves an object of `\(name)` to another position.", "moveIn",
                    ["from source: Int", "to target: Int"],
                    "_move(from: source, to: target, \(index))"),
            ]
        }
        return result
    }
}
