import Strata

/// The second version of the Gazetteer's model, as a later release could have it.
enum SecondVersion {
    /// Makes the model from the first one: names and types change, attributes come, and one is removed.
    /// - Throws: `ModelError` if the first model has changed so that this one has faults.
    static func model() throws(ModelError) -> ManagedObjectModel {
        let first = GazetteerModel.model
        let entities = first.entities.map { entity in
            var entity = entity.declaration
            switch entity.name {
            case "Country": changeCountry(&entity)
            case "City": changeCity(&entity)
            default: break
            }
            return entity
        }
        return try ManagedObjectModel(name: first.name, naming: first.naming, entities: entities)
    }

    /// The answers to the steps that lose something.
    static let answers: [String: MigrationAnswer] = ["Country.phone": .accept]

    private static func changeCountry(_ country: inout Entity) {
        country.attributes.removeAll { $0.name == "phone" }
        change("areaSquareKilometres", of: &country) { area in
            area.name = "area"
            area.formerNames = ["areaSquareKilometres"]
            area.type = .double
        }
        country.attributes.append(Attribute("isIsland", .boolean, default: .value(false)))
    }

    private static func changeCity(_ city: inout Entity) {
        change("note", of: &city) { note in
            note.name = "remark"
            note.formerNames = ["note"]
        }
        city.attributes.append(Attribute("searchName", .string).optional().derived(.canonical("name")).indexed())
    }

    private static func change(_ name: String, of entity: inout Entity, _ body: (inout Attribute) -> Void) {
        for index in entity.attributes.indices where entity.attributes[index].name == name {
            body(&entity.attributes[index])
        }
    }
}
