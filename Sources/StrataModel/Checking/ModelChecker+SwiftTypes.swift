/// Enumerations and `Codable` types that attributes have in Swift.
extension ModelChecker {
    mutating func checkEnumeration(
        _ enumeration: EnumerationType, _ type: AttributeType, of attribute: Attribute, of entity: Entity
    ) {
        let subject = "the enumeration \(enumeration.name)"
        if let fault = Self.faultOfTypeName(enumeration.name) { report(entity, attribute, "\(subject): \(fault)") }
        guard type == .string || type.isInteger else {
            return report(
                entity, attribute, "\(subject) has raw values, which are strings or whole numbers, not \(type.name)")
        }
        if attribute.derivation != nil {
            report(entity, attribute, "is derived, and nothing says that its values are cases of \(enumeration.name)")
        }
        var names: Set<String> = []
        var values: Set<Value> = []
        for item in enumeration.cases {
            if !names.insert(item.name).inserted {
                report(entity, attribute, "\(subject) has the case \(item.name) twice; remove one")
            }
            if !type.accepts(item.rawValue) {
                report(
                    entity, attribute,
                    "\(subject), case \(item.name): the raw value \(item.rawValue) is \(item.rawValue.unfitness(for: type))"
                )
            } else if !values.insert(item.rawValue).inserted {
                report(
                    entity, attribute, "\(subject) has the raw value \(item.rawValue) twice; give one of them another")
            }
        }
    }

    mutating func checkJSON(_ type: JSONType, of attribute: Attribute, of entity: Entity, depth: Int = 1) {
        if let fault = Self.faultOfTypeName(type.name) {
            report(entity, attribute, "the type \(type.name): \(fault)")
        }
        guard depth <= 16 else {
            return report(entity, attribute, "the members of \(type.name) are nested more than 16 levels deep")
        }
        var names: Set<String> = []
        for member in type.members {
            let subject = "\(type.name).\(member.name)"
            if let fault = Self.faultOfPropertyName(member.name) {
                report(entity, attribute, "the member \(subject): \(fault)")
            }
            if !names.insert(member.name).inserted {
                report(entity, attribute, "the member \(subject) is declared twice; rename one of them")
            }
            switch member.type {
            case .json(let inner):
                if inner.members.isEmpty {
                    report(entity, attribute, "the member \(subject) names members of its own, as \(type.name) does")
                }
                checkJSON(inner, of: attribute, of: entity, depth: depth + 1)
            case .string, .boolean, .integer, .integer16, .integer32, .integer64, .double, .float: break
            default:
                report(
                    entity, attribute,
                    "the member \(subject) is of type \(member.type.name); members are strings, truth values, whole and "
                        + "floating-point numbers, and types with members of their own")
            }
        }
    }

    /// One name stands for one type: attributes that share an enumeration or a type agree about it.
    mutating func checkSharedTypes() {
        var enumerations: [String: (EnumerationType, AttributeType)] = [:]
        var types: [String: JSONType] = [:]
        for entity in entities {
            for attribute in entity.attributes {
                var found: [(EnumerationType?, AttributeType)] = [(attribute.enumeration, attribute.type)]
                if case .composite(let elements) = attribute.type {
                    found = elements.map { ($0.enumeration, $0.type) }
                }
                for case (let enumeration?, let type) in found where !enumeration.cases.isEmpty {
                    if let other = enumerations[enumeration.name], other != (enumeration, type) {
                        report(
                            entity, attribute,
                            "the enumeration \(enumeration.name) has other cases elsewhere in the model; name its cases once"
                        )
                    }
                    enumerations[enumeration.name] = (enumeration, type)
                }
                if case .json(let type) = attribute.type { checkShared(type, &types, of: attribute, of: entity) }
            }
        }
    }

    private mutating func checkShared(
        _ type: JSONType, _ types: inout [String: JSONType], of attribute: Attribute, of entity: Entity
    ) {
        guard !type.members.isEmpty else { return }
        if let other = types[type.name], other != type {
            report(
                entity, attribute,
                "the type \(type.name) has other members elsewhere in the model; name its members once")
        }
        types[type.name] = type
        for member in type.members {
            if case .json(let inner) = member.type { checkShared(inner, &types, of: attribute, of: entity) }
        }
    }

    /// What is wrong with the name of a Swift type, which may be nested: `Document.Status`.
    private static func faultOfTypeName(_ name: String) -> String? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.lazy.compactMap { faultOfEntityName(String($0), what: "types") }.first
    }
}
