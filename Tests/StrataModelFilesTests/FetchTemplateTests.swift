import StrataModel
import StrataModelExport
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
        #expect(try file.model().fetchRequestTemplate(named: "large")?.variables == ["least", "name"])
        #expect(try file.model().fetchRequestTemplate(named: "small") == nil)
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
                """))
        expect(
            found,
            [
                "5:32: City: the fetch wrong: City has no property populaton; did you mean 'population'?",
                "6:33: City: the fetch broken: at character 12: expected a value or a condition; "
                    + "found the end of the format",
                "7:33: City: the fetch hidden: mood is transient; the store does not know its values",
                "7:33: City: the fetch hidden: City has no property nme; did you mean 'name'?",
            ])
        expect(
            faults(in: yaml("  nowhere: {entity: Town}\n  minus: {entity: City, limit: -1}")),
            [
                "5:3: Town: the fetch nowhere: the model has no entity Town",
                "6:3: City: the fetch minus: the limit must not be negative",
            ])
    }

    private func country(_ fetched: String) -> String {
        """
        entities:
          City:
            attributes: {name: string, population: integer64}
            relationships: {country: {to: Country, inverse: cities}}
          Country:
            attributes: {name: string, mood: {type: string, optional: true, transient: true}}
            relationships: {cities: {toMany: City, inverse: country}}
            fetched:
        \(fetched)
        """
    }

    @Test func fetchedPropertiesAreReadWrittenAndGenerated() throws {
        let text = country(
            """
                  large:
                    documentation: The large ones.
                    entity: City
                    where: country == $FETCH_SOURCE AND name != $FETCH_SOURCE.mood
                    sort: [-population]
                    limit: 5
                    userInfo: {use: a map}
                  byCount: {entity: Country, sort: [-cities.@count, "abs($FETCH_SOURCE.cities.@count)"]}
            """)
        let file = try ModelFile.read(yaml: text, path: "geo.strata.yaml")
        let model = try file.model()
        let properties = try #require(model.entity(named: "Country")).fetchedProperties
        #expect(properties.map(\.name) == ["large", "byCount"] && properties[0].userInfo == ["use": "a map"])
        #expect(properties[0].request.limit == 5 && properties[0].request.sorts == ["-population"])
        let again = try ModelFile.read(yaml: ModelFile(model: model).yaml(), path: "geo.strata.yaml").model()
        func withoutPlaces(_ model: ManagedObjectModel) -> [FetchedProperty] {
            (model.entity(named: "Country")?.fetchedProperties ?? []).map { property in
                var copy = property
                copy.request.location = nil
                return copy
            }
        }
        #expect(withoutPlaces(again) == withoutPlaces(model))
        let sources = try CodeGenerator(file: file).files().map(\.text).joined()
        #expect(
            sources.contains("/// The large ones.")
                && sources.contains("final var large: [City] { _fetched(\"large\") }"))
        for picture in [EntityDiagram(model: model).svg(), EntityDiagram(model: model).dot()] {
            #expect(picture.contains("byCount") && picture.contains("fetch Country"))
        }
        // The store keeps nothing of them.
        let plain = try ModelFile.read(yaml: country(""), path: "geo.strata.yaml").model()
        #expect(plain.versionHash == model.versionHash)
    }

    @Test func mistakesInFetchedPropertiesHaveTheirPlace() {
        let found = faults(
            in: country(
                """
                      wrong: {entity: City, where: populaton > 5}
                      broken: {entity: City, where: population >}
                      source: {entity: City, where: name == $FETCH_SOURCE.nme}
                      unknown: {entity: City, where: name == $FETCH_SORCE.name}
                      info: {entity: City, where: name == $FETCHED_PROPERTY.userInfo.key}
                      order: {entity: City, sort: [country.cities.population]}
                      circle: {entity: Country, where: wrong.@count > 1}
                """))
        expect(
            found,
            [
                "9:36: Country.wrong: City has no property populaton; did you mean 'population'?",
                "10:37: Country.broken: at character 12: expected a value or a condition; found the end of the format",
                "11:37: Country.source: $FETCH_SOURCE: Country has no property nme; did you mean 'name'?",
                "12:38: Country.unknown: $FETCH_SORCE has no value; a fetched property knows $FETCH_SOURCE and "
                    + "$FETCHED_PROPERTY; did you mean 'FETCH_SOURCE'?",
                "13:35: Country.info: $FETCHED_PROPERTY.userInfo.key: there are name, and userInfo with the keys that "
                    + "the property has",
                "14:7: Country.order: country.cities.population: cities leads to many objects; an order needs one value",
                "15:40: Country.circle: wrong.@count: wrong is a fetched property, which conditions and orders cannot "
                    + "look at",
            ])
        expect(
            faults(
                in: country(
                    """
                          cities: {entity: City}
                          town: {entity: Citi}
                          minus: {entity: City, limit: -1}
                    """)),
            [
                "9:7: Country.cities: the property is declared twice (first at 7:21); rename one of them",
                "10:7: Country.town: fetches Citi, which the model does not have; did you mean 'City'?",
                "11:7: Country.minus: the limit must not be negative",
            ])
        expect(
            faults(in: country("      minus: {entity: City, order: name}\n      none: {where: name == 'x'}")),
            [
                "9:29: Country.minus: a fetched property has no key 'order'; known are entity, where, sort, limit, "
                    + "documentation, userInfo",
                "10:7: Country.none: a fetched property names no entity; add 'entity: …'",
            ])
    }
}
