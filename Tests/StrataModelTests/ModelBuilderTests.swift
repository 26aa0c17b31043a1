import Foundation
import StrataModel
import Testing

@Suite struct ModelBuilderTests {
    @Test func everythingCanBeSaid() throws {
        let start = Date(timeIntervalSinceReferenceDate: 0)
        let model = try ManagedObjectModel(name: "All", naming: .verbatim) {
            Entity("Place", abstract: true, primaryKey: "code") {
                Attribute("code", .string).unique().matching("[A-Z]+").length(2...3).renamed(from: "key").userInfo([
                    "a": "b"
                ])
            }
            .renamed(from: "Spot").documented("Somewhere.").userInfo(["x": "y"])
            Entity("City", inherits: "Place", user: true, primaryKey: "code") {
                Attribute("population", .integer64, default: .value(0)).range(0...).indexed()
                Attribute("share", .double).range(0...0.5)
                Attribute("founded", .date, default: .now).range(start...).optional()
                Attribute("picture", .binary, optional: true).externalStorage().length(...1000)
                Attribute("scratch", .string, optional: true).transient().documented("Notes.")
                Attribute("token", .uuid).defaultValue(.newUUID)
                Attribute("motto", .string).defaultValue("Ahoy")
                Attribute("streetCount", .integer32).derived(.count("streets"))
                for suffix in ["A", "B"] { Attribute("note\(suffix)", .string).optional() }
                if Bool.random() || true {
                    Relationship("streets", to: "Street", .orderedToMany, inverse: "city").count(1, 500).deleteRule(
                        .cascade)
                }
                Index("population", "-share")
                Index("motto", kind: .fullText)
            }
            .className("Town").baseClass()
            Entity("Street") {
                Relationship("city", to: "City", .toOne, inverse: "streets").optional().renamed(from: "town").userInfo(
                    [:]).documented("Where.")
            }
        }
        #expect(model.entities.map(\.name) == ["Place", "City", "Street"])
        let city = try #require(model.entity(named: "City"))
        #expect(city.className == "Town")
        #expect(city.declaration.generatesBaseClass)
        #expect(city.primaryKeyField == "code")
        #expect(
            city.attributes.map(\.name) == [
                "code", "population", "share", "founded", "picture", "scratch", "token", "motto", "streetCount",
                "noteA", "noteB",
            ])
        #expect(city.attribute(named: "population")?.declaration.rules.minimum == 0)
        #expect(city.attribute(named: "share")?.declaration.rules == ValidationRules(minimum: 0.0, maximum: 0.5))
        #expect(city.attribute(named: "founded")?.declaration.rules.minimum == .date(start))
        #expect(city.attribute(named: "founded")?.isOptional == true)
        #expect(city.attribute(named: "picture")?.declaration.rules.maximumLength == 1000)
        #expect(
            city.attribute(named: "code")?.declaration.rules
                == ValidationRules(minimumLength: 2, maximumLength: 3, pattern: "[A-Z]+"))
        #expect(city.relationship(named: "streets")?.declaration.minimumCount == 1)
        #expect(city.relationship(named: "streets")?.deleteRule == .cascade)
        #expect(city.indexes.map(\.kind) == [.unique, .ordered, .ordered, .fullText])
        #expect(model.entity(named: "Place")?.declaration.documentation == "Somewhere.")
        #expect(model.entity(named: "Street")?.relationship(named: "city")?.isOptional == true)
    }

    @Test func declarationsKnowWhereTheyAre() throws {
        let line = #line + 1
        let entity = Entity("City") {
            Attribute("name", .string)
            Relationship("twin", to: "City")
            Index("name")
        }
        #expect(entity.location?.line == line)
        #expect(entity.location?.file == "StrataModelTests/ModelBuilderTests.swift")
        #expect(entity.attributes[0].location?.line == line + 1)
        #expect(entity.relationships[0].location?.line == line + 2)
        #expect(entity.indexes[0].location?.line == line + 3)
    }

    @Test func generatedModelsAreTheSame() throws {
        let entities = VersionHashTests.entities()
        let model = ManagedObjectModel.generated(name: "M", entities: entities)
        #expect(try model.versionHash == VersionHashTests.hash())
    }
}
