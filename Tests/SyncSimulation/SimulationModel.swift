import StrataRemote

/// The model of all simulations: values, references to one, and pairs.
enum SimulationModel {
    static func make() throws -> ManagedObjectModel {
        var folder = Entity(name: "Folder", location: nil)
        folder.attributes = [Attribute("folderId", .string), Attribute("a", .string, optional: true)]
        folder.relationships = [Relationship("items", to: "Item", .toMany, inverse: "folder")]
        var item = Entity(name: "Item", location: nil)
        item.attributes = [
            Attribute("itemId", .string), Attribute("a", .string, optional: true),
            Attribute("b", .string, optional: true),
        ]
        item.relationships = [
            Relationship("folder", to: "Folder", inverse: "items"),
            Relationship("tags", to: "Tag", .toMany, inverse: "items"),
        ]
        var tag = Entity(name: "Tag", location: nil)
        tag.attributes = [Attribute("tagId", .string), Attribute("a", .string, optional: true)]
        tag.relationships = [Relationship("items", to: "Item", .toMany, inverse: "tags")]
        return try ManagedObjectModel(name: "Simulation", entities: [folder, item, tag])
    }
}
