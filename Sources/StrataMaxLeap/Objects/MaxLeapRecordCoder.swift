import Foundation

/// Turns values of properties into fields, and fields into values of properties.
struct MaxLeapRecordCoder {
    let dialect: MaxLeapDialect
    let schema: MaxLeapSchema

    // MARK: To the server

    /// The fields of a write, with what the server is to compute and the secrets.
    /// - Parameter isInsert: Whether the object is new: then what is nil is left out.
    /// - Throws: ``RemoteError`` that names entity and property of what cannot be sent.
    func fields(of write: RemoteWrite, isInsert: Bool) throws(RemoteError) -> JSONObject {
        var body: JSONObject = [:]
        for (name, value) in write.values.sorted(by: { $0.key < $1.key }) {
            let field = try schema.field(of: name)
            if schema.isSystem(field) { continue }
            if let json = try naming(name, { () throws(RemoteError) in try json(value, name, isInsert) }) {
                body[field] = json
            }
        }
        // The same write has the same bytes when it is sent again.
        for (name, operation) in write.operations.sorted(by: { $0.key < $1.key }) {
            body[try schema.field(of: name)] = try naming(name) { () throws(RemoteError) in
                try self.operation(operation, name).json()
            }
        }
        if schema.className == "_User", isInsert, write.secrets["password"] == nil {
            throw MaxLeapError.passwordMissing.error(
                "\(schema.entity) \(write.id) is a new user and has no password; give it one before the save",
                kind: .missingSecret)
        }
        for (name, secret) in write.secrets.sorted(by: { $0.key < $1.key }) { body[name] = .string(secret) }
        if isInsert, dialect.sendsObjectIds { body["objectId"] = .string(write.id) }
        return body
    }

    /// The value of a property as it is sent; nil to send nothing.
    private func json(_ value: RemoteValue, _ name: String, _ isInsert: Bool) throws(RemoteError) -> JSONValue? {
        // A nil on its own would be a null of JSON.
        let clear = isInsert ? Optional<JSONValue>.none : .some(try MaxLeapOperation.delete.json())
        switch (value, schema.properties[name]) {
        case (.value(.string(let text)), _) where isFile(name): return try file(text).json()
        case (.value(.uri(let uri)), _) where isFile(name): return try file(uri.absoluteString).json()
        case (.value(.null), _), (.reference(nil), _): return clear
        case (.value(let value), .attribute(let type)): return try self.value(value, type).json()
        case (.reference(let id?), .toOne(let entity)): return try dialect.pointer(entity, id).json
        case (.record(let record), .toOne): return try dialect.pointer(record.entity, record.id).json
        case (.references(let ids), .toMany(let entity)):
            var list: [JSONValue] = []
            for id in ids { list.append(try dialect.pointer(entity, id).json) }
            return .array(list)
        case (.references(let ids), .relation(let entity)):
            // A relation has no members that could be replaced as a whole.
            if ids.isEmpty { return nil }
            var list: [MaxLeapPointer] = []
            for id in ids { list.append(try dialect.pointer(entity, id)) }
            return try MaxLeapOperation.relation(add: list, remove: []).json()
        case (.records(let records), _):
            return try json(.references(records.map(\.id)), name, isInsert)
        default: throw MaxLeapError.incorrectType.error("the value does not fit the property")
        }
    }

    /// Whether the server keeps an attribute as a file.
    func isFile(_ name: String) -> Bool { dialect.names.files[schema.entity]?.contains(name) == true }

    private func file(_ reference: String) throws(RemoteError) -> MaxLeapValue {
        guard let file = MaxLeapFile(reference: reference) else {
            throw MaxLeapError.unsavedFile.error(
                "\"\(reference.prefix(80))\" is not an uploaded file; stage it with RemoteStore.stageFile")
        }
        return .file(file)
    }

    /// An attribute's value as a value of the server.
    private func value(_ value: Value, _ type: AttributeType) throws(RemoteError) -> MaxLeapValue {
        switch value {
        case .null: return .null
        case .integer(let number): return type == .boolean ? .boolean(number != 0) : .integer(number)
        case .double(let number): return .double(number)
        case .decimal(let number): return .decimal(number)
        case .string(let text): return .string(text)
        case .boolean(let flag): return .boolean(flag)
        case .date(let date): return .date(date)
        case .binary(let data): return .bytes(data)
        case .uuid(let uuid): return .string(uuid.uuidString)
        case .uri(let uri): return .string(uri.absoluteString)
        case .geoPoint(let point): return .geoPoint(point)
        case .list(let elements): return .array(try list(elements, type))
        case .set(let elements): return .array(try list(elements.members, type))
        case .composite(let members):
            var values: [String: MaxLeapValue] = [:]
            for (name, member) in members where type.isJSON || !member.isNull {
                values[name] = try self.value(member, type)
            }
            return .dictionary(values)
        case .object: throw MaxLeapError.incorrectType.error("an object is not the value of an attribute")
        }
    }

    private func list(_ elements: [Value], _ type: AttributeType) throws(RemoteError) -> [MaxLeapValue] {
        var values: [MaxLeapValue] = []
        for element in elements { values.append(try value(element, type)) }
        return values
    }

    private func operation(_ operation: FieldOperation, _ name: String) throws(RemoteError) -> MaxLeapOperation {
        guard case .attribute(let type)? = schema.properties[name] else {
            throw MaxLeapError.incorrectType.error("members of relationships are changed by relating")
        }
        switch operation {
        case .increment(let amount):
            guard type.isNumeric else { throw MaxLeapError.incorrectType.error("only numbers are incremented") }
            return .increment(try value(amount, type))
        case .append(let values): return .add(try list(values, type))
        case .appendUnique(let values): return .addUnique(try list(values, type))
        case .remove(let values): return .remove(try list(values, type))
        }
    }

    /// Puts entity and property before the message of an error.
    private func naming<T>(
        _ name: String, _ body: () throws(RemoteError) -> T
    ) throws(RemoteError) -> T {
        do throws(RemoteError) {
            return try body()
        } catch {
            var error = error
            error.message = "\(schema.entity).\(name): \(error.message)"
            throw error
        }
    }
}
