import Foundation

/// Turns fields into values of properties.
package struct StackMobDecoder {
    let dialect: StackMobDialect

    package init(dialect: StackMobDialect) { self.dialect = dialect }

    /// An object of an answer.
    /// - Throws: ``RemoteError`` if it has no primary key, or a value that does not fit its property.
    func record(_ json: JSONValue, schema: StackMobSchema) throws(RemoteError) -> RemoteRecord {
        guard let members = json.members else {
            throw invalid("\(schema.entity): expected a JSON object in the answer")
        }
        let id: String
        switch members[schema.primaryKeyField] {
        case .string(let text): id = text
        case .integer(let number): id = String(number)
        default: throw invalid("\(schema.entity): an object in the answer has no \(schema.primaryKeyField)")
        }
        var record = RemoteRecord(entity: schema.entity, id: id, values: try values(members, schema: schema))
        if let time = members["lastmoddate"]?.integer {
            record.version = String(time)
            record.modified = StackMobText.date(milliseconds: Double(time))
        }
        return record
    }

    /// The properties that an object tells; fields that no property has are left out.
    package func values(
        _ members: JSONObject, schema: StackMobSchema
    ) throws(RemoteError) -> [String: RemoteValue] {
        var values: [String: RemoteValue] = [:]
        for (field, json) in members {
            guard let name = schema.property(ofField: field), let property = schema.properties[name] else { continue }
            switch property {
            case .attribute(let type) where name == schema.primaryKey && schema.hasNumberedKeys:
                // Only keys are numbers that are written as text.
                values[name] = .value(
                    try value(json.string.flatMap { Int64($0) }.map { .integer($0) } ?? json, type, schema, name))
            case .attribute(let type): values[name] = .value(try value(json, type, schema, name))
            case .toOne(let destination): values[name] = try toOne(json, destination, schema, name)
            case .toMany(let destination): values[name] = try toMany(json, destination, schema, name)
            }
        }
        return values
    }

    private func toOne(
        _ json: JSONValue, _ destination: String, _ schema: StackMobSchema, _ name: String
    ) throws(RemoteError) -> RemoteValue {
        switch json {
        case .null: return .reference(nil)
        case .string(let id): return .reference(id)
        case .object: return .record(try record(json, schema: try dialect.schema(of: destination)))
        default: throw mismatch(json, "the identifier of a \(destination)", schema, name)
        }
    }

    private func toMany(
        _ json: JSONValue, _ destination: String, _ schema: StackMobSchema, _ name: String
    ) throws(RemoteError) -> RemoteValue {
        if json.isNull { return .references([]) }
        guard let elements = json.elements else {
            throw mismatch(json, "an array of identifiers of \(destination)", schema, name)
        }
        let ids = elements.compactMap(\.string)
        if ids.count == elements.count { return .references(ids) }
        var records: [RemoteRecord] = []
        for element in elements {
            switch element {
            case .string(let id): records.append(RemoteRecord(entity: destination, id: id))
            case .object: records.append(try record(element, schema: try dialect.schema(of: destination)))
            default: throw mismatch(element, "the identifier of a \(destination)", schema, name)
            }
        }
        return .records(records)
    }

    /// The value of an attribute.
    /// - Throws: ``RemoteError`` if it is of another type.
    func value(
        _ json: JSONValue, _ type: AttributeType, _ schema: StackMobSchema, _ name: String
    ) throws(RemoteError) -> Value {
        switch (type, json) {
        case (_, .null): return .null
        case (.json, _): return json.content
        case (.array(let element), _): if let list = json.list(of: element) { return list }
        case (.integer16, _), (.integer32, _), (.integer64, _), (.integer, _):
            if let number = json.integer { return .integer(number) }
        case (.double, _): if let number = json.double { return .double(number) }
        case (.float, _): if let number = json.double { return .double(Double(Float(number))) }
        case (.decimal, _): if let number = json.decimal { return .decimal(number) }
        case (.boolean, .boolean(let flag)): return .boolean(flag)
        case (.boolean, .integer(let number)) where number == 0 || number == 1: return .boolean(number == 1)
        case (.date, _): if let time = json.double { return .date(StackMobText.date(milliseconds: time)) }
        case (.string, .string(let text)): return .string(text)
        case (.uuid, .string(let text)): if let uuid = UUID(uuidString: text) { return .uuid(uuid) }
        case (.uri, .string(let text)): if let uri = URL(string: text) { return .uri(uri) }
        case (.geoPoint, .object(let members)):
            if let latitude = members["lat"]?.double, let longitude = members["lon"]?.double {
                return .geoPoint(GeoPoint(latitude: latitude, longitude: longitude))
            }
        case (.binary, .string(let text)), (.transformable, .string(let text)):
            if let data = Data(base64Encoded: text) { return .binary(data) }
        case (.composite(let elements), .object(let members)):
            var values: [String: Value] = [:]
            for element in elements {
                guard let member = members[StackMobNames.field(of: element.name)] else { continue }
                values[element.name] = try value(member, element.type, schema, "\(name).\(element.name)")
            }
            return .composite(values)
        default: break
        }
        throw mismatch(json, "a value of type \(type.name)", schema, name)
    }

    private func mismatch(
        _ json: JSONValue, _ expected: String, _ schema: StackMobSchema, _ name: String
    ) -> RemoteError {
        var error = StackMobError.incompatible(
            "\(schema.entity).\(name): expected \(expected) in the answer, not \(json.description.prefix(80))")
        error.kind = .invalidAnswer
        return error
    }

    private func invalid(_ message: String) -> RemoteError {
        var error = StackMobError.incompatible(message)
        error.kind = .invalidAnswer
        return error
    }
}
