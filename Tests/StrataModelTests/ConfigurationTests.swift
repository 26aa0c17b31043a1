import StrataModel
import Testing

@Suite struct ConfigurationTests {
    @ModelBuilder private var entities: [Entity] {
        Entity("Place", abstract: true) { Attribute("name", .string) }
        Entity("City", inherits: "Place") {}
        Entity("Visit") {
            Attribute("note", .string)
            Attribute("city", .uri, optional: true).references("City")
        }
    }

    private func faults(_ configurations: [ModelConfiguration]) -> [String] {
        ManagedObjectModel.faults(in: entities, configurations: configurations).map(\.message)
    }

    @Test("A model knows its configurations and their entities")
    func lookUp() throws {
        let model = try ManagedObjectModel(
            name: "Travel", configurations: [ModelConfiguration("Places", ["City", "Place"])]
        ) {
            entities
        }
        #expect(model.configuration(named: "Places")?.entities == ["City", "Place"])
        #expect(model.entities(forConfigurationName: "Places")?.map(\.name) == ["Place", "City"])
        #expect(model.entities(forConfigurationName: "Elsewhere") == nil)
        #expect(model.entity(named: "Visit")?.attribute(named: "city")?.declaration.referencedEntity == "City")
    }

    @Test("Neither configurations nor references change the version hash")
    func versionHash() throws {
        let plain = try ManagedObjectModel(name: "Travel") {
            Entity("Place", abstract: true) { Attribute("name", .string) }
            Entity("City", inherits: "Place") {}
            Entity("Visit") {
                Attribute("note", .string)
                Attribute("city", .uri, optional: true)
            }
        }
        let configured = try ManagedObjectModel(
            name: "Travel", configurations: [ModelConfiguration("Local", ["Visit"])]
        ) {
            entities
        }
        #expect(plain.versionHash == configured.versionHash)
    }

    @Test("Everything that is wrong with a configuration is found, by name")
    func mistakes() {
        #expect(faults([ModelConfiguration("Places", ["Place", "City"]), .init("Local", ["Visit"])]).isEmpty)
        // Core Data lets an entity be in several; a container decides.
        #expect(faults([ModelConfiguration("A", ["Visit"]), .init("B", ["Visit"])]).isEmpty)
        #expect(
            faults([ModelConfiguration("Places", ["City"])]) == [
                "the configuration Places: it has City but not Place, and City inherits from Place; one store keeps all of "
                    + "a hierarchy, so name both or neither"
            ])
        #expect(faults([ModelConfiguration("Places", ["Place"])]).count == 1)
        #expect(
            faults([ModelConfiguration("Local", ["Visti"])]) == [
                "the configuration Local: the model has no entity Visti; did you mean 'Visit'?"
            ])
        #expect(faults([ModelConfiguration("Local", [])]).count == 1)
        #expect(faults([ModelConfiguration("Local", ["Visit", "Visit"])]).count == 1)
        #expect(faults([ModelConfiguration("Local", ["Visit"]), .init("Local", ["Visit"])]).count == 1)
        #expect(faults([ModelConfiguration("Default", ["Visit"])]).count == 1)
        #expect(faults([ModelConfiguration("local", ["Visit"])]).count == 1)
        #expect(faults([ModelConfiguration("", ["Visit"])]).count == 1)
    }

    @Test("References are of type uri, and their entity exists")
    func references() {
        func faults(_ attribute: Attribute) -> [String] {
            ManagedObjectModel.faults(in: [Entity("Visit") { attribute }, Entity("City")]).map(\.description)
        }
        #expect(faults(Attribute("city", .uri).references("City")).isEmpty)
        let wrongType = faults(Attribute("city", .string).references("City"))
        #expect(wrongType.count == 1 && wrongType[0].contains("references are of type uri, not string"))
        let unknown = faults(Attribute("city", .uri).references("Cty"))
        #expect(unknown.count == 1 && unknown[0].contains("the model does not have; did you mean 'City'?"))
    }
}
