import Foundation
import StrataRemote

/// Typed values as they appear in cases: objects of one member whose name begins with `$`.
enum WireValues {
    /// A value of an attribute, or an argument of a condition.
    static func value(_ json: JSONValue) throws(WireFault) -> Value {
        switch json {
        case .array(let elements): return .list(try values(elements))
        case .object(let members):
            if let point = point(json) { return .geoPoint(point) }
            guard members.count == 1, let (name, content) = members.first else {
                throw WireFault("\(json.description.prefix(80)) is not a value")
            }
            return try typed(name, content)
        case .null: return .null
        case .boolean(let flag): return .boolean(flag)
        case .integer(let number): return .integer(number)
        case .double(let number): return .double(number)
        case .decimal(let number): return .decimal(number)
        case .string(let text): return .string(text)
        }
    }

    static func values(_ elements: [JSONValue]) throws(WireFault) -> [Value] {
        var values: [Value] = []
        for element in elements { values.append(try value(element)) }
        return values
    }

    private static func typed(_ name: String, _ content: JSONValue) throws(WireFault) -> Value {
        switch name {
        case "$null", "$nil": return .null
        case "$date", "$dateOffset", "$date_ms", "$dateMs": if let date = date(name, content) { return .date(date) }
        case "$int", "$int16", "$int32", "$int64":
            if let number = content.integer ?? content.string.flatMap(Int64.init) { return .integer(number) }
        case "$float", "$double":
            if let number = content.double ?? content.string.flatMap(Double.init) { return .double(number) }
        case "$decimal":
            if let number = Decimal(string: content.string ?? content.description) { return .decimal(number) }
        case "$bool": if let flag = content.boolean ?? content.integer.map({ $0 != 0 }) { return .boolean(flag) }
        case "$string": if let text = content.string { return .string(text) }
        case "$uuid": if let uuid = content.string.flatMap(UUID.init) { return .uuid(uuid) }
        case "$uri", "$url": if let uri = content.string.flatMap({ URL(string: $0) }) { return .uri(uri) }
        case "$data": if let data = content.string.flatMap({ Data(base64Encoded: $0) }) { return .binary(data) }
        case "$set", "$list", "$array":
            if let elements = content.elements {
                return name == "$set" ? .set(ValueSet(try values(elements))) : .list(try values(elements))
            }
        case "$objectID", "$object":
            if let parts = content.elements, parts.count == 2 { return .string(text(parts[1])) }
        default: break
        }
        throw WireFault("\(name.prefix(40)): \(content.description.prefix(80)) is not a value")
    }

    private static func date(_ name: String, _ content: JSONValue) -> Date? {
        if name == "$date_ms" || name == "$dateMs" {
            return content.double.map { Date(timeIntervalSince1970: $0 / 1000) }
        }
        guard let text = content.string else { return content.double.map { Date(timeIntervalSince1970: $0 / 1000) } }
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
        return try? Date(text, strategy: style)
    }

    /// A geo point, in any of the forms that cases have.
    static func point(_ json: JSONValue) -> GeoPoint? {
        guard let members = json.members else { return nil }
        if let pair = members["$geo"]?.elements?.compactMap(\.double), pair.count == 2 {
            return GeoPoint(latitude: pair[0], longitude: pair[1])
        }
        guard let latitude = (members["lat"] ?? members["latitude"])?.double,
            let longitude = (members["lon"] ?? members["longitude"])?.double
        else { return nil }
        return GeoPoint(latitude: latitude, longitude: longitude)
    }

    /// Whether a typed value is one of `$objectID`, `$object`, `$toMany`, `$new` and so on.
    static func reference(_ json: JSONValue) -> (kind: String, content: JSONValue)? {
        guard let members = json.members, members.count == 1, let (name, content) = members.first,
            ["$objectID", "$object", "$toMany", "$new", "$back"].contains(name)
        else { return nil }
        return (name, content)
    }

    /// A value as a case has it.
    static func json(_ value: Value) -> JSONValue {
        switch value {
        case .null, .object: .null
        case .boolean(let flag): .boolean(flag)
        case .integer(let number): .integer(number)
        case .double(let number): .double(number)
        case .decimal(let number): .decimal(number)
        case .string(let text): .string(text)
        case .date(let date): ["$date": .string(text(of: date))]
        case .binary(let data): ["$data": .string(data.base64EncodedString())]
        case .uuid(let uuid): ["$uuid": .string(uuid.uuidString)]
        case .uri(let uri): .string(uri.absoluteString)
        case .geoPoint(let point): ["$geo": [.double(point.latitude), .double(point.longitude)]]
        case .list(let values): .array(values.map(json))
        case .set(let values): .array(values.members.map(json))
        case .composite(let elements): .object(JSONObject(elements.mapValues(json)))
        }
    }

    /// A date in ISO 8601 with milliseconds, rounded to the nearest one.
    private static func text(of date: Date) -> String {
        let rounded = Date(timeIntervalSince1970: (date.timeIntervalSince1970 * 1000).rounded() / 1000 + 0.0001)
        return rounded.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// The text of a member: a text as it is, everything else as JSON.
    static func text(_ json: JSONValue) -> String { json.string ?? json.description }
}
