import Foundation
import StrataRemote

/// How values of attributes are in JSON.
enum AttributeJSON {
    /// The JSON of a value.
    static func json(_ value: Value) -> JSONValue {
        switch value {
        case .integer(let number): .integer(number)
        case .double(let number): .double(number)
        case .date(let date): .double(date.timeIntervalSinceReferenceDate)
        case .boolean(let flag): .boolean(flag)
        case .string(let text): .string(text)
        case .decimal(let number): .decimal(number)
        case .uuid(let id): .string(id.uuidString)
        case .uri(let url): .string(url.absoluteString)
        case .binary(let data): .string(data.base64EncodedString())
        case .geoPoint(let point): [.double(point.latitude), .double(point.longitude)]
        default: .null
        }
    }

    /// The value of an attribute of a type.
    static func value(_ json: JSONValue, _ type: AttributeType) -> Value {
        switch (json, type) {
        case (_, .date): json.double.map { .date(Date(timeIntervalSinceReferenceDate: $0)) } ?? .null
        case (_, .decimal): json.decimal.map { .decimal($0) } ?? .null
        case (_, _) where type.isInteger: json.integer.map { .integer($0) } ?? .null
        case (_, _) where type.isNumeric: json.double.map { .double($0) } ?? .null
        case (.boolean(let flag), _): .boolean(flag)
        case (.string(let text), .uuid): UUID(uuidString: text).map { .uuid($0) } ?? .null
        case (.string(let text), .uri): URL(string: text).map { .uri($0) } ?? .null
        case (.string(let text), .binary), (.string(let text), .transformable):
            Data(base64Encoded: text).map { .binary($0) } ?? .null
        case (.string(let text), _): .string(text)
        case (.array(let pair), .geoPoint) where pair.count == 2: point(pair[0], pair[1])
        default: .null
        }
    }

    private static func point(_ a: JSONValue, _ b: JSONValue) -> Value {
        guard let latitude = a.double, let longitude = b.double else { return .null }
        return .geoPoint(GeoPoint(latitude: latitude, longitude: longitude))
    }
}
