import Foundation
import StrataModel
import Yams

extension ModelFileReader {
    private static let attributeKeys = [
        "type", "optional", "default", "transient", "derived", "min", "max", "minLength", "maxLength", "pattern",
        "indexed", "unique",
        "externalStorage", "preservesValueInHistory", "class", "enum", "codable", "elements", "references",
        "renamedFrom", "documentation", "userInfo",
    ]

    /// `name: string?`, or a mapping with `type` and more.
    func readAttribute(_ key: Node, _ name: String, _ node: Node) -> Attribute {
        var result = Attribute(name, .string)
        result.location = location(key)
        if node.scalar != nil || node.sequence != nil {
            (result.type, result.isOptional) = attributeType(node)
            return result
        }
        guard let fields = fields(of: node, known: Self.attributeKeys, what: "an attribute") else { return result }
        let before = faults.count
        readType(fields, at: key, into: &result)
        let typeIsKnown = faults.count == before
        if let node = fields["optional"] { result.isOptional = flag(node, "optional") }
        result.isTransient = flag(fields["transient"], "transient")
        result.isIndexed = flag(fields["indexed"], "indexed")
        result.isUnique = flag(fields["unique"], "unique")
        result.allowsExternalStorage = flag(fields["externalStorage"], "externalStorage")
        result.isPreservedInHistory = flag(fields["preservesValueInHistory"], "preservesValueInHistory")
        result.derivation = fields["derived"].flatMap(derivation)
        result.referencedEntity = fields["references"].flatMap { text($0, "references") }
        result.formerNames = fields["renamedFrom"].map(formerNames) ?? []
        result.documentation = fields["documentation"].flatMap { text($0, "documentation") }
        result.userInfo = fields["userInfo"].map(userInfo) ?? [:]
        result.rules.minimumLength = fields["minLength"].flatMap { wholeNumber($0, "minLength") }
        result.rules.maximumLength = fields["maxLength"].flatMap { wholeNumber($0, "maxLength") }
        result.rules.pattern = fields["pattern"].flatMap { text($0, "pattern") }
        // Without a type nothing can be said of values.
        guard typeIsKnown else { return result }
        for (key, field) in [("min", \ValidationRules.minimum), ("max", \ValidationRules.maximum)] {
            guard let node = fields[key] else { continue }
            if result.type.isNumeric || result.type == .date {
                result.rules[keyPath: field] = value(node, of: result.type)
            } else {
                fault(
                    "'\(key)' is for numbers and dates, not for \(result.type.name); for text there are minLength and maxLength",
                    node)
            }
        }
        if let node = fields["enum"] { result.enumeration = readEnumeration(node, of: result.type) }
        if let node = fields["default"] {
            result.defaultValue = defaultValue(node, of: result.type, result.enumeration)
        }
        return result
    }

    private func readType(_ fields: [String: Node], at key: Node, into result: inout Attribute) {
        if let elements = fields["elements"] {
            if let node = fields["type"] {
                let word = node.scalar?.string ?? ""
                if word != "composite", word != "composite?" {
                    fault("an attribute with elements is of type composite", node)
                }
                result.isOptional = word.hasSuffix("?")
            }
            result.type = .composite(readElements(elements))
        } else if let node = fields["type"] {
            (result.type, result.isOptional) = attributeType(node, fields)
        } else if faults.last?.property != property || faults.last?.entity != entity {
            // After a mistyped `type` one fault is enough.
            fault("an attribute has a type, as in '\(result.name): string'", key)
        }
        if let node = fields["class"],
            fields["elements"] != nil || fields["type"]?.scalar?.string.hasPrefix("transformable") != true
        {
            fault("'class' names the Swift type of a transformable", node)
        }
        if let node = fields["codable"], fields["type"]?.scalar?.string.hasPrefix("json") != true {
            fault("'codable' names the Swift type of an attribute of type json", node)
        }
    }

    private func readElements(_ node: Node) -> [CompositeElement] {
        (entries(of: node, what: "'elements'") ?? []).map { _, name, value in
            if value.scalar != nil || value.sequence != nil {
                let (type, optional) = attributeType(value)
                return CompositeElement(name, type, optional: optional)
            }
            guard
                let fields = fields(
                    of: value, known: ["type", "optional", "class", "enum"], what: "an element"),
                let node = fields["type"]
            else {
                fault("an element has a type, as in 'street: string'", value)
                return CompositeElement(name, .string)
            }
            let (type, optional) = attributeType(node, fields)
            return CompositeElement(
                name, type, optional: fields["optional"].map { flag($0, "optional") } ?? optional,
                enumeration: fields["enum"].flatMap { readEnumeration($0, of: type) })
        }
    }

    /// What people write who come from elsewhere.
    private static let otherNames = [
        "int": "integer", "int16": "integer16", "int32": "integer32", "int64": "integer64",
        "long": "integer64",
        "number": "double", "real": "double", "text": "string", "bool": "boolean", "data": "binary", "blob": "binary",
        "url": "uri",
        "datetime": "date", "timestamp": "date", "point": "geoPoint", "geopoint": "geoPoint",
    ]

    /// A type, and whether a `?` after it makes the value optional. A string stands in for what is not a type.
    ///
    /// - Parameter fields: The keys that are allowed in addition to the type.
    func attributeType(_ node: Node, _ fields: [String: Node] = [:]) -> (AttributeType, Bool) {
        if let sequence = node.sequence { return (arrayType(node, sequence), false) }
        guard let word = text(node, "a type") else { return (.string, false) }
        let isOptional = word.hasSuffix("?")
        let name = isOptional ? String(word.dropLast()) : word
        if let type = AttributeType.namedInModelFiles.first(where: { $0.name == name }) { return (type, isOptional) }
        if name == "transformable" {
            guard let className = fields["class"] else {
                fault("a transformable names its Swift type: {type: transformable, class: \"[String]\"}", node)
                return (.transformable("Data"), isOptional)
            }
            return (.transformable(text(className, "class") ?? "Data"), isOptional)
        }
        if name.hasPrefix("transformable<"), name.hasSuffix(">") {
            return (.transformable(String(name.dropFirst("transformable<".count).dropLast())), isOptional)
        }
        if name == "json" {
            guard let type = fields["codable"] else {
                fault("JSON names its Swift type: {type: json, codable: Settings}", node)
                return (.string, isOptional)
            }
            return (.json(readJSONType(type) ?? JSONType("String")), isOptional)
        }
        if name == "composite" {
            fault("a composite names its elements: {elements: {street: string, zip: string?}}", node)
            return (.string, isOptional)
        }
        let known = AttributeType.namedInModelFiles.map(\.name) + ["transformable", "json", "composite"]
        let suggestion =
            Self.otherNames[name.lowercased()].map { "; did you mean '\($0)'?" }
            ?? Spelling.suggestion(for: name, in: known)
        fault(
            "'\(name)' is not a type"
                + (suggestion.isEmpty ? "; known are \(known.joined(separator: ", "))" : suggestion),
            node)
        return (.string, isOptional)
    }

    /// `[string]`.
    private func arrayType(_ node: Node, _ sequence: Node.Sequence) -> AttributeType {
        guard sequence.count == 1, sequence[0].scalar != nil else {
            fault("an array names the type of its elements, as in 'tags: [string]'", node)
            return .array(.string)
        }
        let (element, isOptional) = attributeType(sequence[0])
        if isOptional {
            fault(
                "elements of an array are never nil; for an array that may be nil write {type: [\(element.name)], optional: true}",
                sequence[0])
        }
        return .array(element)
    }

    /// `now()` and `uuid()` are created for each object; in quotes they are text. The default of an enumeration is a raw value,
    /// or the name of a case.
    private func defaultValue(
        _ node: Node, of type: AttributeType, _ enumeration: EnumerationType?
    ) -> AttributeDefault? {
        if let scalar = node.scalar, scalar.style == .plain || scalar.style == .any {
            if scalar.string == "now()" { return .now }
            if scalar.string == "uuid()" { return .newUUID }
        }
        if case .composite = type {
            fault("a composite has no default; make it or its elements optional", node)
            return nil
        }
        if case .json = type {
            fault("JSON has no default in the model; give it a value when an object is inserted", node)
            return nil
        }
        if let cases = enumeration?.cases, let name = node.scalar?.string,
            !cases.contains(where: { $0.rawValue == .string(name) }),
            let named = cases.first(where: { $0.name == name })
        {
            return .value(named.rawValue)
        }
        return value(node, of: type).map(AttributeDefault.value)
    }

    /// `lowercase(name)`, `count(cities)`, `sum(cities.population)`, `now()`, `country.name`.
    private func derivation(_ node: Node) -> Derivation? {
        guard let word = text(node, "'derived'") else { return nil }
        if let derivation = DerivationSpelling.derivation(word) { return derivation }
        fault(
            "'\(word)' is not a derivation; write lowercase(name), uppercase(name), canonical(name), count(cities), sum(cities.population), now() or country.name",
            node)
        return nil
    }
}

extension AttributeType {
    /// The types that are one word. `transformable`, `json`, arrays and `composite` say more.
    package static let namedInModelFiles: [AttributeType] = [
        .integer16, .integer32, .integer64, .integer, .decimal, .double, .float, .string, .boolean, .date, .binary,
        .uuid, .uri, .geoPoint,
    ]
}

/// How derivations are written in model files.
package enum DerivationSpelling {
    static func derivation(_ word: String) -> Derivation? {
        if word == "now()" { return .now }
        if let match = word.wholeMatch(of: /([a-z]+)\(\s*([\w]+(?:\.[\w]+)*)\s*\)/) {
            let argument = String(match.2)
            let path = argument.split(separator: ".").map(String.init)
            switch (match.1, path.count) {
            case ("lowercase", 1): return .lowercase(argument)
            case ("uppercase", 1): return .uppercase(argument)
            case ("canonical", 1): return .canonical(argument)
            case ("count", 1): return .count(argument)
            case ("sum", 2): return .sum(path[0], path[1])
            default: return nil
            }
        }
        return word.wholeMatch(of: /\w+(?:\.\w+)+/) != nil ? .path(word.split(separator: ".").map(String.init)) : nil
    }

    /// What ``derivation(_:)`` reads as the same.
    package static func text(_ derivation: Derivation) -> String {
        switch derivation {
        case .lowercase(let name): "lowercase(\(name))"
        case .uppercase(let name): "uppercase(\(name))"
        case .canonical(let name): "canonical(\(name))"
        case .now: "now()"
        case .count(let name): "count(\(name))"
        case .sum(let relationship, let attribute): "sum(\(relationship).\(attribute))"
        case .path(let path): path.joined(separator: ".")
        }
    }
}
