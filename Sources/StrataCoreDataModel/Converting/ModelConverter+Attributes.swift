import Foundation
import StrataModel

extension ModelConverter {
    /// An attribute, or nil where Strata has no counterpart.
    mutating func attribute(_ attribute: CoreDataAttribute, of entity: CoreDataEntity) -> Attribute? {
        let subject = "\(entity.name).\(attribute.name)"
        guard let type = strataType(of: attribute, subject) else { return nil }
        var made = Attribute(mapping.property(attribute.name, of: entity.name) ?? attribute.name, type)
        made.location = location(attribute.source)
        made.isOptional = attribute.isOptional
        made.isTransient = attribute.isTransient
        made.formerNames = formerNames(attribute.elementID, name: attribute.name, of: entity)
        made.userInfo = attribute.userInfo
        if attribute.options.contains(.externalStorage) {
            made.allowsExternalStorage = attribute.type == .binary && !attribute.isTransient
        }
        let isComparable = ![.binary, .transformable, .composite].contains(attribute.type)
        made.isIndexed =
            attribute.options.contains(.indexed) && isComparable && type != .binary && !attribute.isTransient
        if let expression = attribute.derivation {
            if attribute.isTransient {
                warn(
                    attribute.source, "\(subject) is transient and derived; it becomes an ordinary transient attribute")
            } else if let derivation = derivation(expression, of: entity) {
                made.derivation = derivation
                return made
            } else {
                warn(
                    attribute.source,
                    "\(subject): Strata has no derivation '\(expression)'; it becomes an ordinary attribute")
            }
        }
        made.defaultValue = defaultValue(of: attribute, type, subject)
        made.rules = rules(of: attribute, type, subject)
        let unknown: [(CoreDataPropertyOptions, String)] = [
            (.cloudEncryption, "encryption in CloudKit"), (.preservedAfterDeletion, "values that outlive their object"),
            (.truthFile, "external record files"),
        ]
        for (option, text) in unknown where attribute.options.contains(option) {
            warn(attribute.source, "\(subject): Strata has no \(text); this is left out")
        }
        if attribute.versionHashModifier?.isEmpty == false {
            warn(attribute.source, "\(subject): Strata has no hash modifiers; it is left out")
        }
        return made
    }

    private mutating func strataType(of attribute: CoreDataAttribute, _ subject: String) -> AttributeType? {
        switch attribute.type {
        case .integer16: return .integer16
        case .integer32: return .integer32
        case .integer64: return .integer64
        case .decimal: return .decimal
        case .double: return .double
        case .float: return .float
        case .string: return .string
        case .boolean: return .boolean
        case .date: return .date
        case .binary: return .binary
        case .uuid: return .uuid
        case .uri: return .uri
        case .undefined, .objectID:
            warn(
                attribute.source,
                "\(subject) is of type \(attribute.type.name), which Strata does not have; it is left out")
            return nil
        case .transformable:
            var name = attribute.valueClassName ?? ""
            if name.hasPrefix(".") { name.removeFirst() }
            // Classes of Foundation are not Codable; the bytes of the archive are what can be kept.
            if !name.isEmpty, !name.hasPrefix("NS"), !name.hasPrefix("UI") { return .transformable(name) }
            if case .json(let custom) = transformables,
                Self.isArchiver(attribute.transformerName) || custom.contains(attribute.transformerName ?? "")
            {
                return .json(JSONType("ArchivedValue"))
            }
            warn(
                attribute.source,
                "\(subject) is transformable without a Swift type; it becomes binary data, the archive")
            return .binary
        case .composite:
            var budget = 1000
            let elements = self.elements(of: attribute.compositeName, prefix: "", subject, seen: [], budget: &budget)
            guard !elements.isEmpty else {
                warn(attribute.source, "\(subject): the composite type has no elements that Strata has; it is left out")
                return nil
            }
            return .composite(elements)
        }
    }

    /// Whether a value transformer is one of Foundation's, which make keyed archives.
    static func isArchiver(_ transformer: String?) -> Bool {
        let known = [
            "", "NSKeyedUnarchiveFromData", "NSKeyedUnarchiveFromDataTransformerName", "NSSecureUnarchiveFromData",
            "NSSecureUnarchiveFromDataTransformer", "NSSecureUnarchiveFromDataTransformerName",
        ]
        return known.contains(transformer ?? "")
    }

    /// The elements of a composite type. Those of inner composites get the outer name as a prefix.
    private mutating func elements(
        of name: String?, prefix: String, _ subject: String, seen: Set<String>, budget: inout Int
    ) -> [CompositeElement] {
        guard let name, let composite = model.compositeType(named: name), !seen.contains(name), seen.count < 32 else {
            return []
        }
        var found: [CompositeElement] = []
        for element in composite.attributes {
            budget -= 1
            guard budget >= 0 else { return found }
            var full =
                prefix.isEmpty ? element.name : prefix + element.name.prefix(1).uppercased() + element.name.dropFirst()
            if ReservedNames.words.contains(full) || ReservedNames.elements.contains(full) {
                warn(element.source, "\(subject).\(full): Strata's name is \(full)Element")
                full += "Element"
            }
            if element.type == .composite {
                warn(element.source, "\(subject): composites are not nested in Strata; elements get the prefix \(full)")
                found += elements(
                    of: element.compositeName, prefix: full, subject, seen: seen.union([name]), budget: &budget)
            } else if let type = strataType(of: element, "\(subject).\(full)") {
                found.append(CompositeElement(full, type, optional: element.isOptional))
            }
        }
        return found
    }

    private func derivation(_ expression: String, of entity: CoreDataEntity) -> Derivation? {
        let text = expression.trimmingCharacters(in: .whitespaces)
        if text == "now()" { return .now }
        for (prefix, make) in [
            ("canonical:(", Derivation.canonical), ("uppercase:(", Derivation.uppercase),
            ("lowercase:(", Derivation.lowercase),
        ] where text.hasPrefix(prefix) && text.hasSuffix(")") {
            return make(strataName(String(text.dropFirst(prefix.count).dropLast()), of: entity))
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        if parts.count == 2, parts[1] == "@count" { return .count(strataName(parts[0], of: entity)) }
        if parts.count == 3, parts[1] == "@sum" {
            let path = strataPath([parts[0], parts[2]], of: entity)
            return .sum(path[0], path[1])
        }
        guard parts.count > 1, parts.allSatisfy({ !$0.isEmpty && !$0.hasPrefix("@") && !$0.contains("(") }) else {
            return nil
        }
        return .path(strataPath(parts, of: entity))
    }

    /// The names of a key path in Strata, as far as it leads over relationships of the model.
    private func strataPath(_ parts: [String], of entity: CoreDataEntity) -> [String] {
        var made: [String] = []
        var place: CoreDataEntity? = entity
        for part in parts {
            guard let current = place else {
                made.append(part)
                continue
            }
            made.append(strataName(part, of: current))
            let relationship = model.lineage(of: current).lazy.flatMap(\.relationships).first { $0.name == part }
            place = relationship.flatMap { model.entity(named: $0.destination) }
        }
        return made
    }

    private mutating func defaultValue(
        of attribute: CoreDataAttribute, _ type: AttributeType, _ subject: String
    ) -> AttributeDefault? {
        var value: Value?
        switch attribute.defaultValue {
        case nil: return nil
        case .date(let seconds)?:
            if type == .date { value = .date(Date(timeIntervalSinceReferenceDate: seconds)) }
        case .binary(let bytes)?: if type == .binary { value = .binary(Data(bytes)) }
        case .text(let text)?: value = Self.value(text, type)
        }
        guard let value else {
            warn(attribute.source, "\(subject): the default is not a value of type \(type.name); it is left out")
            return nil
        }
        return .value(value)
    }

    /// The value that a text of a model file stands for; nil if it stands for none of the type.
    static func value(_ text: String, _ type: AttributeType) -> Value? {
        // Left over where somebody changed the type of a Boolean.
        let number = text == "NO" ? "0" : text == "YES" ? "1" : text
        switch type {
        case .integer16, .integer32, .integer64, .integer:
            return (Int64(number) ?? Double(number).flatMap { Int64(exactly: $0) }).map(Value.integer)
        case .double, .float:
            guard let parsed = Double(number), parsed.isFinite else { return nil }
            return .double(parsed)
        case .decimal: return Decimal(string: number, locale: Locale(identifier: "en_US_POSIX")).map(Value.decimal)
        case .boolean:
            switch text.lowercased() {
            case "yes", "true", "1": return .boolean(true)
            case "no", "false", "0": return .boolean(false)
            default: return nil
            }
        case .string: return .string(text)
        case .uuid: return UUID(uuidString: text).map(Value.uuid)
        case .uri: return URL(string: text).map(Value.uri)
        default: return nil
        }
    }

    private mutating func rules(
        of attribute: CoreDataAttribute, _ type: AttributeType, _ subject: String
    ) -> ValidationRules {
        let stated = attribute.validation
        var rules = ValidationRules()
        if type.isNumeric {
            rules.minimum = stated.minimum.flatMap { Self.value($0, type) }
            rules.maximum = stated.maximum.flatMap { Self.value($0, type) }
        } else if type == .string || type == .binary {
            rules.minimumLength = stated.minimum.flatMap { Int($0) }
            rules.maximumLength = stated.maximum.flatMap { Int($0) }
            if type == .string, let pattern = stated.pattern, !pattern.isEmpty { rules.pattern = pattern }
        } else if type == .date {
            rules.minimum = stated.minimumDate.map { Value.date(Date(timeIntervalSinceReferenceDate: $0)) }
            rules.maximum = stated.maximumDate.map { Value.date(Date(timeIntervalSinceReferenceDate: $0)) }
        }
        for (text, isKept) in [
            (stated.minimum, rules.minimum != nil || rules.minimumLength != nil),
            (stated.maximum, rules.maximum != nil || rules.maximumLength != nil),
        ] {
            if let text, !text.isEmpty, !isKept {
                warn(
                    attribute.source, "\(subject): the bound '\(text)' is not one for type \(type.name); it is left out"
                )
            }
        }
        return rules
    }

    mutating func indexes(of entity: CoreDataEntity) -> [Index] {
        var made: [Index] = []
        var seen: Set<Index> = []
        func add(_ index: Index) {
            if seen.insert(Index(index.properties, kind: index.kind, location: nil)).inserted { made.append(index) }
        }
        for index in entity.indexes {
            let subject = "\(entity.name), index \(index.name ?? "")"
            if index.predicate != nil {
                warn(index.source, "\(subject): Strata's indexes have no condition; it covers all objects")
            }
            guard index.elements.allSatisfy({ $0.property != nil && $0.kind != "RTree" }) else {
                warn(index.source, "\(subject): Strata has no such expressions and R-trees; the index is left out")
                continue
            }
            let names = index.elements.map { ($0.isDescending ? "-" : "") + strataName($0.property ?? "", of: entity) }
            add(Index(names, kind: .ordered, location: location(index.source)))
        }
        for constraint in entity.uniquenessConstraints {
            let names = constraint.map { strataName($0, of: entity) }
            add(Index(names, kind: .unique, location: location(entity.source)))
        }
        return made
    }

    private func strataName(_ name: String, of entity: CoreDataEntity) -> String {
        for owner in model.lineage(of: entity) {
            if let found = mapping.property(name, of: owner.name) { return found }
        }
        return name
    }
}
