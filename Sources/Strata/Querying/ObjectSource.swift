import StrataQuery

/// Predicates look at an object through this: its properties as its context sees them, deleted objects left out.
struct ObjectSource: PropertySource {
    let object: ManagedObject

    var evaluatedObject: Value { .object(object.key) }

    var indexedTexts: [String] {
        if object.isFault { object.fireFault() }
        return object.binding.entity.indexedTextSlots.compactMap { slot in
            if case .string(let text) = object.currentValue(slot) { text } else { nil }
        }
    }

    func property(_ name: String) -> PropertyValue {
        let entity = object.binding.entity
        if let slot = entity.slot(named: name) {
            if object.lacks(slot.index) { object.fireFault() }
            guard slot.relationshipIndex != nil else {
                let value = object.currentValue(slot)
                return slot.type?.isJSON == true ? .json(value) : .value(value)
            }
            let key = object.shownKey(slot.index)
            return key.isNull ? .value(.null) : .object(ReferenceSource(owner: object, slot: slot.index, key: key))
        }
        if object.isFault { object.fireFault() }
        if let attribute = entity.attribute(named: name) {
            var elements: [String: Value] = [:]
            for index in attribute.slots {
                let slot = entity.slots[index]
                elements[String(slot.name.dropFirst(name.count + 1))] = object.currentValue(slot)
            }
            return .value(.composite(elements))
        }
        guard let relationship = entity.relationship(named: name), let index = relationship.toManyIndex else {
            return .value(.null)
        }
        let members = object.members(toMany: index).objects.filter { !$0.isDeleted }
        return .objects(members.map(ObjectSource.init), isOrdered: relationship.isOrdered)
    }
}

/// The object that a to-one relationship leads to. Most predicates ask only for its key, for which no object is made.
private struct ReferenceSource: PropertySource {
    let owner: ManagedObject
    let slot: Int
    let key: Value

    var evaluatedObject: Value { key }

    var indexedTexts: [String] { owner.target(slot).map { ObjectSource(object: $0).indexedTexts } ?? [] }

    func property(_ name: String) -> PropertyValue {
        owner.target(slot).map { ObjectSource(object: $0).property(name) } ?? .value(.null)
    }
}

extension ManagedObject {
    /// The key in a to-one slot as predicates see it: none if the object that it leads to is deleted, in this context or
    /// elsewhere. Whether the context happens to have that object must not matter, so it is looked for if it may be gone.
    fileprivate final func shownKey(_ slot: Int) -> Value {
        guard let key = targetKey(slot), let relationship = relationship(slot: slot) else { return .null }
        guard let core else { return .object(key) }
        let mayBeGone = core.mayBeDeleted(key, rootIndex: core.rootIndex(of: relationship.destinationIndex))
        guard let known = core.object(relationship.destinationIndex, key) else {
            return mayBeGone && target(slot) == nil ? .null : .object(key)
        }
        if mayBeGone, known.isFault { known.fireFault() }
        return known.isDeleted ? .null : .object(key)
    }
}
