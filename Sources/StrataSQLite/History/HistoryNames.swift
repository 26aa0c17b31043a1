import Foundation
import StrataStore

/// What recorded changes mean, in terms of the present model.
struct HistoryNames {
    let model: ManagedObjectModel
    let storeIdentifier: UUID
    private(set) var entities: [Int64: HistoryEntity] = [:]
    private var bits: [Int64: Set<Int>] = [:]

    init(model: ManagedObjectModel, storeIdentifier: UUID, on connection: Connection) throws(StoreError) {
        self.model = model
        self.storeIdentifier = storeIdentifier
        let query = try connection.statement(
            "SELECT id, coalesce(renamed, definition) FROM \(HistoryTables.entities)")
        while try query.step() {
            guard let entity = HistoryEntity(text: query.text(1)) else {
                query.reset()
                throw .corrupt(path: connection.path, reason: "a row of \(HistoryTables.entities) cannot be read")
            }
            let id = query.integer(0)
            entities[id] = entity
            bits[id] = Set(entity.kept)
        }
    }

    /// Whether changes of a recorded entity may have old values.
    func keepsValues(_ id: Int64) -> Bool { bits[id]?.isEmpty == false }
    /// Whether old values of a bit are kept.
    func keeps(_ bit: Int, _ id: Int64) -> Bool { bits[id]?.contains(bit) == true }

    /// The slot or relationship of a bit.
    func name(_ bit: Int, _ id: Int64) -> String? {
        guard let entity = entities[id], entity.properties.indices.contains(bit) else { return nil }
        return entity.properties[bit]
    }

    func description(_ id: Int64) -> EntityDescription? { entities[id].flatMap { model.entity(named: $0.name) } }

    /// The IDs of the recorded entities with the given names, and of those that inherit from them.
    func ids(of names: Set<String>) -> [Int64] {
        let wanted = names.flatMap { name in
            model.entity(named: name).map { $0.descendantIndexes.map { model.entities[$0].name } } ?? [name]
        }
        let set = Set(wanted)
        return entities.filter { set.contains($0.value.name) }.keys.sorted()
    }

    /// The IDs of the recorded entities of a hierarchy.
    func ids(ofHierarchy root: String) -> [Int64] { entities.filter { $0.value.root == root }.keys.sorted() }
}
