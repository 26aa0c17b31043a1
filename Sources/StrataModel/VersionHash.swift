/// The fingerprint of how a model's objects are stored.
enum VersionHash {
    /// Hashes the entities in the order of their names.
    static func hash(of entities: [EntityDescription]) -> String {
        var hash = StableHash()
        for entity in entities.sorted(by: { $0.name < $1.name }) {
            hash.combine(entity.name)
            hash.combine(entity.declaration.parent ?? "")
            hash.combine(entity.isAbstract)
            for slot in entity.slots {
                hash.combine(slot.name)
                hash.combine(slot.type?.name ?? "toOne")
            }
        }
        return hash.hexadecimal
    }
}
