import StrataModelFiles
import Testing

/// Fetch requests in model files.
@Suite struct FetchTemplateTests {
    private func yaml(_ fetches: String) -> String {
        """
        entities:
          City:
            attributes: {name: string, population: integer64, mood: {type: string, optional: true, transient: true}}
        fetches:
        \(fetches)
        """
    }

    @Test func readWrittenAndReadAgain() throws {
        let text = yaml(
            "  large: {entity: City, where: population > $least AND name != $name, sort: [-population], limit: 5}")
        let file = try ModelFile.read(yaml: text, path: "geo.strata.yaml")
        #expect(file.fetches.count == 1 && file.fetches[0].sorts == ["-population"] && file.fetches[0].limit == 5)
        var again = try ModelFile.read(yaml: file.yaml(), path: "geo.strata.yaml").fetches
        again[0].location = file.fetches[0].location
        #expect(again == file.fetches)
        let sources = try CodeGenerator(file: file).files().map(\.text).joined()
        #expect(
            sources.contains(
                "static func fetchLarge(least: (any PredicateArgument)?, name: (any PredicateArgument)?)"))
    }

    @Test func mistakesHaveTheirPlace() {
        let found = faults(
            in: yaml(
                """
                  wrong: {entity: City, where: populaton > 5}
                  broken: {entity: City, where: population >}
                  hidden: {entity: City, where: mood == 'x', sort: [-nme]}
                  nowhere: {entity: Town}
                """))
        expect(
            found,
            [
                "5:32: City: the fetch wrong: City has no property populaton",
                "6:33: City: the fetch broken: at character 12: expected a value or a condition; "
                    + "found the end of the format",
                "7:33: City: the fetch hidden: mood is transient; the store does not know its values",
                "7:33: City: the fetch hidden: City has no property nme",
                "8:3: Town: the fetch nowhere: the model has no entity Town",
            ])
    }
}
