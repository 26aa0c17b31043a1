import Strata

/// The model that stores are checked with: every type, every kind of relationship, and inheritance, without the
/// features that a store lacks. All attributes but names are optional, and every entity has a primary key by the
/// convention.
enum ConformanceModel {
    static func make(without omissions: Set<ConformanceFeature>) throws -> ManagedObjectModel {
        func has(_ feature: ConformanceFeature) -> Bool { !omissions.contains(feature) }
        return try ManagedObjectModel(name: "Conformance") {
            Entity("Item") {
                Attribute("itemId", .string, optional: true).indexed()
                Attribute("name", .string).indexed()
                Attribute("small", .integer16, optional: true)
                Attribute("medium", .integer32, optional: true)
                Attribute("large", .integer64, optional: true).indexed()
                Attribute("ratio", .double, optional: true)
                Attribute("single", .float, optional: true)
                Attribute("flag", .boolean, optional: true)
                Attribute("yearBorn", .date, optional: true)
                if has(.decimals) { Attribute("price", .decimal, optional: true) }
                if has(.binaries) { Attribute("payload", .binary, optional: true) }
                if has(.uuids) { Attribute("token", .uuid, optional: true) }
                if has(.uris) { Attribute("link", .uri, optional: true) }
                if has(.geoPoints) { Attribute("place", .geoPoint, optional: true).indexed() }
                if has(.transformables) { Attribute("words", .transformable("[String]"), optional: true) }
                if has(.composites) {
                    Attribute(
                        "address",
                        .composite([CompositeElement("street", .string), CompositeElement("number", .integer32)]),
                        optional: true)
                }
                if has(.uniqueKeys) { Attribute("code", .string, optional: true).unique() }
                Relationship("owner", to: "Person", .optionalToOne, inverse: "items")
                if has(.manyToMany) { Relationship("tags", to: "Tag", .toMany, inverse: "items") }
                if has(.orderedRelationships) {
                    Relationship("steps", to: "Step", .orderedToMany, inverse: "item", deleteRule: .cascade)
                }
            }
            Entity("Person") {
                Attribute("personId", .string, optional: true).indexed()
                Attribute("name", .string)
                Attribute("age", .integer64, optional: true)
                Relationship("items", to: "Item", .toMany, inverse: "owner")
                Relationship("partner", to: "Person", .optionalToOne, inverse: "partner")
            }
            if has(.inheritance) {
                Entity("Employee", inherits: "Person") { Attribute("salary", .integer64, optional: true) }
                Entity("Manager", inherits: "Employee") { Attribute("title", .string, optional: true) }
            }
            if has(.manyToMany) {
                Entity("Tag") {
                    Attribute("tagId", .string, optional: true).indexed()
                    Attribute("name", .string)
                    Relationship("items", to: "Item", .toMany, inverse: "tags")
                }
            }
            if has(.orderedRelationships) {
                Entity("Step") {
                    Attribute("stepId", .string, optional: true).indexed()
                    Attribute("name", .string)
                    Relationship("item", to: "Item", .optionalToOne, inverse: "steps")
                }
            }
        }
    }
}
