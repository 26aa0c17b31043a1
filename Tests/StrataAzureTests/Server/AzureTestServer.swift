import Foundation
import StrataAzure
import StrataStore

/// A server of tables in memory, of any of the versions, written from the description of the protocol.
final class AzureTestServer: HTTPTransport {
    private struct State {
        /// Rows by table and id.
        var tables: [String: [String: JSONObject]] = [:]
        /// Milliseconds since 1970; several writes share one, as on a real server.
        var clock: Int64 = 1_600_000_000_000
        var writes = 0
        /// The last id that was given, by table with integer ids.
        var numbers: [String: Int64] = [:]
        var answersLeft: Int?
        var requests: [WireRequest] = []
    }

    private let state = Guarded(State())
    let version: AzureVersion
    /// Whether deleted rows are kept.
    let keepsDeleted: Bool
    /// Whether deleted rows can be restored.
    let undeletes: Bool
    /// Whether the refusal of a row that exists contains the row.
    let tellsRows: Bool
    /// The most rows of one answer.
    let page: Int
    /// The tables with integer ids, which the server gives. They have no columns of the server's own.
    let integerTables: Set<String>
    /// A column of these tables that no two rows have the same text in: the script of the table answers a creation with the row
    /// that has it already.
    let uniqueColumn: String?

    init(
        _ version: AzureVersion, keepsDeleted: Bool = true, page: Int = 50, integerTables: Set<String> = [],
        uniqueColumn: String? = nil, undeletes: Bool = true, tellsRows: Bool = true
    ) {
        self.undeletes = undeletes
        self.tellsRows = tellsRows
        self.integerTables = integerTables
        self.uniqueColumn = uniqueColumn
        self.version = version
        self.keepsDeleted = keepsDeleted
        self.page = page
    }

    /// What was asked for.
    var requests: [WireRequest] { state.withLock { $0.requests } }
    /// Whether requests are carried out and not answered.
    var losesAnswers: Bool {
        get { answersLeft == 0 }
        set { answersLeft = newValue ? 0 : nil }
    }
    /// How many further requests are answered; nil for all.
    var answersLeft: Int? {
        get { state.withLock(\.answersLeft) }
        set { state.withLock { $0.answersLeft = newValue } }
    }
    /// Changes a row as another client does.
    func change(_ table: String, _ id: String, _ columns: JSONObject?) {
        state.withLock { state in
            guard let columns else { return state.tables[table, default: [:]][id] = nil }
            state.tables[table, default: [:]][id, default: [:]].merge(columns)
        }
    }
    /// All rows of a table, deleted ones as well.
    func rows(_ table: String) -> [String: JSONObject] { state.withLock { $0.tables[table] ?? [:] } }

    private func column(_ property: AzureSystemProperty) -> String { property.column(in: version) }

    func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
        let response = state.withLock { state in
            state.requests.append(request)
            let parts = (request.head.path ?? "").split(separator: "?", maxSplits: 1).map(String.init)
            let path = parts[0].split(separator: "/").compactMap { PercentEncoding.decode($0) }
            let query = Dictionary(
                (QueryParameters.read(parts.count > 1 ? parts[1] : "") ?? []).map { ($0.name, $0.value) },
                uniquingKeysWith: { first, _ in first })
            guard path.count >= 2, path[0] == "tables" else { return answer(404, ["error": "no such place"]) }
            if version == .mobileApps, request.head.headerFields[HTTPField.Name("ZUMO-API-VERSION")!] == nil {
                return answer(400, ["error": "the version is missing"])
            }
            if version == .mobileServices, request.head.headerFields[HTTPField.Name("X-ZUMO-APPLICATION")!] == nil {
                return answer(401, ["code": 401, "error": "Error: Unauthorized"])
            }
            let answer = integerTables.contains(path[1]) ? fault(of: request, query) : nil
            return answer ?? respond(request, path, query, &state)
        }
        // The request was carried out all the same.
        let isLost = state.withLock { state in
            guard let left = state.answersLeft else { return false }
            state.answersLeft = max(0, left - 1)
            return left == 0
        }
        if isLost { throw RemoteError(.timeout, domain: "Test", message: "no answer") }
        return response
    }

    /// What tables with integer ids do not have.
    private func fault(of request: WireRequest, _ query: [String: String]) -> WireResponse? {
        let parameter = query.keys.first { $0.hasPrefix("__") }
        let what = parameter ?? request.head.headerFields[.ifMatch].map { _ in "If-Match" }
        return what.map { answer(400, ["code": 400, "error": .string("Error: \($0) needs a table with string ids")]) }
    }

    private func respond(
        _ request: WireRequest, _ path: [String], _ query: [String: String], _ state: inout State
    ) -> WireResponse {
        let body = request.body.flatMap { try? JSONValue(parsing: $0).members } ?? [:]
        let id = path.count > 2 ? path[2] : nil
        let table = path[1]
        switch (request.head.method, id) {
        case (.get, nil): return list(query, state.tables[table] ?? [:])
        case (.get, let id?):
            guard let row = state.tables[table]?[id], !isDeleted(row) else { return missing(state.tables[table]?[id]) }
            return item(200, row)
        case (.post, nil) where integerTables.contains(table): return number(body, table, &state)
        case (.post, nil):
            let own = body["id"]?.string ?? UUID().uuidString
            if let row = state.tables[table]?[own] {
                return answer(409, tellsRows ? .object(row) : ["error": "An item with that id already exists."])
            }
            var row = body
            row["id"] = .string(own)
            return item(201, write(row, table, &state, isNew: true))
        case (.post, let id?) where version != .datasync && undeletes:
            guard let row = state.tables[table]?[id] else { return missing(nil) }
            if let tag = request.head.headerFields[.ifMatch], tag != Self.tag(row[column(.version)]) {
                return item(412, row)
            }
            var restored = row
            restored[column(.deleted)] = false
            return item(201, write(restored, table, &state, isNew: false))
        case (.patch, let id?), (.put, let id?), (.delete, let id?):
            let restores = version == .datasync && query["__includedeleted"] == "true"
            guard let row = state.tables[table]?[id], restores || !isDeleted(row) else {
                return missing(state.tables[table]?[id])
            }
            if let tag = request.head.headerFields[.ifMatch], tag != Self.tag(row[column(.version)]) {
                return item(412, row)
            }
            return change(request.head.method, row, body, id, table, &state)
        default: return answer(405, ["error": "no such method"])
        }
    }

    private func change(
        _ method: HTTPRequest.Method, _ row: JSONObject, _ body: JSONObject, _ id: String, _ table: String,
        _ state: inout State
    ) -> WireResponse {
        guard method != .delete else {
            if keepsDeleted, !integerTables.contains(table) {
                var gone = row
                gone[column(.deleted)] = true
                _ = write(gone, table, &state, isNew: false)
            } else {
                state.tables[table]?[id] = nil
            }
            return answer(204, nil)
        }
        guard (method == .put) == (version == .datasync) else { return answer(405, ["error": "no such method"]) }
        let isSame =
            integerTables.contains(table) ? body["id"] == Int64(id).map(JSONValue.integer) : body["id"]?.string == id
        guard isSame else { return answer(400, ["error": "the ids differ"]) }
        let system = AzureSystemProperty.allCases.map(column)
        let own = body.names.filter { system.contains($0) && $0 != "version" }
        guard own.isEmpty || version == .datasync && own == ["deleted"] && body["deleted"] == false else {
            return answer(400, ["error": "columns of the server's own"])
        }
        var changed = method == .put ? JSONObject(row.filter { system.contains($0.name) }) : row
        changed.merge(body)
        return item(200, write(changed, table, &state, isNew: false))
    }

    /// Makes a row in a table with integer ids.
    private func number(_ body: JSONObject, _ table: String, _ state: inout State) -> WireResponse {
        guard [nil, .null, .string(""), .integer(0)].contains(body["id"]) else {
            return answer(400, ["code": 400, "error": "Error: A value cannot be specified for property 'id'"])
        }
        if let uniqueColumn, let mark = body[uniqueColumn],
            let known = state.tables[table]?.values.first(where: { $0[uniqueColumn] == mark })
        {
            return answer(200, .object(known))
        }
        state.numbers[table, default: 0] += 1
        var row = body
        let id = state.numbers[table] ?? 0
        row["id"] = .integer(id)
        state.tables[table, default: [:]][String(id)] = row
        return item(201, row)
    }

    private func write(_ row: JSONObject, _ table: String, _ state: inout State, isNew: Bool) -> JSONObject {
        if let id = row["id"]?.integer {
            state.tables[table, default: [:]][String(id)] = row
            return row
        }
        state.writes += 1
        if state.writes % 3 == 0 { state.clock += 1 }
        // Finer than a millisecond, as databases have it.
        let time =
            (AzureDate.text(Date(timeIntervalSince1970: Double(state.clock) / 1000)) ?? "").dropLast()
            + String(format: "%04dZ", state.writes % 10_000)
        var row = row
        if isNew {
            row[column(.createdAt)] = .string(String(time))
            row[column(.deleted)] = false
        }
        row[column(.updatedAt)] = .string(String(time))
        row[column(.version)] = .string("v\(state.writes)\"")
        if let id = row["id"]?.string { state.tables[table, default: [:]][id] = row }
        return row
    }

    private func list(_ query: [String: String], _ rows: [String: JSONObject]) -> WireResponse {
        var found: [JSONObject] = []
        do {
            let includesDeleted = query[version == .datasync ? "__includedeleted" : "__includeDeleted"] == "true"
            for row in rows.values where includesDeleted || !isDeleted(row) {
                if let filter = query["$filter"], try !FilterReader.holds(filter, row) { continue }
                found.append(row)
            }
        } catch {
            return answer(400, ["error": .string("\(error)")])
        }
        for order in (query["$orderby"] ?? "id asc").split(separator: ",").reversed() {
            let words = order.split(separator: " ").map(String.init)
            let isDescending = words.count > 1 && words[1] == "desc"
            found = found.enumerated().sorted { a, b in
                let order = Self.order(a.element[words[0]] ?? .null, b.element[words[0]] ?? .null)
                return order == 0 ? a.offset < b.offset : isDescending ? order > 0 : order < 0
            }.map(\.element)
        }
        let count = found.count
        let top = Int(query["$top"] ?? "") ?? page
        guard top <= 1000 else { return answer(400, ["error": "You cannot request more than 1000 records"]) }
        found = Array(found.dropFirst(Int(query["$skip"] ?? "") ?? 0).prefix(min(top, page)))
        if let select = query["$select"] {
            let names = Set(select.split(separator: ",").map(String.init))
            found = found.map { row in JSONObject(row.filter { names.contains($0.name) || $0.name.hasPrefix("__") }) }
        }
        let items = JSONValue.array(found.map(JSONValue.object))
        if version == .datasync {
            return answer(
                200, query["$count"] == "true" ? ["items": items, "count": .integer(Int64(count))] : ["items": items])
        }
        let wantsCount = query["$inlinecount"] == "allpages"
        return answer(200, wantsCount ? ["results": items, "count": .integer(Int64(count))] : items)
    }

    private static func order(_ a: JSONValue, _ b: JSONValue) -> Int {
        if a.isNull || b.isNull { return a.isNull ? (b.isNull ? 0 : -1) : 1 }
        if let x = a.double, let y = b.double { return x < y ? -1 : x > y ? 1 : 0 }
        let (x, y) = (a.string ?? a.description, b.string ?? b.description)
        return x == y ? 0 : x.utf8.lexicographicallyPrecedes(y.utf8) ? -1 : 1
    }

    private func isDeleted(_ row: JSONObject) -> Bool { row[column(.deleted)] == true }

    private func missing(_ row: JSONObject?) -> WireResponse {
        version == .datasync && row != nil
            ? answer(410, ["title": "Gone"]) : answer(404, ["error": "The item does not exist"])
    }

    private func item(_ status: Int, _ row: JSONObject) -> WireResponse {
        var response = answer(status, .object(row))
        guard row["id"]?.string != nil else { return response }
        response.head.headerFields[.eTag] = Self.tag(row[column(.version)])
        return response
    }

    /// A version as an entity tag: in quotes, with those in it escaped.
    private static func tag(_ version: JSONValue?) -> String {
        "\"" + (version?.string ?? "").replacing("\"", with: "\\\"") + "\""
    }

    private func answer(_ status: Int, _ body: JSONValue?) -> WireResponse {
        var fields = HTTPFields()
        if body != nil { fields[.contentType] = "application/json" }
        return WireResponse(
            HTTPResponse(status: .init(code: status), headerFields: fields),
            body: body.flatMap { try? $0.data() } ?? Data())
    }
}
