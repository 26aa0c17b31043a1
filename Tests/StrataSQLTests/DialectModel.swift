import StrataSQL

/// A model with an attribute of each type, and relationships of each kind.
enum DialectModel {
    static func make() throws -> ManagedObjectModel {
        var person = Entity(name: "Person", location: nil)
        person.attributes = [
            Attribute("name", .string, optional: true), Attribute("age", .integer32, optional: true),
            Attribute("height", .double, optional: true), Attribute("balance", .decimal, optional: true),
            Attribute("active", .boolean, optional: true), Attribute("born", .date, optional: true),
            Attribute("token", .uuid, optional: true), Attribute("home", .uri, optional: true),
            Attribute("photo", .binary, optional: true), Attribute("place", .geoPoint, optional: true),
            Attribute("notes", .json(JSONType("Anything")), optional: true),
            Attribute("folded", .string, optional: true).derived(.canonical("name")),
            Attribute("orderCount", .integer64, optional: true).derived(.count("orders")),
            Attribute("spent", .decimal, optional: true).derived(.sum("orders", "price")),
            Attribute("address", .composite([CompositeElement("street", .string)]), optional: true),
        ]
        person.relationships = [
            Relationship("boss", to: "Person", .optionalToOne, inverse: "staff"),
            Relationship("staff", to: "Person", .toMany, inverse: "boss"),
            Relationship("orders", to: "Order", .orderedToMany, inverse: "buyer"),
            Relationship("tags", to: "Tag", .toMany, inverse: "people"),
        ]
        person.indexes = [
            Index(["age"], kind: .ordered, location: nil), Index(["place"], kind: .spatial, location: nil),
        ]
        var manager = Entity(name: "Manager", location: nil)
        manager.parent = "Person"
        manager.attributes = [Attribute("level", .integer16, optional: true)]
        var order = Entity(name: "Order", location: nil)
        order.attributes = [
            Attribute("price", .decimal, optional: true), Attribute("quantity", .integer64, optional: true),
            Attribute("weight", .double, optional: true), Attribute("note", .string, optional: true),
        ]
        order.relationships = [Relationship("buyer", to: "Person", .optionalToOne, inverse: "orders")]
        var tag = Entity(name: "Tag", location: nil)
        tag.attributes = [Attribute("label", .string, optional: true)]
        tag.relationships = [Relationship("people", to: "Person", .toMany, inverse: "tags")]
        return try ManagedObjectModel(name: "Dialects", entities: [person, manager, order, tag])
    }
}
