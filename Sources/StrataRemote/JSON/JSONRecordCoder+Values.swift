import Foundation
import StrataStore

extension JSONRecordCoder {
    /// The JSON of an attribute's value, for conditions, say.
    /// - Parameter type: The type of the attribute.
    /// - Returns: nil for what has no form in JSON: numbers that are not finite, and dates beyond the format.
    public func json(_ value: Value, _ type: AttributeType) -> JSONValue? {
        switch (type, value) {
        case (_, .null): .null
        case (_, _) where type.isJSON: JSONValue(content: value)
        case (.boolean, .integer(let number)): .boolean(number != 0)
        case (_, .integer(let number)): .integer(number)
        case (_, .double(let number)): number.isFinite ? .double(number) : nil
        case (_, .decimal(let number)): number.isNaN ? nil : .string("\(number)")
        case (_, .string(let text)): .string(text)
        case (_, .boolean(let flag)): .boolean(flag)
        case (_, .date(let date)): json(date)
        case (_, .binary(let data)): .string(data.base64EncodedString())
        case (_, .uuid(let uuid)): .string(uuid.uuidString)
        case (_, .uri(let url)): .string(url.absoluteString)
        case (_, .geoPoint(let point)): [.double(point.latitude), .double(point.longitude)]
        case (.composite(let elements), .composite(let values)): json(values, elements)
        default: nil
        }
    }

    private func json(_ values: [String: Value], _ elements: [CompositeElement]) -> JSONValue? {
        var members: JSONObject = [:]
        for element in elements {
            guard let member = json(values[element.name] ?? .null, element.type) else { return nil }
            members[element.name] = member
        }
        return .object(members)
    }

    private func json(_ date: Date) -> JSONValue? {
        let time = date.timeIntervalSince1970
        guard dates != .seconds else { return time.isFinite ? .double(time) : nil }
        // Cut down, as stores do, with room for what a time in milliseconds lacks as a binary fraction.
        guard let milliseconds = Int64(exactly: (time * 1000 + 0.005).rounded(.down)) else { return nil }
        if dates == .milliseconds { return .integer(milliseconds) }
        guard Self.years.contains(milliseconds) else { return nil }
        // The formatter cuts off what is less than a millisecond. A tenth keeps it above the number that it is to write.
        let cut = Date(timeIntervalSince1970: (Double(milliseconds) + 0.1) / 1000)
        return .string(cut.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }

    /// From the year 1 up to the year 9999, in milliseconds since 1970.
    private static let years: Range<Int64> = -62_135_596_800_000..<253_402_300_800_000

    /// The value of an attribute in an answer.
    /// - Parameter type: The type of the attribute.
    /// - Returns: nil for what does not fit the type.
    public func value(_ json: JSONValue, _ type: AttributeType) -> Value? {
        switch (type, json) {
        case (_, .null): .null
        case (_, _) where type.isInteger: json.integer.map { .integer($0) }
        case (.double, _): json.double.map { .double($0) }
        case (.float, _): json.double.map { .double(Double(Float($0))) }
        case (.decimal, .string(let text)): Self.decimal(text).map { .decimal($0) }
        case (.decimal, _): json.decimal.map { .decimal($0) }
        case (.boolean, .boolean(let flag)): .boolean(flag)
        case (.date, _): date(json).map { .date($0) }
        case (.json, _): json.content
        case (.array(let element), _): json.list(of: element)
        case (.string, .string(let text)): .string(text)
        case (.uuid, .string(let text)): UUID(uuidString: text).map { .uuid($0) }
        case (.uri, .string(let text)): URL(string: text).map { .uri($0) }
        case (.binary, .string(let text)), (.transformable, .string(let text)):
            Data(base64Encoded: text).map { .binary($0) }
        case (.geoPoint, .array(let pair)) where pair.count == 2: Self.point(pair[0].double, pair[1].double)
        case (.composite(let elements), .object(let members)): value(members, elements)
        default: nil
        }
    }

    private func value(_ members: JSONObject, _ elements: [CompositeElement]) -> Value? {
        var values: [String: Value] = [:]
        for element in elements {
            guard let value = value(members[element.name] ?? .null, element.type) else { return nil }
            values[element.name] = value
        }
        return .composite(values)
    }

    private func date(_ json: JSONValue) -> Date? {
        switch dates {
        case .milliseconds: json.double.map { Date(timeIntervalSince1970: $0 / 1000) }
        case .seconds: json.double.map { Date(timeIntervalSince1970: $0) }
        case .iso8601:
            json.string.flatMap { text in
                (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
                    ?? (try? Date.ISO8601FormatStyle().parse(text))
            }
        }
    }

    /// All of the text, since `Decimal` reads as far as it understands.
    private static func decimal(_ text: String) -> Decimal? {
        guard case .some(let number) = (try? JSONValue(parsing: text))?.decimal else { return nil }
        return number
    }

    private static func point(_ latitude: Double?, _ longitude: Double?) -> Value? {
        guard let latitude, let longitude else { return nil }
        return .geoPoint(GeoPoint(latitude: latitude, longitude: longitude))
    }
}
