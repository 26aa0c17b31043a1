#if Server
    import Foundation
    import Strata

    // Rows read.
    extension AzureService {
        /// The most rows of one answer, and how many there are if nobody says.
        private var page: (most: Int, usual: Int) { kind == .datasync ? (100, 100) : (1000, 50) }

        private static let known: Set<String> = [
            "$filter", "$orderby", "$select", "$top", "$skip", "$inlinecount", "$count",
        ]

        /// `GET tables/T/<id>`.
        func read(_ call: AzureCall, _ name: String, _ id: String) async throws(ServerError) -> ServerResponse {
            let grant = try server.precheck(.read, name, call.caller)
            for option in ["$orderby", "$inlinecount", "$count", "$skip", "$top"] where call[option] != nil {
                throw .badRequest("One row is read without \(option).")
            }
            let withDeleted = call["__includedeleted"]?.lowercased() == "true"
            return try await call.caller.database.read(.one) { (scope) throws(ServerError) in
                guard let schema = scope.catalogue[name] else { throw .noObject(name, id) }
                let encoder = encoder(schema, call, scope)
                let key = try encoder.table.key(id)
                // Whether there is a row that somebody may not read is not told.
                guard let object = try scope.object(schema, key), try grant.includes(object, schema, scope) else {
                    if withDeleted, !encoder.table.hasNumbers,
                        let stone = try scope.find("ServerTombstone", ("schema", name), ("identifier", id)),
                        grant.owner.map({ $0 == stone.text("owner") }) ?? true
                    {
                        return ServerResponse(json: .object(encoder.stone(stone)))
                    }
                    throw try gone(name, id, call, scope) ?? .noObject(name, id)
                }
                guard !encoder.table.hasNumbers else {
                    return ServerResponse(json: .object(try encoder.row(object)))
                }
                let tag = "\"\(object.whole("lastmoddate") ?? 0)\""
                guard call.request.header("If-None-Match") != tag else {
                    return ServerResponse(status: 304, headers: [("ETag", tag)])
                }
                return ServerResponse(json: .object(try encoder.row(object)), headers: [("ETag", tag)])
            }
        }

        /// `GET tables/T`.
        func find(_ call: AzureCall, _ name: String) async throws(ServerError) -> ServerResponse {
            let grant = try server.precheck(.read, name, call.caller)
            for (option, _) in call.parameters where option.hasPrefix("$") && !Self.known.contains(option.lowercased())
            {
                throw .badRequest("The query option \(option.prefix(80)) is not known.")
            }
            let filter = try call["$filter"].map { (text) throws(ServerError) in
                try AzureFilterParser.parse(text, limit: options.limits.requests.conditions)
            }
            let (top, skip) = (try number(call, "$top"), try number(call, "$skip") ?? 0)
            if let top, top > page.most, kind != .datasync {
                throw .badRequest("The value of the $top query option cannot exceed \(page.most).")
            }
            let query = AzureFind(
                top: min(top ?? page.usual, page.most), skip: skip,
                counts: call["$inlinecount"]?.lowercased() == "allpages" || call["$count"]?.lowercased() == "true",
                withDeleted: call["__includedeleted"]?.lowercased() == "true")
            return try await call.caller.database.read(.many) { (scope) throws(ServerError) in
                guard let schema = scope.catalogue[name] else {
                    guard call.caller.isDevelopment else { throw .noSchema(name) }
                    return list([], query.counts ? 0 : nil, nil)
                }
                let encoder = encoder(schema, call, scope)
                let table = encoder.table
                let orders = try AzureOrder.read(call["$orderby"], table, isForgiving: call.caller.isDevelopment)
                let reader = AzureReader(
                    table: table, scope: scope, grant: grant, filter: filter, orders: orders,
                    isForgiving: call.caller.isDevelopment, limits: options.limits)
                let (rows, total) = try reader.rows(query, encoder)
                let isMore = top.map { $0 > rows.count } ?? true
                return list(
                    rows, query.counts ? total() : nil,
                    kind == .datasync && rows.count == query.top && isMore && query.top > 0
                        ? Self.nextLink(call, skip: skip + rows.count, top: top.map { $0 - rows.count }) : nil)
            }
        }

        /// What makes the rows of an answer.
        func encoder(_ schema: ServerSchema, _ call: AzureCall, _ scope: DataScope) -> AzureEncoder {
            let table = AzureTable(schema, kind, in: scope.catalogue)
            return AzureEncoder(table: table, scope: scope, caller: call.caller, shape: AzureShape(call, table))
        }

        private func number(_ call: AzureCall, _ name: String) throws(ServerError) -> Int? {
            guard let text = call[name] else { return nil }
            guard let number = Int(text), (0...Int(Int32.max)).contains(number) else {
                throw .badRequest("\(name) takes a whole number from 0 on.")
            }
            return number
        }

        private func list(_ rows: [JSONValue], _ count: Int?, _ next: String?) -> ServerResponse {
            guard kind == .datasync else {
                guard let count else { return ServerResponse(json: .array(rows)) }
                return ServerResponse(json: ["results": .array(rows), "count": .integer(Int64(count))])
            }
            var members: JSONObject = ["items": .array(rows)]
            if let count { members["count"] = .integer(Int64(count)) }
            if let next { members["nextLink"] = .string(next) }
            return ServerResponse(json: .object(members))
        }

        private static func nextLink(_ call: AzureCall, skip: Int, top: Int?) -> String {
            var pairs = call.parameters.filter { !["$skip", "$top"].contains($0.name.lowercased()) }
            pairs.append(("$skip", String(skip)))
            if let top { pairs.append(("$top", String(top))) }
            return pairs.map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }
                .joined(separator: "&")
        }
    }

    /// Which rows of all that are found an answer has.
    struct AzureFind: Sendable {
        var top: Int
        var skip: Int
        var counts: Bool
        var withDeleted: Bool
    }
#endif
