import Foundation
import StrataStore

/// Converts objects to JSON and back, for dialects of services that have no rules of their own for values.
///
///     let coder = JSONRecordCoder(idField: "id", dates: .milliseconds)
///     let body = JSONValue.object(try coder.fields(of: write, entity))
///     let page = coder.page(of: list, entity) { record, json in record.version = json["revision"]?.string }
///
/// Fields have the names of the properties, or those of ``names``. Numbers, texts and truth values are JSON's. These have no form in JSON, and are
/// written as follows:
///
/// | type | JSON |
/// |---|---|
/// | date | as ``dates`` says |
/// | decimal | a string, so that no digit is lost; a number is read, too |
/// | binary, transformable | a string: base64 (RFC 4648, section 4) |
/// | UUID, URI | a string |
/// | position | an array: latitude, longitude |
/// | composite | an object with the elements |
/// | array, JSON | itself |
/// | to-one relationship | the primary key of the other object, or null |
/// | to-many relationship | an array with the primary keys of the members |
///
/// Primary keys are strings, or whole numbers with ``KeyFormat/integers``.
public struct JSONRecordCoder: Sendable, Hashable {
    /// How dates are written.
    public enum DateFormat: Sendable, Hashable, CaseIterable {
        /// Text in UTC with milliseconds, `2026-11-24T22:47:00.123Z`, of the years 1 to 9999 (RFC 3339). The order of the
        /// texts is that of the dates. Texts with other offsets and without milliseconds are read, too.
        case iso8601
        /// A whole number: milliseconds since 1970-01-01 00:00 UTC.
        case milliseconds
        /// A number: seconds since 1970-01-01 00:00 UTC, with a fraction.
        case seconds
    }

    /// How primary keys are written.
    public enum KeyFormat: Sendable, Hashable, CaseIterable {
        /// Strings. The primary keys of the model are of type `string`.
        case text
        /// Whole numbers for entities whose primary key is of type `integer64`, and strings for the others. The server assigns the
        /// numbers: the dialect has ``RemoteCapabilities/Features/assignsIDs`` for these entities, and new objects are sent
        /// without a key.
        case integers
    }

    /// The field with the primary key.
    public var idField: String
    /// How primary keys are written.
    public var keys: KeyFormat
    /// How the names of properties become those of fields. The names of properties that differ only in the spelling of words in
    /// capitals, as `imageURL` does from `imageUrl`, are the same in snake_case: models cannot have both.
    public var names: NamingConvention.Style
    /// How dates are written. They come back to 0.001 seconds, and to 0.0001 with ``DateFormat/seconds``, as dates count from
    /// another year than 1970.
    public var dates: DateFormat

    /// Makes a coder.
    public init(
        idField: String = "id", dates: DateFormat = .iso8601, keys: KeyFormat = .text,
        names: NamingConvention.Style = .verbatim
    ) {
        self.idField = idField
        self.names = names
        self.dates = dates
        self.keys = keys
    }

    /// Refuses a model with properties that have the name of a field of the service's own, or with primary keys of another
    /// type than ``keys``.
    ///
    ///     func check(_ model: ManagedObjectModel) throws(RemoteError) {
    ///         try JSONRecordCoder(idField: "id").check(model, reserved: ["revision"])
    ///     }
    ///
    /// - Parameter reserved: The names of these fields, besides ``idField``.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported`` that names entity and property.
    public func check(_ model: ManagedObjectModel, reserved: Set<String> = []) throws(RemoteError) {
        let reserved = reserved.union([idField])
        for entity in model.entities {
            if let name = entity.primaryKeyField, let type = entity.primaryKeyType, !keys.types.contains(type) {
                throw RemoteError(
                    .unsupported, domain: "Strata",
                    message: "\(entity.name).\(name): the service's primary keys are of type "
                        + keys.types.map(\.name).joined(separator: " or "))
            }
            for name in entity.attributes.map(\.name) + entity.relationships.map(\.name)
            where reserved.contains(field(name)) && name != entity.primaryKeyField {
                throw RemoteError(
                    .unsupported, domain: "Strata",
                    message:
                        "\(entity.name).\(name): \(field(name)) is a field of the service's own; rename the property")
            }
        }
    }

    // MARK: Writing

    /// The fields of a write, with the primary key. The same write has the same fields in the same order each time, so the
    /// server can recognize a request that it gets twice.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unsupported`` for secrets, related objects and changes that the
    ///   server is to compute; of kind ``RemoteError/Kind/invalidRequest`` for values without a form in JSON, such as numbers
    ///   that are not finite. It names entity and property.
    public func fields(of write: RemoteWrite, _ entity: EntityDescription) throws(RemoteError) -> JSONObject {
        let identity = RemoteIdentity(entity: entity.name, id: write.id)
        func refusal(_ kind: RemoteError.Kind, _ name: String, _ reason: String) -> RemoteError {
            RemoteError(kind, domain: "Strata", message: "\(entity.name).\(name): \(reason)", identity: identity)
        }
        if let name = write.operations.keys.min() {
            throw refusal(.unsupported, name, "the service computes no values; set the value itself")
        }
        if let name = write.secrets.keys.min() { throw refusal(.unsupported, name, "the service has no secrets") }
        var fields: JSONObject = [:]
        if let id = json(id: write.id, entity.primaryKeyType) { fields[idField] = id }
        for (name, value) in write.values.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
        where name != entity.primaryKeyField {
            switch value {
            case .value(let value):
                guard let type = entity.attribute(named: name)?.type, let json = json(value, type) else {
                    throw refusal(.invalidRequest, name, "JSON has no form for \(value)")
                }
                fields[field(name)] = json
            case .reference(let id?):
                guard let json = json(id: id, entity.relationship(named: name)?.destinationKeyType) else {
                    throw refusal(.invalidRequest, name, "the server has not assigned the key \(id)")
                }
                fields[field(name)] = json
            case .reference(nil): fields[field(name)] = .null
            case .references(let ids):
                let type = entity.relationship(named: name)?.destinationKeyType
                let list = ids.compactMap { json(id: $0, type) }
                guard list.count == ids.count else {
                    throw refusal(.invalidRequest, name, "the server has not assigned all keys of \(ids)")
                }
                fields[field(name)] = .array(list)
            case .record, .records:
                throw refusal(.unsupported, name, "the service takes primary keys of related objects, not the objects")
            }
        }
        return fields
    }

    /// Whether primary keys of a type are whole numbers in JSON.
    private func areNumbers(_ type: AttributeType?) -> Bool { keys == .integers && type?.isInteger == true }

    /// A primary key; nil for an integer that is not the server's.
    private func json(id: String, _ type: AttributeType?) -> JSONValue? {
        guard areNumbers(type) else { return .string(id) }
        return Int64(id).flatMap { $0 < 0 ? nil : .integer($0) }
    }

    // MARK: Names

    /// The name of the field of a property, for conditions, orders and selections. That of the primary key is ``idField``.
    ///
    ///     let coder = JSONRecordCoder(names: .snakeCase)
    ///     print(coder.field("yearBorn", of: entity))  // year_born
    public func field(_ property: String, of entity: EntityDescription) -> String {
        property == entity.primaryKeyField ? idField : field(property)
    }

    private func field(_ property: String) -> String {
        names == .verbatim ? property : NamingConvention.snakeCase(property)
    }

    /// The property of a field; nil if the entity has none.
    private func property(_ field: String, _ entity: EntityDescription) -> String? {
        if names == .verbatim { return field }
        // Without a search where the model spells names in the same way.
        if let name = entity.property(storedName: field), self.field(name) == field { return name }
        return (entity.attributes.map(\.name) + entity.relationships.map(\.name)).first { self.field($0) == field }
    }

    // MARK: Reading

    /// The primary key in an answer; nil if there is none.
    private func id(_ json: JSONValue?, _ type: AttributeType?) -> String? {
        if areNumbers(type) { return json?.integer.map { String($0) } }
        return json?.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The object in an answer. Fields that the model does not know are left out, and ``RemoteRecord/version`` and
    /// ``RemoteRecord/modified`` are nil.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/invalidAnswer`` if there is no primary key, or if a value does not
    ///   fit its property. It names entity and property, and the object if it has a primary key.
    public func record(_ json: JSONValue, _ entity: EntityDescription) throws(RemoteError) -> RemoteRecord {
        guard let id = id(json[idField], entity.primaryKeyType) else {
            throw RemoteError(
                .invalidAnswer, domain: "Strata",
                message: "\(entity.name): expected an object with \(idField), not \(json.description.prefix(80))")
        }
        var record = RemoteRecord(entity: entity.name, id: id)
        for (field, json) in json.members ?? [:] {
            guard let name = property(field, entity), name != entity.primaryKeyField else { continue }
            let value: RemoteValue?
            if let relationship = entity.relationship(named: name) {
                value = reference(json, relationship)
            } else if let attribute = entity.attribute(named: name), !attribute.isTransient {
                value = self.value(json, attribute.type).map { .value($0) }
            } else {
                continue
            }
            guard let value else {
                throw RemoteError(
                    .invalidAnswer, domain: "Strata",
                    message: "\(entity.name).\(name): \(json.description.prefix(80)) does not fit the property",
                    identity: record.identity)
            }
            record.values[name] = value
        }
        if let key = entity.primaryKeyField {
            let isNumber = areNumbers(entity.primaryKeyType)
            record.values[key] = .value(isNumber ? Int64(id).map(Value.integer) ?? .null : .string(id))
        }
        return record
    }

    private func reference(_ json: JSONValue, _ relationship: RelationshipDescription) -> RemoteValue? {
        let type = relationship.destinationKeyType
        guard relationship.isToMany else {
            return json.isNull ? .reference(nil) : id(json, type).map { .reference($0) }
        }
        if json.isNull { return .references([]) }
        guard let elements = json.elements else { return nil }
        let ids = elements.compactMap { id($0, type) }
        return ids.count == elements.count ? .references(ids) : nil
    }

    /// The objects in an answer. An object that makes no sense is noted in ``RemotePage/unreadable`` and does not keep the
    /// others from being read.
    /// - Parameter complete: Sets what is the service's own of each record: its version and the time of its last change. What
    ///   it throws makes the record unreadable.
    public func page(
        of list: [JSONValue], _ entity: EntityDescription,
        complete: (inout RemoteRecord, JSONValue) throws(RemoteError) -> Void = { _, _ in }
    ) -> RemotePage {
        var page = RemotePage()
        page.records.reserveCapacity(list.count)
        for json in list {
            do throws(RemoteError) {
                var record = try record(json, entity)
                try complete(&record, json)
                page.records.append(record)
            } catch {
                page.unreadable.append(UnreadableRecord(identity: error.identity, error: error))
            }
        }
        return page
    }
}

extension JSONRecordCoder.KeyFormat {
    /// The types of primary keys in the model.
    fileprivate var types: [AttributeType] { self == .integers ? [.string, .integer64] : [.string] }
}
