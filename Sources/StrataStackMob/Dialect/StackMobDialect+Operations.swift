import Foundation

extension StackMobDialect: RemoteDialect {
    /// The operations of one request each. Objects by primary key come in one query, unless a key has a comma in it;
    /// changes of members are one request for what comes, one for what is made and one for what goes; without
    /// ``usesExtensions`` a batch is sent one by one.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported`` for an operation that the service does not have.
    public func steps(of operation: RemoteOperation) throws(RemoteError) -> [RemoteOperation] {
        switch operation {
        case .read(let entity, let ids):
            let plain = ids.filter { !$0.contains(",") }
            let others = ids.filter { $0.contains(",") }.map { RemoteOperation.read(entity: entity, ids: [$0]) }
            return (plain.isEmpty ? [] : [.read(entity: entity, ids: plain)]) + others
        case .create(let entity, let writes) where writes.count != 1:
            if writes.isEmpty { return [] }
            if usesExtensions { return [.batch([operation])] }
            // The answer to many tells only identifiers, and users need a request by HTTPS each.
            let isUsers = isUserSchema(StackMobNames.schema(ofEntity: entity.name))
            return isUsers ? writes.map { .create(entity: entity, [$0]) } : [operation]
        case .relate(let entity, let relation):
            let parts = relation.parts
            if parts.count > 1, usesExtensions { return [.batch([operation])] }
            return parts.map { .relate(entity: entity, $0) }
        case .batch(let operations):
            if usesExtensions { return operations.isEmpty ? [] : [operation] }
            var steps: [RemoteOperation] = []
            for part in operations { steps += try self.steps(of: part) }
            return steps
        default: return [operation]
        }
    }

    /// The request of an operation that ``steps(of:)`` gave.
    /// - Throws: ``RemoteError`` that names the part which StackMob cannot do.
    public func request(
        for operation: RemoteOperation, options: RequestOptions
    ) throws(RemoteError) -> WireRequest {
        try request(for: operation, options: options, KnownSchemas())
    }

    func request(
        for operation: RemoteOperation, options: RequestOptions, _ schemas: KnownSchemas
    ) throws(RemoteError) -> WireRequest {
        switch operation {
        case .query(let query): return try queryRequest(try self.query(for: query), options: options)
        case .count(let query): return try countRequest(try self.query(for: query), options: options)
        case .read(let entity, let ids): return try readRequest(entity, ids, options)
        case .create(let entity, let writes): return try createRequest(entity, writes, options, schemas)
        case .update(let entity, let write):
            let body = try body(of: write, schemas[entity], .update)
            let request = try updateRequest(
                schema: entity.name, id: write.id, object: body.json, relations: body.relations,
                secure: !write.secrets.isEmpty, options: options)
            return request.adding(conditions(of: write))
        case .delete(let entity, let write):
            return try deleteRequest(schema: entity.name, id: write.id, options: options)
                .adding(conditions(of: write))
        case .relate(let entity, let relation): return try relateRequest(entity, relation, options)
        case .pull(let pull): return try pullRequest(pull, options)
        case .upload(let entity, let file):
            throw StackMobError.unsupported("\(entity.name).\(file.property): files are sent only with their objects")
        case .call(let call): return try callRequest(call, options: options)
        case .batch(let operations): return try batchRequest(operations, options)
        case .ping: return pingRequest(options: options)
        }
    }

    private func readRequest(
        _ entity: EntityDescription, _ ids: [String], _ options: RequestOptions
    ) throws(RemoteError) -> WireRequest {
        if ids.count == 1 { return try readRequest(schema: entity.name, id: ids[0], options: options) }
        let schema = try StackMobSchema(entity)
        var query = StackMobQuery(schema.name)
        query.condition = .isIn(schema.primaryKeyField, ids.map(Value.string))
        return try queryRequest(query, options: options)
    }

    private func createRequest(
        _ entity: EntityDescription, _ writes: [RemoteWrite], _ options: RequestOptions, _ schemas: KnownSchemas
    ) throws(RemoteError) -> WireRequest {
        let isUser = isUserSchema(StackMobNames.schema(ofEntity: entity.name))
        var bodies: [StackMobBody] = []
        for write in writes {
            bodies.append(try body(of: write, schemas[entity], .insert))
        }
        var relations: [String] = []
        for relation in bodies.flatMap(\.relations) where !relations.contains(relation) { relations.append(relation) }
        let request = try createRequest(
            schema: entity.name, object: bodies.count == 1 ? bodies[0].json : .array(bodies.map(\.json)),
            relations: relations, secure: isUser, options: options)
        return writes.count == 1 ? request.adding(token(writes[0].token)) : request
    }

    /// The fields of a write with its increments and secrets.
    func body(
        of write: RemoteWrite, _ schema: StackMobSchema, _ purpose: StackMobEncoder.Purpose
    ) throws(RemoteError) -> StackMobBody {
        try body(of: write, schema, purpose, StackMobEncoder(dialect: self))
    }

    package func body(
        of write: RemoteWrite, _ schema: StackMobSchema, _ purpose: StackMobEncoder.Purpose,
        _ encoder: StackMobEncoder
    ) throws(RemoteError) -> StackMobBody {
        if purpose == .insert, isUserSchema(schema.name), write.secrets.isEmpty {
            throw StackMobError.passwordForUserObjectNotFound.error(
                "\(schema.entity) \(write.id) is a new user and has no password; give it one before the save")
        }
        let record = RemoteRecord(entity: schema.entity, id: write.id, values: write.values)
        var body = try encoder.body(record, schema: schema, purpose: purpose, isWhole: write.isWhole)
        // The same write has the same bytes when it is sent again.
        for (name, operation) in write.operations.sorted(by: { $0.key < $1.key }) {
            let (suffix, value) = try computation(operation, name, schema, encoder)
            body.fields[try StackMobNames.field(ofProperty: name) + suffix.rawValue] = value
        }
        for (name, secret) in write.secrets.sorted(by: { $0.key < $1.key }) {
            let field = name == "password" ? userPasswordField : StackMobNames.field(of: name)
            body.fields[field] = .string(secret)
        }
        return body
    }

    /// What the server computes from the value that it has.
    private func computation(
        _ operation: FieldOperation, _ name: String, _ schema: StackMobSchema, _ encoder: StackMobEncoder
    ) throws(RemoteError) -> (suffix: FieldSuffix, value: JSONValue) {
        if case .attribute(let type)? = schema.properties[name] {
            func json(_ elements: [Value]) throws(RemoteError) -> JSONValue {
                try encoder.json(.list(elements), type, schema, name)
            }
            switch operation {
            case .increment(let amount) where type.isNumeric:
                return (.increment, try encoder.json(amount, type, schema, name))
            case .append(let elements) where usesExtensions: return (.append, try json(elements))
            case .appendUnique(let elements) where usesExtensions: return (.appendUnique, try json(elements))
            case .remove(let elements) where usesExtensions: return (.remove, try json(elements))
            default: break
            }
        }
        throw StackMobError.unsupported(
            "\(schema.entity).\(name): StackMob increments numbers; only strata-server changes arrays by element, which "
                + "needs usesExtensions")
    }

    private func relateRequest(
        _ entity: EntityDescription, _ relation: RemoteRelation, _ options: RequestOptions
    ) throws(RemoteError) -> WireRequest {
        guard entity.relationship(named: relation.relationship) != nil else {
            throw StackMobError.incompatible("\(entity.name) has no relationship \(relation.relationship)")
        }
        let field = try StackMobNames.field(ofProperty: relation.relationship)
        let request: WireRequest
        if !relation.added.isEmpty {
            request = try appendRequest(
                schema: entity.name, id: relation.id, field: field, values: relation.added.map(JSONValue.string),
                options: options)
        } else {
            request = try removeRequest(
                schema: entity.name, id: relation.id, field: field, values: relation.removed,
                options: options)
        }
        return request.adding(token(relation.token))
    }

    private func conditions(of write: RemoteWrite) -> [String: String] {
        guard usesExtensions else { return [:] }
        var headers = token(write.token)
        if let version = write.baseVersion { headers["If-Match"] = "\"\(version)\"" }
        return headers
    }

    private func token(_ token: UUID) -> [String: String] {
        usesExtensions ? IdempotencyKey.headers(token) : [:]
    }
}
