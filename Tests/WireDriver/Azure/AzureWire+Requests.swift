import Foundation
import StrataAzure

extension AzureWire {
    /// The request that a client of the case sends.
    static func request(_ input: WireCase) async throws -> JSONValue {
        let server = WireServer { (_) async throws(RemoteError) -> WireResponse in
            WireServer.answer(200, input.says("query") ? .array([]) : ["id": "a"])
        }
        let client = try client(input, server)
        do {
            try await perform(input, client)
        } catch let failure as AzureFailure where server.requests.isEmpty {
            return json(failure).adding(["requestsSent": 0])
        } catch is AzureFailure {
            // What the server answers is not what the case is about.
        }
        guard let request = server.requests.first else { throw WireFault("the case leads to no request") }
        return json(request).adding(["requestsSent": .integer(Int64(server.requests.count))])
    }

    /// Does what the case says.
    @discardableResult
    private static func perform(_ input: WireCase, _ client: AzureClient) async throws -> JSONValue {
        let table = client.table(input.text("table") ?? "T")
        let dialect = client.configuration.dialect
        let parameters = object(input["parameters"])
        if input.says("api", "invoke") { return try await invoke(input, client, parameters) }
        if input.says("querystring", "rawquery") || input.has("rawQuery") {
            return json(try await table.read(query: input.argument("rawQuery")))
        }
        if input.says("query") || input.has("query") {
            var query = try query(of: input)
            query.parameters.merge(parameters)
            return json(try await table.read(query))
        }
        let item = try item(input["item"], dialect)
        func members() throws -> JSONObject {
            guard let item, !item.isNull else {
                // Cases about answers give no item where it does not matter.
                if input.text("area") == "response" { return ["id": input["itemId"] ?? "A"] }
                throw AzureFailure(AzureError.expectedItem.error(version: dialect.version))
            }
            guard let members = item.members else {
                throw AzureFailure(AzureError.invalidItem.error(version: dialect.version))
            }
            return members
        }
        let id = input.has("itemId") ? try self.item(input["itemId"], dialect) ?? .null : "A"
        switch input.operation {
        case "insert":
            let new = item == nil && input.text("area") == "response" ? [:] : try members()
            return ["item": .object(try await table.insert(new, parameters: parameters))]
        case "update": return ["item": .object(try await table.update(try members(), parameters: parameters))]
        case "undelete": return ["item": .object(try await table.undelete(try members(), parameters: parameters))]
        case "deletebyid", "deletewithid":
            try await table.delete(id: id, parameters: parameters)
            return ["deletedId": id]
        case "delete":
            if item == nil, input.has("itemId") {
                try await table.delete(id: id, parameters: parameters)
                return ["deletedId": id]
            }
            return ["deletedId": try await table.delete(try members(), parameters: parameters)]
        case "read", "readbyid", "readwithid", "lookup":
            return ["item": .object(try await table.read(id: id, parameters: parameters))]
        default: throw WireFault("there is no operation \(input.operation.prefix(40))")
        }
    }

    private static func invoke(
        _ input: WireCase, _ client: AzureClient, _ parameters: JSONObject
    ) async throws -> JSONValue {
        let api = input.argument("api", "name")
        let method = input.text("method", "httpMethod") ?? "POST"
        var options = RequestOptions()
        for (name, value) in object(input["requestHeaders"] ?? input["headers"]) {
            options.headers[name] = WireValues.text(value)
        }
        let raw = input["data"] ?? (input["body"]?["$data"] != nil ? input["body"] : nil)
        if raw != nil || input.says("raw", "data") {
            var bytes: Data?
            if case .binary(let data)? = try raw.map(WireValues.value) { bytes = data }
            if let text = (raw ?? input["body"])?.string { bytes = Data(text.utf8) }
            let response = try await client.invoke(
                api, method: method, data: bytes, parameters: parameters, options: options)
            return [
                "status": .integer(Int64(response.status)),
                "body": .string(String(decoding: response.body, as: UTF8.self)),
            ]
        }
        let body = try item(input["body"], client.configuration.dialect)
        let result = try await client.invoke(
            api, method: method, json: body?.isNull == true ? nil : body, parameters: parameters, options: options)
        return ["result": withDates(result)]
    }

    private static func json(_ rows: AzureRows) -> JSONValue {
        [
            "items": .array(rows.values.map { WireValues.json(.composite($0)) }),
            "totalCount": .integer(Int64(rows.totalCount ?? -1)),
            "nextLink": rows.nextLink.map(JSONValue.string) ?? .null,
        ]
    }

    /// What a client gets of an answer.
    static func response(_ input: WireCase) async throws -> JSONValue {
        let answer = answer(input, status: 200)
        let server = WireServer { (_) async throws(RemoteError) -> WireResponse in answer }
        let members = JSONObject(input.members.filter { !["headers", "body"].contains($0.name) })
        do {
            let told = try await perform(try WireCase(.object(members)), try client(input, server))
            guard let item = told["item"] else { return told }
            return told.adding(["item": item])
        } catch let failure as AzureFailure {
            return json(failure)
        }
    }
}
