/// The values of some properties of one object, checked against the model: what an import knows of it.
struct PropertyValues {
    /// The other end of a relationship.
    enum Related {
        case object(ManagedObject)
        /// The value of the destination's primary key.
        case key(Value)
        /// An object that is imported with its owner.
        case values(PropertyValues)
    }

    let entity: EntityDescription
    /// Values by slot. Composites give one for each element.
    var values: [(slot: Int, value: Value)] = []
    var relationships: [(relationship: RelationshipDescription, related: [Related])] = []

    init(entity: EntityDescription) { self.entity = entity }

    /// The value of a slot; nil if the import says nothing of it.
    func value(_ slot: Int) -> Value? { values.last { $0.slot == slot }?.value }
}

/// Reads property values from dictionaries: names of the model, or their stored form in snake_case, with values of the
/// attributes' types or such as JSON has in their place.
struct PropertyValueReader {
    let model: ManagedObjectModel

    /// - Throws: ``PersistenceError/unknownProperty(entity:property:nearest:)``, ``PersistenceError/readOnlyProperty(entity:property:)``,
    ///   ``PersistenceError/wrongType(entity:property:expected:value:)``.
    func read(_ dictionary: [String: Any?], _ entity: EntityDescription) throws(PersistenceError) -> PropertyValues {
        var result = PropertyValues(entity: entity)
        for (name, value) in dictionary { try read(value, name, entity, into: &result) }
        return result
    }

    private func read(
        _ value: Any?, _ name: String, _ entity: EntityDescription, into result: inout PropertyValues
    ) throws(PersistenceError) {
        let name = propertyName(name, entity)
        if let attribute = entity.attribute(named: name) {
            guard attribute.derivation == nil else { throw .readOnlyProperty(entity: entity.name, property: name) }
            if case .composite = attribute.type { return try readComposite(value, attribute, entity, into: &result) }
            let slot = entity.slots[attribute.slots.lowerBound]
            result.values.append((slot.index, try converted(value, slot, entity)))
        } else if let relationship = entity.relationship(named: name) {
            result.relationships.append((relationship, try readRelated(value, relationship, entity)))
        } else {
            throw .unknownProperty(name, of: entity)
        }
    }

    /// The name in the model of a property that may be given by its stored name.
    func propertyName(_ name: String, _ entity: EntityDescription) -> String {
        if entity.attribute(named: name) != nil || entity.relationship(named: name) != nil { return name }
        return entity.property(storedName: name) ?? name
    }

    private func readComposite(
        _ value: Any?, _ attribute: AttributeDescription, _ entity: EntityDescription, into result: inout PropertyValues
    ) throws(PersistenceError) {
        var rest: [String: Any?] = [:]
        if let value = value.flatMap(\.self), !ImportedValue.isNull(value) {
            guard let values = value as? [String: Any?] else {
                throw wrong(value, attribute.name, "a composite", entity)
            }
            rest = values
        }
        for index in attribute.slots {
            let slot = entity.slots[index]
            let element = String(slot.name.dropFirst(attribute.name.count + 1))
            let value = rest.removeValue(forKey: element).flatMap(\.self)
            result.values.append((index, try converted(value, slot, entity)))
        }
        if let unknown = rest.keys.sorted().first {
            throw .unknownProperty("\(attribute.name).\(unknown)", of: entity)
        }
    }

    private func readRelated(
        _ value: Any?, _ relationship: RelationshipDescription, _ entity: EntityDescription
    ) throws(PersistenceError) -> [PropertyValues.Related] {
        guard let value = value.flatMap(\.self), !ImportedValue.isNull(value) else { return [] }
        let elements: [Any?]
        switch value {
        case let list as [Any?] where relationship.isToMany: elements = list
        case let set as Set<ManagedObject> where relationship.isToMany: elements = Array(set)
        default:
            guard !relationship.isToMany else {
                throw wrong(value, relationship.name, "a list of \(relationship.destination)", entity)
            }
            elements = [value]
        }
        let destination = model.destination(of: relationship)
        var result: [PropertyValues.Related] = []
        for element in elements {
            guard let element = element.flatMap(\.self) else {
                throw wrong(nil, relationship.name, "a list of \(relationship.destination) without nil", entity)
            }
            switch element {
            case let object as ManagedObject:
                guard object.binding.entity.descends(from: destination.index, in: model) else {
                    throw wrong(object, relationship.name, relationship.destination, entity)
                }
                result.append(.object(object))
            case let values as [String: Any?]: result.append(.values(try read(values, destination)))
            case let values as PropertyValues: result.append(.values(values))
            default:
                guard let field = destination.primaryKeyField, let slot = destination.slot(named: field),
                    let key = ImportedValue.value(element, slot), !key.isNull
                else { throw wrong(element, relationship.name, relationship.destination, entity) }
                result.append(.key(key))
            }
        }
        return result
    }

    private func converted(
        _ value: Any?, _ slot: SlotDescription, _ entity: EntityDescription
    ) throws(PersistenceError) -> Value {
        guard let value = value.flatMap(\.self), !ImportedValue.isNull(value) else {
            guard slot.isOptional else { throw wrong(nil, slot.name, slot.type?.name ?? "", entity) }
            return .null
        }
        guard let converted = ImportedValue.value(value, slot) else {
            throw wrong(value, slot.name, slot.type?.name ?? "", entity)
        }
        return converted
    }

    private func wrong(_ value: Any?, _ name: String, _ expected: String, _ entity: EntityDescription)
        -> PersistenceError
    {
        .wrongType(entity: entity.name, property: name, expected: expected, value: value.map { "\($0)" } ?? "nil")
    }
}
