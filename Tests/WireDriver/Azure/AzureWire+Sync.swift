import Foundation
import StrataAzure
import StrataStore

extension AzureWire {
    /// What waits for a row after two changes of it.
    static func collapse(_ input: WireCase) throws -> JSONValue {
        let isInProgress = input.flag("pendingInProgress", "inProgress") ?? false
        guard let new = kind(input.argument("new")) else { throw WireFault("the case has no \"new\"") }
        guard let pending = kind(input.argument("pending")) else { return ["queue": [.string(new.name)]] }
        let collapse = try AzureTableOperation.collapse(
            pending, with: new, isInProgress: isInProgress, version: try dialect(input).version)
        // The tables come to the same, where nothing is being sent.
        var state = AzureSyncState(version: try dialect(input).version)
        try perform(pending, ["id": "a"], on: &state)
        if !isInProgress { try perform(new, ["id": "a"], on: &state) }
        let queue: [String]
        switch collapse {
        case .append: queue = state.operations.map(\.kind.name) + [new.name]
        default: queue = state.operations.map(\.kind.name)
        }
        return ["queue": .array(queue.map(JSONValue.string))]
    }

    private static func kind(_ name: String) -> AzureTableOperation.Kind? {
        AzureTableOperation.Kind.allCases.first { $0.name == WireCase.plain(name) }
    }

    private static func perform(
        _ kind: AzureTableOperation.Kind, _ item: JSONObject, on state: inout AzureSyncState
    ) throws(RemoteError) {
        switch kind {
        case .insert: try state.insert(item, into: "T")
        case .update: try state.update(item, in: "T")
        case .delete: try state.delete(item, in: "T")
        }
    }

    // MARK: Push

    static func push(_ input: WireCase) async throws -> JSONValue {
        let place = WireCounter()
        let script = input.elements("answers", "responses", "serverResults") ?? []
        let server = WireServer { (request) async throws(RemoteError) -> WireResponse in
            let index = place.next()
            let told = index < script.count ? script[index] : script.last ?? input["serverResult"]
            return try answer(told, to: request)
        }
        let client = try client(input, server)
        let sync = try AzureSyncContext(client, keptIn: MemorySessionStorage(), named: "wire")
        let operations = try (input.elements("operations") ?? []).map {
            try operation($0, client.configuration.dialect)
        }
        let table = input.text("table") ?? table(of: operations.map(\.item), client.configuration.dialect)
        for (kind, item) in operations {
            switch kind {
            case .insert: try await sync.insert(item, into: table)
            case .update: try await sync.update(item, in: table)
            case .delete: try await sync.delete(item, in: table)
            }
        }
        var actual: JSONValue = [:]
        do throws(AzureFailure) {
            try await sync.push()
        } catch {
            let results = JSONValue.array(error.pushResult.map(json))
            actual = json(error).adding(["pushResult": results, "results": results])
        }
        let state = await sync.state
        return actual.adding([
            "requests": .array(server.requests.map { json($0) }),
            "requestsSent": .integer(Int64(server.requests.count)),
            "pendingOperations": .integer(Int64(state.operations.count)),
            "items": .array(state.items(in: table).map(JSONValue.object)),
        ])
    }

    /// The tables of the old tests, where a case names none: rows of one have a version.
    private static func table(of items: [JSONObject], _ dialect: AzureDialect) -> String {
        let column = AzureSystemProperty.version.column(in: dialect.version)
        return items.contains { $0[column] != nil } ? "TodoItem" : "TodoNoVersion"
    }

    private static func operation(
        _ json: JSONValue, _ dialect: AzureDialect
    ) throws -> (kind: AzureTableOperation.Kind, item: JSONObject) {
        guard let (name, value) = json.members?.first, let kind = kind(name),
            let item = try item(value, dialect)?.members
        else { throw WireFault("\(json.description.prefix(80)) is not an operation") }
        return (kind, item)
    }

    /// What the server answers: as the case says, or by doing what it is asked.
    private static func answer(_ told: JSONValue?, to request: WireRequest) throws(RemoteError) -> WireResponse {
        if let text = told?.string ?? told?["error"]?.string, Int(text) == nil, told?["status"] == nil {
            throw WireServer.unreachable
        }
        let body = request.body.flatMap { try? JSONValue(parsing: $0) }
        let status = told?["status"]?.integer ?? told?.integer ?? told?.string.flatMap { Int64($0) } ?? 200
        var headers: [String: String] = [:]
        for (name, value) in object(told?["headers"]) { headers[name] = WireValues.text(value) }
        if let own = told?["body"] {
            guard let text = own.string else { return WireServer.answer(Int(clamping: status), own, headers: headers) }
            var response = WireServer.answer(Int(clamping: status), .null, headers: headers)
            response.body = Data(text.utf8)
            return response
        }
        if status >= 400 {
            return WireServer.answer(Int(clamping: status), ["error": "as the case says"], headers: headers)
        }
        return WireServer.answer(Int(clamping: status), body, headers: headers)
    }

    private static func json(_ failure: AzureOperationFailure) -> JSONValue {
        [
            "operation": .string(failure.operation.kind.name), "table": .string(failure.operation.table),
            "itemId": .string(failure.operation.itemID), "item": failure.item.map(JSONValue.object) ?? .null,
            "serverItem": failure.serverItem.map(JSONValue.object) ?? .null,
            "statusCode": failure.error.status.map { .integer(Int64($0)) } ?? .null,
            "code": .integer(Int64(failure.error.code)), "domain": .string(failure.error.domain),
            "description": .string(failure.error.message),
        ]
    }

    // MARK: Pull

    static func pull(_ input: WireCase) async throws -> JSONValue {
        let table = input.text("table") ?? "TodoItem"
        let version = try dialect(input).version
        let column = AzureSystemProperty.updatedAt.column(in: version)
        let times = (input.elements("answersUpdatedAt") ?? []).map { page in (page.elements ?? []).map(\.string) }
        let counts = (input.elements("pages") ?? []).map { Int(clamping: $0.integer ?? 0) }
        let place = WireCounter()
        let server = WireServer { (_) async throws(RemoteError) -> WireResponse in
            let index = place.next()
            var rows: [JSONValue] = []
            if index < times.count {
                rows = times[index].enumerated().map { number, time in
                    ["id": .string("\(index)-\(number)"), column: time.map(JSONValue.string) ?? .null]
                }
            } else if index < counts.count {
                rows = (0..<min(max(0, counts[index]), 10_000)).map { ["id": .string("\(index)-\($0)")] }
            }
            let list = JSONValue.array(rows)
            return WireServer.answer(200, version == .datasync ? .object(["items": list]) : list)
        }
        let client = try client(input, server)
        let storage = MemorySessionStorage()
        let id = input.text("queryId")
        if let token = input.text("storedDeltaToken", "deltaToken"), let id {
            let kept: JSONValue = [
                "format": 1, "tables": [:], "operations": [],
                "tokens": .object([table: .object([id: .string(token)])]),
            ]
            storage.keep(try kept.data(), named: "wire.tables")
        }
        let sync = try AzureSyncContext(client, keptIn: storage, named: "wire")
        var actual: JSONValue = [:]
        do {
            try await sync.pull(
                table, query: try query(of: input), queryID: id,
                pageSize: input.whole("pageSize") ?? AzurePullPlan.pageSize)
        } catch let failure as AzureFailure {
            actual = json(failure)
        }
        let token = await sync.state.token(of: table, queryID: id ?? "").map(JSONValue.string) ?? .null
        return actual.adding([
            "requests": .array(server.requests.map { .array(parameters($0)) }),
            "features": .array(server.requests.map { WireActual.headers($0)["X-ZUMO-FEATURES"] ?? .null }),
            "requestsSent": .integer(Int64(server.requests.count)),
            "storedDeltaToken": token, "storedToken": token, "deltaToken": token,
        ])
    }

    static func pullApply(_ input: WireCase) throws -> JSONValue {
        var state = AzureSyncState(version: try dialect(input).version)
        for id in input.texts("pendingItemIds") ?? [] { try state.update(["id": .string(id)], in: "T") }
        let applied = try state.apply(input.elements("rows") ?? [], to: "T")
        func list(_ ids: [String]) -> JSONValue { .array(ids.map(JSONValue.string)) }
        return [
            "upserted": list(applied.upserted), "deletedLocally": list(applied.deleted),
            "skipped": list(applied.skipped),
        ]
    }
}
