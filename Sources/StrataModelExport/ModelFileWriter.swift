import Foundation
public import StrataModel
public import StrataModelFiles

extension ModelFile {
    /// What a model says, for writing it to a file.
    public init(model: ManagedObjectModel, access: Access = .internal, path: String = "") {
        self.init(
            name: model.name, naming: model.naming, access: access, entities: model.entities.map(\.declaration),
            fetches: model.fetchTemplates, configurations: model.configurations, path: path)
    }

    /// The file as YAML text in the shortest form. Reading it gives the same declarations, but for their locations;
    /// comments of a file that this one was read from are lost.
    public func yaml() -> String { ModelFileWriter(file: self).text() }

    /// An attribute as it stands below `attributes:` of its entity: `name: {type: string, indexed: true}`.
    public static func line(of attribute: Attribute) -> String {
        ModelFileWriter(file: ModelFile(name: "", entities: [], path: "")).line(of: attribute)
    }

    /// An index as it stands below `indexes:` of its entity: `- [country, -population]`.
    public static func line(of index: Index) -> String { ModelFileWriter.line(of: index) }
}

/// Writes declarations as YAML.
struct ModelFileWriter {
    let file: ModelFile

    func text() -> String {
        var lines = ["model: \(YAMLText.scalar(file.name))"]
        if file.naming.properties != file.naming.entities {
            lines.append(
                "naming: {properties: \(file.naming.properties.rawValue), entities: \(file.naming.entities.rawValue)}")
        } else if file.naming != .snakeCase {
            lines.append("naming: \(file.naming.properties.rawValue)")
        }
        if file.access != .internal { lines.append("access: \(file.access.rawValue)") }
        if file.entities.isEmpty {
            lines.append("entities: {}")
        } else {
            lines.append("entities:")
            for entity in file.entities {
                lines.append("  \(entity.name):")
                lines += self.lines(of: entity).map { "    " + $0 }
            }
        }
        if !file.fetches.isEmpty {
            lines.append("fetches:")
            for template in file.fetches {
                lines.append("  \(template.name):")
                lines += self.lines(of: template).map { "    " + $0 }
            }
        }
        if !file.configurations.isEmpty {
            lines.append("configurations:")
            for configuration in file.configurations {
                let names = configuration.entities.map(YAMLText.scalar).joined(separator: ", ")
                lines.append("  \(configuration.name): [\(names)]")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func lines(of template: FetchTemplate) -> [String] {
        var lines: [String] = []
        func add(_ key: String, _ text: String?) {
            if let text { lines.append("\(key): \(YAMLText.scalar(text))") }
        }
        add("documentation", template.documentation)
        add("entity", template.entity)
        add("where", template.predicate)
        if !template.sorts.isEmpty {
            lines.append("sort: [\(template.sorts.map(YAMLText.scalar).joined(separator: ", "))]")
        }
        if let limit = template.limit { lines.append("limit: \(limit)") }
        return lines
    }

    private func lines(of entity: Entity) -> [String] {
        var lines: [String] = []
        func add(_ key: String, _ text: String?) {
            if let text { lines.append("\(key): \(YAMLText.scalar(text))") }
        }
        add("documentation", entity.documentation)
        add("class", entity.className)
        add("inherits", entity.parent)
        if entity.isAbstract { lines.append("abstract: true") }
        if entity.generatesBaseClass { lines.append("base: true") }
        if entity.isUser { lines.append("user: true") }
        add("primaryKey", entity.primaryKey)
        if let names = Self.text(ofFormerNames: entity.formerNames) { lines.append("renamedFrom: \(names)") }
        if !entity.userInfo.isEmpty { lines.append("userInfo: \(YAMLText.mapping(of: entity.userInfo))") }
        if !entity.attributes.isEmpty {
            lines.append("attributes:")
            lines += entity.attributes.map { "  " + line(of: $0) }
        }
        if !entity.relationships.isEmpty {
            lines.append("relationships:")
            lines += entity.relationships.map { "  \($0.name): \(text(of: $0))" }
        }
        if !entity.fetchedProperties.isEmpty {
            lines.append("fetched:")
            for property in entity.fetchedProperties {
                lines.append("  \(property.name):")
                lines += self.lines(of: property.request).map { "    " + $0 }
                if !property.userInfo.isEmpty {
                    lines.append("    userInfo: \(YAMLText.mapping(of: property.userInfo))")
                }
            }
        }
        if !entity.indexes.isEmpty {
            lines.append("indexes:")
            lines += entity.indexes.map { "  " + Self.line(of: $0) }
        }
        return lines
    }

    /// One name, or a list of them.
    private static func text(ofFormerNames names: [String]) -> String? {
        if names.count < 2 { return names.first.map(YAMLText.scalar) }
        return "[\(names.map(YAMLText.scalar).joined(separator: ", "))]"
    }

    /// The line of an attribute below `attributes:`.
    func line(of attribute: Attribute) -> String { "\(attribute.name): \(text(of: attribute))" }

    /// The line of an index below `indexes:`.
    static func line(of index: Index) -> String {
        // A hyphen before a word needs no quotes.
        let properties = index.properties.map { name in
            name.hasPrefix("-") && YAMLText.isPlain(String(name.dropFirst())) ? name : YAMLText.scalar(name)
        }
        let names = "[\(properties.joined(separator: ", "))]"
        return "- " + (index.kind == .ordered ? names : "{\(index.kind.rawValue): \(names)}")
    }

    private func text(of attribute: Attribute) -> String {
        var fields = YAMLText.Fields()
        let mark = attribute.isOptional ? "?" : ""
        switch attribute.type {
        case .composite(let elements):
            if attribute.isOptional { fields.add("type", "composite?") }
            fields.add("elements", "{\(elements.map { "\($0.name): \(text(of: $0))" }.joined(separator: ", "))}")
        case .transformable(let name):
            fields.add("type", "transformable\(mark)")
            fields.add("class", YAMLText.scalar(name))
        case .json(let type):
            fields.add("type", "json\(mark)")
            fields.add("codable", Self.text(of: type))
        case .array(let element):
            fields.add("type", "[\(element.name)]")
            if attribute.isOptional { fields.add("optional", "true") }
        default: fields.add("type", attribute.type.name + mark)
        }
        fields.add("enum", attribute.enumeration.map(Self.text))
        fields.add("references", attribute.referencedEntity.map(YAMLText.scalar))
        if let defaultValue = attribute.defaultValue {
            fields.add("default", text(of: defaultValue, type: attribute.type))
        }
        if attribute.isTransient { fields.add("transient", "true") }
        if let derivation = attribute.derivation {
            fields.add("derived", YAMLText.scalar(DerivationSpelling.text(derivation)))
        }
        fields.add("min", attribute.rules.minimum.flatMap { ScalarValue.text($0) }.map(YAMLText.scalar))
        fields.add("max", attribute.rules.maximum.flatMap { ScalarValue.text($0) }.map(YAMLText.scalar))
        fields.add("minLength", attribute.rules.minimumLength.map(String.init))
        fields.add("maxLength", attribute.rules.maximumLength.map(String.init))
        fields.add("pattern", attribute.rules.pattern.map(YAMLText.scalar))
        if attribute.isIndexed { fields.add("indexed", "true") }
        if attribute.isUnique { fields.add("unique", "true") }
        if attribute.allowsExternalStorage { fields.add("externalStorage", "true") }
        if attribute.isPreservedInHistory { fields.add("preservesValueInHistory", "true") }
        fields.add("renamedFrom", Self.text(ofFormerNames: attribute.formerNames))
        fields.add("documentation", attribute.documentation.map(YAMLText.scalar))
        if !attribute.userInfo.isEmpty { fields.add("userInfo", YAMLText.mapping(of: attribute.userInfo)) }
        if fields.count == 1, let element = attribute.type.element { return "[\(element.name)]" }
        return fields.count == 1 && attribute.type.isPlain ? attribute.type.name + mark : fields.text
    }

    private func text(of element: CompositeElement) -> String {
        let mark = element.isOptional ? "?" : ""
        if case .transformable(let name) = element.type {
            return "{type: transformable\(mark), class: \(YAMLText.scalar(name))}"
        }
        if let enumeration = element.enumeration {
            return "{type: \(element.type.name)\(mark), enum: \(Self.text(of: enumeration))}"
        }
        return element.type.name + mark
    }

    private static func text(of enumeration: EnumerationType) -> String {
        let name = YAMLText.scalar(enumeration.name)
        if enumeration.cases.isEmpty { return name }
        let isPlain = enumeration.cases.enumerated().allSatisfy { index, item in
            item.rawValue == .string(item.name) || item.rawValue == .integer(Int64(index))
        }
        let cases = enumeration.cases.map { item in
            let name = YAMLText.scalar(item.name)
            if isPlain { return name }
            let value = if case .string(let text) = item.rawValue { YAMLText.quoted(text) } else { "\(item.rawValue)" }
            return "\(name): \(value)"
        }.joined(separator: ", ")
        return "{name: \(name), cases: \(isPlain ? "[\(cases)]" : "{\(cases)}")}"
    }

    private static func text(of type: JSONType, optional: Bool = false) -> String {
        let name = YAMLText.scalar(type.name)
        if type.members.isEmpty { return name }
        let members = type.members.map { "\($0.name): \(text(of: $0))" }.joined(separator: ", ")
        return "{name: \(name), members: {\(members)}\(optional ? ", optional: true" : "")}"
    }

    private static func text(of member: JSONMember) -> String {
        let text: String
        if case .json(let type) = member.type {
            text = self.text(of: type, optional: member.isOptional && !member.isList)
        } else {
            text = member.type.name + (member.isOptional && !member.isList ? "?" : "")
        }
        return member.isList ? "[\(text)]" : text
    }

    private func text(of defaultValue: AttributeDefault, type: AttributeType) -> String? {
        switch defaultValue {
        case .now: "now()"
        case .newUUID: "uuid()"
        case .value(.geoPoint(let point)): "[\(point.latitude), \(point.longitude)]"
        // In quotes, so that no text is taken for `now()` or nothing at all.
        case .value(.string(let text)): YAMLText.isPlain(text) ? text : YAMLText.quoted(text)
        case .value(.list(let values)):
            "[\(values.compactMap { text(of: .value($0), type: type) }.joined(separator: ", "))]"
        case .value(let value): ScalarValue.text(value).map(YAMLText.scalar)
        }
    }

    private func text(of relationship: Relationship) -> String {
        var fields = YAMLText.Fields()
        fields.add(relationship.isToMany ? "toMany" : "to", relationship.destination)
        fields.add("inverse", relationship.inverse)
        if relationship.isOrdered { fields.add("ordered", "true") }
        if !relationship.isToMany, !relationship.isOptional { fields.add("optional", "false") }
        if relationship.deleteRule != .nullify { fields.add("delete", relationship.deleteRule.rawValue) }
        if relationship.minimumCount != 0 { fields.add("min", String(relationship.minimumCount)) }
        if relationship.maximumCount != 0 { fields.add("max", String(relationship.maximumCount)) }
        fields.add("renamedFrom", Self.text(ofFormerNames: relationship.formerNames))
        fields.add("documentation", relationship.documentation.map(YAMLText.scalar))
        if !relationship.userInfo.isEmpty { fields.add("userInfo", YAMLText.mapping(of: relationship.userInfo)) }
        return fields.text
    }
}

extension AttributeType {
    /// Whether the name by itself says everything.
    fileprivate var isPlain: Bool { AttributeType.namedInModelFiles.contains(self) }
}

/// Pieces of YAML text.
enum YAMLText {
    /// The pairs of a mapping on one line.
    struct Fields {
        private var parts: [String] = []
        var count: Int { parts.count }
        var text: String { "{\(parts.joined(separator: ", "))}" }
        mutating func add(_ key: String, _ value: String?) {
            if let value { parts.append("\(key): \(value)") }
        }
    }

    /// A text as a plain word if that reads back as the same, otherwise in quotes.
    static func scalar(_ text: String) -> String {
        isPlain(text) || isPlainNumber(text) || isCall(text) ? text : quoted(text)
    }

    /// A mapping of words to words in the order of the keys.
    static func mapping(of info: [String: String]) -> String {
        var fields = Fields()
        for (key, value) in info.sorted(by: { $0.key < $1.key }) { fields.add(scalar(key), scalar(value)) }
        return fields.text
    }

    /// Letters and digits in words with single spaces, dots and hyphens, and none of the words with a meaning.
    static func isPlain(_ text: String) -> Bool {
        text.wholeMatch(of: /[A-Za-z][A-Za-z0-9_.\-]*( [A-Za-z0-9_.\-]+)*/) != nil
            && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(text.lowercased())
    }

    private static func isPlainNumber(_ text: String) -> Bool {
        text.wholeMatch(of: /-?[0-9]+(\.[0-9]+)?([eE][+\-]?[0-9]+)?/) != nil
    }
    private static func isCall(_ text: String) -> Bool {
        text.wholeMatch(of: /[a-z]+\([A-Za-z0-9_.]*\)/) != nil && text != "now()" && text != "uuid()"
    }

    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            case _
            where scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) || scalar.value == 0xfeff
                || (0x2028...0x2029).contains(scalar.value):
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
