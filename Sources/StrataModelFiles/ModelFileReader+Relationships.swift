import StrataModel
import Yams

extension ModelFileReader {
    private static let relationshipKeys = [
        "to", "toMany", "inverse", "delete", "optional", "ordered", "min", "max", "renamedFrom", "documentation",
        "userInfo",
    ]

    /// `{to: Country, inverse: cities}` or `{toMany: City, inverse: country}`; only the name of the entity is a to-one
    /// without inverse.
    func readRelationship(_ key: Node, _ name: String, _ node: Node) -> Relationship? {
        if node.scalar != nil, let destination = text(node, "a relationship") {
            var result = Relationship(name, to: destination)
            result.location = location(key)
            return result
        }
        guard let fields = fields(of: node, known: Self.relationshipKeys, what: "a relationship") else { return nil }
        let isToMany = fields["toMany"] != nil
        if isToMany, let node = fields["to"] { fault("a relationship has either 'to' or 'toMany'", node) }
        guard let target = fields["toMany"] ?? fields["to"] else {
            fault("a relationship says where it leads: {to: Country} or {toMany: City}", key)
            return nil
        }
        guard let destination = text(target, isToMany ? "'toMany'" : "'to'") else { return nil }
        var result = Relationship(name, to: destination, isToMany ? .toMany : .optionalToOne)
        result.location = location(key)
        result.isOrdered = flag(fields["ordered"], "ordered")
        result.inverse = fields["inverse"].flatMap { text($0, "inverse") }
        if let node = fields["delete"], let rule = choice(node, DeleteRule.self, "delete") { result.deleteRule = rule }
        if let node = fields["optional"] {
            if isToMany {
                fault("a to-many relationship is never nil; to ask for an object, write 'min: 1'", node)
            } else {
                result.isOptional = flag(node, "optional")
            }
        }
        result.minimumCount = fields["min"].flatMap { wholeNumber($0, "min") } ?? 0
        result.maximumCount = fields["max"].flatMap { wholeNumber($0, "max") } ?? 0
        result.formerNames = fields["renamedFrom"].map(formerNames) ?? []
        result.documentation = fields["documentation"].flatMap { text($0, "documentation") }
        result.userInfo = fields["userInfo"].map(userInfo) ?? [:]
        return result
    }

    /// A list of `[name, -population]`, `name`, `{unique: [name, country]}`, `{spatial: position}`, `{fullText: [name,
    /// text]}`.
    func readIndexes(_ node: Node) -> [Index] {
        guard let sequence = node.sequence else {
            if !isNull(node) {
                fault("'indexes' is a list, as in '- [name, -population]', not \(kind(of: node))", node)
            }
            return []
        }
        return sequence.flatMap { node -> [Index] in
            if node.mapping == nil {
                return words(node, "an index").map { [Index($0, kind: .ordered, location: location(node))] } ?? []
            }
            let kinds = Index.Kind.allCases.map(\.rawValue)
            let fields = fields(of: node, known: kinds, what: "an index") ?? [:]
            return Index.Kind.allCases.compactMap { kind in
                fields[kind.rawValue].flatMap { words($0, "an index") }.map {
                    Index($0, kind: kind, location: location(node))
                }
            }
        }
    }
}
