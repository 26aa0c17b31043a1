import Foundation
import StrataAzure

extension AzureWire {
    /// An item as it is sent. Only values with a JSON form are allowed: a time is text, and bytes are not allowed.
    static func serialize(_ input: WireCase) throws -> JSONValue {
        let dialect = try dialect(input)
        let item = try item(input["item"], dialect)
        let data = try dialect.serialize(
            item, allowsID: input.flag("idAllowed") ?? true,
            removesSystemColumns: input.flag("removeSystemProperties") ?? false)
        return ["json": try JSONValue(parsing: data)]
    }

    /// An item of a case, with typed values in it.
    static func item(_ json: JSONValue?, _ dialect: AzureDialect) throws -> JSONValue? {
        guard let json else { return nil }
        switch json {
        case .array(let elements): return .array(try elements.map { try item($0, dialect) ?? .null })
        case .object(let members):
            if members.count == 1, let (name, content) = members.first, name.hasPrefix("$") {
                return try typed(name, content, dialect)
            }
            var result: JSONObject = [:]
            for (name, value) in members { result[name] = try item(value, dialect) ?? .null }
            return .object(result)
        default: return json
        }
    }

    private static func typed(_ name: String, _ content: JSONValue, _ dialect: AzureDialect) throws -> JSONValue? {
        if name == "$nil" { return nil }
        return try AzureDate.json(of: try WireValues.value(.object([name: content])), version: dialect.version)
    }

    static func deserialize(_ input: WireCase) throws -> JSONValue {
        let dialect = try dialect(input)
        let answer = answer(input, status: 200)
        if input.text("kind") == "list" {
            let list = try dialect.list(answer)
            return [
                "items": .array(list.items.map(withDates)),
                "totalCount": .integer(Int64(list.totalCount ?? -1)),
                "nextLink": list.nextLink.map(JSONValue.string) ?? .null,
            ]
        }
        if input.flag("ensureDictionary") == false {
            guard !answer.body.isEmpty else { throw AzureError.expectedBodyInResponse.error() }
            do {
                return ["item": withDates(try JSONValue(parsing: answer.body))]
            } catch {
                throw RemoteError(.invalidAnswer, domain: AzureError.jsonDomain, message: "\(error)")
            }
        }
        return ["item": withDates(.object(try dialect.item(answer)))]
    }

    /// The value with a typed one in place of each text that is a time.
    static func withDates(_ json: JSONValue) -> JSONValue { WireValues.json(AzureDate.value(of: json)) }

    /// The answer that a case describes.
    static func answer(_ input: WireCase, status: Int) -> WireResponse {
        var headers: [String: String] = [:]
        for (name, value) in object(input["headers"]) { headers[name] = WireValues.text(value) }
        var response = WireServer.answer(input.whole("status") ?? status, nil, headers: headers)
        if response[header: "Content-Type"] == nil, input["mime"]?.isNull != true {
            response.head.headerFields[.contentType] = input.text("mime") ?? "application/json"
        }
        switch input["body"] {
        case nil, .null: break
        case .string(let text): response.body = Data(text.utf8)
        case let json?: response.body = (try? json.data()) ?? Data()
        }
        return response
    }

    static func error(_ input: WireCase) throws -> JSONValue {
        guard let error = try dialect(input).failure(answer(input, status: 400)) else { return ["success": true] }
        return json(error)
    }

    static func id(_ input: WireCase) throws -> JSONValue {
        let dialect = try dialect(input)
        if input.has("item") {
            guard let item = try item(input["item"], dialect) else { throw AzureError.expectedItem.error() }
            guard let members = item.members else { throw AzureError.invalidItem.error() }
            return ["string": .string(try dialect.id(of: members))]
        }
        return ["string": .string(try dialect.id(try item(input["id_value"], dialect)))]
    }
}
