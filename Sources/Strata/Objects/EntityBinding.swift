import Foundation
import StrataStore

/// What all objects of one entity in one store share: the class, the row of defaults, what validation looks at.
///
/// A binding belongs to a container, not to the process, so that two models may use one class and tests may run in
/// parallel. Its stored properties are constants that are computed once, so that threads and objects share them.
final class EntityBinding: Sendable {
    let model: ManagedObjectModel
    let entity: EntityDescription
    let objectClass: ManagedObject.Type
    let storeIdentifier: UUID
    /// Whether the objects of the entities that inherit from this one are of its class, too.
    let isClosed: Bool
    /// A row in which everything is nil: what a fault points to.
    let emptyRow: RowReference
    /// The row of a new object, save for its key and the defaults created again each time.
    let defaultRow: RowReference
    /// The bytes that the row of a new object has for text and the like, in addition to its defaults: enough for most
    /// objects, since a row that is too small is copied.
    let roomForBytes: Int
    /// Defaults that are created for each object.
    let freshDefaults: [(slot: Int, value: AttributeDefault)]
    /// Derived attributes that are computed at a save.
    let savedDerivations: [(slot: Int, derivation: Derivation)]
    let validation: ValidationPlan
    /// Slots of to-one relationships, with their relationships.
    let toOnes: [(slot: Int, relationship: RelationshipDescription)]
    /// The slots that the store keeps.
    let storedSlots: SlotSet
    /// By slot, the position of the entity that it leads to; -1 for attributes.
    let destinations: [Int]

    init(
        model: ManagedObjectModel, entity: EntityDescription, objectClass: ManagedObject.Type, isClosed: Bool,
        storeIdentifier: UUID
    ) {
        self.model = model
        self.entity = entity
        self.objectClass = objectClass
        self.isClosed = isClosed
        self.storeIdentifier = storeIdentifier
        let empty = RowEditing.emptyRow(entity: entity, key: 0)
        emptyRow = RowReference(slab: empty, row: empty.row)
        var defaults = RowEditing.emptyRow(entity: entity, key: 0)
        var fresh: [(slot: Int, value: AttributeDefault)] = []
        for attribute in entity.attributes {
            switch attribute.declaration.defaultValue {
            case nil:
                // A required array begins empty, as a relationship does.
                if !attribute.isOptional, attribute.type.element != nil, attribute.derivation == nil {
                    let slot = entity.slots[attribute.slots.lowerBound]
                    _ = RowEditing.setValue(.list([]), slot, layout: entity.slots, in: &defaults)
                }
            case .value(.composite(let values)):
                for slot in attribute.slots {
                    let name = String(entity.slots[slot].name.dropFirst(attribute.name.count + 1))
                    if let value = values[name] {
                        _ = RowEditing.setValue(value, entity.slots[slot], layout: entity.slots, in: &defaults)
                    }
                }
            case .value(let value):
                // A value of another type was a fault of the model; the checked model has none.
                _ = RowEditing.setValue(
                    value, entity.slots[attribute.slots.lowerBound], layout: entity.slots, in: &defaults)
            case let made?: fresh.append((attribute.slots.lowerBound, made))
            }
        }
        defaultRow = RowReference(slab: defaults, row: defaults.row)
        roomForBytes = min(256, 16 * entity.slots.count { !$0.storage.isInline })
        freshDefaults = fresh
        savedDerivations = entity.slots.compactMap { slot in
            switch slot.derivation {
            case .lowercase?, .uppercase?, .canonical?, .now?: slot.derivation.map { (slot.index, $0) }
            default: nil
            }
        }
        storedSlots = SlotSet(entity.slots.filter(\.isStored).map(\.index))
        validation = ValidationPlan(entity: entity)
        destinations = entity.slots.map { slot in
            slot.relationshipIndex.map { entity.relationships[$0].destinationIndex } ?? -1
        }
        toOnes = entity.relationships.compactMap { relationship in relationship.slot.map { ($0, relationship) } }
    }

    /// The value of a default that is created for each object.
    static func fresh(_ value: AttributeDefault, for slot: SlotDescription) -> Value {
        switch value {
        case .value(let value): value
        case .now: .date(Date())
        case .newUUID: slot.storage == .uuid ? .uuid(UUID()) : .string(UUID().uuidString)
        }
    }
}
