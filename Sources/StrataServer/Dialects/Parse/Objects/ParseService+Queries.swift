#if Server
    import Foundation
    import Strata

    extension ParseService {
        static let usualLimit = 100

        /// `GET classes/<C>`: the objects that meet the conditions.
        func find(_ call: ParseCall, _ className: String) async throws(ServerError) -> ServerResponse {
            let name = try schemaName(className)
            let grant = try server.precheck(.read, name, call.caller)
            let shape = try ParseShape(call)
            let condition = try call.json("where", depth) ?? [:]
            guard let condition = condition.isNull ? [:] : condition.members else {
                throw ParseWhere.fault("where takes an object")
            }
            let asked = try call.whole("limit").flatMap { $0 < 0 ? nil : $0 }
            let limit = variant.limit(asked, usual: Self.usualLimit, maximum: options.limits.answers.objects)
            let skip = try call.whole("skip") ?? 0
            guard skip >= 0 else { throw ParseWhere.fault("skip takes a number from 0 on") }
            let order = call.parameters["order"]?.string
            let counts = call.flag("count")
            return try await call.caller.database.read(.many) { (scope) throws(ServerError) in
                guard let schema = scope.catalogue[name] else {
                    guard call.caller.isDevelopment else { throw .noSchema(name) }
                    return ServerResponse(json: counts ? ["results": [], "count": 0] : ["results": []])
                }
                var compiler = ParseWhere(self, scope, call.caller, schema)
                var request = FetchRequest<ManagedObject>(
                    entity: schema.entityName, where: try compiler.predicate(condition))
                if let own = try grant.predicate(schema, scope) {
                    request.predicate = request.predicate.map { own && $0 } ?? own
                }
                let countable = request
                request.sorts = try sorts(order, schema, isForgiving: call.caller.isDevelopment)
                (request.offset, request.limit) = (skip, limit)
                let encoder = ParseEncoder(service: self, scope: scope, caller: call.caller, shape: shape)
                var bytes = Array("{\"results\":[".utf8)
                if limit > 0 { try append(try scope.fetchLazily(request), schema, encoder, to: &bytes) }
                bytes.append(UInt8(ascii: "]"))
                if counts { bytes += ",\"count\":\(try scope.count(countable.unordered))".utf8 }
                bytes.append(UInt8(ascii: "}"))
                return ServerResponse(
                    status: 200, headers: [("Content-Type", "application/json")], body: Data(bytes))
            }
        }

        /// Appends objects as JSON: only a few of them are in memory at a time.
        private func append(
            _ found: FoundObjects, _ schema: ServerSchema, _ encoder: ParseEncoder,
            to bytes: inout [UInt8]
        ) throws(ServerError) {
            var place = 0
            var isFirst = true
            while place < found.count {
                try encoder.scope.checkCancellation()
                let batch = Array(found[place..<min(place + DataScope.batchSize, found.count)])
                place += batch.count
                // Reading one reads all, and tells which of them still exist.
                _ = batch.first?.text(schema.keyField)
                let objects = batch.filter { !$0.isDeleted }
                try encoder.scope.checkReading()
                for members in try encoder.json(objects, schema) {
                    if !isFirst { bytes.append(UInt8(ascii: ",")) }
                    isFirst = false
                    do throws(JSONWritingError) {
                        try JSONValue.object(members).append(to: &bytes)
                    } catch {
                        throw ServerError(500, "An object cannot be written: \(error).")
                    }
                }
                // The dialect has no way to say that an answer is a part of what was asked for.
                guard bytes.count <= options.limits.answers.size else {
                    throw ParseCode.tooMany.error(
                        "The answer would be too large; ask for fewer objects with limit and skip.")
                }
            }
        }

        /// The order of `a,-b`.
        func sorts(
            _ order: String?, _ schema: ServerSchema, isForgiving: Bool
        ) throws(ServerError) -> [FetchSort] {
            var sorts: [FetchSort] = []
            for part in order?.split(separator: ",") ?? [] {
                let part = part.trimmingCharacters(in: .whitespaces)
                let isDescending = part.hasPrefix("-")
                let name = isDescending ? String(part.dropFirst()) : part
                let field =
                    schema.isUser && name == "username"
                    ? SchemaField(name: schema.keyField, kind: .string) : ParseField.find(name, schema)
                guard let field else {
                    guard isForgiving else { throw .noField(schema, name) }
                    continue
                }
                guard !field.isCollection, field.kind != .geoPoint, field.kind != .json else {
                    throw ParseWhere.fault("\(name.prefix(80)) has no order")
                }
                sorts.append(FetchSort([field.name], ascending: !isDescending))
            }
            guard sorts.count <= 20 else { throw ParseWhere.fault("there may be 20 orders") }
            return sorts
        }

        /// `GET classes/<C>/<id>`.
        func read(_ call: ParseCall, _ className: String, _ id: String) async throws(ServerError) -> ServerResponse {
            let name = try schemaName(className)
            let grant = try server.precheck(.read, name, call.caller)
            let shape = try ParseShape(call)
            let isAlone = shape.include.isEmpty && !shape.includesAll
            return try await call.caller.database.read(isAlone ? .one : .few) { (scope) throws(ServerError) in
                // Whether there is an object that somebody may not read is not told.
                guard let schema = scope.catalogue[name], let object = try scope.object(schema, id),
                    try grant.includes(object, schema, scope)
                else { throw .noObject(name, id) }
                let encoder = ParseEncoder(service: self, scope: scope, caller: call.caller, shape: shape)
                return ServerResponse(json: .object(try encoder.json([object], schema)[0]))
            }
        }
    }
#endif
