import StrataModel
import StrataModelExport
import StrataModelFiles
import Testing

/// Configurations and weak references in model files.
@Suite struct ConfigurationFileTests {
    private func yaml(_ configurations: String) -> String {
        """
        model: Travel
        entities:
          City:
            class: Town
            attributes: {name: string}
          Visit:
            attributes: {city: {type: uri?, references: City}}
        configurations:
        \(configurations)
        """
    }

    @Test("What is read, written and read again is the same, and code is generated for it")
    func roundTrip() throws {
        let file = try ModelFile.read(yaml: yaml("  Places: [City]\n  Local: Visit"), path: "travel.strata.yaml")
        #expect(file.configurations.map(\.name) == ["Places", "Local"])
        #expect(file.configurations.map(\.entities) == [["City"], ["Visit"]])
        let text = file.yaml()
        #expect(text.contains("configurations:\n  Places: [City]\n  Local: [Visit]\n"))
        #expect(text.contains("city: {type: uri?, references: City}"))
        let again = try ModelFile.read(yaml: text, path: "travel.strata.yaml")
        #expect(again.yaml() == text)
        #expect(try again.model().configurations.map(\.entities) == [["City"], ["Visit"]])
        let sources = try CodeGenerator(file: file).files().map(\.text).joined()
        #expect(sources.contains("configurations: configurations)"))
        #expect(sources.contains(#"ModelConfiguration(name: "Places", entities: ["City"], location: nil)"#))
        #expect(sources.contains(#".references("City")"#))
        #expect(sources.contains("var city: ObjectReference<Town>?"))
        #expect(sources.contains("AttributeKey<ObjectReference<Town>?>"))
        let plain = try ModelFile.read(yaml: "entities:\n  City: {}", path: "plain.strata.yaml")
        #expect(!plain.yaml().contains("configurations"))
    }

    @Test("Mistakes have their place")
    func mistakes() {
        expect(
            faults(in: yaml("  Places: [Cty]\n  Default: [City]\n  Local: {a: b}")),
            [
                "9:3: the configuration Places: the model has no entity Cty; did you mean 'City'?",
                "10:3: the configuration Default: this is the name of the entities that no other store keeps; choose "
                    + "another name",
                "11:10: a configuration is a name or a list of names, not a mapping",
            ])
        expect(
            faults(in: yaml("  Local: [Visit]").replacing("references: City", with: "references: Ciy")),
            ["7:18: Visit.city: refers to Ciy, which the model does not have; did you mean 'City'?"])
    }
}
