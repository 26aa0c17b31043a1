import Foundation

extension ModelChecker {
    mutating func checkAttribute(_ attribute: Attribute, of entity: Entity) {
        checkType(of: attribute, of: entity)
        if let enumeration = attribute.enumeration {
            checkEnumeration(enumeration, attribute.type, of: attribute, of: entity)
        }
        checkReference(attribute, of: entity)
        checkFlags(of: attribute, of: entity)
        let rulesAreSound = checkRules(of: attribute, of: entity)
        checkDefault(of: attribute, of: entity, againstRules: rulesAreSound)
        if let derivation = attribute.derivation { checkDerivation(derivation, of: attribute, of: entity) }
    }

    private mutating func checkType(of attribute: Attribute, of entity: Entity) {
        switch attribute.type {
        case .transformable(let name) where name.allSatisfy(\.isWhitespace):
            report(entity, attribute, "a transformable names its Swift type")
        case .json(let type): checkJSON(type, of: attribute, of: entity)
        case .array(let element) where !element.isElement:
            report(
                entity, attribute,
                "an array cannot have elements of type \(element.name); they are strings, truth values, whole and "
                    + "floating-point numbers; for others use type json with a Codable type")
        case .composite(let elements):
            if elements.isEmpty { report(entity, attribute, "a composite has at least one element") }
            var seen: Set<String> = []
            for element in elements {
                if let fault = Self.faultOfPropertyName(element.name) {
                    report(entity, attribute, "element \(element.name): \(fault)")
                }
                if !seen.insert(element.name).inserted {
                    report(entity, attribute, "the element \(element.name) is declared twice; rename one of them")
                }
                if let enumeration = element.enumeration {
                    checkEnumeration(enumeration, element.type, of: attribute, of: entity)
                }
                if element.type.isJSON {
                    report(
                        entity, attribute,
                        "the element \(element.name) is of type \(element.type.name); make it an attribute of its own")
                }
                if case .composite = element.type {
                    report(
                        entity, attribute,
                        "the element \(element.name) is a composite itself; composites are not nested")
                }
                if case .transformable(let name) = element.type, name.allSatisfy(\.isWhitespace) {
                    report(entity, attribute, "the element \(element.name) is a transformable and names no Swift type")
                }
            }
        default: break
        }
    }

    private mutating func checkFlags(of attribute: Attribute, of entity: Entity) {
        if attribute.isTransient, attribute.derivation != nil {
            report(
                entity, attribute,
                "is transient and derived; a derived attribute is computed by the store, so remove one of the two")
        }
        if !attribute.hasColumn, attribute.isUnique || attribute.isIndexed {
            report(
                entity, attribute,
                "is not kept by the store, which cannot \(attribute.isUnique ? "make it unique" : "index it"); remove the index"
            )
        } else if attribute.isUnique, let advice = Self.unfitness(of: attribute.type, for: .unique) {
            report(entity, attribute, "cannot be unique: \(advice)")
        } else if attribute.isIndexed, attribute.type != .geoPoint,
            let advice = Self.unfitness(of: attribute.type, for: .ordered)
        {
            report(entity, attribute, "cannot be indexed: \(advice)")
        }
        if attribute.allowsExternalStorage {
            if attribute.type != .binary {
                report(
                    entity, attribute,
                    "is of type \(attribute.type.name); only binary data can be stored in external files")
            } else if attribute.isTransient {
                report(entity, attribute, "is transient; nothing of it is stored, so remove the external storage")
            }
        }
        if attribute.isPreservedInHistory {
            if !attribute.hasColumn {
                report(entity, attribute, "is not kept by the store, so that history has no old values of it")
            } else if attribute.allowsExternalStorage {
                report(
                    entity, attribute,
                    "may be stored in external files, which history does not keep; remove the external storage, or the "
                        + "preserved values")
            }
        }
    }

    // MARK: Rules

    private mutating func checkRules(of attribute: Attribute, of entity: Entity) -> Bool {
        let rules = attribute.rules
        let type = attribute.type
        let before = found.count
        for (name, bound) in [("minimum", rules.minimum), ("maximum", rules.maximum)] {
            guard let bound else { continue }
            if !type.isNumeric, type != .date {
                report(entity, attribute, "a \(name) is for numbers and dates, not for \(type.name)")
            } else if type == .date ? bound.kind != "date" : bound.number == nil {
                report(entity, attribute, "the \(name) \(bound) is not a \(type == .date ? "date" : "number")")
            }
        }
        if rules.minimumLength != nil || rules.maximumLength != nil, type != .string, type != .binary,
            type.element == nil
        {
            report(entity, attribute, "a length is for strings, binary data and arrays, not for \(type.name)")
        }
        if rules.pattern != nil, type != .string {
            report(entity, attribute, "a regular expression is for strings, not for \(type.name)")
        }
        if before == found.count, let minimum = rules.minimum, let maximum = rules.maximum,
            minimum.isAbove(maximum)
        {
            report(entity, attribute, "the minimum \(minimum) is above the maximum \(maximum)")
        }
        for length in [rules.minimumLength, rules.maximumLength] {
            if let length, length < 0 { report(entity, attribute, "the length \(length) is negative") }
        }
        if let minimum = rules.minimumLength, let maximum = rules.maximumLength, minimum > maximum {
            report(entity, attribute, "the minimum length \(minimum) is above the maximum length \(maximum)")
        }
        if let pattern = rules.pattern {
            do throws(PatternFault) {
                _ = try TextPattern(pattern)
            } catch {
                report(
                    entity, attribute,
                    "'\(pattern)' is not a regular expression: at position \(error.position) \(error.reason)")
            }
        }
        switch attribute.derivation {
        case .count, .sum, .path:
            if !rules.isEmpty {
                report(
                    entity, attribute,
                    "is computed when an object is read, so its rules are never checked at a save; remove them")
            }
        default: break
        }
        return before == found.count
    }

    // MARK: Default

    private mutating func checkDefault(of attribute: Attribute, of entity: Entity, againstRules: Bool) {
        guard let defaultValue = attribute.defaultValue else { return }
        if attribute.derivation != nil {
            report(entity, attribute, "is derived and always has its computed value; remove the default")
            return
        }
        switch (defaultValue, attribute.type) {
        case (.now, .date), (.newUUID, .uuid): break
        case (.newUUID, .string):
            if againstRules, let broken = attribute.rules.violation(by: .string(UUID().uuidString)) {
                report(entity, attribute, "a new UUID as text \(broken)")
            }
        case (.now, _):
            report(entity, attribute, "the time of insertion is a default for dates, not for \(attribute.type.name)")
        case (.newUUID, _):
            report(entity, attribute, "a new UUID is a default for uuid and string, not for \(attribute.type.name)")
        case (.value, .composite):
            report(entity, attribute, "a composite has no default; make it or its elements optional")
        case (.value, .json):
            report(entity, attribute, "JSON has no default in the model; give it a value when an object is inserted")
        case (.value(.null), _):
            report(entity, attribute, "nil is not a default: omit the default, and make the attribute optional")
        case (.value(let value), let type):
            if !type.accepts(value) {
                report(entity, attribute, "the default \(value) is \(value.unfitness(for: type))")
            } else if againstRules, let broken = attribute.rules.violation(by: value) {
                report(entity, attribute, "the default \(value) \(broken)")
            } else if let enumeration = attribute.enumeration, !enumeration.contains(value) {
                let word = if case .string(let text) = value { text } else { "\(value)" }
                let suggestion = Spelling.suggestion(for: word, in: enumeration.cases.map(\.name))
                report(entity, attribute, "the default \(value) is not a case of \(enumeration.name)\(suggestion)")
            }
        }
    }
}
