import Foundation

/// The body of an object as it is sent: its fields, and the schemas of nested objects. The server learns these from the header
/// `X-StackMob-Relations`; without it, it would take objects for values.
package struct StackMobBody: Sendable, Hashable {
    /// The fields with their values.
    package var fields: JSONObject = [:]
    /// The fields that hold nested objects, with their schemas: `author=user`, `author.friends=user`.
    package var relations: [String] = []

    /// The fields as JSON.
    package var json: JSONValue { .object(fields) }
}

/// Turns values of properties into fields.
package struct StackMobEncoder {
    let dialect: StackMobDialect
    /// What is known of entities that the dialect's model does not have.
    let schemas: [String: StackMobSchema]

    package init(dialect: StackMobDialect, schemas: [String: StackMobSchema] = [:]) {
        self.dialect = dialect
        self.schemas = schemas
    }

    /// How deeply objects may be nested in one that is sent.
    static let depth = 3

    /// What the values are for.
    package enum Purpose {
        /// A new object: nil values are left out.
        case insert
        /// Changes: nil values are sent, to clear the field.
        case update
    }

    /// The body of an object.
    /// - Parameter isWhole: Whether the values are all that it has, and not just what a save changed; then the times
    ///   that the server keeps are left out.
    /// - Throws: ``RemoteError`` that names entity and property of a value which cannot be sent.
    package func body(
        _ record: RemoteRecord, schema: StackMobSchema, purpose: Purpose, isWhole: Bool
    ) throws(RemoteError) -> StackMobBody {
        var visited: Set<RemoteIdentity> = [record.identity]
        var body = try body(record, schema, purpose, depth: 0, visited: &visited)
        if isWhole, !dialect.sendsLocalTimestamps {
            body.fields["createddate"] = nil
            body.fields["lastmoddate"] = nil
        }
        return body
    }

    private func body(
        _ record: RemoteRecord, _ schema: StackMobSchema, _ purpose: Purpose, depth: Int,
        visited: inout Set<RemoteIdentity>
    ) throws(RemoteError) -> StackMobBody {
        var body = StackMobBody()
        // The order of the visits decides which of two references to one object is nested, so it is fixed.
        for (name, value) in record.values.sorted(by: { $0.key < $1.key }) {
            guard let property = schema.properties[name] else {
                throw StackMobError.incompatible("\(schema.entity) has no property \(name) to send")
            }
            // The number of a new object is not the server's, and others are told as text below.
            if name == schema.primaryKey, schema.hasNumberedKeys { continue }
            let field = try StackMobNames.field(ofProperty: name)
            switch value {
            case .value(let value):
                guard case .attribute(let type) = property else { throw mismatch(schema, name) }
                if value.isNull, purpose == .insert || field == "sm_owner" { continue }
                body.fields[field] = try json(value, type, schema, name)
            case .reference(let id):
                if id == nil, purpose == .insert { continue }
                body.fields[field] = id.map(JSONValue.string) ?? .null
            case .references(let ids):
                guard case .toMany(let destination) = property else { throw mismatch(schema, name) }
                body.fields[field] = .array(ids.map(JSONValue.string))
                if !ids.isEmpty { body.relations.append("\(field)=\(StackMobNames.schema(ofEntity: destination))") }
            case .record(let related):
                body.relations.append("\(field)=\(StackMobNames.schema(ofEntity: related.entity))")
                let nested = try self.nested(related, purpose, depth, name, &visited)
                body.fields[field] = nested.json
                body.relations += nested.relations.map { "\(field).\($0)" }
            case .records(let members):
                guard case .toMany(let destination) = property else { throw mismatch(schema, name) }
                var objects: [JSONValue] = []
                var relations: [String] = []
                for member in members {
                    let nested = try self.nested(member, purpose, depth, name, &visited)
                    objects.append(nested.json)
                    for relation in nested.relations where !relations.contains(relation) { relations.append(relation) }
                }
                body.fields[field] = .array(objects)
                guard !members.isEmpty else { continue }
                body.relations.append("\(field)=\(StackMobNames.schema(ofEntity: destination))")
                body.relations += relations.map { "\(field).\($0)" }
            }
        }
        let isUnnamed = schema.hasNumberedKeys && (Int64(record.id) ?? 0) <= 0
        if body.fields[schema.primaryKeyField] == nil, !isUnnamed {
            body.fields[schema.primaryKeyField] = .string(record.id)
        }
        return body
    }

    /// A related object: its values the first time, only its identifier if it stands further out already.
    private func nested(
        _ record: RemoteRecord, _ purpose: Purpose, _ depth: Int, _ name: String, _ visited: inout Set<RemoteIdentity>
    ) throws(RemoteError) -> StackMobBody {
        guard depth < Self.depth else {
            throw StackMobError.invalid(
                "\(record.identity) in \(name): StackMob takes related objects along up to \(Self.depth) levels deep")
        }
        let schema = if let known = schemas[record.entity] { known } else { try dialect.schema(of: record.entity) }
        guard visited.insert(record.identity).inserted else {
            return StackMobBody(fields: [schema.primaryKeyField: .string(record.id)])
        }
        return try body(record, schema, purpose, depth: depth + 1, visited: &visited)
    }

    /// A value of an attribute as JSON.
    /// - Throws: ``RemoteError`` for values that StackMob has no form for.
    func json(
        _ value: Value, _ type: AttributeType, _ schema: StackMobSchema, _ name: String
    ) throws(RemoteError) -> JSONValue {
        switch value {
        case .null: return .null
        case _ where type.isJSON:
            if dialect.usesExtensions || type.element != nil, let json = JSONValue(content: value) { return json }
        case .integer(let number):
            return type == .boolean ? .boolean(number != 0) : .integer(number)
        case .double(let number) where number.isFinite: return .double(number)
        case .decimal(let number) where !number.isNaN: return .decimal(number)
        case .string(let text): return .string(text)
        case .boolean(let flag): return .boolean(flag)
        case .date(let date):
            if let time = StackMobText.milliseconds(date) { return .integer(time) }
        case .uuid(let uuid): return .string(uuid.uuidString)
        case .uri(let uri): return .string(uri.absoluteString)
        case .geoPoint(let point) where point.isValid:
            return ["lat": .double(point.latitude), "lon": .double(point.longitude)]
        case .binary(let data) where dialect.usesExtensions: return .string(data.base64EncodedString())
        case .composite(let elements) where dialect.usesExtensions:
            guard case .composite(let declared) = type else { break }
            var members: JSONObject = [:]
            for element in declared {
                guard let value = elements[element.name] else { continue }
                members[StackMobNames.field(of: element.name)] = try json(
                    value, element.type, schema, "\(name).\(element.name)")
            }
            return .object(members)
        default: break
        }
        throw StackMobError.incompatible("\(schema.entity).\(name): StackMob has no form for \(value)")
    }

    private func mismatch(_ schema: StackMobSchema, _ name: String) -> RemoteError {
        StackMobError.incompatible("\(schema.entity).\(name): the value does not fit the property")
    }
}

extension StackMobDialect {
    /// What is known of an entity by name: from the model, or, without one, its primary key by convention.
    func schema(of entity: String) throws(RemoteError) -> StackMobSchema {
        if let description = model?.entity(named: entity) { return try StackMobSchema(description) }
        guard model == nil else {
            throw StackMobError.exception(.unknownSchema, "the model has no entity \(entity)")
        }
        let name = StackMobNames.schema(ofEntity: entity)
        return StackMobSchema(
            entity: entity, primaryKey: isUserSchema(name) ? userPrimaryKeyField : name + "_id", properties: [:])
    }
}
