import Foundation

extension AzureDialect: RemoteDialect {
    /// The operations of one request each: a batch and new objects go one by one.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported`` for an operation that the service does not have.
    public func steps(of operation: RemoteOperation) throws(RemoteError) -> [RemoteOperation] {
        switch operation {
        case .create(let entity, let writes) where writes.count != 1:
            return writes.map { .create(entity: entity, [$0]) }
        case .batch(let operations):
            var steps: [RemoteOperation] = []
            for part in operations { steps += try self.steps(of: part) }
            return steps
        default: return [operation]
        }
    }

    /// The request of an operation that ``steps(of:)`` gave.
    /// - Throws: ``RemoteError`` that names the part which the services cannot do.
    public func request(
        for operation: RemoteOperation, options: RequestOptions
    ) throws(RemoteError) -> WireRequest {
        switch operation {
        case .query(let query): return try queryRequest(query, options)
        case .count(let query): return try countRequest(query, options)
        case .read(let entity, let ids): return try readRequest(entity, ids, options)
        case .create(let entity, let writes):
            guard let write = writes.first, writes.count == 1 else { throw unsupported("rows are made one by one") }
            let schema = try AzureSchema(entity, self)
            if schema.keys == .text { try checkID(write.id, schema) }
            let message = Message(body: try body(.object(try fields(of: write, schema, isNew: true))))
            return try rowRequest(.post, schema, nil, message, options).adding(token(of: write))
        case .update(let entity, let write):
            let schema = try AzureSchema(entity, self)
            guard version != .datasync || write.isWhole else {
                throw unsupported(
                    "\(entity.name) \(write.id): the service only takes changes of whole rows; save with the policy "
                        + "cacheOnly and push")
            }
            let message = Message(
                ifMatch: write.baseVersion, body: try body(.object(try fields(of: write, schema, isNew: false))))
            return try rowRequest(version == .datasync ? .put : .patch, schema, write.id, message, options)
                .adding(token(of: write))
        case .delete(let entity, let write):
            return try rowRequest(
                .delete, try AzureSchema(entity, self), write.id, Message(ifMatch: write.baseVersion), options
            ).adding(token(of: write))
        case .pull(let pull): return try pullRequest(pull, options)
        case .call(let call): return try callRequest(call, options)
        case .ping: return try request(.head, address.target("/", []), Message(tellsVersion: false), options: options)
        case .relate(let entity, let relation):
            throw unsupported("\(entity.name).\(relation.relationship): the service keeps no members of relationships")
        case .upload(let entity, let file):
            throw unsupported("\(entity.name).\(file.property): the service keeps no files")
        case .batch: throw unsupported("writes are sent one by one")
        }
    }

    private func token(of write: RemoteWrite) -> [String: String] {
        usesExtensions ? IdempotencyKey.headers(write.token) : [:]
    }

    func rowRequest(
        _ method: HTTPRequest.Method, _ schema: AzureSchema, _ id: String?, _ message: Message,
        _ options: RequestOptions
    ) throws(RemoteError) -> WireRequest {
        var message = message
        if let id { try checkID(id, schema) }
        if message.ifMatch != nil { message.features.append(.optimisticConcurrency) }
        let path = address.path(
            ["tables", schema.table] + (id.map { [$0] } ?? []), schema.keys == .text ? withSystemColumns([]) : [])
        return try request(method, path, message, options: options)
    }

    private func checkID(_ id: String, _ schema: AzureSchema) throws(RemoteError) {
        guard !schema.keys.isValid(id) else { return }
        throw error(
            .invalidItemID,
            schema.keys == .integers
                ? "\(schema.entity) \(id): the ids of the table \(schema.table) are whole numbers from 1 on, and the server "
                    + "assigns them"
                : "\(schema.entity) \(id.debugDescription): ids have 1 to 255 characters, none of + ? ` \" / \\ and no "
                    + "control characters, and are not only white space, . or ..")
    }

    private func readRequest(
        _ entity: EntityDescription, _ ids: [String], _ options: RequestOptions
    ) throws(RemoteError) -> WireRequest {
        let schema = try AzureSchema(entity, self)
        if isReadByAddress(ids, schema) { return try rowRequest(.get, schema, ids[0], Message(), options) }
        // Ids that the service does not take can be asked for all the same: nothing has them.
        let conditions = ids.compactMap { id in
            schema.keys.literal(id)?.text(in: version).map { "(id eq \($0))" }
        }
        let filter =
            conditions.isEmpty
            ? "(1 eq 0)" : conditions.count == 1 ? conditions[0] : "(" + conditions.joined(separator: " or ") + ")"
        return try rowsRequest(schema, [Self.pair("$filter", filter), "$top=\(max(1, ids.count))"], options)
    }

    /// Whether rows are read by the address of the one row, and not by a query.
    func isReadByAddress(_ ids: [String], _ schema: AzureSchema) -> Bool {
        ids.count == 1 && schema.keys.isValid(ids[0])
    }

    private func rowsRequest(
        _ schema: AzureSchema, _ pairs: [String], _ options: RequestOptions
    ) throws(RemoteError) -> WireRequest {
        try readRequest(
            table: schema.table, pairs: schema.keys == .text ? withSystemColumns(pairs) : pairs,
            features: [.tableReadQuery], options)
    }

    private func queryRequest(_ query: RemoteQuery, _ options: RequestOptions) throws(RemoteError) -> WireRequest {
        let schema = try AzureSchema(query.entity, self)
        var pairs = try conditions(of: query, schema)
        var columns: [String] = []
        for sort in query.sorts {
            guard let path = sort.keyPath, path.count == 1, sort.options.isEmpty else {
                throw unsupported("the service orders by columns, not by \(sort)")
            }
            columns.append("\(try schema.column(named: path[0], self)) \(sort.ascending ? "asc" : "desc")")
        }
        // Pages go by position: rows that are alike need an order, too.
        if !columns.contains(where: { $0.hasPrefix("id ") }) { columns.append("id asc") }
        pairs.append(Self.pair("$orderby", columns.joined(separator: ",")))
        if let properties = query.properties {
            // Mobile Services give columns of their own by another parameter.
            var names = version == .mobileServices ? ["id"] : ["id", AzureSystemProperty.version.rawValue]
            for property in properties {
                let column = try schema.column(named: property, self)
                if !names.contains(column), !column.hasPrefix("__") { names.append(column) }
            }
            pairs.append(Self.pair("$select", names.joined(separator: ",")))
        }
        let start = try place(query)
        if start > 0 { pairs.append("$skip=\(start)") }
        pairs.append("$top=\(min(query.limit ?? maximumPage, maximumPage))")
        pairs.append(version.totalCountParameter)
        return try rowsRequest(schema, pairs, options)
    }

    /// The position of the first row that is asked for.
    func place(_ query: RemoteQuery) throws(RemoteError) -> Int {
        var start = query.offset
        if let cursor = query.cursor {
            guard let place = Int(cursor), place >= query.offset else {
                throw error(.invalidParameter, "\"\(cursor.prefix(80))\" is not a cursor of a query")
            }
            start = place
        }
        guard start >= 0, query.limit ?? 0 >= 0 else {
            throw error(.invalidParameter, "an offset and a limit are at least 0")
        }
        return start
    }

    private func countRequest(_ query: RemoteQuery, _ options: RequestOptions) throws(RemoteError) -> WireRequest {
        let schema = try AzureSchema(query.entity, self)
        let pairs = try conditions(of: query, schema) + ["$top=0", version.totalCountParameter]
        return try rowsRequest(schema, pairs, options)
    }

    private func conditions(of query: RemoteQuery, _ schema: AzureSchema) throws(RemoteError) -> [String] {
        guard query.includes.isEmpty else { throw unsupported("the service sends no related objects along") }
        guard query.subqueries.isEmpty else {
            throw unsupported("the service has no conditions on what another query finds")
        }
        guard query.memberOf == nil else { throw unsupported("the service keeps no members of relationships") }
        guard let predicate = query.predicate else { return [] }
        return [Self.pair("$filter", try ODataFilter(version: version, schema: schema).text(predicate))]
    }

    private func callRequest(_ call: RemoteCall, _ options: RequestOptions) throws(RemoteError) -> WireRequest {
        // Parameters stay in their order, and names may come more than once.
        var pairs: [String] = []
        for parameter in call.parameters {
            pairs += try parameters([parameter.name: .string(parameter.value)])
        }
        let name =
            call.name + (pairs.isEmpty ? "" : (call.name.contains("?") ? "&" : "?") + pairs.joined(separator: "&"))
        return try apiRequest(
            name, method: call.method, data: call.body, contentType: call.contentType, options: options)
    }
}
