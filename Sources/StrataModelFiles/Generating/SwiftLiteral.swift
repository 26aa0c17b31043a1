import Foundation
import StrataModel

/// Values and declarations as Swift expressions.
enum SwiftLiteral {
    static func string(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7f || scalar.properties.generalCategory == .format:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    static func strings(_ texts: [String]) -> String { "[\(texts.map(string).joined(separator: ", "))]" }

    static func dictionary(_ info: [String: String]) -> String {
        if info.isEmpty { return "[:]" }
        return
            "[\(info.sorted { $0.key < $1.key }.map { "\(string($0.key)): \(string($0.value))" }.joined(separator: ", "))]"
    }

    static func double(_ number: Double) -> String {
        if number.isNaN { return "Double.nan" }
        if number.isInfinite { return number < 0 ? "-Double.infinity" : "Double.infinity" }
        return String(number)
    }

    /// The value as an expression of the Swift type of an attribute; nil if it has no literal.
    static func native(_ value: Value, of attribute: AttributeDescription) -> String? {
        let literal = native(value, as: attribute.type)
        guard let enumeration = attribute.declaration.enumeration, let literal else { return literal }
        if let item = enumeration.cases.first(where: { $0.rawValue == value }) {
            return "\(enumeration.name).\(GeneratedNames.escaped(item.name))"
        }
        return "\(enumeration.name)(rawValue: \(literal)) ?? .zeroValue"
    }

    /// The value as an expression of the Swift type of a type; nil if it has no literal.
    static func native(_ value: Value, as type: AttributeType) -> String? {
        switch (value, type) {
        case (.integer(let number), .decimal): "Decimal(\(number))"
        case (.integer(let number), _): String(number)
        case (.double(let number), .decimal): native(.decimal(Decimal(number)), as: type)
        case (.double(let number), .float):
            number.isFinite ? double(number) : double(number).replacing("Double", with: "Float")
        case (.double(let number), _): double(number)
        case (.boolean(let flag), _): String(flag)
        case (.string(let text), _): string(text)
        case (.decimal, _), (.date, _), (.binary, _), (.uuid, _), (.uri, _), (.geoPoint, _): content(value)
        default: nil
        }
    }

    /// The value as an expression of type `Value`.
    static func value(_ value: Value) -> String {
        switch value {
        case .null: ".null"
        case .integer(let number): ".integer(\(number))"
        case .double(let number): ".double(\(double(number)))"
        case .string(let text): ".string(\(string(text)))"
        case .boolean(let flag): ".boolean(\(flag))"
        case .object(let key): ".object(\(key))"
        case .decimal, .date, .binary, .uuid, .uri, .geoPoint: ".\(value.kind)(\(content(value)))"
        case .composite(let values):
            ".composite([\(values.sorted { $0.key < $1.key }.map { "\(string($0.key)): \(self.value($0.value))" }.joined(separator: ", "))])"
        case .list(let values): ".list([\(values.map(self.value).joined(separator: ", "))])"
        case .set(let values): ".set(ValueSet([\(values.members.map(self.value).joined(separator: ", "))]))"
        }
    }

    private static func content(_ value: Value) -> String {
        switch value {
        case .decimal(let number): "Decimal(string: \(string(number.description)))!"
        case .date(let date): "Date(timeIntervalSinceReferenceDate: \(double(date.timeIntervalSinceReferenceDate)))"
        case .binary(let data): "Data(base64Encoded: \(string(data.base64EncodedString())))!"
        case .uuid(let uuid): "UUID(uuidString: \(string(uuid.uuidString)))!"
        case .uri(let uri): "URL(string: \(string(uri.absoluteString)))!"
        case .geoPoint(let point):
            "GeoPoint(latitude: \(double(point.latitude)), longitude: \(double(point.longitude)))"
        default: ""
        }
    }

    static func type(_ type: AttributeType) -> String {
        switch type {
        case .transformable(let name): ".transformable(\(string(name)))"
        case .json(let type): ".json(\(json(type)))"
        case .array(let element): ".array(\(self.type(element)))"
        case .composite(let elements):
            ".composite([\(elements.map(element).joined(separator: ", "))])"
        default: ".\(type.name)"
        }
    }

    private static func element(_ element: CompositeElement) -> String {
        "CompositeElement(\(string(element.name)), \(type(element.type))\(element.isOptional ? ", optional: true" : "")\(element.enumeration.map { ", enumeration: \(enumeration($0, element.type))" } ?? ""))"
    }

    /// The compiler checks that the raw values are of the type of the attribute.
    static func enumeration(_ enumeration: EnumerationType, _ type: AttributeType) -> String {
        "EnumerationType(\(enumeration.name).self, name: \(string(enumeration.name)), "
            + "rawValues: \(type.swiftType(attribute: "")).self)"
    }

    private static func json(_ type: JSONType) -> String {
        let members = type.members.map { member in
            "JSONMember(\(string(member.name)), \(self.type(member.type))\(member.isOptional ? ", optional: true" : "")\(member.isList ? ", list: true" : ""))"
        }
        return
            "JSONType(\(string(type.name))\(members.isEmpty ? "" : ", members: [\(members.joined(separator: ", "))]"))"
    }
}
