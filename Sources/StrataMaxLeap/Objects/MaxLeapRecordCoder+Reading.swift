import Foundation

extension MaxLeapRecordCoder {
    /// An object of an answer.
    /// - Parameter known: Its identifier, for answers that do not repeat it.
    /// - Throws: ``RemoteError`` if it has no identifier, or a value that does not fit its property.
    func record(_ json: JSONValue, id known: String? = nil) throws(RemoteError) -> RemoteRecord {
        guard let members = json.members else {
            throw invalid("\(schema.entity): expected a JSON object in the answer")
        }
        guard let id = members["objectId"]?.string ?? known, !id.isEmpty else {
            throw invalid("\(schema.entity): an object in the answer has no objectId")
        }
        var record = RemoteRecord(entity: schema.entity, id: id)
        for (field, json) in members {
            guard let name = schema.property(ofField: field), let property = schema.properties[name] else { continue }
            if let value = try value(json, property, name) { record.values[name] = value }
        }
        record.values[schema.primaryKey] = .value(.string(id))
        // A new object was changed when it was made.
        let time = members["updatedAt"] ?? members["createdAt"]
        if let date = MaxLeapObject.date(time) {
            record.modified = date
            record.version = MaxLeapDate.text(date)
            if let name = schema.property(ofField: "updatedAt"), record.values[name] == nil {
                record.values[name] = .value(.date(date))
            }
        }
        return record
    }

    /// - Returns: nil for what the answer does not tell: the members of a relation.
    private func value(
        _ json: JSONValue, _ property: MaxLeapSchema.Property, _ name: String
    ) throws(RemoteError) -> RemoteValue? {
        switch property {
        case .attribute(let type): return .value(try value(json, type, name))
        case .relation: return nil
        case .toOne(let entity):
            if json.isNull { return .reference(nil) }
            return try related(json, entity, name)
        case .toMany(let entity):
            if json.isNull { return .references([]) }
            guard let elements = json.elements else { throw mismatch(json, "an array of pointers", name) }
            var ids: [String] = []
            var records: [RemoteRecord] = []
            for element in elements {
                switch try related(element, entity, name) {
                case .reference(let id?):
                    ids.append(id)
                    records.append(RemoteRecord(entity: entity, id: id))
                case .record(let record): records.append(record)
                default: throw mismatch(element, "a pointer", name)
                }
            }
            return ids.count == records.count ? .references(ids) : .records(records)
        }
    }

    /// A pointer, or an object that came along.
    private func related(_ json: JSONValue, _ entity: String, _ name: String) throws(RemoteError) -> RemoteValue {
        let className = dialect.names.className(ofEntity: entity)
        guard let members = json.members, let id = members["objectId"]?.string, !id.isEmpty,
            members["className"]?.string ?? className == className
        else { throw mismatch(json, "a pointer to a \(className)", name) }
        let isPlain = members["__type"]?.string == "Pointer" && members["createdAt"] == nil
        guard !isPlain, let schema = try dialect.schema(named: entity) else { return .reference(id) }
        return .record(try MaxLeapRecordCoder(dialect: dialect, schema: schema).record(json))
    }

    private func value(_ json: JSONValue, _ type: AttributeType, _ name: String) throws(RemoteError) -> Value {
        switch (type, json) {
        case (_, .null): return .null
        case (.json, _): return json.content
        case (.array(let element), _): if let list = json.list(of: element) { return list }
        case (.boolean, .boolean(let flag)): return .boolean(flag)
        case (.boolean, .integer(let number)) where number == 0 || number == 1: return .boolean(number == 1)
        case (.string, .string(let text)): return .string(text)
        case (.uuid, .string(let text)): if let uuid = UUID(uuidString: text) { return .uuid(uuid) }
        case (.uri, .string(let text)): if let uri = URL(string: text) { return .uri(uri) }
        case (.date, _): if let date = MaxLeapObject.date(json) { return .date(date) }
        case (.double, _): if let number = json.double { return .double(number) }
        case (.float, _): if let number = json.double { return .double(Double(Float(number))) }
        case (.decimal, _): if let number = json.decimal { return .decimal(number) }
        case (_, _) where type.isInteger: if let number = json.integer { return .integer(number) }
        case (.composite(let elements), .object(let members)):
            var values: [String: Value] = [:]
            for element in elements {
                guard let member = members[element.name] else { continue }
                values[element.name] = try value(member, element.type, "\(name).\(element.name)")
            }
            return .composite(values)
        case (_, .object):
            switch (type, try MaxLeapValue(json)) {
            case (.geoPoint, .geoPoint(let point)): return .geoPoint(point)
            case (.binary, .bytes(let data)), (.transformable, .bytes(let data)): return .binary(data)
            // A file is known by where its bytes are.
            case (.string, .file(let file)):
                if let text = isFile(name) ? file.reference : file.url { return .string(text) }
            case (.uri, .file(let file)):
                let text = isFile(name) ? file.reference : file.url
                if let url = text.flatMap({ URL(string: $0) }) { return .uri(url) }
            default: break
            }
        default: break
        }
        throw mismatch(json, "a value of type \(type.name)", name)
    }

    private func mismatch(_ json: JSONValue, _ expected: String, _ name: String) -> RemoteError {
        invalid(
            "\(schema.entity).\(name): expected \(expected) in the answer, not \(json.description.prefix(80))")
    }

    private func invalid(_ message: String) -> RemoteError {
        MaxLeapError.incorrectType.error(message, kind: .invalidAnswer)
    }
}
