import StrataModel
import Yams

/// Enumerations and `Codable` types of attributes.
extension ModelFileReader {
    /// `enum: Status`, or `enum: {name: Status, cases: [draft, live]}`.
    func readEnumeration(_ node: Node, of type: AttributeType) -> EnumerationType? {
        if node.scalar != nil { return text(node, "'enum'").map { EnumerationType($0) } }
        guard let fields = fields(of: node, known: ["name", "cases"], what: "an enumeration") else { return nil }
        guard let name = fields["name"].flatMap({ text($0, "the name of an enumeration") }) else {
            fault("an enumeration has a name: {name: Status, cases: [draft, live]}", node)
            return nil
        }
        guard let cases = fields["cases"] else {
            fault("an enumeration that the application has is named only, as in 'enum: \(name)'", node)
            return nil
        }
        return EnumerationType(name, cases: readCases(cases, of: type))
    }

    /// A list of names, or a mapping of names to raw values.
    private func readCases(_ node: Node, of type: AttributeType) -> [EnumerationCase] {
        if let sequence = node.sequence {
            if sequence.isEmpty { fault("an enumeration has at least one case", node) }
            return sequence.enumerated().compactMap { index, item in
                guard let name = text(item, "the name of a case") else { return nil }
                return EnumerationCase(name, type.isInteger ? .integer(Int64(index)) : .string(name))
            }
        }
        guard node.mapping != nil else {
            fault("'cases' is a list of names or a mapping of names to raw values, not \(kind(of: node))", node)
            return []
        }
        let entries = entries(of: node, what: "'cases'") ?? []
        if entries.isEmpty { fault("an enumeration has at least one case", node) }
        return entries.compactMap { _, name, raw in value(raw, of: type).map { EnumerationCase(name, $0) } }
    }

    /// `codable: Settings`, or `codable: {name: Settings, members: {theme: string}}`.
    func readJSONType(_ node: Node) -> JSONType? {
        if node.scalar != nil { return text(node, "'codable'").map { JSONType($0) } }
        guard let fields = fields(of: node, known: ["name", "members"], what: "a Codable type") else { return nil }
        guard let name = fields["name"].flatMap({ text($0, "the name of a type") }) else {
            fault("a Codable type has a name: {name: Settings, members: {theme: string}}", node)
            return nil
        }
        guard let members = fields["members"] else {
            fault("a Codable type that the application has is named only, as in 'codable: \(name)'", node)
            return nil
        }
        let entries = entries(of: members, what: "'members'") ?? []
        if entries.isEmpty { fault("a Codable type has at least one member", members) }
        return JSONType(name, members: entries.compactMap { readMember($0.name, $0.value) })
    }

    /// `theme: string?`, `tags: [string]`, or the name and the members of a type.
    private func readMember(_ name: String, _ node: Node) -> JSONMember? {
        if let sequence = node.sequence {
            guard sequence.count == 1, let element = readMember(name, sequence[0]), !element.isList, !element.isOptional
            else {
                fault("a list names the type of its elements, as in 'tags: [string]'", node)
                return nil
            }
            return JSONMember(name, element.type, list: true)
        }
        guard let mapping = node.mapping else {
            let (type, isOptional) = attributeType(node)
            return JSONMember(name, type, optional: isOptional)
        }
        var isOptional = false
        var type = node
        if let flag = mapping["optional"] {
            isOptional = self.flag(flag, "optional")
            type = Node.mapping(
                Node.Mapping(mapping.filter { $0.key.string != "optional" }.map { ($0.key, $0.value) }, mapping.tag))
        }
        return readJSONType(type).map { JSONMember(name, .json($0), optional: isOptional) }
    }
}
