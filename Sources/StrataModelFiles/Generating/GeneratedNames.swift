import StrataModel

/// Names in generated code, and which of them would not compile or would hide something.
enum GeneratedNames {
    /// The class that is generated for an entity.
    static func generatedClass(_ entity: Entity) -> String {
        entity.generatesBaseClass ? userClass(entity) + "Base" : userClass(entity)
    }

    /// The class that the application works with.
    static func userClass(_ entity: Entity) -> String { entity.className ?? entity.name }

    /// The name of the typed keys.
    static func keys(_ entity: Entity) -> String { userClass(entity) + "Keys" }

    /// The enumeration that holds the model.
    static func model(_ name: String) -> String { name.hasSuffix("Model") ? name : name + "Model" }

    /// The struct of a composite attribute, nested in the class.
    static func composite(_ attribute: String) -> String { capitalized(attribute) }

    static func capitalized(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }

    /// The name as it appears in Swift code.
    static func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// The name as it appears before the colon of an argument, where nearly every word may stand.
    static func label(_ name: String) -> String { ["inout", "var", "let"].contains(name) ? "`\(name)`" : name }

    /// Names that cases of enumerations cannot have.
    private static let takenCases = ReservedNames.words.union(["allCases", "none", "some", "zeroValue"])

    /// Names that members of generated structs cannot have: those structs and their keys have them.
    private static let takenJSONMembers = ReservedNames.words.union([
        "path", "expression", "json", "jsonList", "hash", "hashValue", "encode", "zeroValue", "propertyKeyPaths",
        "ascending",
        "descending",
    ])

    private static func isIdentifier(_ name: String) -> Bool {
        name.first?.isLetter == true && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }

    /// Swift's reserved words and those with a meaning where generated code uses names.
    private static let keywords: Set<String> = [
        "Any", "Protocol", "Self", "Type", "as", "associatedtype", "await", "break", "case", "catch", "class",
        "continue", "default", "defer",
        "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard",
        "if", "import", "in",
        "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public",
        "repeat", "rethrows",
        "return", "self", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try",
        "typealias", "var", "where",
        "while",
    ]

    /// Names that make a good model but no good code.
    static func faults(in file: ModelFile) -> [ModelFault] {
        var faults: [ModelFault] = []
        var types: [String: String] = [model(file.name): "the model"]
        for entity in file.entities {
            func report(_ message: String) {
                faults.append(ModelFault(entity: entity.name, message: message, location: entity.location))
            }
            let names = Set([generatedClass(entity), userClass(entity), keys(entity)])
            for name in names.sorted() {
                if ReservedNames.types.contains(name) {
                    report(
                        "a class named \(name) would hide Swift's or Strata's own type; give it another with 'class: My\(name)'"
                    )
                } else if let other = types[name], other != entity.name {
                    report(
                        "the generated type \(name) is already that of \(other); rename one of them, or give a class name"
                    )
                }
                types[name] = entity.name
            }
        }
        for entity in file.entities { faults += memberFaults(of: entity, in: file) }
        return faults + valueTypeFaults(in: file, types)
    }

    /// Enumerations and structs that would not compile.
    private static func valueTypeFaults(in file: ModelFile, _ types: [String: String]) -> [ModelFault] {
        var faults: [ModelFault] = []
        func report(_ message: String) {
            faults.append(ModelFault(message: message, location: file.entities[0].location))
        }
        var types = types
        func check(_ name: String) {
            if name.contains(".") {
                report("the generated type \(name) is generated at the top level; give it a name without a dot")
            } else if ReservedNames.types.contains(name) {
                report("a type named \(name) would hide Swift's or Strata's own type; give it another name")
            } else if let other = types[name] {
                report("the generated type \(name) is already that of \(other); rename one of them")
            }
            types[name] = "an attribute"
        }
        for (type, _) in ValueTypeGenerator.enumerations(of: file.entities) {
            check(type.name)
            for item in type.cases where !isIdentifier(item.name) || takenCases.contains(item.name) {
                report("'\(item.name)' cannot be the name of a case of \(type.name); choose another one")
            }
        }
        for type in ValueTypeGenerator.jsonTypes(of: file.entities) {
            check(type.name)
            for member in type.members where takenJSONMembers.contains(member.name) {
                report("'\(member.name)' cannot be the name of a member of \(type.name); choose another one")
            }
        }
        return faults
    }

    private static func memberFaults(of entity: Entity, in file: ModelFile) -> [ModelFault] {
        var faults: [ModelFault] = []
        let inherited = ancestors(of: entity, in: file).flatMap {
            $0.attributes.map(\.name) + $0.relationships.map(\.name) + $0.fetchedProperties.map(\.name)
        }
        let properties =
            entity.attributes.map { ($0.name, $0.location) } + entity.relationships.map { ($0.name, $0.location) }
            + entity.fetchedProperties.map { ($0.name, $0.request.location) }
        let names = Set(inherited + properties.map(\.0))
        for (name, location) in properties {
            func report(_ message: String) {
                faults.append(
                    ModelFault(
                        entity: entity.name, property: name, message: message, location: location ?? entity.location))
            }
            let example = NamingConvention.lowerCamelCase(entity.name) + capitalized(name)
            if ReservedNames.members.contains(name) {
                report("'\(name)' is a member of every managed object; choose another name, such as '\(example)'")
            } else if ReservedNames.words.contains(name) {
                report("'\(name)' cannot be the name of a property in Swift; choose another one, such as '\(example)'")
            }
        }
        for relationship in entity.relationships where relationship.isToMany {
            let suffix = capitalized(relationship.name)
            for method in ["addTo", "removeFrom", "insertInto", "moveIn"].map({ $0 + suffix })
            where names.contains(method) {
                faults.append(
                    ModelFault(
                        entity: entity.name, property: relationship.name,
                        message: "its method \(method) has the name of another property; rename one of them",
                        location: relationship.location))
            }
        }
        for attribute in entity.attributes {
            guard case .composite(let elements) = attribute.type else { continue }
            func report(_ message: String) {
                faults.append(
                    ModelFault(
                        entity: entity.name, property: attribute.name, message: message,
                        location: attribute.location ?? entity.location))
            }
            let type = composite(attribute.name)
            if ReservedNames.types.contains(type)
                || file.entities.contains(where: { userClass($0) == type || generatedClass($0) == type })
            {
                report("its struct \(userClass(entity)).\(type) would hide the type \(type); rename the attribute")
            }
            for element in elements
            where ReservedNames.words.contains(element.name)
                || ReservedNames.elements.contains(element.name)
            {
                report("'\(element.name)' cannot be the name of an element; choose another one")
            }
        }
        return faults
    }

    /// Those that an entity inherits from, the nearest first; ends before one would come again.
    static func ancestors(of entity: Entity, in file: ModelFile) -> [Entity] {
        var result: [Entity] = []
        var current = entity
        while let name = current.parent, let parent = file.entities.first(where: { $0.name == name }),
            parent.name != entity.name, !result.contains(where: { $0.name == parent.name })
        {
            result.append(parent)
            current = parent
        }
        return result
    }
}
