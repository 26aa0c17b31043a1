import Foundation

/// An attribute of a ``ModelRecord``. It has one of the stored properties for each thing that an attribute can declare.
package struct AttributeRecord: Codable, Sendable, Hashable {
    package var name: String
    var type: TypeRecord
    var optional: Bool?
    var transient: Bool?
    var initial: String?
    var derived: String?
    var rules: [String: String]?
    var enumeration: EnumerationRecord?
    var indexed: Bool?
    var unique: Bool?
    var external: Bool?
    var history: Bool?
    var renamedFrom: [String]?

    init(_ attribute: Attribute) {
        name = attribute.name
        type = TypeRecord(attribute.type)
        optional = attribute.isOptional ? true : nil
        transient = attribute.isTransient ? true : nil
        initial = attribute.defaultValue.map(ValueRecord.text(of:))
        derived = attribute.derivation.map(Self.text)
        rules = Self.rules(of: attribute.rules)
        enumeration = attribute.enumeration.map(EnumerationRecord.init)
        indexed = attribute.isIndexed ? true : nil
        unique = attribute.isUnique ? true : nil
        external = attribute.allowsExternalStorage ? true : nil
        history = attribute.isPreservedInHistory ? true : nil
        renamedFrom = attribute.formerNames.nilIfEmpty
    }

    /// The attribute that the record describes.
    /// - Throws: What cannot be understood: to leave it out, or to take it for something else, would lose it.
    func declaration(of entity: String) throws(UnknownDeclaration) -> Attribute {
        func known<T>(_ value: T?, _ what: String) throws(UnknownDeclaration) -> T {
            guard let value else { throw UnknownDeclaration(entity: entity, property: name, declaration: what) }
            return value
        }
        var result = Attribute(
            name, try known(type.type, "the type \(type.unknownName ?? type.name)"), optional: optional ?? false)
        result.isTransient = transient ?? false
        if let initial {
            result.defaultValue = try known(ValueRecord.defaultValue(of: initial), "the default \(initial)")
        }
        if let derived { result.derivation = try known(Self.derivation(derived), "the derivation \(derived)") }
        result.rules = try known(Self.rules(rules ?? [:]), "one of the rules \((rules ?? [:]).keys.sorted())")
        if let enumeration {
            result.enumeration = try known(enumeration.type, "a case of the enumeration \(enumeration.name)")
        }
        result.isIndexed = indexed ?? false
        result.isUnique = unique ?? false
        result.allowsExternalStorage = external ?? false
        result.isPreservedInHistory = history ?? false
        result.formerNames = renamedFrom ?? []
        result.location = nil
        return result
    }

    private static func rules(of rules: ValidationRules) -> [String: String]? {
        var result: [String: String] = [:]
        result["minimum"] = rules.minimum.map(ValueRecord.text(of:))
        result["maximum"] = rules.maximum.map(ValueRecord.text(of:))
        result["minimumLength"] = rules.minimumLength.map(String.init)
        result["maximumLength"] = rules.maximumLength.map(String.init)
        result["pattern"] = rules.pattern
        return result.isEmpty ? nil : result
    }

    /// nil if there is a rule that is not known, or cannot be read.
    private static func rules(_ texts: [String: String]) -> ValidationRules? {
        let result = ValidationRules(
            minimum: texts["minimum"].flatMap(ValueRecord.value(of:)),
            maximum: texts["maximum"].flatMap(ValueRecord.value(of:)),
            minimumLength: texts["minimumLength"].flatMap { Int($0) },
            maximumLength: texts["maximumLength"].flatMap { Int($0) }, pattern: texts["pattern"])
        return Set((rules(of: result) ?? [:]).keys) == Set(texts.keys) ? result : nil
    }

    private static func text(_ derivation: Derivation) -> String {
        switch derivation {
        case .lowercase(let source): "lowercase \(source)"
        case .uppercase(let source): "uppercase \(source)"
        case .canonical(let source): "canonical \(source)"
        case .now: "now"
        case .count(let relationship): "count \(relationship)"
        case .sum(let relationship, let attribute): "sum \(relationship) \(attribute)"
        case .path(let path): "path " + path.joined(separator: " ")
        }
    }

    private static func derivation(_ text: String) -> Derivation? {
        let words = text.split(separator: " ").map(String.init)
        guard let kind = words.first else { return nil }
        let rest = Array(words.dropFirst())
        switch (kind, rest.count) {
        case ("lowercase", 1): return .lowercase(rest[0])
        case ("uppercase", 1): return .uppercase(rest[0])
        case ("canonical", 1): return .canonical(rest[0])
        case ("now", 0): return .now
        case ("count", 1): return .count(rest[0])
        case ("sum", 2): return .sum(rest[0], rest[1])
        case ("path", 1...): return .path(rest)
        default: return nil
        }
    }
}

/// The type of an attribute in a ``ModelRecord``. Swift types that only determine how a value is decoded are given by
/// name.
package struct TypeRecord: Codable, Sendable, Hashable {
    var name: String
    var swiftType: String?
    var elements: [ElementRecord]?
    /// The type of an array's elements; one.
    var element: [TypeRecord]?

    struct ElementRecord: Codable, Sendable, Hashable {
        var name: String
        var type: TypeRecord
        var optional: Bool?
        var enumeration: EnumerationRecord?
    }

    init(_ type: AttributeType) {
        name = type.name
        switch type {
        case .transformable(let swift): swiftType = swift
        case .json(let json): swiftType = json.name
        case .array(let type): element = [TypeRecord(type)]
        case .composite(let list):
            elements = list.map {
                ElementRecord(
                    name: $0.name, type: TypeRecord($0.type), optional: $0.isOptional ? true : nil,
                    enumeration: $0.enumeration.map(EnumerationRecord.init))
            }.sorted { ModelRecord.precedes($0.name, $1.name) }
        default: break
        }
    }

    /// The type; nil if this version of Strata does not know it, or a part of it.
    var type: AttributeType? {
        switch name {
        case "transformable": return .transformable(swiftType ?? "")
        case "json": return .json(JSONType(swiftType ?? "JSON"))
        case "array": return element?.first?.type.map(AttributeType.array)
        case "composite":
            var result: [CompositeElement] = []
            for element in elements ?? [] {
                guard let type = element.type.type else { return nil }
                let enumeration = element.enumeration?.type
                if enumeration == nil, element.enumeration != nil { return nil }
                result.append(
                    CompositeElement(
                        element.name, type, optional: element.optional ?? false, enumeration: enumeration))
            }
            return .composite(result)
        default: return Self.plain[name]
        }
    }

    /// The name that makes the type an unknown one, with where in the type it stands; nil if it is known.
    var unknownName: String? {
        guard type == nil else { return nil }
        switch name {
        case "array":
            guard let inner = element?.first else { return "array without the type of its elements" }
            return inner.unknownName.map { "array of \($0)" }
        case "composite":
            for element in elements ?? [] {
                if let unknown = element.type.unknownName { return "\(unknown) of the element \(element.name)" }
            }
            return name
        default: return name
        }
    }

    /// The type with the given name, if the name determines it; nil if this version of Strata does not know it.
    package static func type(named name: String) -> AttributeType? {
        switch name {
        case "transformable": .transformable("Data")
        case "json": .json(JSONType("JSON"))
        case "array": .array(.string)
        default: plain[name]
        }
    }

    private static let plain: [String: AttributeType] = Dictionary(
        uniqueKeysWithValues: [
            AttributeType.integer16, .integer32, .integer64, .integer, .decimal, .double, .float, .string, .boolean,
            .date, .binary, .uuid, .uri, .geoPoint,
        ].map { ($0.name, $0) })
}

/// An enumeration in a ``ModelRecord``.
struct EnumerationRecord: Codable, Sendable, Hashable {
    var name: String
    /// Name and raw value of each case.
    var cases: [[String]]?

    init(_ type: EnumerationType) {
        name = type.name
        cases = type.cases.map { [$0.name, ValueRecord.text(of: $0.rawValue)] }.nilIfEmpty
    }

    /// The enumeration; nil if one of its cases cannot be read.
    var type: EnumerationType? {
        var result: [EnumerationCase] = []
        for pair in cases ?? [] {
            guard pair.count == 2, let value = ValueRecord.value(of: pair[1]) else { return nil }
            result.append(EnumerationCase(pair[0], value))
        }
        return EnumerationType(name, cases: result)
    }
}

/// Values as text: the kind, a colon, the value.
package enum ValueRecord {
    /// The text of a default.
    static func text(of value: AttributeDefault) -> String {
        switch value {
        case .value(let value): text(of: value)
        case .now: "now"
        case .newUUID: "newUUID"
        }
    }

    /// The default of a text.
    static func defaultValue(of text: String) -> AttributeDefault? {
        switch text {
        case "now": .now
        case "newUUID": .newUUID
        default: value(of: text).map(AttributeDefault.value)
        }
    }

    /// The text of a value; composites, which have none, are nil.
    package static func text(of value: Value) -> String {
        let text =
            switch value {
            case .integer(let number): String(number)
            case .double(let number): String(number)
            case .decimal(let number): number.description
            case .string(let text): text
            case .boolean(let flag): String(flag)
            case .date(let date): String(date.timeIntervalSinceReferenceDate)
            case .binary(let data): data.base64EncodedString()
            case .uuid(let uuid): uuid.uuidString
            case .uri(let uri): uri.absoluteString
            case .geoPoint(let point): "\(point.latitude) \(point.longitude)"
            case .list(let elements):
                // Encoding strings does not fail.
                (try? JSONEncoder().encode(elements.map { Self.text(of: $0) })).map {
                    String(decoding: $0, as: UTF8.self)
                } ?? ""
            default: ""
            }
        return "\(value.kind):\(text)"
    }

    /// The value of a text; nil if it cannot be read.
    package static func value(of record: String) -> Value? {
        guard let colon = record.firstIndex(of: ":") else { return nil }
        let text = String(record[record.index(after: colon)...])
        switch record[..<colon] {
        case "integer": return Int64(text).map(Value.integer)
        case "double": return Double(text).map(Value.double)
        case "decimal": return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")).map(Value.decimal)
        case "string": return .string(text)
        case "boolean": return .boolean(text == "true")
        case "date": return Double(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case "binary": return Data(base64Encoded: text).map(Value.binary)
        case "uuid": return UUID(uuidString: text).map(Value.uuid)
        case "uri": return URL(string: text).map(Value.uri)
        case "geoPoint":
            let numbers = text.split(separator: " ").compactMap { Double($0) }
            return numbers.count == 2 ? .geoPoint(GeoPoint(latitude: numbers[0], longitude: numbers[1])) : nil
        case "list":
            let records = try? JSONDecoder().decode([String].self, from: Data(text.utf8))
            let elements = records?.compactMap(value)
            return elements?.count == records?.count ? elements.map(Value.list) : nil
        // These have no text.
        case "nil", "composite", "object", "set": return .null
        default: return nil
        }
    }
}
