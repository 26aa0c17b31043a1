import Foundation
import StrataStore

extension AzureDialect {
    /// The columns of a write. The server's own are left out; of a new row also what is nil.
    /// - Throws: ``RemoteError`` that names entity and property of a value which cannot be sent.
    func fields(of write: RemoteWrite, _ schema: AzureSchema, isNew: Bool) throws(RemoteError) -> JSONObject {
        if let name = write.operations.keys.min() {
            throw unsupported("\(schema.entity).\(name): the service computes no values; set the value itself")
        }
        if let name = write.secrets.keys.min() {
            throw unsupported("\(schema.entity).\(name): the service has no users with passwords")
        }
        var fields: JSONObject = [:]
        // Integers are the server's to assign. Of an object that is created again the old one is not sent either.
        if !isNew || schema.keys == .text { fields["id"] = schema.keys.json(write.id) }
        // The same write has the same bytes when it is sent again.
        for (name, value) in write.values.sorted(by: { $0.key < $1.key }) {
            guard let property = schema.properties[name], let column = schema.column(of: name) else {
                throw error(.invalidItem, "\(schema.entity).\(name) is not a column of the table \(schema.table)")
            }
            let json: JSONValue
            switch (property, value) {
            case (.primaryKey, _), (.system, _): continue
            case (.attribute(let type, _), .value(let value)):
                json = try self.json(value, type, "\(schema.entity).\(name)")
            case (.toOne, .reference(nil)): json = .null
            case (.toOne(_, let keys), .reference(let id?)):
                guard let reference = keys.json(id) else {
                    throw error(.invalidItemID, "\(schema.entity).\(name): the server has no row with the id \(id)")
                }
                json = reference
            default: throw error(.invalidItem, "\(schema.entity).\(name): the value does not fit the property")
            }
            if json.isNull, isNew { continue }
            fields[column] = json
        }
        return fields
    }

    private func json(_ value: Value, _ type: AttributeType, _ path: String) throws(RemoteError) -> JSONValue {
        switch (type, value) {
        case (_, .null): return .null
        case (_, _) where type.isJSON: if let json = JSONValue(content: value) { return json }
        case (.boolean, .integer(let number)): return .boolean(number != 0)
        case (_, .integer(let number)): return .integer(number)
        case (_, .double(let number)) where number.isFinite: return .double(number)
        case (_, .decimal(let number)) where !number.isNaN: return .decimal(number)
        case (_, .string(let text)): return .string(text)
        case (_, .boolean(let flag)): return .boolean(flag)
        case (_, .date(let date)): if let text = AzureDate.text(date) { return .string(text) }
        case (_, .uuid(let uuid)): return .string(uuid.uuidString)
        case (_, .uri(let uri)): return .string(uri.absoluteString)
        case (_, .binary(let data)): return .string(data.base64EncodedString())
        case (.composite(let declared), .composite(let elements)):
            var members: JSONObject = [:]
            for element in declared {
                guard let value = elements[element.name] else { continue }
                members[element.name] = try json(value, element.type, "\(path).\(element.name)")
            }
            return .object(members)
        default: break
        }
        throw error(.invalidItem, "\(path): the service has no form for \(value)")
    }

    // MARK: Reading

    /// An object of an answer.
    /// - Throws: ``RemoteError`` if it has no id, or a value that does not fit its property.
    func record(_ members: JSONObject, _ schema: AzureSchema) throws(RemoteError) -> RemoteRecord {
        var record = RemoteRecord(entity: schema.entity, id: try rowID(members, schema))
        for (column, json) in members {
            guard let name = schema.property(ofColumn: column), let property = schema.properties[name] else { continue }
            switch property {
            case .primaryKey: record.values[name] = .value(schema.keys.value(record.id))
            case .system(.createdAt), .system(.updatedAt):
                record.values[name] = .value(try value(json, .date, "\(schema.entity).\(name)"))
            case .system(.deleted): record.values[name] = .value(.boolean(json.boolean ?? false))
            case .system(.version):
                record.values[name] = .value(json.string.map(Value.string) ?? .null)
            case .attribute(let type, _):
                record.values[name] = .value(try value(json, type, "\(schema.entity).\(name)"))
            case .toOne(_, let keys):
                // A column of numbers that must have one has 0 for none.
                let isNone = json.isNull || keys == .integers && json.integer == 0
                guard let reference = isNone ? RemoteValue.reference(nil) : keys.id(json).map({ .reference($0) }) else {
                    throw mismatch("\(schema.entity).\(name): expected an id, not \(json.description.prefix(80))")
                }
                record.values[name] = reference
            }
        }
        if schema.keys == .integers { return record }
        let tag = members[AzureSystemProperty.version.column(in: version)]
        record.version = tag?.string ?? tag?.integer.map { String($0) }
        record.modified = members[AzureSystemProperty.updatedAt.column(in: version)]?.string.flatMap(AzureDate.date)
        return record
    }

    func rowID(_ members: JSONObject, _ schema: AzureSchema) throws(RemoteError) -> String {
        if let id = schema.keys.id(members["id"]) { return id }
        if schema.keys == .integers, case .string(let text)? = members["id"], !text.isEmpty {
            // The next attempt would have the same answer, and another row.
            throw error(
                .expectedItemInResponse,
                "\(schema.entity): the id \(text.prefix(80).debugDescription) is not an integer; the ids of the table "
                    + "\(schema.table) are texts, declare the primary key as a string", kind: .rejected)
        }
        throw mismatch("\(schema.entity): a row in the answer has no id")
    }

    private func value(_ json: JSONValue, _ type: AttributeType, _ path: String) throws(RemoteError) -> Value {
        switch (type, json) {
        case (_, .null): return .null
        case (.integer16, _), (.integer32, _), (.integer64, _), (.integer, _):
            if let number = json.integer { return .integer(number) }
        case (.double, _): if let number = json.double { return .double(number) }
        case (.float, _): if let number = json.double { return .double(Double(Float(number))) }
        case (.decimal, _): if let number = json.decimal { return .decimal(number) }
        case (.boolean, .boolean(let flag)): return .boolean(flag)
        case (.boolean, .integer(let number)) where number == 0 || number == 1: return .boolean(number == 1)
        case (.date, .string(let text)): if let date = AzureDate.date(text) { return .date(date) }
        case (.json, _): return json.content
        case (.array(let element), _): if let list = json.list(of: element) { return list }
        case (.string, .string(let text)): return .string(text)
        case (.uuid, .string(let text)): if let uuid = UUID(uuidString: text) { return .uuid(uuid) }
        case (.uri, .string(let text)): if let uri = URL(string: text) { return .uri(uri) }
        case (.binary, .string(let text)), (.transformable, .string(let text)):
            if let data = Data(base64Encoded: text) { return .binary(data) }
        case (.composite(let elements), .object(let members)):
            var values: [String: Value] = [:]
            for element in elements {
                guard let member = members[element.name] else { continue }
                values[element.name] = try value(member, element.type, "\(path).\(element.name)")
            }
            return .composite(values)
        default: break
        }
        throw mismatch("\(path): expected a value of type \(type.name), not \(json.description.prefix(80))")
    }

    func mismatch(_ message: String) -> RemoteError { error(.expectedItemInResponse, message) }
}
