import Foundation
import StrataModel
import Yams

/// Turns nodes into declarations and gathers what is wrong with them. It goes on after every mistake.
final class ModelFileReader {
    let path: String
    private(set) var faults: [ModelFault] = []
    /// Whether so little was understood that checking the declarations would only confuse.
    private(set) var isHopeless = false
    private var maskedKeys: [String: String] = [:]

    /// The entity and the property that are being read, for messages.
    var entity: String?
    var property: String?

    init(path: String) {
        self.path = path
    }

    func read(_ yaml: String) -> ModelFile {
        let document = YAMLDocument(yaml, path: path)
        faults = document.faults
        maskedKeys = document.maskedKeys
        var file = ModelFile(name: ModelFile.modelName(path: path), entities: [], path: path)
        guard let root = document.root else {
            isHopeless = true
            if faults.isEmpty { fault("the file is empty; a model file has a mapping 'entities'", nil) }
            return file
        }
        guard
            let fields = fields(
                of: root, known: ["model", "naming", "access", "entities", "fetches", "configurations"],
                what: "a model file")
        else {
            isHopeless = true
            return file
        }
        if let node = fields["model"], let name = text(node, "the name of the model") {
            file.name = name
            if !Self.isUpperCamelCase(name) {
                fault("the name of a model begins with a capital letter and has letters and digits only", node)
            }
        }
        if let node = fields["naming"] { file.naming = naming(node) }
        if let node = fields["access"], let access = choice(node, ModelFile.Access.self, "access") {
            file.access = access
        }
        if let node = fields["fetches"] { file.fetches = readFetches(node) }
        if let node = fields["configurations"] { file.configurations = readConfigurations(node) }
        if let node = fields["entities"] {
            for (name, _, value) in entries(of: node, what: "'entities'") ?? [] {
                file.entities.append(readEntity(name, value))
            }
        } else if root.mapping?.keys.contains(where: {
            $0.string.flatMap { Spelling.nearest(to: $0, in: ["entities"]) } != nil
        }) != true {
            fault("a model file has a mapping 'entities'", root)
        }
        return file
    }

    private static func isUpperCamelCase(_ name: String) -> Bool {
        name.first?.isUppercase == true && name.allSatisfy { $0.isLetter || $0.isNumber }
    }

    private func naming(_ node: Node) -> NamingConvention {
        if node.scalar != nil {
            let style = choice(node, NamingConvention.Style.self, "naming") ?? .snakeCase
            return NamingConvention(properties: style, entities: style)
        }
        guard let fields = fields(of: node, known: ["properties", "entities"], what: "'naming'") else {
            return .snakeCase
        }
        return NamingConvention(
            properties: fields["properties"].flatMap { choice($0, NamingConvention.Style.self, "properties") }
                ?? .snakeCase,
            entities: fields["entities"].flatMap { choice($0, NamingConvention.Style.self, "entities") } ?? .snakeCase)
    }

    // MARK: Entities

    private static let entityKeys = [
        "documentation", "inherits", "abstract", "base", "class", "user", "primaryKey", "attributes", "relationships",
        "fetched", "indexes", "renamedFrom", "userInfo",
    ]

    private func readEntity(_ key: Node, _ value: Node) -> Entity {
        let name = key.string ?? ""
        entity = name
        defer { entity = nil }
        var result = Entity(name: name, location: location(key))
        if isNull(value) { return result }
        guard let fields = fields(of: value, known: Self.entityKeys, what: "an entity") else { return result }
        result.documentation = fields["documentation"].flatMap { text($0, "documentation") }
        result.parent = fields["inherits"].flatMap { text($0, "inherits") }
        result.isAbstract = flag(fields["abstract"], "abstract")
        result.generatesBaseClass = flag(fields["base"], "base")
        result.className = fields["class"].flatMap { text($0, "class") }
        result.isUser = flag(fields["user"], "user")
        result.primaryKey = fields["primaryKey"].flatMap { text($0, "primaryKey") }
        result.formerNames = fields["renamedFrom"].map(formerNames) ?? []
        result.userInfo = fields["userInfo"].map(userInfo) ?? [:]
        if let node = fields["attributes"] {
            for (key, name, value) in entries(of: node, what: "'attributes'") ?? [] {
                property = name
                result.attributes.append(readAttribute(key, name, value))
                property = nil
            }
        }
        if let node = fields["relationships"] {
            for (key, name, value) in entries(of: node, what: "'relationships'") ?? [] {
                property = name
                if let relationship = readRelationship(key, name, value) { result.relationships.append(relationship) }
                property = nil
            }
        }
        if let node = fields["fetched"] {
            for (key, name, value) in entries(of: node, what: "'fetched'") ?? [] {
                property = name
                if let fetched = readFetchedProperty(key, name, value) { result.fetchedProperties.append(fetched) }
                property = nil
            }
        }
        if let node = fields["indexes"] { result.indexes = readIndexes(node) }
        return result
    }

    /// One name, or a list of them.
    func formerNames(_ node: Node) -> [String] {
        guard let list = node.sequence else { return text(node, "renamedFrom").map { [$0] } ?? [] }
        return list.compactMap { text($0, "a name in renamedFrom") }
    }

    // MARK: Reporting

    func location(_ node: Node?) -> SourceLocation {
        SourceLocation(file: path, line: max(1, node?.mark?.line ?? 1), column: max(1, node?.mark?.column ?? 1))
    }

    func fault(_ message: String, _ node: Node?) {
        let fault = ModelFault(entity: entity, property: property, message: message, location: location(node))
        if !faults.contains(fault) { faults.append(fault) }
    }

    // MARK: Mappings

    /// The values of a mapping with known keys. Unknown and repeated keys are faults.
    func fields(of node: Node, known: [String], what: String) -> [String: Node]? {
        guard let entries = entries(of: node, what: what) else { return nil }
        var result: [String: Node] = [:]
        for (key, name, value) in entries {
            if known.contains(name) {
                result[name] = value
            } else {
                let suggestion = Spelling.suggestion(for: name, in: known)
                let advice = suggestion.isEmpty ? "; known are \(known.joined(separator: ", "))" : suggestion
                fault("\(what) has no key '\(name)'\(advice)", key)
            }
        }
        return result
    }

    /// The pairs of a mapping in the order of the file: key, its text, value.
    func entries(of node: Node, what: String) -> [(key: Node, name: String, value: Node)]? {
        if isNull(node) { return [] }
        guard let mapping = node.mapping else {
            fault("\(what) is a mapping of names to values, not \(kind(of: node))", node)
            return nil
        }
        var result: [(key: Node, name: String, value: Node)] = []
        for (key, value) in mapping {
            guard let name = key.scalar?.string else {
                fault("a key is a plain word, not \(kind(of: key))", key)
                continue
            }
            if let original = maskedKeys[name] {
                let last = mapping.keys.reversed().first { $0.string == original }
                fault(
                    "the key '\(original)' appears twice; it is also in line \(location(key).line); remove one",
                    last ?? key)
            } else {
                result.append((key, name, value))
            }
        }
        return result
    }

    func kind(of node: Node) -> String {
        switch node {
        case .scalar(let scalar): scalar.string.isEmpty ? "nothing" : "'\(scalar.string)'"
        case .mapping: "a mapping"
        case .sequence: "a list"
        case .alias: "an alias"
        }
    }

    /// Whether a value is left out or `null`.
    func isNull(_ node: Node) -> Bool {
        guard let scalar = node.scalar, scalar.style == .plain || scalar.style == .any else { return false }
        return ["", "~", "null"].contains(scalar.string)
    }

    /// A mapping of words to words.
    func userInfo(_ node: Node) -> [String: String] {
        var result: [String: String] = [:]
        for (_, name, value) in entries(of: node, what: "'userInfo'") ?? [] {
            if let text = text(value, "a value of userInfo") { result[name] = text }
        }
        return result
    }
}
