import Foundation
import StrataStackMob

extension StackMobWire {
    static func serialize(_ input: WireCase) throws -> JSONValue {
        let dialect = try input.dialect()
        let entity = input.text("entity") ?? "Entity"
        var reader = WireObjectReader(dialect: dialect, transient: Self.transients(input))
        for (name, type) in input["model"]?.members ?? [:] where !reader.transient.contains(name) {
            reader.types[name] = try WireValues.property(WireValues.text(type))
        }
        let record = try reader.record(
            entity, input["values"]?.members ?? [:], id: input.text("objectId", "primaryKey"))
        guard let schema = reader.schemas[entity] else { throw WireFault("the entity has no schema") }
        let mode = WireCase.plain(input.text("mode") ?? "changed")
        var write = RemoteWrite(id: record.id, values: record.values, isWhole: mode == "full")
        let isUser = dialect.isUserSchema(schema.name)
        if isUser, let password = input.text("password") { write.secrets["password"] = password }
        let isInsert = mode == "insert" || input.flag("insert", "isInsert") == true || isUser && input.has("password")
        var body = try dialect.body(
            of: write, schema, isInsert ? .insert : .update,
            StackMobEncoder(dialect: dialect, schemas: reader.schemas))
        // A case that names no primary key asks for none.
        if record.id.isEmpty { body.fields[schema.primaryKeyField] = nil }
        let times = ["createddate", "lastmoddate"].filter { body.fields[$0] != nil }
        let dropped = record.values.keys.map(StackMobNames.schemaField).filter { body.fields[$0] == nil }
        return [
            "body": body.json, "relations": .array(body.relations.map(JSONValue.string)),
            "presentKeys": .array(times.map(JSONValue.string)),
            "absentKeys": .array(dropped.sorted().map(JSONValue.string)),
        ]
    }

    private static func transients(_ input: WireCase) -> Set<String> {
        let types = input["model"]?.members ?? [:]
        let named = types.filter { ["transient", "undefined"].contains(WireCase.plain($0.value.string ?? "")) }.map(
            \.name)
        return Set(named).union(input.texts("transient") ?? [])
    }

    static func deserialize(_ input: WireCase) throws -> JSONValue {
        let schema = try Self.schema(input)
        guard let members = (input["json"] ?? input["body"])?.members else {
            throw StackMobError.exception(.incompatibleObject, "the answer is not a JSON object")
        }
        let told = try StackMobDecoder(dialect: try input.dialect()).values(members, schema: schema)
        var values: JSONObject = [:]
        for (name, property) in schema.properties {
            values[name] = json(told[name] ?? missing(property), property)
        }
        return ["values": .object(values)]
    }

    /// What an object has of a property that was not told.
    private static func missing(_ property: StackMobSchema.Property) -> RemoteValue {
        switch property {
        case .attribute: .value(.null)
        case .toOne: .reference(nil)
        case .toMany: .references([])
        }
    }

    private static func json(_ value: RemoteValue, _ property: StackMobSchema.Property) -> JSONValue {
        let destination =
            switch property {
            case .attribute: ""
            case .toOne(let entity), .toMany(let entity): entity
            }
        func object(_ id: String) -> JSONValue { ["$objectID": [.string(destination), .string(id)]] }
        return switch value {
        case .value(let value): WireValues.json(value)
        case .reference(let id): id.map(object) ?? .null
        case .references(let ids): .array(ids.map(object))
        case .record(let record): object(record.id)
        case .records(let records): .array(records.map { object($0.id) })
        }
    }

    static func binary(_ input: WireCase) throws -> JSONValue {
        let string = input.text("string", "value") ?? ""
        switch input.operation {
        case "encode":
            guard let data = Data(base64Encoded: input.argument("dataBase64", "data")) else {
                throw WireFault("\"dataBase64\" is not base64")
            }
            let file = StackMobFile(
                name: input.argument("name", "filename", "fileName"), contentType: input.argument("contentType"),
                data: data)
            return ["string": .string(file.fieldValue)]
        case "isurl": return ["isURL": .boolean(StackMobFile.isAddress(string))]
        case "decode", "todata", "parse":
            let content = try StackMobFile.data(fieldValue: string)
            let file = try StackMobFile(fieldValue: string)
            let data = JSONValue.string(content.base64EncodedString())
            return [
                "dataBase64": data, "base64": data, "data": ["$data": data], "name": .string(file.name),
                "filename": .string(file.name), "contentType": .string(file.contentType),
                "text": .string(String(decoding: file.data, as: UTF8.self)),
            ]
        case let other: throw WireFault("there is no operation \(other.prefix(40)) of binary fields")
        }
    }
}

extension StackMobNames {
    /// The field of a property whose name was looked at before.
    fileprivate static func schemaField(_ name: String) -> String { (try? field(ofProperty: name)) ?? name }
}

/// Reads the values of an object in a case, and what is to be known of its entity and those of related objects.
struct WireObjectReader {
    let dialect: StackMobDialect
    let transient: Set<String>
    /// The types of the outermost object's properties, where the case has them.
    var types: [String: StackMobSchema.Property] = [:]
    private(set) var schemas: [String: StackMobSchema] = [:]
    private var owners: [RemoteIdentity] = []

    init(dialect: StackMobDialect, transient: Set<String>) {
        self.dialect = dialect
        self.transient = transient
    }

    mutating func record(
        _ entity: String, _ values: JSONObject, id given: String? = nil
    ) throws -> RemoteRecord {
        let schema = StackMobNames.schema(ofEntity: entity)
        let user = dialect.isUserSchema(schema) ? dialect.userPrimaryKeyField : nil
        let key =
            (try? StackMobNames.primaryKey(ofEntity: entity, among: values.names, user: user)) ?? user ?? schema + "_id"
        let id = given ?? values[key].map(WireValues.text) ?? ""
        owners.append(RemoteIdentity(entity: entity, id: id))
        defer { owners.removeLast() }
        var record = RemoteRecord(entity: entity, id: id)
        var properties = owners.count == 1 ? types : [:]
        for (name, json) in values where owners.count > 1 || !transient.contains(name) {
            let (value, property) = try value(json, name)
            let declared = owners.count == 1 ? types[name] : nil
            properties[name] = declared ?? property
            record.values[name] = value
            // What is nil belongs to a relationship if the model says so.
            if case .value(.null) = value, let declared, case .attribute = declared {
            } else if case .value(.null) = value,
                let declared
            {
                if case .toMany = declared {
                    record.values[name] = .references([])
                } else {
                    record.values[name] = .reference(nil)
                }
            }
        }
        properties[key] = properties[key] ?? .attribute(.string)
        let known = schemas[entity]?.properties ?? [:]
        schemas[entity] = StackMobSchema(
            entity: entity, primaryKey: key, properties: known.merging(properties) { $1 })
        return record
    }

    private mutating func value(
        _ json: JSONValue, _ name: String
    ) throws -> (RemoteValue, StackMobSchema.Property) {
        if let members = json.elements, let first = members.first.flatMap(WireValues.reference),
            let entity = first.content.elements?.first
        {
            return try value(["$toMany": [entity, .array(members)]], name)
        }
        guard let (kind, content) = WireValues.reference(json) else {
            let value = try WireValues.value(json)
            return (.value(value), .attribute(Self.type(of: value)))
        }
        if kind == "$back" {
            guard let owner = owners.dropLast().last(where: { $0.entity == content.string }) else {
                throw WireFault("\(name): there is no \(content) further out")
            }
            return (.record(RemoteRecord(entity: owner.entity, id: owner.id)), .toOne(owner.entity))
        }
        guard let parts = content.elements, parts.count == 2, let entity = parts[0].string else {
            throw WireFault("\(name): \(kind) has an entity and a content")
        }
        switch (kind, parts[1]) {
        case ("$toMany", .array(let members)):
            // To-many relationships are sent as identifiers, including those of new objects.
            var ids: [String] = []
            for member in members {
                if let (_, inner) = WireValues.reference(member), let values = inner.elements?.last {
                    ids.append(try related(entity, values).id)
                } else {
                    ids.append(WireValues.text(member))
                }
            }
            return (.references(ids), .toMany(entity))
        case (_, let content): return (.record(try related(entity, content)), .toOne(entity))
        }
    }

    /// A related object: values of a new one, or the identifier of one that is there.
    private mutating func related(_ entity: String, _ content: JSONValue) throws -> RemoteRecord {
        if let values = content.members { return try record(entity, values) }
        return try record(entity, [:], id: WireValues.text(content))
    }

    private static func type(of value: Value) -> AttributeType {
        switch value {
        case .boolean: .boolean
        case .integer: .integer64
        case .double: .double
        case .decimal: .decimal
        case .date: .date
        case .geoPoint: .geoPoint
        case .binary: .binary
        case .uuid: .uuid
        case .uri: .uri
        default: .string
        }
    }
}
