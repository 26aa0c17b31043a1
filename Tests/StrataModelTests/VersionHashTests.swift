import Foundation
import StrataModel
import Testing

@Suite struct VersionHashTests {
    static func entities() -> [Entity] {
        [
            Entity("Country") {
                Attribute("name", .string)
                Attribute("area", .double, optional: true)
                Relationship("cities", to: "City", .toMany, inverse: "country")
            },
            Entity("City") {
                Attribute("name", .string)
                Attribute("lowerName", .string).derived(.lowercase("name"))
                Attribute("scratch", .integer16).transient()
                Attribute("tags", .transformable("[String]"))
                Attribute(
                    "address",
                    .composite([CompositeElement("street", .string), CompositeElement("zip", .string, optional: true)]))
                Relationship("country", to: "Country", .toOne, inverse: "cities")
            },
        ]
    }

    static func hash(naming: NamingConvention = .snakeCase, _ change: (inout [Entity]) -> Void = { _ in }) throws
        -> String
    {
        var entities = entities()
        change(&entities)
        return try ManagedObjectModel(name: "M", naming: naming, entities: entities).versionHash
    }

    /// These values are in files of users. If this test fails, existing stores can no longer be opened.
    @Test func hashesNeverChange() throws {
        #expect(try ManagedObjectModel(name: "Empty", entities: []).versionHash == "a8258c1d42ef2c8eac99ddb4aa5057e3")
        #expect(try Self.hash() == "c174b4c88e92c46d689f72d04e1f389f")
        #expect(try Self.hash(naming: .verbatim) == "fcbae7240522e2999457316346c2ec9d")
    }

    @Test("Each change of what is stored changes the version hash")
    func storageEnters() throws {
        let changes: [(String, (inout [Entity]) -> Void)] = [
            ("entity added", { $0.append(Entity("More")) }),
            (
                "entity renamed",
                {
                    $0[0].name = "Land"
                    $0[1].relationships[0].destination = "Land"
                }
            ),
            (
                "parent",
                {
                    $0.append(Entity("Zone"))
                    $0[0].parent = "Zone"
                }
            ),
            (
                "abstract",
                {
                    $0.append(Entity("Capital", inherits: "City"))
                    $0[1].isAbstract = true
                }
            ),
            ("attribute renamed", { $0[0].attributes[0].name = "title" }),
            ("type", { $0[0].attributes[1].type = .float }),
            ("optional", { $0[0].attributes[1].isOptional = false }),
            ("transient", { $0[0].attributes[1].isTransient = true }),
            ("derivation", { $0[1].attributes[1].derivation = .uppercase("name") }),
            ("no derivation", { $0[1].attributes[1].derivation = nil }),
            ("class of transformable", { $0[1].attributes[3].type = .transformable("[Int]") }),
            ("element", { $0[1].attributes[4].type = .composite([CompositeElement("street", .string)]) }),
            (
                "optional element",
                {
                    $0[1].attributes[4].type = .composite([
                        CompositeElement("street", .string), CompositeElement("zip", .string),
                    ])
                }
            ),
            ("optional relationship", { $0[1].relationships[0].isOptional = true }),
            ("ordered", { $0[0].relationships[0].isOrdered = true }),
            ("minimum count", { $0[0].relationships[0].minimumCount = 1 }),
            ("maximum count", { $0[0].relationships[0].maximumCount = 9 }),
            (
                "no inverse",
                {
                    $0[0].relationships[0].inverse = nil
                    $0[1].relationships[0].inverse = nil
                }
            ),
            (
                "cardinality",
                {
                    $0[1].relationships[0].isToMany = true
                    $0[1].relationships[0].isOptional = true
                }
            ),
        ]
        var seen = [try Self.hash(): "unchanged", try Self.hash(naming: .verbatim): "naming"]
        for (name, change) in changes {
            let hash = try Self.hash(change)
            // Abstract and the parent come with another entity, so each hash must be new in any case.
            #expect(seen[hash] == nil, "\(name) gives the same hash as \(seen[hash] ?? "")")
            seen[hash] = name
        }
    }

    @Test func allElseDoesNot() throws {
        let golden = try Self.hash()
        let changes: [(String, (inout [Entity]) -> Void)] = [
            ("order of entities", { $0.reverse() }),
            ("order of attributes", { $0[1].attributes.reverse() }),
            (
                "order of elements",
                {
                    $0[1].attributes[4].type = .composite([
                        CompositeElement("zip", .string, optional: true), CompositeElement("street", .string),
                    ])
                }
            ),
            ("default", { $0[0].attributes[0].defaultValue = .value("x") }),
            (
                "rules",
                { $0[0].attributes[0].rules = ValidationRules(minimumLength: 1, maximumLength: 9, pattern: "a*") }
            ),
            (
                "indexes",
                {
                    $0[0].indexes = [Index("name")]
                    $0[0].attributes[0].isUnique = true
                    $0[0].attributes[1].isIndexed = true
                }
            ),
            ("delete rule", { $0[0].relationships[0].deleteRule = .cascade }),
            (
                "user info",
                {
                    $0[0].userInfo = ["a": "b"]
                    $0[0].attributes[0].userInfo = ["a": "b"]
                    $0[0].relationships[0].userInfo = ["c": "d"]
                }
            ),
            (
                "documentation",
                {
                    $0[0].documentation = "x"
                    $0[0].attributes[0].documentation = "y"
                    $0[0].relationships[0].documentation = "z"
                }
            ),
            (
                "renaming",
                {
                    $0[0].formerNames = ["Land"]
                    $0[0].attributes[0].formerNames = ["title"]
                }
            ),
            ("class name", { $0[0].className = "Land" }),
        ]
        for (name, change) in changes { #expect(try Self.hash(change) == golden, "\(name)") }
    }
}
