import StrataModel

/// Makes the model itself as source, so that nothing is loaded at run time.
struct ModelGenerator {
    let model: ManagedObjectModel
    let access: ModelFile.Access

    func declaration() -> SwiftDeclaration {
        func list(_ opening: String, _ items: [String], _ closing: String) -> String {
            SwiftRenderer.list(opening, items, closing, indent: 1).joined(separator: "\n    ")
        }
        let naming =
            switch model.naming {
            case .snakeCase: ".snakeCase"
            case .verbatim: ".verbatim"
            default:
                "NamingConvention(properties: .\(model.naming.properties.rawValue), entities: .\(model.naming.entities.rawValue))"
            }
        let classes = list(
            ": [ManagedObject.Type] = [", model.entities.map { GeneratedNames.userClass($0.declaration) + ".self" }, "]"
        )
        let entities = list(": [Entity] = [", model.entities.map { function($0.name) + "()" }, "]")
        let members = [
            SwiftDeclaration(
                documentation: "The model: \(model.entities.count) entities; version \(model.versionHash).",
                modifiers: access.modifiers + ["static"], keyword: "let", name: "model",
                suffix:
                    " = ManagedObjectModel.generated(\n        name: \(SwiftLiteral.string(model.name)), naming: \(naming), entities: entities\(model.fetchTemplates.isEmpty ? "" : ", fetches: fetches")\(model.configurations.isEmpty ? "" : ", configurations: configurations"))"
            ),
            SwiftDeclaration(
                documentation: "The classes of the entities.", modifiers: access.modifiers + ["static"], keyword: "let",
                name: "classes",
                suffix: classes),
            SwiftDeclaration(modifiers: ["private", "static"], keyword: "let", name: "entities", suffix: entities),
        ]
        let fetches = SwiftDeclaration(
            modifiers: ["private", "static"], keyword: "let", name: "fetches",
            suffix: list(": [FetchTemplate] = [", model.fetchTemplates.map(expression), "]"))
        let configurations = SwiftDeclaration(
            modifiers: ["private", "static"], keyword: "let", name: "configurations",
            suffix: list(": [ModelConfiguration] = [", model.configurations.map(expression), "]"))
        return SwiftDeclaration(
            documentation: "The model \(model.name) and its classes.", modifiers: access.modifiers, keyword: "enum",
            name: GeneratedNames.model(model.name), suffix: ": GeneratedModel",
            body: .members(
                members + (model.fetchTemplates.isEmpty ? [] : [fetches])
                    + (model.configurations.isEmpty ? [] : [configurations])
                    + model.entities.map { entity($0.declaration) }))
    }

    private func function(_ entity: String) -> String { NamingConvention.lowerCamelCase(entity) + "Entity" }

    private func entity(_ entity: Entity) -> SwiftDeclaration {
        var lines = ["var entity = Entity(name: \(SwiftLiteral.string(entity.name)), location: nil)"]
        func set(_ field: String, _ value: String?) {
            if let value { lines.append("entity.\(field) = \(value)") }
        }
        set("documentation", entity.documentation.map(SwiftLiteral.string))
        set("className", entity.className.map(SwiftLiteral.string))
        set("parent", entity.parent.map(SwiftLiteral.string))
        set("isAbstract", entity.isAbstract ? "true" : nil)
        set("generatesBaseClass", entity.generatesBaseClass ? "true" : nil)
        set("isUser", entity.isUser ? "true" : nil)
        set("primaryKey", entity.primaryKey.map(SwiftLiteral.string))
        set("formerNames", entity.formerNames.isEmpty ? nil : SwiftLiteral.strings(entity.formerNames))
        set("userInfo", entity.userInfo.isEmpty ? nil : SwiftLiteral.dictionary(entity.userInfo))
        func list(_ field: String, _ items: [String]) {
            if !items.isEmpty { lines += ["entity.\(field) = ["] + items.map { "    \($0)," } + ["]"] }
        }
        list("attributes", entity.attributes.map(expression))
        list("relationships", entity.relationships.map(expression))
        list("fetchedProperties", entity.fetchedProperties.map(expression))
        list("indexes", entity.indexes.map(expression))
        return SwiftDeclaration(
            modifiers: ["private", "static"], keyword: "func", name: function(entity.name), parameters: [],
            suffix: " -> Entity",
            body: .statements(lines + ["return entity"]))
    }

    private func expression(_ attribute: Attribute) -> String {
        var text = "Attribute(\(SwiftLiteral.string(attribute.name)), \(SwiftLiteral.type(attribute.type))"
        if attribute.isOptional { text += ", optional: true" }
        switch attribute.defaultValue {
        case .value(let value): text += ", default: .value(\(SwiftLiteral.value(value)))"
        case .now: text += ", default: .now"
        case .newUUID: text += ", default: .newUUID"
        case nil: break
        }
        text += ")"
        if let enumeration = attribute.enumeration {
            text += ".enumeration(\(SwiftLiteral.enumeration(enumeration, attribute.type)))"
        }
        if let entity = attribute.referencedEntity { text += ".references(\(SwiftLiteral.string(entity)))" }
        if attribute.isTransient { text += ".transient()" }
        if let derivation = attribute.derivation { text += ".derived(\(expression(derivation)))" }
        let rules = attribute.rules
        if rules.minimum != nil || rules.maximum != nil {
            text +=
                ".range(minimum: \(rules.minimum.map(SwiftLiteral.value) ?? "nil"), maximum: \(rules.maximum.map(SwiftLiteral.value) ?? "nil"))"
        }
        if rules.minimumLength != nil || rules.maximumLength != nil {
            text +=
                ".length(minimum: \(rules.minimumLength.map(String.init) ?? "nil"), maximum: \(rules.maximumLength.map(String.init) ?? "nil"))"
        }
        if let pattern = rules.pattern { text += ".matching(\(SwiftLiteral.string(pattern)))" }
        if attribute.isIndexed { text += ".indexed()" }
        if attribute.isUnique { text += ".unique()" }
        if attribute.allowsExternalStorage { text += ".externalStorage()" }
        if attribute.isPreservedInHistory { text += ".preservesValueInHistory()" }
        return text + common(attribute.formerNames, attribute.userInfo, attribute.documentation)
    }

    private func expression(_ relationship: Relationship) -> String {
        let cardinality =
            relationship.isToMany
            ? (relationship.isOrdered ? ".orderedToMany" : ".toMany")
            : (relationship.isOptional ? ".optionalToOne" : ".toOne")
        var text =
            "Relationship(\(SwiftLiteral.string(relationship.name)), to: \(SwiftLiteral.string(relationship.destination)), \(cardinality)"
        if let inverse = relationship.inverse { text += ", inverse: \(SwiftLiteral.string(inverse))" }
        if relationship.deleteRule != .nullify { text += ", deleteRule: .\(relationship.deleteRule.rawValue)" }
        text += ")"
        if relationship.minimumCount != 0 || relationship.maximumCount != 0 {
            text += ".count(\(relationship.minimumCount), \(relationship.maximumCount))"
        }
        return text + common(relationship.formerNames, relationship.userInfo, relationship.documentation)
    }

    private func common(_ formerNames: [String], _ userInfo: [String: String], _ documentation: String?) -> String {
        var text = ""
        if !formerNames.isEmpty {
            text += ".renamed(from: \(formerNames.map(SwiftLiteral.string).joined(separator: ", ")))"
        }
        if !userInfo.isEmpty { text += ".userInfo(\(SwiftLiteral.dictionary(userInfo)))" }
        if let documentation { text += ".documented(\(SwiftLiteral.string(documentation)))" }
        return text
    }

    private func expression(_ property: FetchedProperty) -> String {
        "FetchedProperty(\(expression(property.request)))" + common([], property.userInfo, nil)
    }

    private func expression(_ template: FetchTemplate) -> String {
        let condition = template.predicate.map(SwiftLiteral.string) ?? "nil"
        let limit = template.limit.map(String.init) ?? "nil"
        return "FetchTemplate(name: \(SwiftLiteral.string(template.name)), "
            + "entity: \(SwiftLiteral.string(template.entity)), where: \(condition), "
            + "sortedBy: \(SwiftLiteral.strings(template.sorts)), limit: \(limit), location: nil)"
            + common([], [:], template.documentation)
    }

    private func expression(_ configuration: ModelConfiguration) -> String {
        "ModelConfiguration(name: \(SwiftLiteral.string(configuration.name)), "
            + "entities: \(SwiftLiteral.strings(configuration.entities)), location: nil)"
    }

    private func expression(_ index: Index) -> String {
        "Index(\(SwiftLiteral.strings(index.properties)), kind: .\(index.kind.rawValue), location: nil)"
    }

    private func expression(_ derivation: Derivation) -> String {
        switch derivation {
        case .lowercase(let name): ".lowercase(\(SwiftLiteral.string(name)))"
        case .uppercase(let name): ".uppercase(\(SwiftLiteral.string(name)))"
        case .canonical(let name): ".canonical(\(SwiftLiteral.string(name)))"
        case .now: ".now"
        case .count(let name): ".count(\(SwiftLiteral.string(name)))"
        case .sum(let relationship, let attribute):
            ".sum(\(SwiftLiteral.string(relationship)), \(SwiftLiteral.string(attribute)))"
        case .path(let path): ".path(\(SwiftLiteral.strings(path)))"
        }
    }
}
