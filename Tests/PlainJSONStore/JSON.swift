import Foundation
import StrataRemote

/// JSON in which numbers keep their digits.
enum JSON: Sendable, Hashable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    var string: String? { if case .string(let text) = self { text } else { nil } }

    /// Reads JSON.
    init?(_ data: Data) {
        guard let any = try? JSONDecoder().decode(JSON.self, from: data) else { return nil }
        self = any
    }

    /// What a value of an attribute is on the wire.
    init(_ value: Value) {
        switch value {
        case .integer(let number): self = .number(String(number))
        case .double(let number): self = .number(String(number))
        case .date(let date): self = .number(String(date.timeIntervalSinceReferenceDate))
        case .boolean(let flag): self = .bool(flag)
        case .string(let text): self = .string(text)
        case .decimal(let number): self = .string(number.description)
        case .uuid(let id): self = .string(id.uuidString)
        case .uri(let url): self = .string(url.absoluteString)
        case .binary(let data): self = .string(data.base64EncodedString())
        case .geoPoint(let point): self = .array([.number(String(point.latitude)), .number(String(point.longitude))])
        default: self = .null
        }
    }

    /// The value of an attribute of a type.
    func value(_ type: AttributeType) -> Value {
        switch (self, type) {
        case (.null, _): .null
        case (.bool(let flag), _): .boolean(flag)
        case (.number(let digits), .date):
            Double(digits).map { .date(Date(timeIntervalSinceReferenceDate: $0)) } ?? .null
        case (.number(let digits), _) where type.isInteger: Int64(digits).map { .integer($0) } ?? .null
        case (.number(let digits), _): Double(digits).map { .double($0) } ?? .null
        case (.string(let text), .decimal): Decimal(string: text).map { .decimal($0) } ?? .null
        case (.string(let text), .uuid): UUID(uuidString: text).map { .uuid($0) } ?? .null
        case (.string(let text), .uri): URL(string: text).map { .uri($0) } ?? .null
        case (.string(let text), .binary), (.string(let text), .transformable):
            Data(base64Encoded: text).map { .binary($0) } ?? .null
        case (.string(let text), _): .string(text)
        case (.array(let pair), .geoPoint) where pair.count == 2: Self.point(pair[0], pair[1])
        default: .null
        }
    }

    private static func point(_ a: JSON, _ b: JSON) -> Value {
        guard case .number(let a) = a, case .number(let b) = b, let latitude = Double(a), let longitude = Double(b)
        else {
            return .null
        }
        return .geoPoint(GeoPoint(latitude: latitude, longitude: longitude))
    }

    /// The text on the wire.
    var text: String {
        switch self {
        case .null: "null"
        case .bool(let flag): flag ? "true" : "false"
        case .number(let digits): digits
        case .string(let text): Self.quoted(text)
        case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{"
                + members.sorted { $0.key < $1.key }.map { Self.quoted($0.key) + ":" + $0.value.text }.joined(
                    separator: ",")
                + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        (try? JSONEncoder().encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
    }
}

extension JSON: Decodable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .bool(flag)
        } else if let number = try? container.decode(Int64.self) {
            self = .number(String(number))
        } else if let number = try? container.decode(Double.self) {
            self = .number(String(number))
        } else if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let elements = try? container.decode([JSON].self) {
            self = .array(elements)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }
}
