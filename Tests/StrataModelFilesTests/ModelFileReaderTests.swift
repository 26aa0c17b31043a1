import Foundation
import StrataModel
import StrataModelExport
import StrataModelFiles
import Testing

@Suite struct ModelFileReaderTests {
    static let yaml = """
        model: Geo
        naming: snakeCase
        access: public
        entities:
          Place:
            abstract: true
            attributes:
              name: {type: string, minLength: 1, maxLength: 80, pattern: "[^ ].*", indexed: true, documentation: The usual name.}
          Country:
            inherits: Place
            documentation: A country.
            renamedFrom: Land
            userInfo: {colour: "#ff0000"}
            attributes:
              countryId: {type: string, unique: true, default: uuid()}
              greeting: {type: string, default: "uuid()"}
              area: {type: double?, preservesValueInHistory: true}
              rate: {type: decimal, default: 1.25, min: 0, max: 99.5}
              founded: {type: date?, min: 2001-01-01, default: now()}
              capital: {type: string?, transient: true, renamedFrom: mainCity}
              middle: {type: geoPoint, default: [10.5, -70]}
              flag: {type: binary?, externalStorage: true, default: aGk=}
              address: {type: composite?, elements: {street: string, zip: string?, tags: {type: transformable, class: "[String]"}}}
              tags: {type: transformable, class: "[String: Int]"}
              codes: transformable<Codes>?
              cityCount: {type: integer64, derived: count(cities)}
              people: {type: integer64, derived: sum(cities.population)}
              upper: {type: string, derived: uppercase(name)}
              saved: {type: date, derived: now()}
            relationships:
              cities: {toMany: City, inverse: country, ordered: true, delete: cascade, min: 1, max: 1_000}
              neighbours: {toMany: Country, inverse: neighbours}
              twin: Country
            indexes:
              - [area, -founded]
              - {unique: [name, countryId]}
              - {fullText: name}
              - spatial: middle
          City:
            base: true
            class: Town
            user: true
            primaryKey: code
            attributes:
              code: string
              population: {type: integer64, default: 0}
              countryName: {type: string, derived: country.name}
            relationships:
              country: {to: Country, inverse: cities, optional: false}
          Empty:
        """

    /// The same model in app code.
    static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Geo") {
            Entity("Place", abstract: true) {
                Attribute("name", .string).length(1...80).matching("[^ ].*").indexed().documented("The usual name.")
            }
            Entity("Country", inherits: "Place") {
                Attribute("countryId", .string, default: .newUUID).unique()
                Attribute("greeting", .string, default: .value("uuid()"))
                Attribute("area", .double, optional: true).preservesValueInHistory()
                Attribute("rate", .decimal, default: .value(.decimal(Decimal(string: "1.25")!)))
                    .range(minimum: 0, maximum: .decimal(Decimal(string: "99.5")!))
                Attribute("founded", .date, optional: true, default: .now).range(
                    Date(timeIntervalSinceReferenceDate: 0)...)
                Attribute("capital", .string).optional().transient().renamed(from: "mainCity")
                Attribute("middle", .geoPoint).defaultValue(.geoPoint(GeoPoint(latitude: 10.5, longitude: -70)))
                Attribute("flag", .binary).optional().externalStorage().defaultValue(.binary(Data("hi".utf8)))
                Attribute(
                    "address",
                    .composite([
                        CompositeElement("street", .string), CompositeElement("zip", .string, optional: true),
                        CompositeElement("tags", .transformable("[String]")),
                    ])
                ).optional()
                Attribute("tags", .transformable("[String: Int]"))
                Attribute("codes", .transformable("Codes"), optional: true)
                Attribute("cityCount", .integer64).derived(.count("cities"))
                Attribute("people", .integer64).derived(.sum("cities", "population"))
                Attribute("upper", .string).derived(.uppercase("name"))
                Attribute("saved", .date).derived(.now)
                Relationship("cities", to: "City", .orderedToMany, inverse: "country", deleteRule: .cascade).count(
                    1, 1000)
                Relationship("neighbours", to: "Country", .toMany, inverse: "neighbours")
                Relationship("twin", to: "Country")
                Index("area", "-founded")
                Index("name", "countryId", kind: .unique)
                Index("name", kind: .fullText)
                Index("middle", kind: .spatial)
            }
            .documented("A country.").renamed(from: "Land").userInfo(["colour": "#ff0000"])
            Entity("City", user: true, primaryKey: "code") {
                Attribute("code", .string)
                Attribute("population", .integer64, default: .value(0))
                Attribute("countryName", .string).derived(.path(["country", "name"]))
                Relationship("country", to: "Country", .toOne, inverse: "cities")
            }
            .className("Town").baseClass()
            Entity("Empty")
        }
    }

    @Test func yamlAndCodeGiveTheSameModel() throws {
        let file = try ModelFile.read(yaml: Self.yaml, path: "Models/geo.strata.yaml")
        let model = try Self.model()
        #expect(file.name == "Geo")
        #expect(file.access == .public)
        #expect(file.naming == .snakeCase)
        #expect(file.entities.map(\.withoutLocations) == model.entities.map(\.declaration.withoutLocations))
        #expect(try file.model().versionHash == model.versionHash)
        #expect(try file.model().entities.map(\.layoutHash) == model.entities.map(\.layoutHash))
    }

    @Test func writtenFilesReadBack() throws {
        for model in [
            try Self.model(), try libraryFile().model(),
            try ManagedObjectModel(name: "Empty", naming: .verbatim, entities: []),
        ] {
            let text = ModelFile(model: model, access: .public).yaml()
            let file = try ModelFile.read(yaml: text, path: "x.strata.yaml")
            #expect(file.name == model.name)
            #expect(file.naming == model.naming)
            #expect(file.entities.map(\.withoutLocations) == model.entities.map(\.declaration.withoutLocations))
            #expect(try file.model().versionHash == model.versionHash)
            #expect(file.yaml() == text)
        }
    }

    @Test(arguments: [
        "", " ", "null", "true", "1", "a: b", "- a", "\"q\"", "line\nbreak", "tab\t", "#", "é ✓", "\u{1}", "a #b",
        "now()", "uuid()", "'", "\\", "{a}", "yes", "x\u{2028}y",
    ])
    func awkwardTextReadsBack(_ text: String) throws {
        let model = try ManagedObjectModel(
            name: "Awkward", naming: NamingConvention(properties: .verbatim, entities: .snakeCase)
        ) {
            Entity("A") {
                Attribute("x", .string, default: .value(.string(text))).userInfo(["k": text]).documented(text)
            }.documented(text)
        }
        let file = try ModelFile.read(yaml: ModelFile(model: model).yaml(), path: "x.strata.yaml")
        let entity = try #require(file.entities.first)
        #expect(entity.attributes[0].defaultValue == .value(.string(text)))
        #expect(entity.attributes[0].documentation == text)
        #expect(entity.attributes[0].userInfo == ["k": text])
        #expect(entity.documentation == text)
        #expect(file.naming == model.naming)
    }

    @Test func locationsAreThoseOfTheFile() throws {
        let file = try ModelFile.read(yaml: Self.yaml, path: "Models/geo.strata.yaml")
        #expect(file.entities[1].location == SourceLocation(file: "Models/geo.strata.yaml", line: 9, column: 3))
        #expect(
            file.entities[1].attributes[2].location
                == SourceLocation(file: "Models/geo.strata.yaml", line: 17, column: 7))
        #expect(file.entities[1].relationships[0].location?.line == 31)
        #expect(file.entities[1].indexes[0].location?.line == 35)
    }

    @Test func theNameComesFromTheFile() throws {
        #expect(
            try ModelFile.read(yaml: "entities: {A: }", path: "/x/my-great_model.strata.yaml").name == "MyGreatModel")
        #expect(try ModelFile.read(yaml: "entities: {A: }", path: "todo.strata.yaml").name == "Todo")
    }

    @Test(
        "The default of an enumeration is the name of a case, or its raw value",
        arguments: [
            ("{type: integer, enum: {name: P, cases: {low: -1, high: 10}}, default: low}", Value.integer(-1)),
            ("{type: integer, enum: {name: P, cases: {low: -1, high: 10}}, default: 10}", .integer(10)),
            ("{type: string, enum: {name: P, cases: {low: L, high: H}}, default: high}", .string("H")),
            ("{type: string, enum: {name: P, cases: {low: L, high: H}}, default: L}", .string("L")),
            // What is a raw value of one case and the name of another is the raw value.
            ("{type: string, enum: {name: P, cases: {low: high, high: low}}, default: low}", .string("low")),
        ])
    func enumerationDefault(attribute: String, expected: Value) throws {
        let file = try ModelFile.read(yaml: "entities: {A: {attributes: {p: \(attribute)}}}", path: "a.strata.yaml")
        #expect(file.entities[0].attributes[0].defaultValue == .value(expected))
        #expect(
            try ModelFile.read(yaml: file.yaml(), path: "a.strata.yaml").entities[0].attributes[0].defaultValue
                == .value(expected))
        _ = try file.model()
    }

    @Test func aDefaultThatIsNoCaseIsRefusedWithASuggestion() throws {
        let yaml =
            "entities: {A: {attributes: {p: {type: string, enum: {name: P, cases: [low, high]}, default: hihg}}}}"
        let error = #expect(throws: ModelError.self) { try ModelFile.read(yaml: yaml, path: "a.strata.yaml").model() }
        #expect(
            error?.description.contains("the default \"hihg\" is not a case of P; did you mean 'high'?") == true,
            "\(error)")
    }

    @Test("A model file that does not exist is an error at its first position")
    func missingFile() {
        let error = #expect(throws: ModelError.self) { try ModelFile.read(path: "/no/such.strata.yaml") }
        #expect(error?.faults.first?.description.hasPrefix("/no/such.strata.yaml:1:1: error: cannot be read") == true)
    }
}

extension Entity {
    /// The entity without the places of its declarations, for comparisons.
    var withoutLocations: Entity {
        var copy = self
        copy.location = nil
        for index in copy.attributes.indices { copy.attributes[index].location = nil }
        for index in copy.relationships.indices { copy.relationships[index].location = nil }
        for index in copy.indexes.indices { copy.indexes[index].location = nil }
        return copy
    }
}
