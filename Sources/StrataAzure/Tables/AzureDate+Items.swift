import Foundation

// Items with dates in them. JSON has no dates, so the client libraries sent texts, and read each text that is a time as a date.
extension AzureDate {
    /// A value of an item with dates, as the client libraries returned it: each text that is a time (``isDate(_:)``) becomes a
    /// date, in arrays and nested objects, too.
    public static func value(of json: JSONValue) -> Value {
        switch json {
        case .string(let text):
            guard isDate(text), let time = Self.date(text) else { return .string(text) }
            return .date(time)
        case .array(let elements): return .list(elements.map { value(of: $0) })
        case .object(let members): return .composite(values(of: members))
        default: return json.content
        }
    }

    /// The values of an item by column; see ``value(of:)``.
    public static func values(of item: JSONObject) -> [String: Value] {
        Dictionary(item.map { ($0.name, value(of: $0.value)) }, uniquingKeysWith: { first, _ in first })
    }

    /// A value of an item as JSON: dates become texts with milliseconds, in lists and composites, too.
    /// - Parameter version: The protocol, for the domain of the error.
    /// - Throws: ``RemoteError`` of code ``AzureError/invalidItem`` for a value that JSON does not have: bytes, a UUID, a URI, a
    ///   position, a set, a number that is not finite, a date outside the years 1 to 9999.
    public static func json(of value: Value, version: AzureVersion = .mobileApps) throws(RemoteError) -> JSONValue {
        try json(value, "the value", version)
    }

    /// An item of values, to be inserted or updated in a table; see ``json(of:version:)``.
    /// - Parameters:
    ///   - values: The values by column.
    ///   - version: The protocol, for the domain of the error.
    /// - Throws: ``RemoteError`` of code ``AzureError/invalidItem`` that names the column of a value that JSON does not have.
    public static func item(
        of values: [String: Value], version: AzureVersion = .mobileApps
    ) throws(RemoteError) -> JSONObject {
        var members: [String: JSONValue] = [:]
        for (name, value) in values { members[name] = try json(value, name, version) }
        return JSONObject(members)
    }

    private static func json(
        _ value: Value, _ path: String, _ version: AzureVersion
    ) throws(RemoteError) -> JSONValue {
        switch value {
        case .date(let date):
            if let text = Self.text(date) { return .string(text) }
        case .list(let values):
            var elements: [JSONValue] = []
            for element in values { elements.append(try json(element, path, version)) }
            return .array(elements)
        case .composite(let values):
            var members: [String: JSONValue] = [:]
            for (name, element) in values { members[name] = try json(element, "\(path).\(name)", version) }
            return .object(JSONObject(members))
        default:
            if let json = JSONValue(content: value) { return json }
        }
        throw AzureError.invalidItem.error(
            "\(path): JSON has no form for this value of type \(value.kind); send a text or a number in its place",
            version: version)
    }
}

extension AzureRows {
    /// The rows with dates in place of texts that are times; see ``AzureDate/values(of:)``.
    public var values: [[String: Value]] { items.map { AzureDate.values(of: $0) } }
}
