import Foundation
import StrataRemote

/// A service that can do more than Shelf: it adds to numbers, keeps passwords, changes members one by one, and answers with
/// related objects.
struct Services {
    let name = "Shelf"
    let capabilities = RemoteCapabilities(features: [.readingMany, .relating, .increments, .expanding], maximumIDs: 50)
    private let coder = JSONRecordCoder(idField: "id", dates: .iso8601)

    private let model: ManagedObjectModel
    init(model: ManagedObjectModel) { self.model = model }

    func fields(of write: RemoteWrite, _ entity: EntityDescription) throws(RemoteError) -> JSONObject {
        var plain = write
        (plain.operations, plain.secrets) = ([:], [:])
        var fields = try coder.fields(of: plain, entity)
        for (property, operation) in write.operations {
            guard case .increment(let amount) = operation, let type = entity.attribute(named: property)?.type,
                let json = coder.json(amount, type)
            else { throw unsupported("the operation \(operation) of \(property)") }
            fields[coder.field(property, of: entity)] = ["add": json]
        }
        if let password = write.secrets["password"] { fields["password"] = .string(password) }
        return fields
    }

    func steps(of operation: RemoteOperation) throws(RemoteError) -> [RemoteOperation] {
        guard case .relate(let entity, let relation) = operation else {
            return operation.divided(maximumIDs: capabilities.maximumIDs, maximumBatch: capabilities.maximumBatch)
        }
        return relation.parts.map { .relate(entity: entity, $0) }
    }

    /// An object whose related objects may be in the places of their keys.
    func record(_ json: JSONValue, _ entity: EntityDescription) throws(RemoteError) -> RemoteRecord {
        var members = json.members ?? [:]
        var related: [String: RemoteValue] = [:]
        for relationship in entity.relationships where !relationship.isToMany {
            let field = coder.field(relationship.name, of: entity)
            guard let object = members[field], object.members != nil else { continue }
            let record = try record(object, model.destination(of: relationship))
            related[relationship.name] = .record(record)
            members[field] = .string(record.id)
        }
        var record = try coder.record(.object(members), entity)
        record.version = json["rev"]?.integer.map { String($0) }
        record.values.merge(related) { $1 }
        return record
    }

    private func unsupported(_ what: String) -> RemoteError {
        RemoteError(.unsupported, domain: name, message: "Shelf cannot take \(what)")
    }
}
