import StrataModel

/// Makes the initializer that asks for what has no default.
struct InitializerGenerator {
    let model: ManagedObjectModel
    let entity: EntityDescription
    let access: ModelFile.Access

    struct Parameter: Hashable {
        var name: String
        var type: String
        /// The default argument; nil for what must be given.
        var defaultArgument: String?
        /// The statement that takes the argument over. An omitted argument assigns nothing, so that `awakeFromInsert` has
        /// the last word on it and an upsert leaves the existing value.
        var assignment: String

        var text: String {
            "\(GeneratedNames.escaped(name)): \(type)\(defaultArgument.map { " = \($0)" } ?? "")"
        }
    }

    func declarations() -> [SwiftDeclaration] {
        if entity.isAbstract { return [] }
        let own = Self.parameters(of: entity, in: model)
        let required = Set(own.filter { $0.defaultArgument == nil }.map(\.name))
        var result: [SwiftDeclaration] = []
        var hidden: Set<[String]> = []
        var ancestor = model.parent(of: entity)
        var isNearest = true
        while let current = ancestor {
            if !current.isAbstract {
                let inherited = Self.parameters(of: current, in: model)
                if isNearest, inherited.map(\.text) == own.map(\.text) { return [] }
                isNearest = false
                let signature = inherited.map { "\($0.name):\($0.type)" }
                let isOwn = signature == own.map { "\($0.name):\($0.type)" }
                let missing = own.map(\.name).filter { name in
                    required.contains(name) && !inherited.contains { $0.name == name }
                }
                if !isOwn, !missing.isEmpty, hidden.insert(signature).inserted {
                    result.append(unavailable(inherited, missing: missing))
                }
            }
            ancestor = model.parent(of: current)
        }
        return [initializer(own)] + result
    }

    private func initializer(_ parameters: [Parameter]) -> SwiftDeclaration {
        SwiftDeclaration(
            documentation:
                "Inserts a new \(entity.name) into a context. Properties that you omit have the default of the model, or are nil.",
            attributes: ["@discardableResult"], modifiers: access.modifiers + ["convenience"], keyword: "init",
            parameters: ["context: ManagedObjectContext"] + parameters.map(\.text),
            body: .statements(["self.init(inserting: context)"] + parameters.map(\.assignment)))
    }

    /// The initializer of an entity that this one inherits from would make an object that lacks something: the compiler
    /// says so.
    private func unavailable(_ parameters: [Parameter], missing: [String]) -> SwiftDeclaration {
        let message = "\(entity.name) requires more: \(missing.joined(separator: ", "))"
        return SwiftDeclaration(
            documentation: "Not for \(entity.name), which requires more.",
            attributes: ["@available(*, unavailable, message: \(SwiftLiteral.string(message)))"],
            modifiers: access.modifiers + ["convenience"], keyword: "init",
            parameters: ["context: ManagedObjectContext"] + parameters.map(\.text),
            body: .statements(["self.init(inserting: context)"]))
    }

    /// All that is set at the birth of an object: inherited properties first, each entity's attributes before its
    /// relationships.
    static func parameters(of entity: EntityDescription, in model: ManagedObjectModel) -> [Parameter] {
        var lineage = [entity]
        while let parent = model.parent(of: lineage[0]) { lineage.insert(parent, at: 0) }
        return lineage.flatMap { ancestor -> [Parameter] in
            let attributes = entity.attributes.filter { $0.declaringEntity == ancestor.name && $0.derivation == nil }
            let relationships = entity.relationships.filter { $0.declaringEntity == ancestor.name && !$0.isToMany }
            return attributes.map { parameter($0, in: model) } + relationships.map { parameter($0, in: model) }
        }
    }

    private static func parameter(_ attribute: AttributeDescription, in model: ManagedObjectModel) -> Parameter {
        let type = attribute.swiftType(in: model)
        let name = GeneratedNames.escaped(attribute.name)
        let slot = attribute.slots.lowerBound
        // An array begins empty.
        if attribute.declaration.defaultValue == nil, !attribute.isOptional, attribute.type.element == nil {
            return Parameter(
                name: attribute.name, type: type, defaultArgument: nil, assignment: "self.\(name) = \(name)")
        }
        let function = attribute.isOptional ? "_initializeOptional" : "_initialize"
        // Composites and encoded values have accessors of their own.
        let isOneValue = attribute.type.elements == nil && !attribute.type.isEncoded
        return Parameter(
            name: attribute.name, type: "Omittable<\(type)\(attribute.isOptional ? "?" : "")>",
            defaultArgument: ".omitted",
            assignment: isOneValue
                ? "\(function)(\(name), \(slot))" : "\(function)(\(name)) { self.\(name) = $0 }")
    }

    private static func parameter(_ relationship: RelationshipDescription, in model: ManagedObjectModel) -> Parameter {
        let type = GeneratedNames.userClass(model.destination(of: relationship).declaration)
        let name = GeneratedNames.escaped(relationship.name)
        if relationship.isOptional, let slot = relationship.slot {
            return Parameter(
                name: relationship.name, type: "Omittable<\(type)?>", defaultArgument: ".omitted",
                assignment: "_initializeToOne(\(name), \(slot))")
        }
        return Parameter(
            name: relationship.name, type: type, defaultArgument: nil, assignment: "self.\(name) = \(name)")
    }
}
