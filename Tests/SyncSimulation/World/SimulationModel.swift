import StrataRemote

/// The model of all simulations: values, references to one, pairs, an order, inheritance, bytes, and keys that are used again.
enum SimulationModel {
    /// The versions of the app, from the first one on. What is declared where changes with each, and the last one has more.
    static let versions = 3

    /// The models of all versions, which all simulations share.
    /// - Parameter operates: Whether there are tallies, to which clients do operations.
    static func all(operates: Bool) throws -> [ManagedObjectModel] { try (operates ? operating : plain).get() }

    private static let plain = Result { try (0..<versions).map { try make(version: $0, operates: false) } }
    private static let operating = Result { try (0..<versions).map { try make(version: $0, operates: true) } }

    private static func make(version: Int, operates: Bool) throws -> ManagedObjectModel {
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
            Relationship("devices", to: "Device", .toMany, inverse: "route"),
        ]
        var special = Entity(name: "Special", location: nil)
        special.parent = "Item"
        special.attributes = [Attribute("c", .string, optional: true)]
        var tag = Entity(name: "Tag", location: nil)
        tag.attributes = [Attribute("tagId", .string), Attribute("a", .string, optional: true)]
        tag.relationships = [Relationship("items", to: "Item", .toMany, inverse: "tags")]
        var counter = Entity(name: "Counter", location: nil)
        counter.attributes = [
            Attribute("counterId", .string), Attribute("a", .string, optional: true),
            Attribute("data", .binary, optional: true),
        ]
        var device = Entity(name: "Device", location: nil)
        device.attributes = [Attribute("deviceId", .string), Attribute("a", .string, optional: true)]
        device.relationships = [Relationship("route", to: "Item", .orderedToMany, inverse: "devices")]
        var entities = [folder, item, special, tag, counter, device]
        if operates {
            var tally = Entity(name: "Tally", location: nil)
            tally.attributes = [
                Attribute("tallyId", .string), Attribute("count", .integer64, optional: true),
                Attribute("marks", .array(.string), optional: true), Attribute("note", .string, optional: true),
            ]
            entities.append(tally)
        }
        if version > 1 {
            for index in entities.indices where ["Folder", "Item"].contains(entities[index].name) {
                entities[index].attributes.insert(Attribute("added", .string, optional: true), at: 0)
            }
        }
        if version > 0 {
            entities.reverse()
            for index in entities.indices {
                entities[index].attributes.reverse()
                entities[index].relationships.reverse()
            }
        }
        return try ManagedObjectModel(name: "Simulation", entities: entities)
    }
}

extension EntityDescription {
    /// The attributes that clients change.
    var simulatedAttributes: [String] { ["a", "added", "b", "c", "data"].filter { slot(named: $0) != nil } }

    /// The to-many relationship that clients change, and the server tells.
    var simulatedMembers: RelationshipDescription? { relationship(named: "tags") ?? relationship(named: "route") }
}
