import Foundation
import StrataStore

/// The bindings of objects that stand in for a missing target of a required relationship. Each is prepared once, because
/// preparing one compiles the validation rules of its entity.
final class PlaceholderBindings: Sendable {
    private struct Key: Hashable, Sendable {
        let objectClass: ObjectIdentifier
        let entityIndex: Int
    }

    private let bindings = Guarded<[Key: EntityBinding]>([:])

    func binding(
        of objectClass: ManagedObject.Type, entity: EntityDescription, model: ManagedObjectModel, storeIdentifier: UUID
    ) -> EntityBinding {
        bindings.withLock { bindings in
            let key = Key(objectClass: ObjectIdentifier(objectClass), entityIndex: entity.index)
            if let known = bindings[key] { return known }
            let made = EntityBinding(
                model: model, entity: entity, objectClass: objectClass, isClosed: true,
                storeIdentifier: storeIdentifier)
            bindings[key] = made
            return made
        }
    }
}
