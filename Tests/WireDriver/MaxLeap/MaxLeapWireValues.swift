import Foundation
import StrataMaxLeap

/// Values and operations as they appear in cases of MaxLeap.
enum MaxLeapWireValues {
    static func value(_ json: JSONValue) throws -> MaxLeapValue {
        switch json {
        case .array(let elements): return .array(try elements.map(value))
        case .object(let members):
            if members.count == 1, let (name, content) = members.first, name.hasPrefix("$") {
                return try typed(name, content)
            }
            return .dictionary(try dictionary(members))
        default: return try MaxLeapValue(json)
        }
    }

    static func dictionary(_ members: JSONObject) throws -> [String: MaxLeapValue] {
        var values: [String: MaxLeapValue] = [:]
        for (name, member) in members { values[name] = try value(member) }
        return values
    }

    private static func typed(_ name: String, _ content: JSONValue) throws -> MaxLeapValue {
        switch name {
        case "$pointer":
            if let parts = content.elements, parts.count == 2, let className = parts[0].string {
                return .pointer(MaxLeapPointer(className, parts[1].string ?? (parts[1].isNull ? "" : "\(parts[1])")))
            }
        case "$file":
            if let file = content["name"]?.string {
                return .file(
                    content["url"]?.string.map { MaxLeapFile(name: file, url: $0) }
                        ?? MaxLeapFile(name: file, data: Data()))
            }
        case "$relation": if let className = content.string { return .relation(className) }
        case "$object", "$new":
            let parts = content.elements ?? [content]
            guard let className = parts.first?.string else { break }
            let id = parts.dropFirst().first?.string
            var object = id.map { MaxLeapObject(className, objectId: $0) } ?? MaxLeapObject(className)
            for (key, member) in parts.last?.members ?? [:] { object[key] = try value(member) }
            return .object(object)
        case "$set", "$list", "$array": if let elements = content.elements { return .array(try elements.map(value)) }
        default: return try plain(WireValues.value(.object([name: content])))
        }
        throw WireFault("\(name.prefix(40)): \(content.description.prefix(80)) is not a value")
    }

    private static func plain(_ value: Value) throws(WireFault) -> MaxLeapValue {
        switch value {
        case .null: return .null
        case .boolean(let flag): return .boolean(flag)
        case .integer(let number): return .integer(number)
        case .double(let number): return .double(number)
        case .decimal(let number): return .decimal(number)
        case .string(let text): return .string(text)
        case .date(let date): return .date(date)
        case .binary(let data): return .bytes(data)
        case .uuid(let uuid): return .string(uuid.uuidString)
        case .uri(let uri): return .string(uri.absoluteString)
        case .geoPoint(let point): return .geoPoint(point)
        case .composite, .object, .list, .set: throw WireFault("\(value) is not a value of a field")
        }
    }

    /// `["Increment", 5]`, `["Relation", {"add": […], "remove": […]}]`, `["Batch", [["AddRelation", …], …]]`.
    static func operation(_ json: JSONValue) throws -> MaxLeapOperation {
        guard let parts = json.elements, let name = parts.first?.string else {
            throw WireFault("\(json.description.prefix(80)) is not an operation")
        }
        let content = parts.count > 1 ? parts[1] : .null
        switch WireCase.plain(name) {
        case "set": return .set(try value(content))
        case "delete", "unset": return .delete
        case "increment": return .increment(try value(content))
        case "decrement":
            guard let amount = content.integer, amount != .min else {
                return .increment(.double(-(content.double ?? .nan)))
            }
            return .increment(.integer(-amount))
        case "add": return .add(try list(content))
        case "addunique": return .addUnique(try list(content))
        case "remove": return .remove(try list(content))
        case "addrelation": return .relation(add: try pointers(content), remove: [])
        case "removerelation": return .relation(add: [], remove: try pointers(content))
        case "relation":
            return .relation(
                add: try pointers(content["add"] ?? .array([])), remove: try pointers(content["remove"] ?? .array([])))
        case "batch":
            var merged: MaxLeapOperation?
            for part in content.elements ?? [] { merged = try operation(part).merged(onto: merged) }
            if let merged { return merged }
        default: break
        }
        throw WireFault("there is no operation \(name.prefix(40)) of fields")
    }

    private static func list(_ json: JSONValue) throws -> [MaxLeapValue] {
        guard let elements = json.elements else { return [try value(json)] }
        return try elements.map(value)
    }

    private static func pointers(_ json: JSONValue) throws -> [MaxLeapPointer] {
        try list(json).map { value in
            guard let pointer = value.pointer else { throw WireFault("\(value) is no object of a relation") }
            return pointer
        }
    }

    /// A value as a case has it.
    static func json(_ value: MaxLeapValue) -> JSONValue {
        switch value {
        case .null: .null
        case .boolean(let flag): .boolean(flag)
        case .integer(let number): .integer(number)
        case .double(let number): .double(number)
        case .decimal(let number): .decimal(number)
        case .string(let text): .string(text)
        case .date(let date): ["$date": MaxLeapDate.text(date).map(JSONValue.string) ?? .null]
        case .bytes(let data): ["$data": .string(data.base64EncodedString())]
        case .pointer(let pointer): ["$pointer": [.string(pointer.className), .string(pointer.objectId)]]
        case .object(let object):
            [
                "$object": [
                    .string(object.className), object.objectId.map(JSONValue.string) ?? .null,
                    .object(JSONObject(object.values.mapValues(json))),
                ], "hasData": .boolean(object.hasData),
            ]
        case .relation(let className): ["$relation": .string(className)]
        case .geoPoint(let point): ["$geo": [.double(point.latitude), .double(point.longitude)]]
        case .file(let file): json(file)
        case .array(let elements): .array(elements.map(json))
        case .dictionary(let members): .object(JSONObject(members.mapValues(json)))
        }
    }

    static func json(_ file: MaxLeapFile) -> JSONValue {
        ["$file": ["name": .string(file.name), "url": file.url.map(JSONValue.string) ?? .null]]
    }

    static func json(_ operation: MaxLeapOperation) -> JSONValue {
        let name = JSONValue.string(operation.name)
        func pointers(_ list: [MaxLeapPointer]) -> JSONValue { .array(list.map { json(.pointer($0)) }) }
        return switch operation {
        case .set(let value), .increment(let value): [name, json(value)]
        case .delete: [name]
        case .add(let values), .addUnique(let values), .remove(let values): [name, .array(values.map(json))]
        case .relation(let added, let removed): [name, ["add": pointers(added), "remove": pointers(removed)]]
        }
    }

    /// An object of an answer: what the server reported about it.
    static func json(_ object: MaxLeapObject) -> JSONValue {
        var members = JSONObject(object.values.mapValues(json))
        if let id = object.objectId { members["objectId"] = .string(id) }
        if let date = object.createdAt { members["createdAt"] = json(.date(date)) }
        if let date = object.updatedAt { members["updatedAt"] = json(.date(date)) }
        return .object(members)
    }
}
