#if Server
    import Foundation
    import Strata

    extension StackMobService {
        /// `GET /<schema>?…`: the objects that meet the conditions, all of them or a range.
        func query(_ call: Call, _ name: String) async throws(ServerError) -> ServerResponse {
            let options = options
            let isForgiving = call.isDevelopment
            let shape = try ObjectReader.Shape(call.request)
            let grant = try server.precheck(.read, name, call.caller)
            return try await call.database.read(.many) { (scope) throws(ServerError) in
                let range = try ObjectRange(header: call.request.header("Range"))
                let conditions = try QueryReader(
                    call.request, ignoring: [ObjectReader.Shape.expandParameter],
                    limit: options.limits.requests.conditions)
                guard let schema = scope.catalogue[name] else {
                    // A client with the private key can list the schemas, and should be told about a mistake.
                    guard isForgiving, !call.principal.hasPrivateKey else { throw .noSchema(name) }
                    return ServerResponse(json: [])
                }
                var compiler = QueryCompiler(schema: schema, isForgiving: isForgiving, limits: options.limits)
                var request = FetchRequest<ManagedObject>(
                    entity: schema.entityName, where: try compiler.predicate(conditions))
                if let own = try grant.predicate(schema, scope) {
                    request.predicate = request.predicate.map { own && $0 } ?? own
                }
                if compiler.nearest == nil {
                    request.sorts = try Self.sorts(
                        call.request.header("X-StackMob-OrderBy"), schema, isForgiving: isForgiving)
                }
                let reader = ObjectReader(
                    scope: scope, principal: call.principal, access: options.access, limits: options.limits)
                return try Self.page(request, schema, shape, range, compiler.nearest, reader)
            }
        }

        private static func page(
            _ whole: FetchRequest<ManagedObject>, _ schema: ServerSchema, _ shape: ObjectReader.Shape,
            _ range: ObjectRange?, _ nearest: (field: String, point: GeoPoint)?, _ reader: ObjectReader
        ) throws(ServerError) -> ServerResponse {
            var request = whole
            let most = reader.limits.answers.objects
            request.offset = range?.first ?? 0
            request.limit = min(range?.count ?? most, most)
            let found = try reader.scope.fetchLazily(request)
            let (body, count) = try body(found, schema, shape, nearest, reader)
            let isAll = request.offset == 0 && count == found.count && count < (request.limit ?? .max)
            let total = isAll ? count : try reader.scope.count(whole.unordered)
            let type = (name: "Content-Type", value: "application/json")
            guard count < total else { return ServerResponse(status: 200, headers: [type], body: body) }
            let span = count == 0 ? "*" : "\(request.offset)-\(request.offset + count - 1)"
            return ServerResponse(
                status: 206, headers: [type, ("Content-Range", "\(span)/\(total)")], body: body)
        }

        /// Objects as a JSON array that grows no larger than an answer may be: only a few of them are in memory at a
        /// time, as objects and as values.
        /// - Returns: The array, and how many of the objects it stands for.
        private static func body(
            _ found: FoundObjects, _ schema: ServerSchema, _ shape: ObjectReader.Shape,
            _ nearest: (field: String, point: GeoPoint)?, _ reader: ObjectReader
        ) throws(ServerError) -> (body: Data, count: Int) {
            var bytes = Array("[".utf8)
            var place = 0
            while place < found.count, bytes.count < reader.limits.answers.size {
                try reader.scope.checkCancellation()
                let batch = Array(found[place..<min(place + DataScope.batchSize, found.count)])
                // Reading one reads all, and tells which of them still exist.
                _ = batch.first?.text(schema.keyField)
                let objects = batch.filter { !$0.isDeleted }
                try reader.scope.checkReading()
                var json = try reader.json(objects, schema, shape)
                if let nearest { addDistances(nearest, objects, to: &json) }
                var rest = json[...]
                for object in batch {
                    place += 1
                    guard !object.isDeleted, let value = rest.popFirst() else { continue }
                    if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
                    do throws(JSONWritingError) {
                        try value.append(to: &bytes)
                    } catch {
                        throw ServerError(500, "An object cannot be written: \(error).")
                    }
                    if bytes.count >= reader.limits.answers.size { break }
                }
            }
            bytes.append(UInt8(ascii: "]"))
            return (Data(bytes), place)
        }

        /// Puts the distance into each point, in radians like the distances of queries.
        private static func addDistances(
            _ nearest: (field: String, point: GeoPoint), _ objects: [ManagedObject], to json: inout [JSONValue]
        ) {
            for (index, object) in objects.enumerated() {
                guard let point = object[nearest.field] as? GeoPoint, var members = json[index].members,
                    var place = members[nearest.field]?.members
                else { continue }
                place["distance"] = .number(point.distance(to: nearest.point, earthRadius: 1))
                members[nearest.field] = .object(place)
                json[index] = .object(members)
            }
        }

        private static func sorts(
            _ header: String?, _ schema: ServerSchema, isForgiving: Bool
        ) throws(ServerError) -> [FetchSort] {
            var sorts: [FetchSort] = []
            for part in header?.split(separator: ",") ?? [] {
                let halves = part.split(separator: ":", omittingEmptySubsequences: false)
                    .map { $0.trimmingCharacters(in: .whitespaces) }
                guard halves.count <= 2, let name = halves.first, !name.isEmpty,
                    halves.count == 1 || ["asc", "desc"].contains(halves[1])
                else { throw .badRequest("X-StackMob-OrderBy takes field:asc or field:desc, joined by commas.") }
                guard let field = schema.field(name) else {
                    guard isForgiving else { throw .noField(schema, name) }
                    continue
                }
                guard !field.isCollection, field.kind != .geoPoint, field.kind != .json else {
                    throw .badRequest("\(name) has no order.")
                }
                sorts.append(FetchSort([name], ascending: halves.last != "desc"))
            }
            return sorts
        }
    }

    /// The objects of a `Range` header: `objects=0-9`, both ends included, or `objects=20-`.
    struct ObjectRange: Equatable {
        var first: Int
        /// nil for all that follow.
        var count: Int?

        /// nil for no header and for ranges of other units, which are none of the dialect's.
        init?(header: String?) throws(ServerError) {
            guard let header, header.hasPrefix("objects=") else { return nil }
            let ends = header.dropFirst("objects=".count).split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count == 2, let first = Int(ends[0]), first >= 0 else {
                throw .badRequest("Range takes objects=<first>-<last> or objects=<first>-.")
            }
            self.first = first
            if ends[1].isEmpty { return }
            guard let last = Int(ends[1]), last >= first, last < .max else {
                throw .badRequest("Range takes objects=<first>-<last>, the last not before the first.")
            }
            count = last - first + 1
        }
    }
#endif
