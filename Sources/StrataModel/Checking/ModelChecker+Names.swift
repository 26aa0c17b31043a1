import Foundation

extension ModelChecker {
    mutating func checkEntityNames() {
        var seen: [String: Entity] = [:]
        var classes: [String: Entity] = [:]
        for entity in entities {
            if let fault = Self.faultOfEntityName(entity.name) { report(entity, fault) }
            if let className = entity.className, let fault = Self.faultOfEntityName(className) {
                report(entity, "class name \(className): \(fault)")
            }
            if let first = seen[entity.name] {
                report(
                    entity, "entity \(entity.name) is declared twice\(place(of: first.location)); rename one of them")
            } else if let other = classes[entity.className ?? entity.name] {
                report(
                    entity,
                    "the class \(entity.className ?? entity.name) is that of \(other.name) already; choose another name"
                )
            }
            seen[entity.name] = seen[entity.name] ?? entity
            classes[entity.className ?? entity.name] = entity
            if entity.formerNames.contains("") { report(entity, "the name in earlier versions is empty; remove it") }
        }
        checkRenaming(
            entities.map { Claim(past: $0.formerNames, entity: $0.name, property: nil, location: $0.location) },
            what: "entities")
    }

    mutating func checkPropertyNames(of entity: Entity) {
        let own =
            entity.attributes.map { ($0.name, $0.location, $0.formerNames) }
            + entity.relationships.map { ($0.name, $0.location, $0.formerNames) }
            + entity.fetchedProperties.map { ($0.name, $0.request.location, [String]()) }
        let ancestors = lineage(of: entity).dropFirst()
        var seen: [String: SourceLocation?] = [:]
        for (name, location, renaming) in own {
            func fault(_ message: String) {
                found.append(
                    ModelFault(
                        entity: entity.name, property: name, message: message, location: location ?? entity.location))
            }
            if let message = Self.faultOfPropertyName(name) { fault(message) }
            if let first = seen[name] {
                fault("the property is declared twice\(place(of: first)); rename one of them")
            } else if let ancestor = ancestors.first(where: { $0.hasProperty(name) }) {
                fault("the property hides \(ancestor.name).\(name), which \(entity.name) inherits; rename or remove it")
            }
            if renaming.contains("") { fault("the name in earlier versions is empty; remove it") }
            if seen[name] == nil { seen[name] = .some(location) }
        }
        checkRenaming(
            own.map { Claim(past: $0.2, entity: entity.name, property: $0.0, location: $0.1 ?? entity.location) },
            what: "properties")
    }

    /// A declaration that says what it was called in earlier versions.
    private struct Claim {
        var past: [String]
        var entity: String
        var property: String?
        var location: SourceLocation?
    }

    /// Two declarations that claim the same past would both take its data.
    private mutating func checkRenaming(_ claims: [Claim], what: String) {
        var seen: Set<String> = []
        for claim in claims {
            guard let past = claim.past.first(where: { !$0.isEmpty && seen.contains($0) }) else {
                seen.formUnion(claim.past)
                continue
            }
            found.append(
                ModelFault(
                    entity: claim.entity, property: claim.property,
                    message: "two \(what) were renamed from \(past); only one can be", location: claim.location))
        }
    }

    private func place(of location: SourceLocation?) -> String { location.map { " (first at \($0))" } ?? "" }

    /// What is wrong with the name of an entity, or nil.
    static func faultOfEntityName(_ name: String, what: String = "entities") -> String? {
        if name.hasPrefix("_") { return "names that begin with an underscore are the store's own; choose another name" }
        guard isIdentifier(name) else {
            return "'\(name)' is not a valid name: use letters, digits and underscores, and begin with a capital letter"
        }
        guard name.first?.isUppercase == true else {
            return "names of \(what) begin with a capital letter: \(name.prefix(1).uppercased() + name.dropFirst())"
        }
        if ["Any", "Self", "Type", "Protocol"].contains(name) {
            return "\(name) has a meaning of its own in Swift; choose another name"
        }
        return nil
    }

    /// What is wrong with the name of a property or of an element, or nil.
    static func faultOfPropertyName(_ name: String) -> String? {
        if name.hasPrefix("_") { return "names that begin with an underscore are the store's own; choose another name" }
        guard isIdentifier(name) else {
            return "'\(name)' is not a valid name: use letters, digits and underscores, and begin with a small letter"
        }
        guard name.first?.isLowercase == true else {
            return "names of properties begin with a small letter: \(NamingConvention.lowerCamelCase(name))"
        }
        return nil
    }

    /// Whether a name is a Swift identifier in composed form, in which each name has one spelling in bytes.
    private static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, first.properties.isXIDStart || first == "_" else { return false }
        return name.unicodeScalars.allSatisfy { $0.properties.isXIDContinue }
            && Array(name.utf8) == Array(name.precomposedStringWithCanonicalMapping.utf8)
    }
}

extension Entity {
    func hasProperty(_ name: String) -> Bool {
        attributes.contains { $0.name == name } || relationships.contains { $0.name == name }
            || fetchedProperties.contains { $0.name == name }
    }
}
