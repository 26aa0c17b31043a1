import Foundation
import StrataStore

/// What recorded changes mean, in terms of the present model.
package struct HistoryNames {
    package let model: ManagedObjectModel
    package let storeIdentifier: UUID
    package let entities: [Int64: HistoryEntity]
    private let bits: [Int64: Set<Int>]

    /// - Parameter entities: What `_history_entities` has, by the number of the row.
    package init(model: ManagedObjectModel, storeIdentifier: UUID, entities: [Int64: HistoryEntity]) {
        self.model = model
        self.storeIdentifier = storeIdentifier
        self.entities = entities
        bits = entities.mapValues { Set($0.kept) }
    }

    /// Whether changes of a recorded entity may have old values.
    package func keepsValues(_ id: Int64) -> Bool { bits[id]?.isEmpty == false }
    /// Whether old values of a bit are kept.
    package func keeps(_ bit: Int, _ id: Int64) -> Bool { bits[id]?.contains(bit) == true }

    /// The slot or relationship of a bit.
    package func name(_ bit: Int, _ id: Int64) -> String? {
        guard let entity = entities[id], entity.properties.indices.contains(bit) else { return nil }
        return entity.properties[bit]
    }

    package func description(_ id: Int64) -> EntityDescription? {
        entities[id].flatMap { model.entity(named: $0.name) }
    }

    /// The IDs of the recorded entities with the given names, and of those that inherit from them.
    package func ids(of names: Set<String>) -> [Int64] {
        let wanted = names.flatMap { name in
            model.entity(named: name).map { $0.descendantIndexes.map { model.entities[$0].name } } ?? [name]
        }
        let set = Set(wanted)
        return entities.filter { set.contains($0.value.name) }.keys.sorted()
    }

    /// The IDs of the recorded entities of a hierarchy.
    package func ids(ofHierarchy root: String) -> [Int64] { entities.filter { $0.value.root == root }.keys.sorted() }
}
