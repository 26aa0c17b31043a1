import StrataRemote

/// A record as conditions look at it: references are primary keys.
package struct RecordSource: PropertySource {
    private let record: RemoteRecord
    private let primaryKey: String?

    /// - Parameter entity: The entity of the record, which names its primary key.
    package init(record: RemoteRecord, of entity: EntityDescription) {
        self.record = record
        primaryKey = entity.primaryKeyField
    }

    package var evaluatedObject: Value { .string(record.id) }

    package func property(_ name: String) -> PropertyValue {
        switch record.values[name] {
        case .value(let value): .value(value)
        case .reference(let id): .value(id.map(Value.string) ?? .null)
        case .references(let ids): .value(.list(ids.map(Value.string)))
        default: .value(name == primaryKey ? .string(record.id) : .null)
        }
    }

    /// The value of a property; that of a reference is a primary key.
    func value(_ name: String) -> Value { if case .value(let value) = property(name) { value } else { .null } }
}
