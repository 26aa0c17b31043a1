import Foundation

extension MaxLeapDialect: RemoteDialect {
    /// The operations of one request each. Several new objects are a batch; members that come to an array and those that go
    /// are two requests.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported`` for an operation that the service does not have.
    public func steps(of operation: RemoteOperation) throws(RemoteError) -> [RemoteOperation] {
        switch operation {
        case .read(let entity, let ids):
            let size = capabilities.maximumIDs
            return stride(from: 0, to: ids.count, by: size).map {
                .read(entity: entity, ids: Array(ids[$0..<min(ids.count, $0 + size)]))
            }
        case .create(_, let writes) where writes.count != 1: return writes.isEmpty ? [] : [.batch([operation])]
        case .relate(let entity, let relation):
            let parts = try parts(of: relation, entity)
            return parts.count > 1 ? [.batch([operation])] : parts.map { .relate(entity: entity, $0) }
        case .batch(let operations): return operations.isEmpty ? [] : [operation]
        default: return [operation]
        }
    }

    /// The request of an operation that ``steps(of:)`` gave.
    /// - Throws: ``RemoteError`` that names the part which the server cannot do.
    public func request(
        for operation: RemoteOperation, options: RequestOptions
    ) throws(RemoteError) -> WireRequest {
        switch operation {
        case .query(let query): return try queryRequest(try self.query(for: query), options: options)
        case .count(let query):
            var counted = try self.query(for: query)
            counted.orders = []
            return try countRequest(counted, options: options)
        case .read(let entity, let ids): return try readRequest(entity, ids, options)
        case .create(let entity, let writes):
            guard writes.count == 1 else {
                throw MaxLeapError.unsupported("one request makes one object; several are a batch")
            }
            let coder = MaxLeapRecordCoder(dialect: self, schema: try schema(entity))
            return try createRequest(
                coder.schema.className, coder.fields(of: writes[0], isInsert: true), options: options
            ).adding(token(writes[0].token))
        case .update(let entity, let write):
            let coder = MaxLeapRecordCoder(dialect: self, schema: try schema(entity))
            return try updateRequest(
                coder.schema.className, write.id, coder.fields(of: write, isInsert: false), if: condition(write),
                options: options
            ).adding(token(write.token))
        case .delete(let entity, let write):
            return try deleteRequest(
                schema(entity).className, write.id, if: condition(write), options: options
            ).adding(token(write.token))
        case .relate(let entity, let relation): return try relateRequest(entity, relation, options)
        case .pull(let pull): return try pullRequest(pull, options)
        case .upload(let entity, let file):
            guard names.files[entity.name]?.contains(file.property) == true else {
                throw MaxLeapError.unsupported(
                    "\(entity.name).\(file.property) is not a file at the server; name it in MaxLeapNames.files")
            }
            return try uploadRequest(
                MaxLeapFile(name: file.name, contentType: file.contentType, data: file.data), options: options)
        case .call(let call): return try callRequest(call, options)
        case .batch(let operations):
            var requests: [WireRequest] = []
            for step in try batchSteps(of: operations).flatMap(\.self) {
                requests.append(try request(for: step, options: RequestOptions()))
            }
            return try batchRequest(requests, options: options)
        case .ping: return try request(.get, [], options: options)
        }
    }

    /// The requests of each operation of a batch.
    func batchSteps(of operations: [RemoteOperation]) throws(RemoteError) -> [[RemoteOperation]] {
        var result: [[RemoteOperation]] = []
        for operation in operations {
            switch operation {
            case .create(let entity, let writes): result += writes.map { [.create(entity: entity, [$0])] }
            case .update, .delete: result.append([operation])
            case .relate(let entity, let relation):
                result.append(try parts(of: relation, entity).map { .relate(entity: entity, $0) })
            default: throw MaxLeapError.unsupported("a batch is made of writes")
            }
        }
        return result
    }

    private func readRequest(
        _ entity: EntityDescription, _ ids: [String], _ options: RequestOptions
    ) throws(RemoteError) -> WireRequest {
        let className = try schema(entity).className
        var query = MaxLeapQuery(className)
        query.conditions = [.key("objectId", .isIn(ids.map(MaxLeapValue.string)))]
        query.limit = max(1, ids.count)
        return try queryRequest(query, options: options)
    }

    /// Whether updates and deletes carry the version that they were made to.
    var sendsVersions: Bool { usesExtensions || usesConditionalWrites && flavor == .maxLeap }

    /// The version that a write was made to, as a condition.
    private func condition(_ write: RemoteWrite) -> MaxLeapWhere? {
        guard sendsVersions, let date = write.baseVersion.flatMap(MaxLeapDate.date) else {
            return nil
        }
        return .key("updatedAt", .equal(.date(date)))
    }

    /// A change of members as changes of one request each: a relation takes all at once, an array what comes and what goes.
    private func parts(
        of relation: RemoteRelation, _ entity: EntityDescription
    ) throws(RemoteError) -> [RemoteRelation] {
        let isRelation =
            if case .relation? = try schema(entity).properties[relation.relationship] { true } else { false }
        return isRelation ? [relation] : relation.parts
    }

    private func token(_ token: UUID) -> [String: String] {
        usesExtensions ? IdempotencyKey.headers(token) : [:]
    }

    private func relateRequest(
        _ entity: EntityDescription, _ relation: RemoteRelation, _ options: RequestOptions
    ) throws(RemoteError) -> WireRequest {
        let schema = try schema(entity)
        let field = try schema.field(of: relation.relationship)
        func pointers(_ ids: [String], _ destination: String) throws(RemoteError) -> [MaxLeapPointer] {
            var list: [MaxLeapPointer] = []
            for id in ids { list.append(try pointer(destination, id)) }
            return list
        }
        let operation: MaxLeapOperation
        switch schema.properties[relation.relationship] {
        case .relation(let destination)?:
            operation = .relation(
                add: try pointers(relation.added, destination), remove: try pointers(relation.removed, destination))
        case .toMany(let destination)? where relation.removed.isEmpty:
            operation = .addUnique(try pointers(relation.added, destination).map(MaxLeapValue.pointer))
        case .toMany(let destination)?:
            operation = .remove(try pointers(relation.removed, destination).map(MaxLeapValue.pointer))
        default:
            throw MaxLeapError.unsupported("\(entity.name) has no to-many relationship \(relation.relationship)")
        }
        return try updateRequest(schema.className, relation.id, [field: try operation.json()], options: options)
            .adding(token(relation.token))
    }

    private func callRequest(_ call: RemoteCall, _ options: RequestOptions) throws(RemoteError) -> WireRequest {
        var parameters = JSONObject(call.parameters.map { (name: $0.name, value: JSONValue.string($0.value)) })
        if let body = call.body {
            guard let members = (try? JSONValue(parsing: body))?.members else {
                throw MaxLeapError.invalidJSON.error("\(call.name): a function takes a JSON object")
            }
            parameters.merge(members)
        }
        return try functionRequest(call.name, parameters, options: options)
    }
}
