import Foundation
import StrataModel
import Yams

extension ModelFileReader {
    /// The text of a scalar.
    func text(_ node: Node, _ what: String) -> String? {
        guard let scalar = node.scalar, !isNull(node) else {
            fault("\(what) is a text, not \(kind(of: node))", node)
            return nil
        }
        return scalar.string
    }

    /// A truth value; false if it is left out.
    func flag(_ node: Node?, _ what: String) -> Bool {
        guard let node else { return false }
        switch node.scalar?.string {
        case "true": return true
        case "false": return false
        default:
            fault("'\(what)' is true or false, not \(kind(of: node))", node)
            return false
        }
    }

    /// A count or a length.
    func wholeNumber(_ node: Node, _ what: String) -> Int? {
        guard let text = node.scalar?.string, let number = Int(text.replacing("_", with: "")) else {
            fault("'\(what)' is a whole number, not \(kind(of: node))", node)
            return nil
        }
        return number
    }

    /// One of the cases of an enumeration.
    func choice<T: RawRepresentable & CaseIterable>(_ node: Node, _: T.Type, _ what: String) -> T?
    where T.RawValue == String {
        if let value = node.scalar.flatMap({ T(rawValue: $0.string) }) { return value }
        let names = T.allCases.map(\.rawValue)
        let suggestion = Spelling.suggestion(for: node.scalar?.string ?? "", in: names)
        fault("'\(what)' is one of \(names.joined(separator: ", ")), not \(kind(of: node))\(suggestion)", node)
        return nil
    }

    /// A word, or a list of words.
    func words(_ node: Node, _ what: String) -> [String]? {
        if node.scalar != nil { return text(node, what).map { [$0] } }
        guard let sequence = node.sequence else {
            fault("\(what) is a name or a list of names, not \(kind(of: node))", node)
            return nil
        }
        return sequence.compactMap { text($0, "a name") }
    }

    /// A value of an attribute of a type.
    func value(_ node: Node, of type: AttributeType) -> Value? {
        if type == .geoPoint { return geoPoint(node) }
        if case .array(let element) = type { return list(node, element) }
        guard let scalar = node.scalar, !isNull(node) else {
            fault("a value of type \(type.name) is a single word or number, not \(kind(of: node))", node)
            return nil
        }
        if let value = ScalarValue.value(scalar.string, of: type) { return value }
        fault("'\(scalar.string)' is not a value of type \(type.name)\(ScalarValue.hint(for: type))", node)
        return nil
    }

    private func list(_ node: Node, _ element: AttributeType) -> Value? {
        guard let sequence = node.sequence else {
            fault("a value of type array is a list, as in [a, b], not \(kind(of: node))", node)
            return nil
        }
        let values = sequence.compactMap { value($0, of: element) }
        return values.count == sequence.count ? .list(values) : nil
    }

    private func geoPoint(_ node: Node) -> Value? {
        guard let sequence = node.sequence, sequence.count == 2,
            let latitude = sequence[0].scalar.flatMap({ Double($0.string) }),
            let longitude = sequence[1].scalar.flatMap({ Double($0.string) })
        else {
            fault("a geoPoint is written [latitude, longitude] in degrees", node)
            return nil
        }
        return .geoPoint(GeoPoint(latitude: latitude, longitude: longitude))
    }
}

/// Values of attributes as words in model files. What ``text(_:)`` writes, ``value(_:of:)`` reads.
package enum ScalarValue {
    static func value(_ text: String, of type: AttributeType) -> Value? {
        switch type {
        case .integer16, .integer32, .integer64, .integer, .double, .float, .decimal:
            number(text, decimal: type == .decimal)
        case .string: .string(text)
        case .boolean: text == "true" ? .boolean(true) : text == "false" ? .boolean(false) : nil
        case .date: date(text).map(Value.date)
        case .binary, .transformable: Data(base64Encoded: text).map(Value.binary)
        case .uuid: UUID(uuidString: text).map(Value.uuid)
        case .uri: text.isEmpty ? nil : URL(string: text).map(Value.uri)
        case .geoPoint, .composite, .json, .array: nil
        }
    }

    static func hint(for type: AttributeType) -> String {
        switch type {
        case .date: "; write 2001-01-31, 2001-01-31T12:00:00Z, or seconds since 2001-01-01 00:00 UTC"
        case .binary, .transformable: "; write base64"
        case .boolean: "; write true or false"
        default: ""
        }
    }

    /// Whole numbers are integers for all types, so that `min: 0` means the same everywhere.
    private static func number(_ text: String, decimal: Bool) -> Value? {
        let digits = text.replacing("_", with: "")
        if let whole = Int64(digits) { return .integer(whole) }
        guard digits.contains(/^[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?$/) || ["inf", "-inf"].contains(digits) else {
            return nil
        }
        if decimal { return Decimal(string: digits, locale: Locale(identifier: "en_US_POSIX")).map(Value.decimal) }
        return Double(digits).map(Value.double)
    }

    static func date(_ text: String) -> Date? {
        if let seconds = Double(text) { return Date(timeIntervalSinceReferenceDate: seconds) }
        if text.contains(/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/) { return try? Date(text + "T00:00:00Z", strategy: .iso8601) }
        return (try? Date(text, strategy: .iso8601))
            ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }

    /// The shortest word that reads back to the same value. Nil for values that are not a word.
    package static func text(_ value: Value) -> String? {
        switch value {
        case .integer(let number): return String(number)
        case .double(let number): return String(number)
        case .decimal(let number): return number.description
        case .string(let text): return text
        case .boolean(let flag): return String(flag)
        case .date(let date):
            let iso = date.formatted(.iso8601)
            return Self.date(iso) == date ? iso : String(date.timeIntervalSinceReferenceDate)
        case .binary(let data): return data.base64EncodedString()
        case .uuid(let uuid): return uuid.uuidString
        case .uri(let uri): return uri.absoluteString
        case .geoPoint, .null, .composite, .object, .list, .set: return nil
        }
    }
}
