import Foundation

extension ManagedObject {
    /// The object with a choice of its properties, for an encoder.
    ///
    ///     let json = try JSONEncoder().encode(city.encoding(including: ["country"], excluding: ["alternateNames"]))
    ///
    /// - Parameters:
    ///   - paths: Relationships whose objects are encoded in full, as typed keys or dotted paths: `"author.country"`. To-one
    ///     relationships that are not among them are encoded as keys; to-many relationships are left out.
    ///   - excluded: The names of properties that are left out, at every level.
    ///   - includesNil: Whether properties without a value are encoded as null.
    public final func encoding(
        including paths: [any PrefetchPath] = [], excluding excluded: Set<String> = [], includesNil: Bool = false
    ) -> ObjectEncoding {
        ObjectEncoding(
            object: self,
            encoder: ObjectEncoder(
                included: paths.map(\.prefetchPath), excluded: excluded, includesNil: includesNil))
    }
}

/// An object with a choice of its properties, for an encoder.
///
///     let encodings = cities.map { $0.encoding(including: [City.keys.country], excluding: ["alternateNames"]) }
///     let json = try JSONEncoder().encode(encodings)
///
/// ``ManagedObject/encoding(including:excluding:includesNil:)`` returns it. Objects are `Encodable` themselves, with all
/// attributes and to-one relationships as keys; use this to include related objects in full or to leave properties out, for the
/// answer of a server for instance. Prefetch the relationships that you include, so that they are read for all objects
/// together.
///
/// It lives where the object lives, and encodes the values that the object has when it is encoded. An override of
/// ``ManagedObject/encode(to:)`` is not called.
public struct ObjectEncoding: Encodable {
    let object: ManagedObject
    let encoder: ObjectEncoder

    /// Encodes the object.
    /// - Throws: The encoder's errors, and ``PersistenceError`` if the store fails while a property is read.
    public func encode(to encoder: any Encoder) throws { try self.encoder.encode(object, to: encoder) }
}

/// Writes objects by their model.
struct ObjectEncoder {
    /// The relationships whose objects are written in full.
    let included: [[String]]
    let excluded: Set<String>
    let includesNil: Bool

    func encode(_ object: ManagedObject, to encoder: any Encoder) throws {
        if object.isFault, let core = object.core { try core.faults.load(object) }
        var container = encoder.container(keyedBy: PropertyCodingKey.self)
        let entity = object.binding.entity
        for attribute in entity.attributes where !excluded.contains(attribute.name) {
            let key = PropertyCodingKey(attribute.name)
            if case .composite = attribute.type {
                try encodeComposite(attribute, of: object, key, into: &container)
            } else {
                let slot = entity.slots[attribute.slots.lowerBound]
                try encode(object.currentValue(slot), slot, key, into: &container)
            }
        }
        for relationship in entity.relationships where !excluded.contains(relationship.name) {
            try encode(relationship, of: object, into: &container)
        }
    }

    private func encodeComposite(
        _ attribute: AttributeDescription, of object: ManagedObject, _ key: PropertyCodingKey,
        into container: inout KeyedEncodingContainer<PropertyCodingKey>
    ) throws {
        let slots = attribute.slots.map { object.binding.entity.slots[$0] }
        let values = slots.map(object.currentValue)
        if values.allSatisfy(\.isNull) {
            if includesNil { try container.encodeNil(forKey: key) }
            return
        }
        var elements = container.nestedContainer(keyedBy: PropertyCodingKey.self, forKey: key)
        for (slot, value) in zip(slots, values) {
            let element = PropertyCodingKey(String(slot.name.dropFirst(attribute.name.count + 1)))
            try encode(value, slot, element, into: &elements)
        }
    }

    private func encode(
        _ value: Value, _ slot: SlotDescription, _ key: PropertyCodingKey,
        into container: inout KeyedEncodingContainer<PropertyCodingKey>
    ) throws {
        if slot.type?.isJSON == true, !value.isNull {
            guard let fragment = JSONFragment(value) else {
                throw EncodingError.invalidValue(
                    value, .init(codingPath: container.codingPath, debugDescription: "\(slot.name) is not JSON"))
            }
            return try container.encode(fragment, forKey: key)
        }
        switch value {
        case .null: if includesNil { try container.encodeNil(forKey: key) }
        case .integer(let value): try container.encode(value, forKey: key)
        case .double(let value): try container.encode(value, forKey: key)
        case .decimal(let value): try container.encode(value, forKey: key)
        case .string(let value): try container.encode(value, forKey: key)
        case .boolean(let value): try container.encode(value, forKey: key)
        case .date(let value): try container.encode(value, forKey: key)
        case .uuid(let value): try container.encode(value, forKey: key)
        case .uri(let value): try container.encode(value, forKey: key)
        case .geoPoint(let value): try container.encode(value, forKey: key)
        case .binary(let bytes):
            if case .transformable? = slot.type {
                try container.encode(try JSONFragment(bytes: bytes), forKey: key)
            } else {
                try container.encode(bytes, forKey: key)
            }
        case .composite, .object, .list, .set:
            throw EncodingError.invalidValue(
                value,
                .init(
                    codingPath: container.codingPath, debugDescription: "\(slot.name) is not the value of an attribute")
            )
        }
    }

    private func encode(
        _ relationship: RelationshipDescription, of object: ManagedObject,
        into container: inout KeyedEncodingContainer<PropertyCodingKey>
    ) throws {
        let key = PropertyCodingKey(relationship.name)
        let inner = included.filter { $0.first == relationship.name }.map { Array($0.dropFirst()) }
        if let index = relationship.toManyIndex {
            guard !inner.isEmpty else { return }
            var list = container.nestedUnkeyedContainer(forKey: key)
            let members = try object.loadedMembers(toMany: index).objects
            // A set has no order of its own; this one is the same each time.
            for member in relationship.isOrdered ? members : members.sorted(by: { $0.key < $1.key }) {
                try encode(member, inner, to: list.superEncoder())
            }
            return
        }
        guard let slot = relationship.slot, let target = try target(of: object, slot, relationship) else {
            if includesNil { try container.encodeNil(forKey: key) }
            return
        }
        guard inner.isEmpty else { return try encode(target, inner, to: container.superEncoder(forKey: key)) }
        guard let field = target.binding.entity.primaryKeyField, let slot = target.binding.entity.slot(named: field)
        else {
            return try container.encode(target.objectID.uri, forKey: key)
        }
        if target.isFault, let core = target.core { try core.faults.load(target) }
        try encode(target.currentValue(slot), slot, key, into: &container)
    }

    private func encode(_ object: ManagedObject, _ included: [[String]], to encoder: any Encoder) throws {
        let inner = ObjectEncoder(
            included: included.filter { !$0.isEmpty }, excluded: excluded, includesNil: includesNil)
        try inner.encode(object, to: encoder)
    }

    private func target(
        of object: ManagedObject, _ slot: Int, _ relationship: RelationshipDescription
    ) throws(PersistenceError) -> ManagedObject? {
        guard let core = object.core else { return nil }
        return try core.reading { () throws(PersistenceError) in object.target(slot) }
    }
}
